"""Stops an embedded server some seconds after its last user has gone, however that user ended.

A user holds a shared flock on `users.lock`; the kernel drops it on any kind of death. The guard is
a small process that waits for the exclusive lock. It runs without site-packages, so this file needs
the standard library only.
"""

import contextlib
import fcntl
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

LINGER = 2.0  # seconds; commands typed one after the other find the server running
STOP_TIMEOUT = 60.0


def open_lock(file: Path) -> int:
    return os.open(file, os.O_RDWR | os.O_CREAT, 0o600)


def try_lock(fd: int) -> bool:
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


@contextlib.contextmanager
def start_lock(root: Path) -> Iterator[None]:
    """Let one process at a time make, start or stop the server below `root`."""
    fd = open_lock(root / "start.lock")
    try:
        fcntl.flock(fd, fcntl.LOCK_EX)
        yield
    finally:
        os.close(fd)


def command_line(pid: int) -> list[str]:
    """The arguments of a running process; empty when there is none, or a zombie."""
    if not Path("/proc/self/cmdline").exists():
        out = subprocess.run(["ps", "-ww", "-o", "command=", "-p", str(pid)], capture_output=True, text=True)
        return out.stdout.split()
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().decode(errors="replace").split("\0")
    except OSError:
        return []


def postmaster(data: Path) -> int | None:
    """The pid of the server over `data`. A pid file may be stale, and its pid may belong to another
    program by now."""
    try:
        pid = int((data / "postmaster.pid").read_text().split()[0])
    except (OSError, ValueError, IndexError):
        return None
    words = command_line(pid)
    return pid if words and Path(words[0]).name == "postgres" and str(data) in words else None


def stop(data: Path) -> None:
    """Shut the server down in order, without waiting for its clients; by force when it takes too
    long."""
    pid = postmaster(data)
    if pid is None:
        return
    for number in (signal.SIGINT, signal.SIGQUIT):
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, number)
        end = time.monotonic() + STOP_TIMEOUT
        while time.monotonic() < end:
            if postmaster(data) != pid:
                return
            time.sleep(0.02)


def stop_if_unused(root: Path, *, then: int | None = None) -> bool:
    """Stop the server below `root` unless somebody holds a lease. `then` is a descriptor to close
    while nobody can start a server."""
    with start_lock(root):
        users = open_lock(root / "users.lock")
        try:
            if not try_lock(users):
                return False
            stop(root / "data")
            if then is not None:
                os.close(then)
            return True
        finally:
            os.close(users)


def watch(root: Path) -> None:
    guard = open_lock(root / "guard.lock")
    if not try_lock(guard) or os.fork():  # one guard is enough; and whoever started us does not wait
        os._exit(0)
    os.setsid()
    users = open_lock(root / "users.lock")
    while True:
        fcntl.flock(users, fcntl.LOCK_EX)
        fcntl.flock(users, fcntl.LOCK_UN)
        time.sleep(LINGER)
        if not root.exists() or stop_if_unused(root, then=guard):
            return


if __name__ == "__main__":
    watch(Path(sys.argv[1]))
