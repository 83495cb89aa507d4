"""Repairs of indexes that other rules made: found when the server starts and by the sweep, done in
the background in slices, so that the worker's other tasks have their turn in between.

A repair is a row (`IndexRepair`) that says how far it is. Whoever takes it up has a lease, renewed
with every batch, and goes on where the last one stopped.
"""

import logging
import time
import uuid
from collections.abc import Callable
from datetime import datetime, timedelta

from django.db.models import Q, QuerySet
from django.utils import timezone

from memories import outbox
from memories.index import common_terms, rebuild, repair, truth, workspace_index
from memories.index.rules import RULES_VERSION
from memories.models import IndexRepair, Layer, WorkspaceIndex

JOB = "repair_index"
SLICE = 5.0  # seconds of one task
LEASE = timedelta(seconds=60)  # far longer than a batch takes
BACK_OFF, LONGEST_PAUSE = timedelta(seconds=30), timedelta(hours=1)

log = logging.getLogger(__name__)


def begin() -> int:
    """Note a repair for each workspace whose rows other rules made; how many are to be done."""
    now = timezone.now()
    fresh = {
        "version": RULES_VERSION, "layer": int(Layer.MEMORIES), "after": None, "rows": None,
        "done": 0, "seconds": 0.0, "attempts": 0, "error": "", "next_attempt_at": now,
        "lease_until": None, "started_at": now, "updated_at": now - 2 * LEASE, "finished_at": None,
    }  # fmt: skip
    old = WorkspaceIndex.objects.exclude(rules=RULES_VERSION)
    for workspace_id in old.values_list("workspace_id", flat=True):
        row, is_new = IndexRepair.objects.get_or_create(workspace_id=workspace_id, defaults=fresh)
        if not is_new and (row.version != RULES_VERSION or row.finished_at is not None):
            IndexRepair.objects.filter(pk=row.pk, updated_at=row.updated_at).update(**fresh)
    return _open().count()


def ring() -> int:
    """Wake the worker for the repair whose turn it is, one at a time; how many are to be done.

    One that is under way rings for itself, slice after slice.
    """
    waiting, now = begin(), timezone.now()
    recent = Q(updated_at__gt=now - LEASE, updated_at__lt=now + LEASE)
    if waiting and not _open().filter(recent, error="").exists():
        for row in _due(now).order_by("next_attempt_at")[:1]:
            mine = IndexRepair.objects.filter(pk=row.pk, updated_at=row.updated_at)
            if mine.update(updated_at=now):  # of two who ring, one does
                outbox.post(JOB, row.pk)
    return waiting


def _open() -> QuerySet[IndexRepair]:
    return IndexRepair.objects.filter(finished_at=None)


def _due(now: datetime) -> QuerySet[IndexRepair]:
    """Whose turn it is, and nobody has. Times further ahead than we set any were a wrong clock's."""
    free = Q(lease_until=None) | Q(lease_until__lt=now) | Q(lease_until__gt=now + 2 * LEASE)
    ready = Q(next_attempt_at__lte=now) | Q(next_attempt_at__gt=now + 2 * LONGEST_PAUSE)
    return _open().filter(free, ready)


def run(workspace_id: uuid.UUID, seconds: float = SLICE) -> bool:
    """Go on with a repair for about `seconds`; whether this process had it. What is left rings
    again, and so does the next workspace's."""
    row = _claim(workspace_id)
    if row is None:
        return False
    if _go_on(row, time.monotonic() + seconds):
        ring()
    elif _save(row, lease_until=None):
        outbox.post(JOB, row.pk)
    return True


def run_all(until: float, report: Callable[[str], object]) -> None:
    """All that are due, in this process, until the clock says `until`."""
    begin()
    while time.monotonic() < until:
        due = _due(timezone.now()).order_by("next_attempt_at").first()
        if due is None or (row := _claim(due.pk)) is None:
            break
        if not _go_on(row, until):
            _save(row, lease_until=None)
        report(f"{row}: {row.done} of {row.rows} rows")


def _go_on(row: IndexRepair, until: float) -> bool:
    """True when it has come to its end; a failure is noted and logged, and due again later."""
    try:
        is_whole = _work(row, until)
    except Exception as error:
        log.exception("%s failed", row)
        pause = min(BACK_OFF * 2 ** min(row.attempts, 7), LONGEST_PAUSE)
        # Its name alone: what it says may quote a row.
        _save(row, attempts=row.attempts + 1, error=type(error).__name__, lease_until=None,
              next_attempt_at=timezone.now() + pause)  # fmt: skip
        return False
    log.info("%s: %s of %s rows, %.0f a second", row, row.done, row.rows, row.rate)
    return is_whole


def _claim(workspace_id: uuid.UUID) -> IndexRepair | None:
    now = timezone.now()
    mine = _due(now).filter(pk=workspace_id)
    if not mine.update(lease_until=now + LEASE, updated_at=now):
        return None
    return IndexRepair.objects.get(pk=workspace_id)


def _work(row: IndexRepair, until: float) -> bool:
    """Batch after batch; True when nothing is left. Stops where another process took over."""
    space = workspace_index.index_of(row.workspace_id)
    if row.rows is None:
        _save(row, rows=repair.count_stale(space))
    for layer in (layer for layer in truth.TABLE if layer >= row.layer):
        while ids := repair.stale(space, layer, row.after):
            started = time.monotonic()
            repair.repair(space, layer, ids)
            now = time.monotonic()
            kept = _save(row, after=ids[-1], done=row.done + len(ids), attempts=0, error="",
                         seconds=row.seconds + now - started,
                         lease_until=timezone.now() + LEASE)  # fmt: skip
            if not kept or now > until:
                return False
        _save(row, layer=int(layer) + 1, after=None)
    rebuild.finish(space, rebuild.Rebuilt())
    common_terms.count_in(space)
    return _save(row, finished_at=timezone.now(), lease_until=None, error="")


def _save(row: IndexRepair, **values: object) -> bool:
    """Write progress, unless another process has taken the repair since."""
    values["updated_at"] = timezone.now()
    mine = IndexRepair.objects.filter(pk=row.pk, lease_until=row.lease_until)
    if not mine.update(**values):
        return False
    for name, value in values.items():
        setattr(row, name, value)
    return True
