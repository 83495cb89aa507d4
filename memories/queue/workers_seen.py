"""Signs of life of the processes that do background work: each reports every few seconds."""

import logging
import os
import socket
import threading
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.db import DatabaseError, connection

from memories.models import WorkerBeat

EVERY = 15.0  # seconds
LOST = 45.0  # seconds without a beat; ahead of the clock, too, for it may have been wrong
BEAT = """
insert into memories_workerbeat (id, kind, host, pid, started_at, seen_at)
values (%(id)s, %(kind)s, %(host)s, %(pid)s, now(), now())
on conflict (id) do update set seen_at = now()
"""
GONE = "delete from memories_workerbeat where id = any(%(ids)s::uuid[])"
ENDED = "delete from memories_workerbeat where seen_at < now() - interval '1 day'"

log = logging.getLogger(__name__)


@contextmanager
def beating(kind: str) -> Iterator[None]:
    """Report that this process is alive while the block runs. In a separate thread, with a
    short-lived connection: the work of the process may take long."""
    values = _beat_values(kind)
    done = threading.Event()

    def beat() -> None:
        while not done.is_set():
            _write(BEAT, values)
            done.wait(EVERY)
        _write(GONE, {"ids": [values["id"]]})

    thread = threading.Thread(target=beat, name="heartbeat", daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join(EVERY)


class Beats:
    """The reports of a process that forks others and so has no thread for them: its main loop
    writes them."""

    def __init__(self, kind: str) -> None:
        self._values = _beat_values(kind)

    def write(self) -> None:
        _write(BEAT, self._values)

    def end(self) -> None:
        _write(GONE, {"ids": [self._values["id"]]})


def _beat_values(kind: str) -> dict[str, Any]:
    return {"id": uuid.uuid4(), "kind": kind, "host": socket.gethostname(), "pid": os.getpid()}


def forget_the_dead() -> None:
    """Delete the rows of processes of this machine that are gone, and of any that were lost a day
    ago."""
    own = WorkerBeat.objects.filter(host=socket.gethostname()).values_list("pk", "pid")
    gone = []
    for pk, pid in own:
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            gone.append(pk)
        except PermissionError:
            continue  # it is somebody else's, and there
    with connection.cursor() as cursor:
        cursor.execute(GONE, {"ids": gone})
        cursor.execute(ENDED)


def _write(statement: str, values: dict[str, Any]) -> None:
    try:
        with connection.cursor() as cursor:
            cursor.execute(statement, values)
    except DatabaseError as error:
        log.warning("A heartbeat is not written: %s", error)
    finally:
        connection.close()
