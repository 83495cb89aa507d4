"""The programs that `up` runs: the front, the web processes behind it, and the task worker."""

import ctypes
import logging
import os
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from importlib.util import find_spec
from pathlib import Path

from django.conf import settings

from memoryproject.server.address import Address, allowed_hosts
from memoryproject.server.front.lanes import Options
from memoryproject.server.front.wire import packed

log = logging.getLogger(__name__)

TICK = 0.2  # seconds
STOP_TIMEOUT = 20.0
FIRST_PAUSE, LONGEST_PAUSE = 0.5, 30.0
STEADY = 60.0  # a child that ran so long has recovered
PULSE, SILENCE = 5.0, 30.0  # between two questions to the front; without an answer it is stuck
PR_SET_PDEATHSIG = 1
_libc = ctypes.CDLL(None) if sys.platform == "linux" else None


@dataclass
class Child:
    """A program to keep running. Its own session lets Ctrl-C reach `up` alone, and lets us end its
    children."""

    name: str
    command: Sequence[str]
    env: dict[str, str]
    folder: Path
    process: subprocess.Popen[bytes] | None = field(default=None, init=False)
    started_at: float = field(default=0.0, init=False)
    due_at: float = field(default=0.0, init=False)
    pause: float = field(default=FIRST_PAUSE, init=False)

    def keep_running(self) -> None:
        """Start it when it is due; if it died, end its remaining children and schedule its next
        start."""
        now = time.monotonic()
        if self.process is None and now >= self.due_at:
            self.process = subprocess.Popen(
                self.command,
                env=self.env,
                cwd=self.folder,
                stdin=subprocess.DEVNULL,
                start_new_session=True,
                preexec_fn=partial(end_with, os.getpid()) if _libc else None,  # `up` has no threads
            )
            self.started_at = now
        elif self.process is not None and self.process.poll() is not None:
            self._kill_group()
            if now - self.started_at > STEADY:
                self.pause = FIRST_PAUSE
            log.error("%s ended (%s); again in %.1f s", self.name, self.process.returncode, self.pause)
            self.process = None
            self.due_at = now + self.pause
            self.pause = min(self.pause * 2, LONGEST_PAUSE)

    def ask_to_end(self) -> None:
        if self.process is not None:
            with suppress(ProcessLookupError):
                self.process.terminate()

    def begin_anew(self) -> None:
        """End it by force because it is stuck. It is restarted like one that died."""
        if self.process is not None:
            log.error("%s does not answer and is ended", self.name)
            self._kill_group()

    def end(self, deadline: float) -> None:
        """Wait until `deadline`, then end it and its own children by force."""
        if self.process is None:
            return
        with suppress(subprocess.TimeoutExpired):
            self.process.wait(max(0.0, deadline - time.monotonic()))
        self._kill_group()
        self.process.wait()
        self.process = None

    def _kill_group(self) -> None:
        assert self.process is not None
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self.process.pid, signal.SIGKILL)


def supervise(
    children: Sequence[Child],
    *,
    until: Callable[[], bool],
    watch: Sequence[Callable[[], None]] = (),
) -> None:
    """Keep `children` running and call `watch` several times a second, until `until()`.

    Then end the children: by request first, by force after STOP_TIMEOUT. The first of them is the
    door, and ends before the others: requests that came in by it are still answered.
    """
    try:
        while not until():
            for child in children:
                child.keep_running()
            for look in watch:
                look()
            time.sleep(TICK)
    finally:
        deadline = time.monotonic() + STOP_TIMEOUT
        for group in (children[:1], children[1:]):
            for child in group:
                child.ask_to_end()
            for child in group:
                child.end(deadline)


def end_with(parent: int) -> None:
    """Make the kernel send SIGTERM to this child when `up` dies, even by SIGKILL."""
    assert _libc is not None
    _libc.prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
    if os.getppid() != parent:  # it died before the kernel was told
        os._exit(1)


@dataclass(frozen=True)
class Size:
    """The number of web processes that read (and as many that write), and of workers; 0: they run
    elsewhere."""

    web: int
    workers: int


@contextmanager
def meeting_place() -> Iterator[Path]:
    """Make a private folder of this user where front and web processes meet, with a path short
    enough for a socket."""
    folder = Path(tempfile.mkdtemp(prefix="memoryproject-", dir="/tmp"))
    try:
        yield folder / "front.sock"
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def processes(address: Address, role: str, size: Size, meeting: Path) -> list[Child]:
    """The programs to run; `role` is the database role of web and worker, owner or app."""
    env = {
        **os.environ,
        "DJANGO_SETTINGS_MODULE": "memoryproject.settings",
        "DATABASE_ROLE": role,
        "MEMORY_DATA_DIR": str(settings.DATA_DIR),
        "ALLOWED_HOSTS": ",".join(allowed_hosts(address.host)),
        "WORKERS": str(size.workers or 1),
    }
    options = Options(
        socket=str(meeting),
        largest_body=settings.DATA_UPLOAD_MAX_MEMORY_SIZE,
        largest_upload=settings.MAX_UPLOAD_BYTES,
        least_free=settings.DISK_FREE_MIN_MB * 2**20,
        body_seconds=settings.BODY_TIMEOUT,
        most_connections=settings.MAX_CONNECTIONS,
        behind_proxy=settings.BEHIND_TLS_PROXY,
        key_cap=settings.RATE_LIMIT_PER_MINUTE,
        workspace_cap=settings.WORKSPACE_RATE_LIMIT_PER_MINUTE,
        anonymous_cap=settings.ANONYMOUS_RATE_LIMIT_PER_MINUTE,
        log_level=settings.LOG_LEVEL,
        log_format=settings.LOG_FORMAT,
    )
    folder, command = settings.BASE_DIR, [sys.executable, "-m", "memoryproject"]
    # Where workers run, the models run beside them.
    models = [*command, "models"] if not size.workers and find_spec("fastembed") else []
    web = [*command, "web", "--front", str(meeting), "--processes", str(size.web)]
    return [
        Child("front", _front(address), env | options.as_variable(), folder),
        Child("web", web, env, folder),
        *([Child("worker", [*command, "work"], env, folder)] if size.workers else []),
        *([Child("models", models, env, folder)] if models else []),
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
    return [*words, "memoryproject.server.front.server:app"]


class Pulse:
    """Checks again and again whether the front answers, without waiting for it; `on_silence` is
    called after SILENCE seconds without an answer. It uses the socket of the web processes, which
    no client fills."""

    def __init__(self, meeting: Path, on_silence: Callable[[], None]) -> None:
        self.meeting, self.on_silence = meeting, on_silence
        self.question: socket.socket | None = None
        self.asked_at = self.answered_at = time.monotonic()

    def __call__(self) -> None:
        now = time.monotonic()
        try:
            if self.question is None:
                if now - self.asked_at >= PULSE:
                    self.asked_at = now
                    self.question = socket.socket(socket.AF_UNIX)
                    self.question.settimeout(1.0)
                    self.question.connect(str(self.meeting))
                    self.question.sendall(packed({"pulse": True}))
            elif select.select([self.question], [], [], 0)[0]:
                if self.question.recv(64):
                    self.answered_at = now
                self._drop()
            elif now - self.asked_at > SILENCE:
                self._drop()
        except OSError:
            self._drop()
        if now - self.answered_at > SILENCE:
            self.answered_at = now
            self.on_silence()

    def _drop(self) -> None:
        if self.question is not None:
            self.question.close()
            self.question = None
