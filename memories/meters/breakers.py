"""Breakers: after a few failures nobody waits for a model; it is retried in the background.

A breaker is a row that web and worker share, read at most once a second and written only when
something changes. Where rows cannot be written, each process goes by what it saw.
"""

import logging
import os
import random
import threading
import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import NamedTuple, TypeVar
from urllib.parse import urlsplit

from django.conf import settings
from django.db import DatabaseError, connection, transaction
from django.db.models import Q
from django.utils import timezone
from django.utils.crypto import salted_hmac

from memories import metrics
from memories.errors import Misconfigured, ProviderError, TimedOut, Unasked, UnreadableAnswer
from memories.meters import costs
from memories.models import Breaker
from memories.providers import network
from memories.queue import outbox

FAILURES, TIMEOUTS = 3, 2  # so many in a row open it
FIRST, LONGEST = 5.0, 20.0  # seconds of its pauses, each twice the one before
LONGEST_WANTED = 300.0  # seconds of a pause that the server itself asks for, because it is asked too much
TOO_MUCH = 429
JITTER = 0.2  # of a pause: processes of many machines shall not come back as one
FRESH = 1.0  # seconds
GRACE = timedelta(seconds=1)  # beyond the time of a call, before another one may try
UNKNOWN_AFTER = timedelta(hours=1)  # so long after it was due, nobody has asked for it
KEPT = timedelta(days=7)
MARK = 8  # letters

Answer = TypeVar("Answer")
log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class ProviderLine:
    """One way to a model: its purpose (query, documents, language, rerank), its address and key,
    and how many seconds a call may take. The ledger of `workspace_id` records its calls as calls
    for `use`."""

    purpose: str
    model: str
    base_url: str = ""
    api_key: str = field(default="", repr=False)
    seconds: float = 30.0
    workspace_id: uuid.UUID | None = None
    use: str = ""

    @property
    def name(self) -> str:
        """The model and the host. Path, key and time are in its mark: nothing is known of another
        key."""
        own = repr((self.model, self.base_url.rstrip("/"), self.api_key, self.seconds))
        mark = salted_hmac("memories.meters.breakers", own, algorithm="sha256").hexdigest()[:MARK]
        told = f"{self.purpose}: {self.place}"
        return f"{told[:280]} #{mark}"

    @property
    def place(self) -> str:
        """The model and, where it is not its maker's own, the host."""
        host = urlsplit(self.base_url).netloc.rpartition("@")[2]
        return f"{self.model} at {host}" if host else self.model


class BreakerState(NamedTuple):
    """The state of a breaker. Its name may show a workspace's own host; its purpose does not."""

    name: str
    state: str
    since: datetime
    detail: str
    purpose: str


@dataclass(slots=True)
class _KnownBreaker:
    """A row as it was at `read_at` (monotonic); `is_own`: it could not be written, so it is not
    read."""

    row: Breaker
    read_at: float
    is_own: bool = False


_lock = threading.Lock()
_seen: dict[str, _KnownBreaker] = {}


def call(line: ProviderLine, act: Callable[[], Answer]) -> Answer:
    """Return the result of `act`, one call over this line. Raises ProviderError: Unasked while the
    breaker is open, BudgetSpent where the workspace may spend no more.

    After its pause one caller tries an open breaker: a web process runs `act` in the background and
    goes on; the worker does it as its own work, and where that fails it has not been asked: the failure
    is not that row's. A command always calls: somebody waits.
    """
    if line.workspace_id is not None:
        costs.check(line.workspace_id)
    row = _look(line)
    is_trial = row.is_open and _claim(line, row)
    if row.is_open and settings.PROCESS_KIND == "web":
        if is_trial:
            network.in_thread(lambda: _try_beside(line, act), aside=True)
        raise _refusal(line, row)
    if row.is_open and settings.PROCESS_KIND == "worker":
        if not is_trial:
            raise _refusal(line, row)
        return _tried(line, act)
    return _watched(line, act, is_trial=is_trial)


def may_be_tried() -> bool:
    """Tell whether the pause of an open breaker is over."""
    return Breaker.objects.filter(state=Breaker.State.OPEN, next_try_at__lte=timezone.now()).exists()


