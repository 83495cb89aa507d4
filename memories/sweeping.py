"""Finding what is due and was missed: sessions, vectors, memories that expire, old answers."""

import uuid
from collections.abc import Callable
from dataclasses import dataclass

from django.db.models import Q
from django.utils import timezone

from memories import ingest
from memories.indexing import due
from memories.models import DueVector, IdempotentAnswer, MemorySession, WorkspaceIndex

State = MemorySession.State


@dataclass(frozen=True, slots=True)
class Swept:
    """How much a sweep did, in rows."""

    sessions: int = 0
    vectors: int = 0
    answers: int = 0


def due_sessions(limit: int | None = None) -> list[uuid.UUID]:
    """Sessions whose turn it is, and those whose worker died."""
    now = timezone.now()
    due_now = Q(state=State.RECEIVED, next_attempt_at__lte=now)
    abandoned = Q(state__in=[State.EXTRACTING, State.RESOLVING], lease_until__lt=now)
    found = MemorySession.objects.filter(due_now | abandoned).order_by("next_attempt_at")
    return list(found.values_list("pk", flat=True)[:limit])


def sweep(report: Callable[[str], None] | None = None) -> Swept:
    """Do all that is due. `report` is told of each step."""
    tell = report or (lambda line: None)
    sessions = 0
    for session_id in due_sessions():
        tell(f"session {session_id}")
        sessions += ingest.run(session_id) is not None
    vectors = sum(fill_space(number) for number in _spaces_with_due())
    answers, _ = IdempotentAnswer.objects.filter(expires_at__lt=timezone.now()).delete()
    return Swept(sessions, vectors, answers)


def fill_space(number: int) -> int:
    """Make the vectors of a workspace that are due by now; the number of entries done."""
    space = WorkspaceIndex.objects.select_related("embedding_model").get(pk=number)
    waiting = DueVector.objects.filter(
        entry__workspace=number, next_attempt_at__lte=timezone.now()
    ).order_by("next_attempt_at")
    return due.fill_entries(space, list(waiting.values_list("entry_id", flat=True)))


def _spaces_with_due() -> list[int]:
    found = DueVector.objects.filter(next_attempt_at__lte=timezone.now())
    return sorted(set(found.values_list("entry__workspace", flat=True)))
