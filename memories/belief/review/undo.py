"""The ways back from a decision: undo, reopen, redo, restore."""

import uuid

from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils import timezone

from memories.belief import resolve
from memories.belief.resolve import OLDER, state_changes
from memories.belief.review import taken_words
from memories.belief.review.approve import (
    IN_OTHER_WORDS,
    KEPT_BOTH,
    State,
    believe_again,
    decide,
    let_replace,
    locked_decision,
)
from memories.belief.review.edit import EDIT
from memories.belief.review.forget import CORRECTED, audit, forget_locked, locked, reject_claim
from memories.errors import Conflict
from memories.index import due_vectors, workspace_index
from memories.models import MaskedSpan, Memory, MemoryPeriod, Rejection, Supersession, WorkspaceIndex
from memories.privacy import irrevocable
from workspaces.scope import Scope

# A person's word taken back.
#
#     act       of                                what happens
#     undo      a supersession that is applied    the old memory is the head again, the new one ends
#     reopen    one that a person decided         it waits again, both memories are as before it
#     redo      one that was undone               the new memory takes the old one's place again
#     restore   a memory, forgotten or expired    it is believed again, and may be learned again
#     separate  a merge of two subjects           each has its own (`merge_people.py`)
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


def undo_locked(
    scope: Scope, space: WorkspaceIndex, supersession_id: uuid.UUID, reason: str = "undone"
) -> Supersession:
    """Do `undo` within the caller's transaction, which holds the workspace's lock; the new memory ends for
    `reason`."""
    decision, old, new = locked_decision(scope, supersession_id, "undo")
    is_older = decision.rule == OLDER
    if new.superseded_by_id is not None and not is_older:
        raise Conflict("The newer version was replaced itself: undo that first.", "stale", "new")
    # It was believed without this decision, or replaces another one too.
    others = Supersession.objects.filter(new=decision.new_id, state=State.APPLIED)
    stands = is_older or others.exclude(Q(pk=decision.pk) | Q(rule=OLDER)).exists()
    state_changes.unlink(old, new)
    if new.forgotten_at is None and not stands:
        forget_locked(scope.as_part_of(decision), [new], reason)
    if old.state.is_head:
        believe_anew(scope, space, old, Cause.UNDONE)
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
        # It waits as it did: held back where it had not been believed before anybody was asked.
        is_held = not new.periods.filter(cause=Cause.CREATED).exists()
        touched = return_locked(scope, space, new, is_held=is_held)
        decision.note = ""
        decide(scope, decision, "reopen")
        resolve.file_unfiled(space)  # its case may be decided
    due_vectors.fill(space, touched)
    taken_words.give_back_words(scope, space, taken_words.taken_by(decision.new_id), decision.new_id)
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
    back: those of messages in steps, with which whoever restores it again goes on. Conflict where a
    newer one stands, Forbidden where words were masked and the asker may not see them."""
    space = workspace_index.index_of(scope.workspace_id)
    touched: list[uuid.UUID] = []
    with transaction.atomic(durable=True):
        workspace_index.lock(space)
        memory = locked(scope, memory_id)
        taken = taken_words.taken_for(memory)
        if not (memory.is_live and taken_words.is_due_back(memory)):
            touched = _restore_locked(scope, space, memory, taken)
    due_vectors.fill(space, touched)
    taken_words.give_back_words(scope, space, taken, memory.pk)
    return Memory.objects.with_names().get(pk=memory.pk)


def _restore_locked(
    scope: Scope, space: WorkspaceIndex, memory: Memory, taken: QuerySet[MaskedSpan]
) -> list[uuid.UUID]:
    if memory.superseded_by_id is not None:
        message = "A newer version stands: undo its supersession instead."
        raise Conflict(message, "not_head", "id")
    if memory.forgotten_at is None and (memory.forget_after is None or memory.is_live):
        raise Conflict("It is not forgotten.", "not_forgotten", "id")
    touched = taken_words.give_back_locked(scope, space, memory, taken)
    memory.forget_after = None
    memory.save(update_fields=["forget_after", "updated_at"])
    believe_anew(scope, space, memory, Cause.RESTORED)
    audit(scope, "restore", memory, after={"content": memory.content})
    return touched


def put_back(space: WorkspaceIndex, old: Memory, new: Memory) -> None:
    """Take `new` out of the place of `old`, which is the head again unless it was forgotten."""
    state_changes.unlink(old, new)
    if old.state.is_head:
        believe_again(space, old, Cause.UNDONE)


def return_locked(scope: Scope, space: WorkspaceIndex, memory: Memory, *, is_held: bool) -> list[uuid.UUID]:
    """Let a locked memory that was ended be as it was, held back or believed, with the words that
    went with it. Return the rows that have words again."""
    may_be_learned(scope, memory)
    touched = taken_words.give_back_locked(scope, space, memory)
    if is_held:
        state_changes.hold(space, memory, timezone.now())
    else:
        believe_again(space, memory, Cause.UNDONE)
    return touched


def believe_anew(scope: Scope, space: WorkspaceIndex, memory: Memory, cause: str) -> None:
    """Believe a memory again, which may be learned again as well."""
    may_be_learned(scope, memory)
    believe_again(space, memory, cause)


def may_be_learned(scope: Scope, memory: Memory) -> None:
    """Drop the rejections of these words that the asker sees, and keep restores from forgetting
    them again."""
    if memory.forgotten_at is not None:
        irrevocable.note_memories(irrevocable.RETURNED, [memory])
    seen = Rejection.objects.visible_to(scope)
    seen.of(memory.workspace_id, memory.subject_id, bytes(memory.fingerprint)).delete()
