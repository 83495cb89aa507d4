"""The parts of a server and their state: those of the machine, which need no row.

Nothing here waits for long: a database that does not answer is reported after DEADLINE.
"""

import json
import os
import select
import time
from collections.abc import Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from enum import StrEnum
from functools import cache
from pathlib import Path

import psycopg
from django.conf import settings
from django.db import connection
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder
from psycopg import pq

from memoryproject.server.first_run import write_private

DEADLINE = 3.0  # seconds
CROWDED = 0.9  # of all connections
ASKED = b"""
select current_setting('transaction_read_only'), extract(epoch from pg_postmaster_start_time()),
       (select sum(numbackends) from pg_stat_database), current_setting('max_connections')
"""
FILE = "health.json"


class State(StrEnum):
    OK = "ok"
    DEGRADED = "degraded"  # it serves, and somebody should look
    FAILED = "failed"  # the server cannot do its work


@dataclass(frozen=True, slots=True)
class Part:
    """`since`: when this state began, where that is known; else when it was first seen. `value` is
    its metric in /metrics."""

    name: str
    state: State
    detail: str = ""
    since: datetime | None = None
    value: float | None = None


# ---- the database ---------------------------------------------------------------------------


def database() -> Part:
    """Check whether the database answers and accepts changes."""
    try:
        read_only, started, used, most = _asked()
    except (psycopg.Error, TimeoutError) as error:
        detail = str(error).strip().partition("\n")[0] or "It does not answer."
        return Part("database", State.FAILED, detail, value=0)
    since = datetime.fromtimestamp(float(started), UTC)
    if read_only == "on":
        connection.close()  # a session that began so stays so
        return Part("database", State.FAILED, "It is read-only.", value=0)
    state = State.DEGRADED if int(used) >= CROWDED * int(most) else State.OK
    return Part("database", state, f"{used} of {most} connections", since, value=1)


def _asked() -> list[str]:
    """Query the database over this process's connection if it is open, so that a server without a
    free one is not called dead; else, or if a restarted server has closed it, over a new one."""
    own = connection.connection
    if own is not None and not own.closed:
        try:
            return _answer(own.pgconn, ASKED)
        except TimeoutError:
            connection.close()
            raise
        except psycopg.Error:
            connection.close()
    words = connection.get_connection_params() | {"connect_timeout": int(DEADLINE)}
    with closing(psycopg.connect(**words)) as made:
        return _answer(made.pgconn, ASKED)


def _answer(pgconn: pq.abc.PGconn, query: bytes) -> list[str]:
    """The first row; TimeoutError where it does not come before the deadline, whatever delays it: a
    server that is stopped keeps no time limit of its own."""
    until = time.monotonic() + DEADLINE
    pgconn.send_query(query)
    poll = select.poll()
    poll.register(pgconn.socket, select.POLLIN)
    found: list[str] = []
    while True:
        pgconn.flush()
        while pgconn.is_busy():
            left = until - time.monotonic()
            if left <= 0 or not poll.poll(left * 1000):
                raise TimeoutError(f"It has not answered for {DEADLINE:.0f} seconds.")
            pgconn.consume_input()
        result = pgconn.get_result()
        if result is None:
            return found
        if result.status != pq.ExecStatus.TUPLES_OK:
            raise psycopg.OperationalError(result.get_error_message())
        found = [(result.get_value(0, i) or b"").decode() for i in range(result.nfields)]


def migrations() -> Part:
    """Check whether the database has the tables of this version."""
    missing = _shipped() - MigrationRecorder(connection).applied_migrations().keys()
    if missing:
        return Part("migrations", State.FAILED, f"{len(missing)} migrations are not applied")
    return Part("migrations", State.OK)


@cache
def _shipped() -> frozenset[tuple[str, str]]:
    return frozenset(MigrationLoader(None).disk_migrations)


# ---- the disk -------------------------------------------------------------------------------


def disk() -> Part:
    """Check the room in the data folder, where the embedded database is too."""
    least = settings.DISK_FREE_MIN_MB * 2**20
    home = settings.EMBEDDED_POSTGRES
    folders = [settings.DATA_DIR, *([home.data] if home is not None else [])]
    there = [folder for folder in folders if folder.exists()] or [Path("/")]
    found = [os.statvfs(folder) for folder in there]
    free = min(each.f_bavail * each.f_frsize for each in found)
    if any(each.f_flag & os.ST_RDONLY for each in found):
        return Part("disk", State.FAILED, f"{settings.DATA_DIR} is read-only.", value=free)
    detail = f"{free // 2**20:,} MB free"
    if free < least:
        return Part("disk", State.FAILED, detail, value=free)
    return Part("disk", State.DEGRADED if free < 10 * least else State.OK, detail, value=free)


# ---- since when -----------------------------------------------------------------------------

_last: dict[str, dict[str, str]] = {}


def dated(parts: Sequence[Part]) -> list[Part]:
    """The parts, each with the time when its state began. It is kept in the data folder, to outlive
    the process; on a full disk, in this process's memory."""
    now = datetime.now(UTC)
    try:
        known: dict[str, dict[str, str]] = json.loads((settings.DATA_DIR / FILE).read_text())
    except (OSError, ValueError):
        known = dict(_last)
    found = []
    for part in parts:
        since = part.since or now
        if last := known.get(part.name):
            before = min(datetime.fromisoformat(last["since"]), now)
            if part.since is None or part.since <= before:
                since = before if last["state"] == part.state else now
        found.append(replace(part, since=since))
    told = known | {p.name: {"state": str(p.state), "since": str(p.since)} for p in found}
    if told != known:
        _last.clear()
        _last.update(told)
        with suppress(OSError):
            write_private(settings.DATA_DIR / FILE, dict(told))
    return found
