"""Rows that wait for a model that failed: one of each kind tries it once the pause of its breaker is over, and
all are due as soon as it answers again."""

from typing import Any, NamedTuple

from django.db.models import QuerySet
from django.utils import timezone

from memories.meters import breakers
from memories.models import ConversationSummary, DueSummary, DueVector, FeatureSet, MemorySession
from memories.queue import outbox

MOST_POSTED = 200  # rows of a kind for which a worker is woken at once; the sweep finds the others


class WaitingRows(NamedTuple):
    """Rows that a failure postponed, the column with their time, and the job that takes one; "" is the sweep."""

    rows: QuerySet[Any]
    time: str
    job: str = ""


def try_one() -> None:
    """Make one row of each kind due where a model may be tried again: nothing else might ask for it."""
    if breakers.may_be_tried():
        for kind in waiting():
            first = kind.rows.order_by(kind.time).values_list("pk", flat=True).first()
            if first is not None:
                kind.rows.filter(pk=first).update(**{kind.time: timezone.now()})


def wake() -> int:
    """Make all of them due, and wake workers for the first; return how many rows."""
    woken = 0
    for kind in waiting():
        key = "workspace" if kind.job == "fill_space" else "pk"
        first = list(kind.rows.order_by(kind.time).values_list(key, flat=True)[:MOST_POSTED])
        woken += kind.rows.update(**{kind.time: timezone.now()})
        for one in dict.fromkeys(first) if kind.job else ():
            outbox.post(kind.job, one)
    return woken


def waiting() -> tuple[WaitingRows, ...]:
    now = timezone.now()
    late = {"due_at__gt": now}
    sessions = MemorySession.objects.filter(state=MemorySession.State.RECEIVED, failures__gt=0, next_attempt_at__gt=now)
    vectors = DueVector.objects.exclude(error="").filter(next_attempt_at__gt=now)
    return (
        WaitingRows(sessions, "next_attempt_at", "run_session"),
        WaitingRows(vectors, "next_attempt_at", "fill_space"),
        WaitingRows(FeatureSet.objects.filter(failures__gt=0, **late), "due_at", "fold_set"),
        WaitingRows(ConversationSummary.objects.exclude(error="").filter(**late), "due_at", "summarize"),
        WaitingRows(DueSummary.objects.filter(attempts__gt=0, lease_until=None, **late), "due_at"),
    )
