"""A person's word on supersessions: approve, reject, keep both, undo."""

import uuid

from django.db import transaction
from django.utils import timezone

from memories.errors import Conflict, NotFound
from memories.index import due, entries, workspace_index
from memories.models import Layer, Liveness, Memory, Supersession, WorkspaceIndex
from memories.review.create import checked
from memories.review.edit import new_version
from memories.review.forget import audit, end, locked, reject_claim
from memories.review.restore import revive
from workspaces.scope import Scope

IN_OTHER_WORDS = "approved in other words"
KEPT_BOTH = Supersession.KEPT_BOTH


def locked_decision(scope: Scope, supersession_id: uuid.UUID, *states: str) -> Supersession:
    """The decision, locked; Conflict where it is in none of `states` any more."""
    rows = Supersession.objects.filter(workspace_id=scope.workspace_id, pk=supersession_id)
    found = rows.select_for_update().first()
    ids = [found.old_id, found.new_id] if found else []
    seen = Memory.objects.visible_to(scope).filter(pk__in=ids).values_list("subject_id", flat=True)
    if found is None or len(seen) < 2:
        raise NotFound("Supersession")
    if found.state not in states:
        raise Conflict(f"Somebody decided meanwhile: it is {found.state}.", "stale", "state")
    if len(set(seen)) > 1:
        raise Conflict("The two are about different subjects now.", "stale", "state")
    return found


def approve(scope: Scope, supersession_id: uuid.UUID, content: str = "") -> Supersession:
    """Let the held memory replace the old one; `content` edits it on the way."""
    space = workspace_index.index_of(scope.workspace_id)
    content = checked(content) if content.strip() else ""
    vectors = due.embed_or_leave(space, [entries.texts_of(content)]) if content else None
    with transaction.atomic(durable=True):
        workspace_index.lock(space)
        found = locked_decision(scope, supersession_id, Supersession.State.PENDING)
        old, new = locked(scope, found.old_id), locked(scope, found.new_id)
        let_replace(space, old, new)
        decide(scope, found, Supersession.State.APPLIED, "approve")
        if content and content != new.content:
            new_version(scope, space, new, content, vectors, note=IN_OTHER_WORDS)
    return found


def let_replace(space: WorkspaceIndex, old: Memory, new: Memory) -> None:
    """Put a locked memory in the place of another; Conflict where that is a head no more."""
    if not old.is_latest or old.forgotten_at is not None:
        raise Conflict("The old memory is no longer live.", "stale", "old")
    if new.superseded_by_id is not None:
        raise Conflict("The newer memory was replaced meanwhile.", "stale", "new")
    _release(space, new)
    Memory.objects.filter(pk=old.pk).supersede(by=new, at=timezone.now())
    new.version = max(new.version, old.version + 1)
    new.pinned = new.pinned or old.pinned  # what a person pinned stays pinned, in its new words
    Memory.objects.filter(pk=new.pk).update(version=new.version, pinned=new.pinned)
    entries.set_live(space, Layer.MEMORIES, [old.pk], live=False)


@transaction.atomic(durable=True)
def reject(scope: Scope, supersession_id: uuid.UUID, note: str = "") -> Supersession:
    """Keep the old memory; the new one is forgotten, and not learned again."""
    space = workspace_index.index_of(scope.workspace_id)
    workspace_index.lock(space)
    found = locked_decision(scope, supersession_id, Supersession.State.PENDING)
    new = locked(scope, found.new_id)
    decide(scope, found, Supersession.State.REJECTED, "reject", note)
    end(scope, new, note or "rejected")
    reject_claim(scope, new, note or "rejected")
    return found


@transaction.atomic(durable=True)
def keep_both(scope: Scope, supersession_id: uuid.UUID) -> Supersession:
    """Both live on: they do not say the same thing."""
    space = workspace_index.index_of(scope.workspace_id)
    workspace_index.lock(space)
    found = locked_decision(scope, supersession_id, Supersession.State.PENDING)
    _release(space, locked(scope, found.new_id))
    decide(scope, found, Supersession.State.REJECTED, "keep_both", KEPT_BOTH)
    return found


def _release(space: WorkspaceIndex, memory: Memory) -> None:
    """Let a held memory live; one that waited for review lives already."""
    if memory.held_at is None:
        return
    memory.held_at = None
    memory.save(update_fields=["held_at", "updated_at"])
    revive(space, memory, Liveness.Cause.APPROVED)


def decide(scope: Scope, found: Supersession, state: str, action: str, note: str = "") -> None:
    before = found.state
    found.waited = found.waited or before == Supersession.State.PENDING
    found.state, found.decided_by, found.decided_at = state, scope.actor, timezone.now()
    found.note = note or found.note
    found.save(update_fields=["state", "decided_by", "decided_at", "note", "waited", "updated_at"])
    new = Memory.objects.get(pk=found.new_id)
    audit(scope, action, new, reason=note, before={"state": before}, after={"state": state})