def is_any_failing() -> bool:
    """Tell whether a provider failed when it was asked last."""
    return Breaker.objects.filter(Q(state=Breaker.State.OPEN) | Q(failures__gt=0)).exists()


def states() -> list[BreakerState]:
    """List all breakers that were used lately, the open ones first."""
    since = timezone.now() - UNKNOWN_AFTER
    rows = Breaker.objects.filter(Q(next_try_at__gt=since) | Q(state=Breaker.State.CLOSED))
    found = {row.name: row for row in rows}
    with _lock:
        found |= {name: seen.row for name, seen in _seen.items() if seen.is_own}
    listed = sorted(found.values(), key=lambda row: (not row.is_open, row.name))
    return [BreakerState(r.name, r.state, r.since, r.detail, r.purpose) for r in listed]


def prune() -> int:
    """Delete breakers that are no longer used; the number of rows."""
    return Breaker.objects.filter(updated_at__lt=timezone.now() - KEPT).delete()[0]


def forget() -> None:
    """Forget everything that this process knows."""
    global _lock
    _lock = threading.Lock()
    _seen.clear()


os.register_at_fork(after_in_child=forget)


# ---- asking ---------------------------------------------------------------------------------


def _watched(line: ProviderLine, act: Callable[[], Answer], *, is_trial: bool) -> Answer:
    try:
        if line.workspace_id is None:
            answer = act()
        else:
            use = line.use or line.purpose
            answer = costs.counted(line.workspace_id, use, line.place, act)
    except Unasked:
        raise
    except ProviderError as error:
        is_of_all = isinstance(error, Misconfigured) or not error.permanent
        if isinstance(error, UnreadableAnswer) or not is_of_all:
            _answered(line)  # only this one request failed
        else:
            _failed(line, error, is_trial=is_trial)
        raise
    _answered(line)
    return answer


def _tried(line: ProviderLine, act: Callable[[], Answer]) -> Answer:
    try:
        return _watched(line, act, is_trial=True)
    except Unasked:
        raise
    except ProviderError as error:
        if (row := _look(line)).is_open:
            raise _refusal(line, row) from error
        raise


def _try_beside(line: ProviderLine, act: Callable[[], object]) -> None:
    """Run a trial in a thread with its own database connection, which is closed afterwards."""
    try:
        _watched(line, act, is_trial=True)
    except ProviderError as error:
        log.info("%s was tried again: %s", line.name, error)
    except Exception:  # nobody waits for the answer
        log.exception("%s could not be tried again", line.name)
    finally:
        connection.close()


def _refusal(line: ProviderLine, row: Breaker) -> Unasked:
    left = (row.next_try_at - timezone.now()).total_seconds() if row.next_try_at else 0.0
    told = f"{line.name} is not asked for now: it {row.detail}"
    return Unasked(told, permanent=False, retry_after=max(1.0, left))


# ---- what is known --------------------------------------------------------------------------


def _look(line: ProviderLine) -> Breaker:
    """Return the row, or this process's recent copy of it. A caller's transaction is not used."""
    with _lock:
        seen = _seen.get(line.name)
    if seen and (seen.is_own or time.monotonic() - seen.read_at < FRESH):
        return seen.row
    if connection.in_atomic_block:
        return seen.row if seen else _new(line)
    return _remember(Breaker.objects.filter(name=line.name).first() or _new(line))


def _new(line: ProviderLine) -> Breaker:
    return Breaker(name=line.name, purpose=line.purpose)


def _remember(row: Breaker, *, is_own: bool = False) -> Breaker:
    """Keep a row in this process. `is_own` counts as long as there is something to remember."""
    known = _KnownBreaker(row, time.monotonic(), is_own and (row.is_open or row.failures > 0))
    with _lock:
        _seen[row.name] = known
    return row


