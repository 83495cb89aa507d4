"""An order taken back: memories are believed again, words are unmasked, a correction is undone."""

import uuid

from django.db import transaction
from django.utils import timezone

from memories import masks
from memories.errors import Conflict, NotFound
from memories.index import due, workspace_index
from memories.models import Intent, MaskedSpan, MemoryPeriod, WorkspaceIndex
from memories.review.approve import believe_again
from memories.review.forget import locked
from memories.review.undo import may_be_learned, undo_locked
from workspaces.models import AuditEntry
from workspaces.scope import Scope

State = Intent.State


def undo(scope: Scope, intent_id: uuid.UUID) -> Intent:
    """Take back what was done. NotFound where `scope` does not see it, Conflict where nothing was
    done, or a memory has a newer version since."""
    intent = Intent.objects.visible_to(scope).filter(pk=intent_id).first()
    if intent is None:
        raise NotFound("Intent")
    if intent.state != State.DONE or intent.kind == Intent.Kind.REMEMBER:
        raise Conflict(f"An intent that is {intent.state} cannot be undone.", "stale", "state")
    space = workspace_index.index_of(scope.workspace_id)
    with transaction.atomic(durable=True):
        workspace_index.lock(space)
        intent = Intent.objects.select_for_update(of=("self",)).get(pk=intent.pk)
        if intent.state != State.DONE:
            raise Conflict("Somebody took it back already.", "stale", "state")
        touched = take_back_locked(scope, space, intent)
    due.fill(space, touched)
    return Intent.objects.select_related("episode").get(pk=intent.pk)


def take_back_locked(scope: Scope, space: WorkspaceIndex, intent: Intent) -> list[uuid.UUID]:
    """Take back what was done, within the caller's transaction, which holds the workspace's lock:
    the rows whose words are shown again, of which the caller fills the vectors."""
    if intent.supersession_id:
        undo_locked(scope, space, intent.supersession_id)
    own = MaskedSpan.objects.filter(workspace_id=scope.workspace_id, cause=intent.pk)
    touched = masks.unmask(space, own)
    if not intent.supersession_id:
        for memory_id in intent.memory_ids:
            memory = locked(scope, memory_id)
            if memory.forgotten_at is not None and memory.superseded_by_id is None:
                may_be_learned(memory)
                believe_again(space, memory, MemoryPeriod.Cause.RESTORED)
    rows = Intent.objects.filter(pk=intent.pk)
    rows.update(state=State.UNDONE, decided_by=scope.actor, decided_at=timezone.now())
    AuditEntry.line(
        scope.workspace_id, scope.actor, "undo", intent, subject_id=intent.subject_id
    ).save()
    return touched
