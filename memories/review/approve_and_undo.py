"""A person's decisions on proposals: approve, reject, keep both; and the ways back."""

import uuid

from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from memories import irrevocable, masks, resolve
from memories.errors import Conflict, NotFound
from memories.features import sets
from memories.features.follow_sources import episodes_of
from memories.index import due_vectors, entries, workspace_index
from memories.models import (
    Memory,
    MemoryPeriod,
    MemoryState,
    Rejection,
    Supersession,
    WorkspaceIndex,
)
from memories.resolve import OLDER, state_changes
from memories.review import taken_words
from memories.review.create_and_edit import EDIT, checked, let_go, new_version
from memories.review.forget import (
    CORRECTED,
    audit,
    forget_locked,
    hide_locked,
    locked,
    reject_claim,
)
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


def locked_decision(
    scope: Scope, supersession_id: uuid.UUID, act: str
) -> tuple[Supersession, Memory, Memory]:
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


def decide(
    scope: Scope, decision: Supersession, act: str, note: str = "", *, state: str = ""
) -> None:
    """Write down the decision's state after this act, or `state`, and who said so."""
    before = decision.state
    decision.waited = decision.waited or before == State.PENDING
    decision.state = state or ACTS[act][1]
    decision.decided_by, decision.decided_at = scope.actor, timezone.now()
    decision.note = note or decision.note
    decision.save(
        update_fields=["state", "decided_by", "decided_at", "note", "waited", "updated_at"]
    )
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
    sets.unmark(memory.workspace_id, episodes_of(memory))


# A person's word taken back.
#
#     act       of                                what happens
#     undo      a supersession that is applied    the old memory is the head again, the new one ends
#     reopen    one that a person decided         it waits again, both memories are as before it
#     redo      one that was undone               the new memory takes the old one's place again
#     restore   a memory, forgotten or expired    it is believed again, and may be learned again
#     separate  a merge of two subjects           each has its own (`merge_and_separate.py`)
#
# The states of a decision before and after each act are in `ACTS`.

Cause = MemoryPeriod.Cause


@transaction.atomic(durable=True)
def undo(scope: Scope, supersession_id: uuid.UUID) -> Supersession:
    """Take an applied supersession back: the old memory is the head again, the new one ends,
    unless it stands by itself as well.

    Conflict where the new one has been replaced itself: undo that first.
    """
    space = workspace_index.index_of(scope.workspace_id)
    workspace_index.lock(space)
    return undo_locked(scope, space, supersession_id)


def undo_locked(scope: Scope, space: WorkspaceIndex, supersession_id: uuid.UUID) -> Supersession:
    """Do `undo` within the caller's transaction, which holds the workspace's lock."""
    decision, old, new = locked_decision(scope, supersession_id, "undo")
    is_older = decision.rule == OLDER
    if new.superseded_by_id is not None and not is_older:
        raise Conflict("The newer version was replaced itself: undo that first.", "stale", "new")
    # It was believed without this decision, or replaces another one too.
    others = Supersession.objects.filter(new=decision.new_id, state=State.APPLIED)
    stands = is_older or others.exclude(Q(pk=decision.pk) | Q(rule=OLDER)).exists()
    state_changes.unlink(old, new)
    if new.forgotten_at is None and not stands:
        forget_locked(scope.as_part_of(decision), [new], "undone")
    if old.state.is_head:
        may_be_learned(scope, old)
        believe_again(space, old, Cause.UNDONE)
    decide(scope, decision, "undo")
    return decision


