"""The server in one command: database, web and worker."""

import fcntl
import os
import signal
import socket
import sys
import urllib.request
from argparse import ArgumentParser
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.error import URLError

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError
from django.db import connection, connections

from memoryproject import embedded_postgres, first_run, roles
from memoryproject.supervisor import Child, supervise
from workspaces.onboarding import FirstRun

EVERYWHERE = ("0.0.0.0", "::")
CALL = "curl {url}/api/v1/workspaces/{workspace}/memories/{verb} -H 'Authorization: Bearer {key}' \\\n    -H 'Content-Type: application/json' -d '{body}'"
TELL = ("ingest", '{"content": "I prefer tea to coffee, and I moved to Lisbon in May."}')
ASK = ("search", '{"query": "what to drink?"}')


@dataclass(frozen=True)
class Address:
    host: str
    port: int

    @property
    def url(self) -> str:
        """Where this machine reaches the server."""
        host = "127.0.0.1" if self.host in EVERYWHERE else self.host
        return f"http://[{host}]:{self.port}" if ":" in host else f"http://{host}:{self.port}"


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


class Command(BaseCommand):
    help = "Run the whole server: database, web and worker. Ctrl-C or SIGTERM stops everything."
    requires_system_checks = ()  # run below, when the database is there
    stopping = False

    def add_arguments(self, parser: ArgumentParser) -> None:
        cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 2
        parser.add_argument("--host", default="127.0.0.1", help="address to listen at")
        parser.add_argument("--port", type=int, default=8000, help="0: any free one")
        parser.add_argument(
            "--data", help="folder of all state (default: MEMORY_DATA_DIR or .data)"
        )
        parser.add_argument("--info", type=Path, help="file that gets url and key when ready")
        parser.add_argument("--web", type=int, default=cores, help="web processes")
        parser.add_argument("--workers", type=int, default=2, help="worker processes")

    def handle(
        self, *, host: str, port: int, info: Path | None, web: int, workers: int, **_: Any
    ) -> None:
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self.stop)
        address = free_address(host, port)
        with only_one(settings.DATA_DIR), the_database():
            role = self.prepare()
            first = first_run.made_now(settings.DATA_DIR)
            known = first or first_run.made_before(settings.DATA_DIR)
            connections.close_all()
            children = processes(address, role, web=web, workers=workers)
            self.run(children, address, known, first, info)

    def stop(self, *_: object) -> None:
        self.stopping = True

    def prepare(self) -> str:
        """Check, migrate and hand out rights; the answer is the role of web and worker."""
        self.check(databases=["default"])
        call_command("migrate", interactive=False, verbosity=0)
        granted = roles.prepare(connection)
        if granted.why:
            self.stderr.write(
                f"Web and worker run with the owner's rights: {granted.why}."
                " Let an administrator make an ordinary role, and set APP_DATABASE_URL."
            )
        return granted.database_role

    def run(
        self,
        children: list[Child],
        address: Address,
        known: FirstRun | None,
        first: FirstRun | None,
        info: Path | None,
    ) -> None:
        """Supervise until a signal; tell once when the server answers."""

        def become_ready() -> None:
            if info is not None:
                first_run.write_private(info.resolve(), info_of(address, known))
            self.tell(address, known, shown=first is not None)

        ready = Once(lambda: answers(address), become_ready)
        supervise(children, until=lambda: self.stopping, watch=(revive_database, ready))
        if info is not None:
            info.unlink(missing_ok=True)

    def tell(self, address: Address, known: FirstRun | None, *, shown: bool) -> None:
        url = address.url
        lines = [
            f"memoryproject answers at {url}",
            f"  admin  {url}/admin/",
            f"  API    {url}/api/docs",
        ]
        if known is None:
            lines.append("  key    make one with: python3 manage.py createkey")
        elif shown:
            lines += [
                f"  login  {known.admin_user} / {known.admin_password}",
                f"  key    {known.key}  (workspace {known.workspace})",
                "Tell it something, then ask:",
                *(call(url, known, *what) for what in (TELL, ASK)),
            ]
        else:
            lines.append(
                f"  login and key of the first start: {settings.DATA_DIR / first_run.FILE}"
            )
        lines.append("Ctrl-C stops it.")
        self.stdout.write("\n".join(lines))
        self.stdout.flush()


def call(url: str, known: FirstRun, verb: str, body: str) -> str:
    return "  " + CALL.format(
        url=url, workspace=known.workspace, key=known.key, verb=verb, body=body
    )


def info_of(address: Address, known: FirstRun | None) -> dict[str, object]:
    facts: dict[str, object] = {"url": address.url}
    if known is not None:
        facts |= {"workspace": known.workspace, "key": known.key}
        facts |= {"adminUser": known.admin_user, "adminPassword": known.admin_password}
    return facts


def free_address(host: str, port: int) -> Address:
    """Refuse early: the web server would share the port with another of its kind without a word."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        with socket.socket(family) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind((host, port))
            return Address(host, probe.getsockname()[1])
    except (OSError, OverflowError) as error:
        raise CommandError(
            f"Cannot listen at {host}:{port}: {error}. Choose another --port."
        ) from None


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


def answers(address: Address) -> bool:
    try:
        with urllib.request.urlopen(f"{address.url}/health/live", timeout=1) as response:
            return response.status == 200
    except (URLError, OSError):
        return False


def processes(address: Address, role: str, *, web: int, workers: int) -> list[Child]:
    env = {
        **os.environ,
        "DJANGO_SETTINGS_MODULE": "memoryproject.settings",
        "DATABASE_ROLE": role,
        "MEMORY_DATA_DIR": str(settings.DATA_DIR),
        "ALLOWED_HOSTS": ",".join(allowed_hosts(address.host)),
        "WEB_PROCESSES": str(web),
        "WORKERS": str(workers),
    }
    folder = settings.BASE_DIR
    return [
        Child("web", web_command(address, web), env, folder),
        Child("worker", [sys.executable, "manage.py", "work"], env, folder),
    ]


def web_command(address: Address, web: int) -> list[str]:
    """WSGI with one thread in each process: measured to serve most, and one connection per process is enough."""
    words = [sys.executable, "-m", "granian", "--interface", "wsgi", "--http", "1", "--no-ws"]
    words += ["--host", address.host, "--port", str(address.port), "--log-level", "warning"]
    words += ["--workers", str(web), "--blocking-threads", "1", "--backpressure", "256"]
    words += ["--respawn-failed-workers", "--workers-kill-timeout", "15"]
    return [*words, "memoryproject.wsgi:application"]


def allowed_hosts(host: str) -> list[str]:
    """The names that requests may use: those of the settings, and what --host adds."""
    names = list(settings.ALLOWED_HOSTS)
    if host in EVERYWHERE:
        own = socket.gethostname()
        names += [own, socket.getfqdn()]
    else:
        names.append(f"[{host}]" if ":" in host else host)
    return list(dict.fromkeys(name.lower() for name in names if name))
