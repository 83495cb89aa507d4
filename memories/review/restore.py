"""What ended is believed again."""

import uuid

from django.db import transaction
from django.utils import timezone

from memories.errors import Conflict
from memories.features import queue
from memories.features.follow_memory import episodes_of
from memories.index import entries, workspace_index
from memories.models import Layer, Liveness, Memory, Rejection, WorkspaceIndex
from memories.review.forget import audit, locked
from workspaces.scope import Scope


@transaction.atomic(durable=True)
def restore(scope: Scope, memory_id: uuid.UUID) -> Memory:
    """Believe a forgotten memory again; its rejection goes. Conflict where a newer one stands."""
    space = workspace_index.index_of(scope.workspace_id)
    workspace_index.lock(space)
    memory = locked(scope, memory_id)
    if memory.superseded_by_id is not None:
        raise Conflict("A newer version stands: undo its supersession instead.", "not_head", "id")
    if memory.forgotten_at is None and (memory.forget_after is None or memory.is_live):
        raise Conflict("It is not forgotten.", "not_forgotten", "id")
    memory.forgotten_at, memory.forget_reason, memory.forget_after = None, "", None
    memory.held_at = None
    memory.save(
        update_fields=["forgotten_at", "forget_reason", "forget_after", "held_at", "updated_at"]
    )
    Rejection.objects.of(memory.workspace_id, memory.subject_id, bytes(memory.fingerprint)).delete()
    revive(space, memory, Liveness.Cause.RESTORED)
    audit(scope, "restore", memory, after={"content": memory.content})
    return Memory.objects.with_names().get(pk=memory.pk)


def unlink(old: Memory, new: Memory) -> None:
    """Take `new` out of the place of `old`."""
    old.superseded_by, old.superseded_at = None, None
    if old.valid_until == new.valid_from:
        old.valid_until = None
    old.save(update_fields=["superseded_by", "superseded_at", "valid_until", "updated_at"])


def revive(space: WorkspaceIndex, memory: Memory, cause: str) -> None:
    if not memory.liveness.filter(until_at=None).exists():
        begin(memory, cause)
    entries.set_live(space, Layer.MEMORIES, [memory.pk], live=True)
    queue.unmark(memory.workspace_id, episodes_of(memory))


def begin(memory: Memory, cause: str) -> None:
    Liveness.objects.create(
        workspace_id=memory.workspace_id, memory=memory, from_at=timezone.now(), cause=cause
    )
