"""The web processes: forked from one that has loaded everything, each serving one lane of the
front.

The parent has no connection to anything and only watches: a process that ended is forked anew, at
once and with most of its memory shared.
"""

import logging
import os
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from io import BytesIO
from pathlib import Path
from typing import Any

from django.db import close_old_connections

from memories import ingest
from memories.providers import network
from memories.providers.network import NeedsNetwork
from memoryproject.postgres import replica
from memoryproject.postgres.replica import ReplicaReads, WithPosition
from memoryproject.server.front.lanes import LANES, READ, WAITING, Lane, processes_of
from memoryproject.server.front.wire import BODY_FILE, CAP, FRONT, POSITION, STREAM, TENANT, WAIT, packed, read_frame
from memoryproject.server.processes import end_with

log = logging.getLogger(__name__)

Application = Callable[[dict[str, Any], Callable[..., Any]], Iterable[bytes]]
PART = 2**18  # bytes of a long answer that are sent at once
SOON, YOUNG, LONGEST_PAUSE = 0.1, 5.0, 10.0  # seconds
GRACE = 15.0  # seconds for what is under way when it is to end
WAITED_FOR = {signal.SIGTERM, signal.SIGCHLD}


class Parent:
    """Forks a process for each of `lanes`, which `serve` turns into one of its lane, and keeps
    their number."""

    def __init__(self, front: str, lanes: Sequence[Lane], serve: Callable[[Lane, str], None]) -> None:
        self.front = front
        self.serve = serve
        self.due = [(0.0, lane) for lane in lanes]
        self.running: dict[int, tuple[Lane, float]] = {}
        self.pauses: dict[str, float] = {}

    def run(self) -> None:
        """Run until SIGTERM; then the children get GRACE seconds."""
        signal.pthread_sigmask(signal.SIG_BLOCK, WAITED_FOR)
        while True:
            self.fork_due()
            came = signal.sigtimedwait(WAITED_FOR, 0.2 if self.due else 5.0)
            self.reap()
            if came and came.si_signo == signal.SIGTERM:
                break
        for pid in self.running:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGTERM)
        end = time.monotonic() + GRACE + 1
        while self.running and time.monotonic() < end:
            signal.sigtimedwait({signal.SIGCHLD}, 0.2)
            self.reap()
        for pid in self.running:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    def fork_due(self) -> None:
        now = time.monotonic()
        ready = [lane for at, lane in self.due if at <= now]
        self.due = [(at, lane) for at, lane in self.due if at > now]
        for lane in ready:
            parent, pid = os.getpid(), os.fork()
            if pid == 0:
                end_with(parent)
                if sys.platform == "linux":
                    Path("/proc/self/comm").write_text(f"web-{lane.name}")  # for who looks at the processes
                self.serve(lane, self.front)
            self.running[pid] = lane, now

    def reap(self) -> None:
        """Schedule ended processes again: at once, or with growing delay if they end at once."""
        while self.running:
            pid, status = os.waitpid(-1, os.WNOHANG)
            if pid == 0:
                return
            lane, began = self.running.pop(pid)
            now = time.monotonic()
            young = now - began < YOUNG
            pause = min(self.pauses.get(lane.name, SOON) * 2, LONGEST_PAUSE) if young else SOON
            self.pauses[lane.name] = pause
            self.due.append((now + pause, lane))
            code = os.waitstatus_to_exitcode(status)
            if code == 0:  # it was asked to end
                continue
            log.error("web process %s (%s) ended (%s); again in %.1f s", pid, lane.name, code, pause)


def lanes_of_web(web: int) -> list[Lane]:
    """The lane of each web process, where `up --web` says `web`."""
    return [lane for lane in LANES.values() for _ in range(processes_of(lane, web))]


def serve_lane(lane: Lane, front: str, application: Application) -> None:
    """Run a child; it does not return."""
    os.nice(lane.niceness)
    network.ELSEWHERE = lane is not WAITING
    if replica.is_used():
        application = (ReplicaReads if lane is READ else WithPosition)(application)
    workers = [Worker(lane, front, application) for _ in range(lane.threads)]
    for worker in workers:
        threading.Thread(target=worker.run, daemon=True).start()
    signal.sigwait({signal.SIGTERM})
    end = time.monotonic() + GRACE
    for worker in workers:
        worker.is_ending = True
    while any(worker.is_busy for worker in workers) and time.monotonic() < end:
        time.sleep(0.02)
    os._exit(0)


class Worker:
    """One thread that takes a request from the front, answers it, and takes the next."""

    def __init__(self, lane: Lane, front: str, application: Application) -> None:
        self.lane, self.front, self.application = lane, front, application
        self.is_busy = self.is_ending = False

    def run(self) -> None:
        """Run until the front restarts, then return."""
        while not self.is_ending:
            try:
                with socket.socket(socket.AF_UNIX) as connection:
                    connection.connect(self.front)
                    self.serve(connection)
            except OSError as error:
                log.debug("no front at %s: %s", self.front, error)
            except Exception:
                log.exception("an answer broke off")  # its client sees that, too
            self.is_busy = False
            time.sleep(SOON)

    def serve(self, connection: socket.socket) -> None:
        connection.sendall(packed({"lane": self.lane.name, "pid": os.getpid()}))
        with connection.makefile("rb") as stream:
            while not self.is_ending and (frame := read_frame(stream)):
                self.is_busy = True
                head, body = frame
                if "sessions" in head:
                    close_old_connections()
                    connection.sendall(packed({"settled": ingest.settled_among(head["sessions"])}))
                else:
                    respond(self.application, head["environ"], body, connection)
                self.is_busy = False


def respond(application: Application, environ: dict[str, Any], body: bytes, connection: socket.socket) -> None:
    """Let the application answer, and send its answer in parts where it is long."""
    path = environ.pop(BODY_FILE, "")
    with open(path, "rb") if path else BytesIO(body) as sent:
        _respond(application, environ, sent, connection)


def _respond(application: Application, environ: dict[str, Any], sent: Any, connection: socket.socket) -> None:
    environ |= {
        "wsgi.version": (1, 0),
        "wsgi.url_scheme": "http",
        "wsgi.input": sent,
        "wsgi.errors": sys.stderr,
        "wsgi.multithread": True,
        "wsgi.multiprocess": True,
        "wsgi.run_once": False,
        FRONT: True,
    }
    head: dict[str, Any] = {}

    def start_response(status: str, headers: list[tuple[str, str]], *_: Any) -> None:
        head.update(status=int(status[:3]), headers=headers)

    try:
        answer = application(environ, start_response)
    except NeedsNetwork:
        connection.sendall(packed({"elsewhere": WAITING.name, **notes_of(environ)}))
        return
    held, size = [], 0
    try:
        for part in answer:
            held.append(part)
            size += len(part)
            if size >= PART:
                head |= notes_of(environ)
                connection.sendall(packed({**head, "more": True}, b"".join(held)))
                head, held, size = {}, [], 0
    finally:
        getattr(answer, "close", lambda: None)()
    connection.sendall(packed({**head, **notes_of(environ), "more": False}, b"".join(held)))


def notes_of(environ: dict[str, Any]) -> dict[str, Any]:
    """The notes for the front that the application wrote into the environ: the tenant, the ingest
    to wait for, and more."""
    notes = {
        "tenant": environ.get(TENANT),
        "cap": environ.get(CAP),
        "wait": environ.get(WAIT),
        "position": environ.get(POSITION),
        "stream": environ.get(STREAM),
    }
    return {name: value for name, value in notes.items() if value is not None}
