"""Pairs of a belief and a later message that people of a workspace decided: what its judge learns from.

They are read from the rows each time: the touch, the memory, the message and the decision. What is taken back, masked
or erased is no example any more.
"""

import uuid
from dataclasses import dataclass

from django.db.models import Exists, OuterRef, Q, QuerySet

from memories.belief import touches
from memories.judge.fit_head import Lesson
from memories.judge.judge import JudgedPair
from memories.models import DOUBTS, SAMPLED, Citation, Supersession, Touch
from memories.reading.guard.masked_text import is_masked

MOST = 500  # newest of a workspace
OUTDATED = "outdated"  # the reason of a memory that was true and is no more
REJECTED_AS_WRONG = Supersession.objects.filter(state=Supersession.State.REJECTED).exclude(note=Supersession.KEPT_BOTH)


@dataclass(frozen=True, slots=True)
class DecidedPair:
    """A touch that a person decided, as the judge reads it and as a head learns from it."""

    touch: int
    pair: JudgedPair
    lesson: Lesson


def decided_touches(workspace_id: uuid.UUID) -> QuerySet[Touch]:
    """Return the touches that people and keys decided. Who says that one of the two is wrong, or private, says nothing
    of what the message does to the belief."""
    of_people = Q(decided_by__startswith="user:") | Q(decided_by__startswith="key:")
    forgotten = Q(memory__forgotten_at__isnull=False) & ~Q(memory__forget_reason=OUTDATED)
    cited = Citation.objects.filter(fact__memory=OuterRef("new_id"), episode_id=OuterRef(OuterRef("episode_id")))
    wrong = REJECTED_AS_WRONG.filter(Exists(cited), old_id=OuterRef("memory_id"))
    rows = Touch.objects.filter(of_people, workspace_id=workspace_id, by=Touch.By.PERSON)
    return rows.exclude(forgotten).exclude(relation=Touch.Relation.UNSURE).exclude(Exists(wrong))


def decided_pairs(workspace_id: uuid.UUID) -> list[DecidedPair]:
    """Return the newest MOST, oldest first, without those in which words are masked."""
    newest = decided_touches(workspace_id).order_by("-decided_at", "-pk")[:MOST]
    lessons = {
        row.pk: Lesson(
            row.relation in DOUBTS, row.decided_by, str(row.memory_id), row.draw is not None and row.draw < SAMPLED
        )
        for row in newest
    }
    found = [DecidedPair(row.id, pair, lessons[row.id]) for row, pair in touches.pairs_of(list(lessons))]
    return sorted((one for one in found if not any(map(is_masked, one.pair))), key=lambda one: one.touch)
