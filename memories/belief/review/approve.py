"""A person's decisions on proposals: approve, reject, keep both."""

import uuid

from django.db import transaction
from django.utils import timezone

from memories.belief import resolve
from memories.belief.resolve import state_changes
from memories.belief.review import taken_words
from memories.belief.review.create import checked, let_go
from memories.belief.review.edit import new_version
from memories.belief.review.forget import audit, forget_locked, hide_locked, locked, reject_claim
from memories.belief.touches import follow_decision
from memories.errors import Conflict, NotFound
from memories.index import due_vectors, entries, workspace_index
from memories.models import Memory, MemoryPeriod, MemoryState, Supersession, WorkspaceIndex
from memories.privacy import masks
from memories.profiles.features import set_queue
from memories.profiles.features.follow_sources import episodes_of
from workspaces.scope import Scope

IN_OTHER_WORDS = "approved in other words"
KEPT_BOTH = Supersession.KEPT_BOTH
State = Supersession.State
# The states from which each act is allowed, and the state after it.
ACTS: dict[str, tuple[tuple[str, ...], str]] = {
    "approve": ((State.PENDING,), State.APPLIED),
    "reject": ((State.PENDING,), State.REJECTED),
    "keep_both": ((State.PENDING,), State.REJECTED),
    "undo": ((State.APPLIED,), State.UNDONE),
    "reopen": ((State.APPLIED, State.REJECTED), State.PENDING),
    "redo": ((State.UNDONE,), State.APPLIED),
}


def locked_decision(scope: Scope, supersession_id: uuid.UUID, act: str) -> tuple[Supersession, Memory, Memory]:
    """Return the decision with its old and its new memory, locked; Conflict where its state does
    not allow this act any more, NotFound where `scope` does not see all three."""
    rows = Supersession.objects.filter(workspace_id=scope.workspace_id, pk=supersession_id)
    decision = rows.select_for_update().first()
    ids = [decision.old_id, decision.new_id] if decision else []
    seen = Memory.objects.visible_to(scope).filter(pk__in=ids).values_list("subject_id", flat=True)
    if decision is None or len(seen) < 2:
        raise NotFound("Supersession")
    if decision.state not in ACTS[act][0]:
        raise Conflict(f"Somebody decided meanwhile: it is {decision.state}.", "stale", "state")
    if len(set(seen)) > 1:
        raise Conflict("The two are about different subjects now.", "stale", "state")
    return decision, locked(scope, decision.old_id), locked(scope, decision.new_id)


def decide(scope: Scope, decision: Supersession, act: str, note: str = "", *, state: str = "") -> None:
    """Write down the decision's state after this act, or `state`, and who said so."""
    before = decision.state
    decision.waited = decision.waited or before == State.PENDING
    decision.state = state or ACTS[act][1]
    decision.decided_by, decision.decided_at = scope.actor, timezone.now()
    decision.note = note or decision.note
    decision.save(update_fields=["state", "decided_by", "decided_at", "note", "waited", "updated_at"])
    follow_decision(decision, scope.actor)
    new = Memory.objects.get(pk=decision.new_id)
    audit(scope, act, new, reason=note, before={"state": before}, after={"state": decision.state})
    if decision.case_id is not None:
        resolve.settle([decision.case_id], scope.actor)


def approve(scope: Scope, supersession_id: uuid.UUID, content: str = "") -> Supersession:
    """Let the held memory replace the old one; `content` edits it on the way."""
    space = workspace_index.index_of(scope.workspace_id)
    content = checked(content) if content.strip() else ""
    vectors = due_vectors.embed_or_leave(space, [entries.texts_of(content)]) if content else None
    with transaction.atomic(durable=True):
        workspace_index.lock(space)
        decision, old, new = locked_decision(scope, supersession_id, "approve")
        let_replace(space, old, new)
        decide(scope, decision, "approve")
        if content and content != new.content:
            new_version(scope, space, new, content, vectors, note=IN_OTHER_WORDS)
    return decision


def reject(scope: Scope, supersession_id: uuid.UUID, note: str = "") -> Supersession:
    """Keep the old memory; the new one is forgotten, and not learned again. Where the note says
    that it is wrong or private its words go, as `forget` takes them."""
    space = workspace_index.index_of(scope.workspace_id)
    with transaction.atomic(durable=True):
        workspace_index.lock(space)
        decision, _, new = locked_decision(scope, supersession_id, "reject")
        made = hide_locked(scope, space, new, note)
        decide(scope, decision, "reject", note)
        forget_locked(scope.as_part_of(decision), [new], note or "rejected")
        reject_claim(scope, new, note or "rejected")
    masks.fill(space, made)
    taken_words.take_words(scope, space, new.pk)
    return decision


@transaction.atomic(durable=True)
def keep_both(scope: Scope, supersession_id: uuid.UUID) -> Supersession:
    """Let both live on: they do not say the same thing."""
    space = workspace_index.index_of(scope.workspace_id)
    workspace_index.lock(space)
    decision, _, new = locked_decision(scope, supersession_id, "keep_both")
    release(space, new)
    decide(scope, decision, "keep_both", KEPT_BOTH)
    return decision


def let_replace(space: WorkspaceIndex, old: Memory, new: Memory) -> None:
    """Put a locked memory in the place of another; Conflict where that is a head no more."""
    if not old.state.is_head:
        raise Conflict("The old memory is no longer live.", "stale", "old")
    if new.superseded_by_id is not None:
        raise Conflict("The newer memory was replaced meanwhile.", "stale", "new")
    release(space, new)
    state_changes.supersede(space, {old.pk: (new.pk, new.valid_from)}, timezone.now())
    new.version = max(new.version, old.version + 1)
    new.pinned = new.pinned or old.pinned  # what a person pinned stays pinned, in its new words
    Memory.objects.filter(pk=new.pk).update(version=new.version, pinned=new.pinned)


def release(space: WorkspaceIndex, memory: Memory) -> None:
    """Let a held memory live; one that waited for review lives already."""
    if memory.state is MemoryState.HELD:
        let_go(memory)
        believe_again(space, memory, MemoryPeriod.Cause.APPROVED)


def believe_again(space: WorkspaceIndex, memory: Memory, cause: str) -> None:
    """Make a memory a head again; the features of what it stands on are looked at again."""
    state_changes.restore(space, memory, cause)
    set_queue.unmark(memory.workspace_id, episodes_of(memory))
