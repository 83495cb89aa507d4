"""Touches of which the judge is not sure, put to a language model: claimed, given back, and decided as it answered.

The rows are the queue: a touch that the judge questioned with less than the threshold of acting is asked about, at most
ATTEMPTS times, and only while it is fresh: who configures a model is not billed for what was said years ago.
"""

import uuid
from collections.abc import Collection
from datetime import timedelta
from typing import NamedTuple

from django.db import transaction
from django.db.models import F, Q, QuerySet
from django.utils import timezone

from memories.belief.touches.judged import pairs_of
from memories.index import prepared_sql
from memories.judge.judge import JudgedPair
from memories.models import LIVE_SQL, SAMPLED, Touch
from memories.models.memory_state import DOUBTS

AT_ONCE = 20  # pairs of a question
ATTEMPTS = 3  # with answers that are none; then all stays as the judge had it
FRESH = timedelta(days=7)
AGAIN = timedelta(minutes=10)  # so long after a claim another one may ask
FAR = timedelta(minutes=10)  # a claim that lies further ahead was written by a clock that was wrong

# What is asked about is still believed, and a person is not asked about it anyway.
CLAIM = f"""
update memories_touch set model_attempts = model_attempts + 1, asked_at = %(now)s::timestamptz
where id = any(array(
  select t.id from memories_touch t join memories_memory m on m.id = t.memory_id
  where t.workspace_id = %(workspace)s and t.by = 'judge' and t.relation in {DOUBTS}
    and t.decided_at > %(since)s::timestamptz and t.probability < %(act)s and t.model_attempts < {ATTEMPTS}
    and (t.draw is null or t.draw >= {SAMPLED})
    and (t.asked_at is null or t.asked_at < %(again)s::timestamptz or t.asked_at > %(far)s::timestamptz) and {LIVE_SQL}
  order by t.model_attempts, t.decided_at desc limit {AT_ONCE}
  for update of t skip locked))
returning id
"""


class UnsurePair(NamedTuple):
    """A claimed touch, and what the judge read of it."""

    touch: Touch
    read: JudgedPair


def unsure_touches() -> QuerySet[Touch]:
    """Return what may be asked about, whether or not the judge was sure enough to act."""
    free = Q(asked_at=None) | ~Q(asked_at__range=(timezone.now() - AGAIN, timezone.now() + FAR))
    return Touch.objects.filter(
        free,
        by=Touch.By.JUDGE,
        relation__in=DOUBTS,
        decided_at__gt=timezone.now() - FRESH,
        model_attempts__lt=ATTEMPTS,
    )


def claim_unsure(workspace_id: uuid.UUID, act: float) -> list[UnsurePair]:
    """Claim some pairs that the judge questioned with a probability below `act`: the newest, and those never asked
    about, first."""
    now = timezone.now()
    times = {"now": now, "since": now - FRESH, "again": now - AGAIN, "far": now + FAR}
    with transaction.atomic(durable=True):
        # Counted first: a pair that kills its worker is given up at last.
        claimed = prepared_sql.rows(CLAIM, {"workspace": workspace_id, "act": act, **times})
    touches = Touch.objects.in_bulk([row.id for row in claimed])
    return [UnsurePair(touches[row.id], read) for row, read in pairs_of(list(touches))]


def give_back_unsure(touches: Collection[int], *, at_once: bool) -> None:
    """Take back that a model was asked: it was not, or did not answer. It is asked again with the next sweep, or after
    AGAIN."""
    rows = Touch.objects.filter(pk__in=touches, model_attempts__gt=0)
    rows.update(model_attempts=F("model_attempts") - 1, **({"asked_at": None} if at_once else {}))


def decide_unsure(touch: Touch, relation: str, probability: float, model: str) -> bool:
    """Write what a model says of a touch, within the caller's transaction; tell whether it was still the judge's."""
    known = Touch.objects.filter(pk=touch.pk, by=Touch.By.JUDGE, relation=touch.relation)
    values = {"relation": relation, "probability": probability, "by": Touch.By.MODEL, "model": model}
    return bool(known.update(**values, decided_at=timezone.now()))
