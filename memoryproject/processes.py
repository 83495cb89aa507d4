"""The programs that `up` runs: the front, the web processes behind it, and the task worker."""

import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from django.conf import settings

from memoryproject.address import Address, allowed_hosts
from memoryproject.front.options import Options
from memoryproject.supervisor import Child


@dataclass(frozen=True)
class Size:
    """How many web processes read (and as many that write), and how many workers."""

    web: int
    workers: int


@contextmanager
def meeting_place() -> Iterator[Path]:
    """A folder of this user's alone, short enough for the path of a socket, where front and web
    processes meet."""
    folder = Path(tempfile.mkdtemp(prefix="memoryproject-", dir="/tmp"))
    try:
        yield folder / "front.sock"
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def processes(address: Address, role: str, size: Size, meeting: Path) -> list[Child]:
    """`role` is the database role of web and worker, owner or app."""
    env = {
        **os.environ,
        "DJANGO_SETTINGS_MODULE": "memoryproject.settings",
        "DATABASE_ROLE": role,
        "MEMORY_DATA_DIR": str(settings.DATA_DIR),
        "ALLOWED_HOSTS": ",".join(allowed_hosts(address.host)),
        "WORKERS": str(size.workers),
    }
    options = Options(
        socket=str(meeting),
        largest_body=settings.DATA_UPLOAD_MAX_MEMORY_SIZE,
        body_seconds=settings.BODY_TIMEOUT,
        most_connections=settings.MAX_CONNECTIONS,
        behind_proxy=settings.BEHIND_TLS_PROXY,
        key_cap=settings.RATE_LIMIT_PER_MINUTE,
        workspace_cap=settings.WORKSPACE_RATE_LIMIT_PER_MINUTE,
        anonymous_cap=settings.ANONYMOUS_RATE_LIMIT_PER_MINUTE,
        log_level=settings.LOG_LEVEL,
        log_format=settings.LOG_FORMAT,
    )
    folder, command = settings.BASE_DIR, [sys.executable, "manage.py"]
    web = [*command, "web", "--front", str(meeting), "--processes", str(size.web)]
    return [
        Child("front", _front(address), env | options.as_variable(), folder),
        Child("web", web, env, folder),
        Child("worker", [*command, "work"], env, folder),
    ]


def _front(address: Address) -> list[str]:
    words = [sys.executable, "-m", "granian", "--interface", "rsgi", "--http", "1", "--no-ws"]
    words += ["--host", address.host, "--port", str(address.port), "--log-level", "warning"]
    words += [
        "--loop",
        "uvloop",
        "--runtime-mode",
        "st",
        "--backpressure",
        str(settings.MAX_CONNECTIONS),
    ]
    words += ["--http1-header-read-timeout", "20000"]
    words += ["--respawn-failed-workers", "--workers-kill-timeout", "15"]
    return [*words, "memoryproject.front.server:app"]
