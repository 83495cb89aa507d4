"""A person's decisions about two memories, as what the message of the newer one says of the older."""

import uuid
from collections.abc import Collection, Mapping
from typing import Any

from django.db.models import QuerySet
from django.utils import timezone

from memories.judge.judge import NAME
from memories.models import SAMPLED, Citation, Supersession, Touch
from memories.models.memory_state import DOUBTS

Relation, State = Touch.Relation, Supersession.State
SAYS = {
    State.APPLIED: Relation.REPLACES,
    State.REJECTED: Relation.ADDS,
    State.UNDONE: Relation.ADDS,
    State.PENDING: Relation.UNSURE,
}


def follow_decision(decision: Supersession, actor: str) -> None:
    """Write a person's decision on the touches of the old memory by what the new one was read from; one
    that waits again is nobody's."""
    read_from = Citation.objects.filter(fact__memory=decision.new_id, episode__isnull=False).values("episode_id")
    touches = Touch.objects.filter(memory=decision.old_id, episode__in=read_from)
    _decide(touches, SAYS[State(decision.state)], "" if decision.state == State.PENDING else actor)


def uphold(memory_id: uuid.UUID, actor: str) -> list[int]:
    """Write that a person says that a memory holds, whatever was said later; return the touches."""
    ids = list(Touch.objects.filter(memory=memory_id, relation__in=DOUBTS).values_list("pk", flat=True))
    _decide(Touch.objects.filter(pk__in=ids), Relation.ADDS, actor)
    return ids


def agree(memory_id: uuid.UUID, actor: str) -> list[int]:
    """Write that a person says the same as the judge: what was drawn to be asked about ended nothing. Return the
    touches."""
    drawn = Touch.objects.filter(memory=memory_id, by=Touch.By.JUDGE, draw__lt=SAMPLED).exclude(relation__in=DOUBTS)
    ids = list(drawn.values_list("pk", flat=True))
    Touch.objects.filter(pk__in=ids).update(by=Touch.By.PERSON, decided_by=actor)
    return ids


def disagree(touches: Collection[int]) -> None:
    """Take back that a person said the same."""
    Touch.objects.filter(pk__in=touches).update(by=Touch.By.JUDGE, decided_by="")


def confirm(memory_id: uuid.UUID, actor: str) -> dict[str, object] | None:
    """Write that a person says that a memory holds no longer: the message that most likely speaks against it has ended
    it, else one that was drawn to be asked about. Return what the touch was, None where there is none."""
    rows = Touch.objects.filter(memory=memory_id).exclude(by=Touch.By.PERSON)
    doubts = rows.filter(relation__in=DOUBTS).order_by("-probability", "-pk")
    drawn = rows.filter(by=Touch.By.JUDGE, draw__lt=SAMPLED).order_by("draw")
    touch = doubts.first() or drawn.first()
    if touch is None:
        return None
    was = {name: getattr(touch, name) for name in ("relation", "probability", "by", "model", "decided_by")}
    ends = Relation.REPLACES if touch.relation == Relation.REPLACES else Relation.ENDS
    _decide(Touch.objects.filter(pk=touch.pk), ends, actor)
    return {"touch": touch.pk, "was": was}


def unconfirm(touch: int, was: Mapping[str, Any]) -> None:
    """Take back that a person said so: the touch is what it was."""
    Touch.objects.filter(pk=touch).update(**was)


def question_again(touches: Collection[int]) -> None:
    """Take back that a person said so."""
    _decide(Touch.objects.filter(pk__in=touches), Relation.UNSURE, "")


def take_back(not_meant: Collection[tuple[uuid.UUID, tuple[int, int]]], model: str) -> None:
    """Let sentences of messages, from where to where, speak against nothing: they are not meant."""
    for episode, (start, end) in not_meant:
        doubts = Touch.objects.filter(episode=episode, relation__in=DOUBTS, start__gte=start, start__lt=end)
        _decide(doubts.exclude(by=Touch.By.PERSON), Relation.ADDS, model)


def _decide(touches: QuerySet[Touch], relation: str, actor: str) -> None:
    by = Touch.By.JUDGE if actor.startswith(NAME) else Touch.By.PERSON if actor else Touch.By.RULE
    touches.update(
        relation=relation,
        probability=1.0 if actor else 0.5,
        by=by,
        model="",
        decided_by=actor,
        decided_at=timezone.now(),
    )
