"""Memories that a rule read in words that were not meant seriously, or say nothing that lasts: a machine forgets them,
and a person may restore them as any other."""

import uuid
from collections.abc import Collection

from django.db import transaction

from memories.belief.resolve import OLDER
from memories.belief.resolve.take_support_away import decided_by_people
from memories.belief.review.forget import forget_locked
from memories.belief.review.undo import undo_locked
from memories.errors import Conflict
from memories.index import workspace_index
from memories.models import Memory, MemoryPeriod, Supersession, Touch, WorkspaceIndex
from workspaces.scope import Scope

NOT_MEANT, NOT_WORTH_IT = "not said in earnest", "nothing worth remembering"
BY_PEOPLE = (MemoryPeriod.Cause.APPROVED, MemoryPeriod.Cause.RESTORED, MemoryPeriod.Cause.UNDONE)


@transaction.atomic(durable=True)
def forget_misread(scope: Scope, memory_ids: Collection[uuid.UUID], why: str) -> None:
    """Forget those of these memories that one fact alone carries and no person has decided for; what one of them has
    replaced is believed again."""
    space = workspace_index.index_of(scope.workspace_id)
    workspace_index.lock(space)
    decided = kept_by_people(space, memory_ids)
    # The newest first: it may have replaced another of them.
    for pk in sorted({*memory_ids} - decided, reverse=True):
        alone = Memory.objects.live().filter(workspace=scope.workspace_id, pk=pk, source_count=1)
        memory = alone.select_for_update(of=("self",)).first()
        if memory is None:
            continue
        replaced = Supersession.objects.filter(new=memory, state=Supersession.State.APPLIED).exclude(rule=OLDER)
        try:
            with transaction.atomic():
                for decision in replaced.order_by("-pk"):
                    undo_locked(scope, space, decision.pk, why)
                memory.refresh_from_db()
                if memory.forgotten_at is None:
                    forget_locked(scope, [memory], why)
        except Conflict:
            continue  # its chain is being changed: a person finds it as it is


def kept_by_people(space: WorkspaceIndex, memory_ids: Collection[uuid.UUID]) -> set[uuid.UUID]:
    """Return the memories that a person has let in, brought back or upheld, and those that no machine may end."""
    rows = list(Memory.objects.filter(workspace=space.workspace_id, pk__in=memory_ids))
    let_in = MemoryPeriod.objects.filter(memory__in=rows, cause__in=BY_PEOPLE).values_list("memory_id", flat=True)
    upheld = Touch.objects.filter(memory__in=rows, by=Touch.By.PERSON).values_list("memory_id", flat=True)
    return {*let_in, *upheld} | decided_by_people(space, rows)
