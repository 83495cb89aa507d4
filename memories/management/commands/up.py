"""The server in one command: database, web and worker."""

import fcntl
import json
import os
import signal
import subprocess
import sys
from argparse import ArgumentParser
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import CommandError
from django.db import connection, connections

from memories.index import repair
from memories.management.command_options import PrintableCommand, refuse_unfinished_restore
from memories.reading.extraction import fallback_chain
from memoryproject.postgres import crossings, database_roles, embedded_postgres, login_check, walls
from memoryproject.postgres.base import one_line_refusals
from memoryproject.server import first_run
from memoryproject.server.address import Address, AddressInUse, answers, reserve
from memoryproject.server.first_run import Start
from memoryproject.server.processes import Child, Pulse, Size, meeting_place, processes, supervise
from memoryproject.server.start_steps import StartStep
from workspaces.models import Workspace


class Command(PrintableCommand):
    help = "Run the whole server: database, web and worker. Ctrl-C or SIGTERM stops everything."
    requires_system_checks = ()  # run below, when the database is there
    stopping = False

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--host", default="127.0.0.1", help="address to listen at")
        parser.add_argument("--port", type=int, default=8000, help="0: any free one")
        parser.add_argument(
            "--data",
            help="folder of all state (default: MEMORY_DATA_DIR)",
        )
        parser.add_argument("--info", type=Path, help="file that gets url and key when ready")
        parser.add_argument("--web", type=count, default=cores(), help="web processes that read; as many write")
        parser.add_argument("--workers", type=count, default=2, help="worker processes")
        parser.add_argument("--no-worker", action="store_true", help="tasks are run elsewhere, by `work`")
        parser.add_argument("--demo", action="store_true", help="fill a workspace with an example to look at")

    def handle(
        self,
        *,
        host: str,
        port: int,
        info: Path | None,
        web: int,
        workers: int,
        no_worker: bool,
        demo: bool,
        **_: Any,
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
            shown = self.tell_demo() if demo else ()
            children = processes(address, role, Size(web, 0 if no_worker else workers), meeting)
            self.run(children, Start(address, known, made is not None, shown), info, meeting)

    def stop(self, *_: object) -> None:
        self.stopping = True

    def prepare(self) -> str:
        """Check, migrate and hand out rights; the answer is the role of web and worker."""
        refuse_unfinished_restore()
        with one_line_refusals():
            if settings.EMBEDDED_POSTGRES is not None:
                with StartStep("PostgreSQL", sys.stdout):
                    embedded_postgres.ensure_running(settings.EMBEDDED_POSTGRES)
            with StartStep("Tables", sys.stdout):
                self.check(databases=["default"])
                call_command("migrate", interactive=False, verbosity=0)
        granted = database_roles.prepare(connection)
        if granted.why and walls.are_up(connection):  # the owner would find nothing behind them
            raise CommandError(
                f"The walls between workspaces stand, and this owner may not keep them up: {granted.advice}"
            )
        if why := login_check.keep(connection):
            self.stderr.write(f"The database keeps no settings of ours: {why}. Logins set them.")
        if settings.EMBEDDED_POSTGRES is None:
            with one_line_refusals():
                database_roles.refuse_unfit_login(granted.database_role)
        with crossings.everywhere():
            raw_models = dict(
                Workspace.objects.filter(settings__has_key="extractors").values_list("slug", "settings__extractors")
            )
            old = repair.ring()
        for slug, raw in raw_models.items():
            for fault in fallback_chain.unusable(raw):
                self.stderr.write(f"Workspace {slug} cannot ask one of its models: {fault}.")
        if old:
            self.stdout.write(
                f"The indexes of {old} workspaces were made by other rules than today's; the worker"
                " makes them anew while all goes on. /health/ready and the admin tell how far it"
                " is."
            )
        if warning := granted.warning or database_roles.warning_of_borrowed_role(granted):
            self.stderr.write(warning)
        return granted.database_role

    def tell_demo(self) -> tuple[tuple[str, str], ...]:
        """Run the demo in its own process, which reads and embeds: this one has no threads and
        stays small."""
        command = [sys.executable, "-m", "memoryproject", "demo", "--json"]
        # Its decisions on the way belong to the story, and are no news for the log.
        env = {"LOG_LEVEL": "WARNING", **os.environ, "MEMORY_DATA_DIR": str(settings.DATA_DIR)}
        with StartStep("Example", sys.stdout):
            written = subprocess.check_output(command, cwd=settings.BASE_DIR, env=env)
        return tuple((each["idea"], each["path"]) for each in json.loads(written))

    def run(self, children: list[Child], start: Start, info: Path | None, meeting: Path) -> None:
        """Supervise until a signal; tell once when the server answers."""

        # Not on the error stream: a start that is refused says why there, and nothing else.
        starting = StartStep("Web processes, worker, model", sys.stdout, with_thread=False)

        def tell() -> None:
            starting.end()
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
        watch = (starting.tick, revive_database, ready, pulse, changed)
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
