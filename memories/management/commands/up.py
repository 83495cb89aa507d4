"""The server in one command: database, web and worker."""

import fcntl
import os
import signal
from argparse import ArgumentParser
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError
from django.db import connection, connections

from memories.index import repair
from memoryproject import embedded_postgres, first_run, roles
from memoryproject.address import Address, AddressInUse, Pulse, answers, reserve
from memoryproject.processes import Child, Size, meeting_place, processes, supervise
from workspaces.new_workspace import FirstRun

CALL = """  curl {url}/api/v1/workspaces/{workspace}/memories/{verb} \\
    -H 'Authorization: Bearer {key}' \\
    -H 'Content-Type: application/json' -d '{body}'"""
TELL = ("ingest", '{"content": "I prefer tea to coffee, and I moved to Lisbon in May."}')
ASK = ("search", '{"query": "tea or coffee?"}')


@dataclass(frozen=True)
class Start:
    """What this start can tell: `known` is the first start's login and key, `is_first` when this is
    it."""

    address: Address
    known: FirstRun | None
    is_first: bool

    def info(self) -> dict[str, object]:
        facts: dict[str, object] = {"url": self.address.url}
        if self.known is not None:
            facts |= {"workspace": self.known.workspace, "key": self.known.key}
            facts |= {"adminUser": self.known.admin_user}
            facts |= {"adminPassword": self.known.admin_password}
        return facts

    def password_was_changed(self) -> bool:
        """Whether a web process has taken it out of the file since this start."""
        if self.known is None or self.known.admin_password is None:
            return False
        kept = first_run.read(settings.DATA_DIR)
        return kept is not None and kept.admin_password is None

    def greeting(self) -> list[str]:
        url = self.address.url
        lines = [
            f"memoryproject answers at {url}",
            f"  admin  {url}/admin/",
            f"  API    {url}/api/docs",
        ]
        return [*lines, *self.secrets(), "Ctrl-C stops it."]

    def secrets(self) -> list[str]:
        """Shown once; later starts name the file that keeps them."""
        if self.known is None:
            return ["  key    make one with: python3 manage.py createkey"]
        if not self.is_first:
            return [f"  login and key of the first start: {settings.DATA_DIR / first_run.FILE}"]
        return [
            f"  login  {self.known.admin_user} / {self.known.admin_password}"
            "  (to be changed at the first login)",
            f"  key    {self.known.key}  (workspace {self.known.workspace})",
            "Tell it something, then ask:",
            *(self.call(self.known, *what) for what in (TELL, ASK)),
        ]

    def call(self, known: FirstRun, verb: str, body: str) -> str:
        names = {"url": self.address.url, "workspace": known.workspace, "key": known.key}
        return CALL.format(**names, verb=verb, body=body)


class Command(BaseCommand):
    help = "Run the whole server: database, web and worker. Ctrl-C or SIGTERM stops everything."
    requires_system_checks = ()  # run below, when the database is there
    stopping = False

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--host", default="127.0.0.1", help="address to listen at")
        parser.add_argument("--port", type=int, default=8000, help="0: any free one")
        parser.add_argument(
            "--data", help="folder of all state (default: MEMORY_DATA_DIR or .data)"
        )
        parser.add_argument("--info", type=Path, help="file that gets url and key when ready")
        parser.add_argument(
            "--web", type=count, default=cores(), help="web processes that read; as many write"
        )
        parser.add_argument("--workers", type=count, default=2, help="worker processes")

    def handle(
        self, *, host: str, port: int, info: Path | None, web: int, workers: int, **_: Any
    ) -> None:
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self.stop)
        try:
            held = reserve(host, port)
        except AddressInUse as error:
            raise CommandError(f"{error}. Choose another --port or --host.") from None
        if info is not None:
            info.unlink(missing_ok=True)  # of a start that was killed: whoever waits for it waits
        with held, only_one(settings.DATA_DIR), the_database(), meeting_place() as meeting:
            address = Address(host, held.getsockname()[1])
            role = self.prepare()
            made = first_run.made_now(settings.DATA_DIR)
            known = made or first_run.made_before(settings.DATA_DIR)
            connections.close_all()
            children = processes(address, role, Size(web, workers), meeting)
            self.run(children, Start(address, known, made is not None), info, meeting)

    def stop(self, *_: object) -> None:
        self.stopping = True

    def prepare(self) -> str:
        """Check, migrate and hand out rights; the answer is the role of web and worker."""
        self.check(databases=["default"])
        call_command("migrate", interactive=False, verbosity=0)
        granted = roles.prepare(connection)
        if old := repair.ring():
            self.stdout.write(
                f"The indexes of {old} workspaces were made by other rules than today's; the worker"
                " makes them anew while all goes on. /health/ready and the admin tell how far it"
                " is."
            )
        if granted.why:
            self.stderr.write(
                f"Web and worker run with the owner's rights: {granted.why}."
                " Let an administrator make an ordinary role, and set APP_DATABASE_URL."
            )
        return granted.database_role

    def run(self, children: list[Child], start: Start, info: Path | None, meeting: Path) -> None:
        """Supervise until a signal; tell once when the server answers."""

        def tell() -> None:
            self.stdout.write("\n".join(start.greeting()))
            self.stdout.flush()
            if info is not None:  # last: whoever waits for it finds all else
                first_run.write_private(info.resolve(), start.info())

        def forget_password() -> None:
            changed = replace(start, known=first_run.read(settings.DATA_DIR))
            if info is not None:
                first_run.write_private(info.resolve(), changed.info())

        ready = Once(lambda: answers(start.address), tell)
        pulse = Pulse(meeting, children[0].begin_anew)
        changed = Once(lambda: ready.done and start.password_was_changed(), forget_password)
        watch = (revive_database, ready, pulse, changed)
        supervise(children, until=lambda: self.stopping, watch=watch)
        if info is not None:
            info.unlink(missing_ok=True)


@dataclass
class Once:
    """Asks `condition` until it holds, then does `act`, once."""

    condition: Callable[[], bool]
    act: Callable[[], None]
    done: bool = False

    def __call__(self) -> None:
        if not self.done and self.condition():
            self.done = True
            self.act()


def cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 2


def count(text: str) -> int:
    number = int(text)
    if number < 1:
        raise ValueError
    return number


@contextmanager
def only_one(data_dir: Path) -> Iterator[None]:
    data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
    with open(data_dir / "up.lock", "a") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise CommandError(f"Another `up` runs over {data_dir}.") from None
        yield


@contextmanager
def the_database() -> Iterator[None]:
    """The embedded server ends with us, unless another command still uses it."""
    try:
        yield
    finally:
        connections.close_all()
        if settings.EMBEDDED_POSTGRES is not None:
            embedded_postgres.leave(settings.EMBEDDED_POSTGRES)


def revive_database() -> None:
    """Bring a killed embedded server back before anybody asks for it."""
    home = settings.EMBEDDED_POSTGRES
    if home is not None and not embedded_postgres.is_alive(home):
        embedded_postgres.ensure_running(home, recheck=True)