def _claim(line: ProviderLine, row: Breaker) -> bool:
    """Tell whether the pause is over and this caller, of all, is to make the trial. A time in the
    far future was written while a clock was wrong."""
    now = timezone.now()
    too_far = now + timedelta(seconds=2 * LONGEST_WANTED)
    until = now + timedelta(seconds=line.seconds) + GRACE
    with _lock:
        if row.next_try_at is None or now < row.next_try_at <= too_far:
            return False
        # Others of this process find it taken.
        row.next_try_at = until
        is_own = line.name in _seen and _seen[line.name].is_own
    if is_own or connection.in_atomic_block:
        return True
    due = Q(next_try_at__lte=now) | Q(next_try_at__gt=too_far)
    rows = Breaker.objects.filter(due, name=line.name, state=Breaker.State.OPEN)
    try:
        return rows.update(next_try_at=until, updated_at=now) == 1
    except DatabaseError as error:
        log.warning("Breakers are kept in this process alone: %s", error)
        _remember(row, is_own=True)
        return True


def _answered(line: ProviderLine) -> None:
    with _lock:
        seen = _seen.get(line.name)
    if seen is None or not (seen.row.failures or seen.row.is_open):
        return

    def close(row: Breaker) -> None:
        if row.is_open:
            log.warning("%s answers again", row.name)
            row.state, row.since = Breaker.State.CLOSED, timezone.now()
        row.failures = row.timeouts = 0
        row.next_try_at, row.detail = None, ""

    was_open = seen.row.is_open
    _change(line, close)
    if was_open and not connection.in_atomic_block:
        try:
            outbox.post("wake_waiting")
        except DatabaseError as error:
            log.warning("What waits for %s comes in its own time: %s", line.name, error)


def _failed(line: ProviderLine, error: ProviderError, *, is_trial: bool) -> None:
    kind = "timeout" if isinstance(error, TimedOut) else "failure"
    metrics.count("breaker_failures", purpose=line.purpose, kind=kind)

    def change(row: Breaker) -> None:
        if row.is_open and not is_trial:
            return  # it was called before the breaker opened
        row.failures += 1
        error.follows_answer = row.failures == 1 and error.status != TOO_MUCH
        row.timeouts += isinstance(error, TimedOut)
        # In a few words, none of them the server's own: those could repeat a key.
        row.detail = "could not be reached, or answered in another shape"
        if isinstance(error, TimedOut):
            row.detail = "did not answer in time"
        elif error.status is not None:
            row.detail = network.in_words(error.status)
        is_barred = isinstance(error, Misconfigured)
        if not (is_barred or row.failures >= FAILURES or row.timeouts >= TIMEOUTS):
            return
        if not row.is_open:
            log.error("%s is not waited for any more: it %s", row.name, row.detail)
            metrics.count("breakers_opened", purpose=row.purpose)
            row.state, row.since = Breaker.State.OPEN, timezone.now()
        wanted = error.retry_after if error.status == TOO_MUCH else None
        row.next_try_at = timezone.now() + _pause(row.failures, wanted or 0.0)

    _change(line, change)


def _pause(failures: int, wanted: float) -> timedelta:
    doubled = FIRST * 2.0 ** min(16, max(0, failures - FAILURES))
    seconds = max(min(LONGEST, doubled), min(LONGEST_WANTED, wanted))
    return timedelta(seconds=seconds * random.uniform(1 - JITTER, 1 + JITTER))


def _change(line: ProviderLine, change: Callable[[Breaker], None]) -> None:
    """Change the row in a separate transaction, or this process's copy where that fails."""
    with _lock:
        seen = _seen.get(line.name)
    if not connection.in_atomic_block:
        try:
            with transaction.atomic(durable=True):
                rows = Breaker.objects.select_for_update()
                own = {"purpose": line.purpose}
                row, _ = rows.get_or_create(name=line.name, defaults=own)
                if seen and seen.is_own:  # what could not be written until now
                    for name in ("state", "failures", "timeouts", "since", "next_try_at", "detail"):
                        setattr(row, name, getattr(seen.row, name))
                change(row)
                row.updated_at = timezone.now()
                row.save()
            _remember(row)
            return
        except DatabaseError as error:
            log.warning("Breakers are kept in this process alone: %s", error)
    row = seen.row if seen else _new(line)
    with _lock:
        change(row)
    _remember(row, is_own=True)
