"""Rows that wait for a model that failed: one of each kind tries it once the pause of its breaker is over, and
all are due as soon as it answers again."""

import time
from typing import Any, NamedTuple

from django.db.models import QuerySet
from django.utils import timezone

from memories.meters import breakers
from memories.models import ConversationSummary, DueSummary, DueVector, FeatureSet, MemorySession
from memories.queue import outbox
from memoryproject.postgres import crossings

MOST_POSTED = 200  # rows of a kind for which a worker is woken at once; the sweep finds the others
LOOK = 3.0  # seconds between two looks of a process: with the longest pause of a breaker less than half a minute
_looked_at = 0.0


class WaitingRows(NamedTuple):
    """Rows that a failure postponed, the column with their time, and the job that takes one; "" is the sweep."""

    rows: QuerySet[Any]
    time: str
    job: str = ""

    @property
    def key(self) -> str:
        """The column that names a row to its job."""
        return "workspace" if self.job == "fill_space" else "pk"


def try_one() -> None:
    """Make one row of each kind due where a model may be tried again, and wake a worker for the first that is: nothing
    else might ask for it before the next sweep."""
    if not breakers.is_any_failing():
        return
    may_be_tried, now = breakers.may_be_tried(), timezone.now()
    is_idle = not outbox.length()  # who is busy looks for what is due next anyway
    for kind in waiting():
        first = kind.rows.order_by(kind.time).values_list("pk", kind.key, kind.time).first()
        if first is None:
            continue
        row_id, key, due_at = first
        if due_at > now and may_be_tried:
            kind.rows.filter(pk=row_id).update(**{kind.time: now})
        if (due_at <= now or may_be_tried) and is_idle and kind.job:
            outbox.post(kind.job, key)


def look() -> None:
    """Do what `try_one` does, however often it is called, once in LOOK seconds."""
    global _looked_at
    if time.monotonic() - _looked_at >= LOOK:
        _looked_at = time.monotonic()
        with crossings.everywhere():
            try_one()


def wake() -> int:
    """Make all of them due, and wake workers for the first; return how many rows."""
    woken = 0
    for kind in waiting():
        late = kind.rows.filter(**{f"{kind.time}__gt": timezone.now()})
        first = list(late.order_by(kind.time).values_list(kind.key, flat=True)[:MOST_POSTED])
        woken += late.update(**{kind.time: timezone.now()})
        for one in dict.fromkeys(first) if kind.job else ():
            outbox.post(kind.job, one)
    return woken


def waiting() -> tuple[WaitingRows, ...]:
    free = {"lease_until": None, "due_at__isnull": False}
    return (
        WaitingRows(MemorySession.objects.postponed(), "next_attempt_at", "run_session"),
        WaitingRows(DueVector.objects.exclude(error=""), "next_attempt_at", "fill_space"),
        WaitingRows(FeatureSet.objects.filter(failures__gt=0, **free), "due_at", "fold_set"),
        WaitingRows(ConversationSummary.objects.exclude(error="").filter(**free), "due_at", "summarize"),
        WaitingRows(DueSummary.objects.filter(attempts__gt=0, **free), "due_at"),
    )