def reopen(scope: Scope, supersession_id: uuid.UUID) -> Supersession:
    """Let a decision that a person took wait again: both memories are as they were before it, with
    the words that went with it.

    Conflict where nobody was asked, or where one of the memories has changed since.
    """
    space = workspace_index.index_of(scope.workspace_id)
    with transaction.atomic(durable=True):
        workspace_index.lock(space)
        decision, old, new = locked_decision(scope, supersession_id, "reopen")
        if not decision.waited:
            raise Conflict("No person was asked about it: undo it instead.", "stale", "state")
        if decision.state == State.APPLIED:
            _take_back_words(scope, space, new)
            put_back(space, old, new)
            if old.pinned:  # the pin came with the approval
                Memory.objects.filter(pk=new.pk).update(pinned=False)
            if not new.supersedes.exists():  # it begins a chain of its own again
                Memory.objects.filter(pk=new.pk).update(version=1)
        elif new.superseded_by_id is not None or (decision.note == KEPT_BOTH and new.forgotten_at):
            message = "The new memory was changed since: its chain shows how."
            raise Conflict(message, "stale", "new")
        may_be_learned(scope, new)
        touched = taken_words.give_back_locked(scope, space, new)
        # It waits as it did: held back where it had not been believed before anybody was asked.
        if new.periods.filter(cause=Cause.CREATED).exists():
            believe_again(space, new, Cause.UNDONE)
        else:
            state_changes.hold(space, new, timezone.now())
        decision.note = ""
        decide(scope, decision, "reopen")
        resolve.file_unfiled(space)  # its case may be decided
    due_vectors.fill(space, touched)
    taken_words.give_back_words(scope, space, taken_words.taken_by(decision.new_id))
    return decision


def _take_back_words(scope: Scope, space: WorkspaceIndex, new: Memory) -> None:
    """End the version that was written with the approval."""
    if new.superseded_by_id is None:
        return
    edit = Supersession.objects.get(old=new, state=State.APPLIED)
    worded = locked(scope, edit.new_id)
    if edit.note != IN_OTHER_WORDS or worded.superseded_by_id is not None:
        raise Conflict("The newer version was replaced itself: undo that first.", "stale", "new")
    state_changes.unlink(new, worded)
    forget_locked(scope.as_part_of(edit), [worded], "undone")
    decide(scope, edit, "undo")
    believe_again(space, new, Cause.UNDONE)


@transaction.atomic(durable=True)
def redo(scope: Scope, supersession_id: uuid.UUID) -> Supersession:
    """Let a supersession that was undone stand again."""
    space = workspace_index.index_of(scope.workspace_id)
    workspace_index.lock(space)
    decision, old, new = locked_decision(scope, supersession_id, "redo")
    believe_again(space, new, Cause.RESTORED)
    let_replace(space, old, new)
    if decision.rule == EDIT:
        reject_claim(scope, old, CORRECTED)
    decide(scope, decision, "redo")
    return decision


def restore(scope: Scope, memory_id: uuid.UUID) -> Memory:
    """Believe a forgotten memory again; its rejection goes, and the words that went with it come
    back. Conflict where a newer one stands, Forbidden where words were masked and the asker may not
    see them."""
    space = workspace_index.index_of(scope.workspace_id)
    with transaction.atomic(durable=True):
        workspace_index.lock(space)
        memory = locked(scope, memory_id)
        if memory.superseded_by_id is not None:
            message = "A newer version stands: undo its supersession instead."
            raise Conflict(message, "not_head", "id")
        if memory.forgotten_at is None and (memory.forget_after is None or memory.is_live):
            raise Conflict("It is not forgotten.", "not_forgotten", "id")
        taken = taken_words.taken_for(memory)
        touched = taken_words.give_back_locked(scope, space, memory, taken)
        memory.forget_after = None
        memory.save(update_fields=["forget_after", "updated_at"])
        may_be_learned(scope, memory)
        believe_again(space, memory, Cause.RESTORED)
        audit(scope, "restore", memory, after={"content": memory.content})
    due_vectors.fill(space, touched)
    taken_words.give_back_words(scope, space, taken)
    return Memory.objects.with_names().get(pk=memory.pk)


def put_back(space: WorkspaceIndex, old: Memory, new: Memory) -> None:
    """Take `new` out of the place of `old`, which is the head again unless it was forgotten."""
    state_changes.unlink(old, new)
    if old.state.is_head:
        believe_again(space, old, Cause.UNDONE)


def may_be_learned(scope: Scope, memory: Memory) -> None:
    """Drop the rejections of these words that the asker sees, and keep restores from forgetting
    them again."""
    if memory.forgotten_at is not None:
        irrevocable.note_memories(irrevocable.RETURNED, [memory])
    seen = Rejection.objects.visible_to(scope)
    seen.of(memory.workspace_id, memory.subject_id, bytes(memory.fingerprint)).delete()
