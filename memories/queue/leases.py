"""Leases: a worker renews its claim on a row again and again; one that was killed falls silent.

A row's lease runs out LEASE after its worker last renewed it, and then another may claim it. A
thread of the worker's own process renews it, so slow work keeps it and a dead process does not. A
claim counts up the row's `claims`: whoever writes, or renews, gives the number that it got, and a
worker whose row was taken over finds another number there.
"""

import logging
import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from django.db import connection, transaction
from django.db.models import Q, QuerySet
from django.utils import timezone

from memoryproject.postgres import visible

LEASE = timedelta(seconds=30)
BEAT = 5.0  # seconds between two renewals
# Work that makes no progress for so long is renewed no more: it is stuck in a loop.
LONGEST = 600.0  # seconds
# No honest lease ends later than this, whichever machine's clock wrote it.
FAR = timedelta(minutes=10)
# Condition of a row that nobody holds, on its column `lease_until`; `now` is this machine's.
FREE = "(lease_until is null or lease_until < %(now)s or lease_until > %(now)s + interval '10 min')"
log = logging.getLogger(__name__)


class TakenOver(Exception):
    """The lease ran out and another worker has the row: what this one did is rolled back."""


def end() -> datetime:
    """The end of a lease that begins now."""
    return timezone.now() + LEASE


def free(now: datetime, column: str = "lease_until") -> Q:
    """The condition FREE for Django's ORM."""
    over = Q(**{f"{column}__lt": now}) | Q(**{f"{column}__gt": now + FAR})
    return Q(**{f"{column}__isnull": True}) | over


@dataclass(slots=True, eq=False)
class Work:
    """Work under a lease: `rows` are those that the claim still holds, `column` holds the lease."""

    rows: Callable[[], QuerySet[Any]]
    column: str
    shown: str  # what is visible to it
    began: float = field(default_factory=time.monotonic)
    advanced: float = field(default_factory=time.monotonic)

    def advance(self) -> None:
        """Note that a step is done: the work is not stuck in a loop."""
        self.advanced = time.monotonic()

    @property
    def is_to_be_renewed(self) -> bool:
        now = time.monotonic()
        return now - self.began >= BEAT / 2 and now - self.advanced < LONGEST


_works: set[Work] = set()
_lock = threading.Lock()
_thread: threading.Thread | None = None


@contextmanager
def renewed(rows: Callable[[], QuerySet[Any]], column: str = "lease_until") -> Iterator[Work]:
    """Renew the lease of `rows` as long as the work inside goes on.

    Another thread does so, with its own connection: only committed rows are renewed, and a row that
    the claim has lost is left alone.
    """
    global _thread
    work = Work(rows, column, visible.setting())
    with _lock:
        _works.add(work)
        if _thread is None:  # work that is shorter than a beat costs no more than this
            _thread = threading.Thread(target=_renew_for_ever, name="leases", daemon=True)
            _thread.start()
    try:
        yield work
    finally:
        with _lock:
            _works.discard(work)


def _renew_for_ever() -> None:
    while True:
        time.sleep(BEAT)
        with _lock:
            held = [work for work in _works if work.is_to_be_renewed]
        for work in held:
            try:
                with (
                    visible.as_set(work.shown),
                    transaction.atomic(),
                    connection.cursor() as cursor,
                ):
                    # Whoever writes the row in a long transaction holds it: the others do not wait
                    # for it.
                    cursor.execute("set local lock_timeout = '2s'")
                    work.rows().update(**{work.column: end()})
            except Exception as error:  # the thread is all there is, and goes on
                log.warning("A lease was not renewed, and is tried again: %s", error)
                connection.close()
        if not held:
            connection.close()


def _forget() -> None:
    """Forget the parent's work in a forked process, which has no such thread."""
    global _thread, _lock
    _works.clear()
    _lock, _thread = threading.Lock(), None


os.register_at_fork(after_in_child=_forget)
