"""Child processes of `up`: each in a session of its own, restarted when it dies, ended when `up`
ends."""

import ctypes
import logging
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

log = logging.getLogger(__name__)

TICK = 0.2  # seconds
STOP_TIMEOUT = 20.0
FIRST_PAUSE, LONGEST_PAUSE = 0.5, 30.0
STEADY = 60.0  # a child that ran so long has recovered
PR_SET_PDEATHSIG = 1
_libc = ctypes.CDLL(None) if sys.platform == "linux" else None


@dataclass
class Child:
    """A program that shall run. Its session lets Ctrl-C reach `up` alone, and lets us end its own
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
        """Start it when it is due; when it died, end what is left of it and set the time of its
        next start."""
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
            log.error(
                "%s ended (%s); again in %.1f s", self.name, self.process.returncode, self.pause
            )
            self.process = None
            self.due_at = now + self.pause
            self.pause = min(self.pause * 2, LONGEST_PAUSE)

    def ask_to_end(self) -> None:
        if self.process is not None:
            with suppress(ProcessLookupError):
                self.process.terminate()

    def begin_anew(self) -> None:
        """End it by force: it is stuck. It is started again like one that died."""
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

    Then end the children: asked first, by force after STOP_TIMEOUT. The first of them is the door, and
    ends before the others: what came in by it is still answered.
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
    """Runs in the child: the kernel sends it SIGTERM when `up` dies, even by SIGKILL."""
    assert _libc is not None
    _libc.prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
    if os.getppid() != parent:  # it died before the kernel was told
        os._exit(1)
