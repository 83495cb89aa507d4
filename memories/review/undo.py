"""A person's word taken back: what was decided waits again, and what was undone stands again."""

import uuid

from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from memories.errors import Conflict
from memories.index import entries, workspace_index
from memories.models import Layer, Liveness, Memory, Rejection, Supersession, WorkspaceIndex
from memories.resolve import OLDER
from memories.review.approve import (
    IN_OTHER_WORDS,
    KEPT_BOTH,
    decide,
    let_replace,
    locked_decision,
)
from memories.review.edit import EDIT
from memories.review.forget import CORRECTED, end, locked, reject_claim
from memories.review.restore import revive, unlink
from workspaces.scope import Scope

State = Supersession.State


@transaction.atomic(durable=True)
def undo(scope: Scope, supersession_id: uuid.UUID) -> Supersession:
    """Take an applied supersession back: the old memory is the head again, the new one ends,
    unless it stands by itself as well.

    Conflict where the new one has been replaced itself: undo that first.
    """
    space = workspace_index.index_of(scope.workspace_id)
    workspace_index.lock(space)
    found = locked_decision(scope, supersession_id, Supersession.State.APPLIED)
    old, new = locked(scope, found.old_id), locked(scope, found.new_id)
    if new.superseded_by_id is not None and found.rule != OLDER:
        raise Conflict("The newer version was replaced itself: undo that first.", "stale", "new")
    unlink(old, new)
    if new.forgotten_at is None and not _stands_by_itself(found):
        end(scope, new, "undone")
    if old.forgotten_at is None:
        Rejection.objects.of(old.workspace_id, old.subject_id, bytes(old.fingerprint)).delete()
        revive(space, old, Liveness.Cause.UNDONE)
    decide(scope, found, Supersession.State.UNDONE, "undo")
    return found


def _stands_by_itself(found: Supersession) -> bool:
    """The newer memory was believed without this decision, or replaces another one too."""
    others = Supersession.objects.filter(new=found.new_id, state=Supersession.State.APPLIED)
    return found.rule == OLDER or others.exclude(Q(pk=found.pk) | Q(rule=OLDER)).exists()


@transaction.atomic(durable=True)
def reopen(scope: Scope, supersession_id: uuid.UUID) -> Supersession:
    """Let a decision that a person took wait again: both memories are as they were before it.

    Conflict where nobody was asked, or where one of the memories has changed since.
    """
    space = workspace_index.index_of(scope.workspace_id)
    workspace_index.lock(space)
    found = locked_decision(scope, supersession_id, State.APPLIED, State.REJECTED)
    if not found.waited:
        raise Conflict("No person was asked about it: undo it instead.", "stale", "state")
    old, new = locked(scope, found.old_id), locked(scope, found.new_id)
    if found.state == State.APPLIED:
        _take_back_words(scope, space, new)
        unlink(old, new)
        if old.pinned:
            Memory.objects.filter(pk=new.pk).update(pinned=False)  # the pin came with the approval
        if not new.supersedes.exists():
            Memory.objects.filter(pk=new.pk).update(version=1)  # it begins a chain of its own again
        revive(space, old, Liveness.Cause.UNDONE)
    elif new.superseded_by_id is not None or (found.note == KEPT_BOTH and new.forgotten_at):
        raise Conflict("The new memory was changed since: its chain shows how.", "stale", "new")
    _ask_again(space, new)
    found.note = ""
    decide(scope, found, State.PENDING, "reopen")
    return found


def _take_back_words(scope: Scope, space: WorkspaceIndex, new: Memory) -> None:
    """End the version that was written with the approval."""
    if new.superseded_by_id is None:
        return
    edit = Supersession.objects.get(old=new, state=State.APPLIED)
    worded = locked(scope, edit.new_id)
    if edit.note != IN_OTHER_WORDS or worded.superseded_by_id is not None:
        raise Conflict("The newer version was replaced itself: undo that first.", "stale", "new")
    unlink(new, worded)
    end(scope, worded, "undone")
    decide(scope, edit, State.UNDONE, "undo")
    revive(space, new, Liveness.Cause.UNDONE)


def _ask_again(space: WorkspaceIndex, new: Memory) -> None:
    """As it waited: held back where it had not been believed before anybody was asked."""
    Rejection.objects.of(new.workspace_id, new.subject_id, bytes(new.fingerprint)).delete()
    was_believed = new.liveness.filter(cause=Liveness.Cause.CREATED).exists()
    new.forgotten_at, new.forget_reason = None, ""
    new.held_at = None if was_believed else timezone.now()
    new.save(update_fields=["forgotten_at", "forget_reason", "held_at", "updated_at"])
    if was_believed:
        revive(space, new, Liveness.Cause.UNDONE)
        return
    new.liveness.all().end(timezone.now(), "held")
    entries.set_live(space, Layer.MEMORIES, [new.pk], live=False)


@transaction.atomic(durable=True)
def redo(scope: Scope, supersession_id: uuid.UUID) -> Supersession:
    """Let a supersession that was undone stand again."""
    space = workspace_index.index_of(scope.workspace_id)
    workspace_index.lock(space)
    found = locked_decision(scope, supersession_id, State.UNDONE)
    old, new = locked(scope, found.old_id), locked(scope, found.new_id)
    new.forgotten_at, new.forget_reason = None, ""
    new.save(update_fields=["forgotten_at", "forget_reason", "updated_at"])
    revive(space, new, Liveness.Cause.RESTORED)
    let_replace(space, old, new)
    if found.rule == EDIT:
        reject_claim(scope, old, CORRECTED)
    decide(scope, found, State.APPLIED, "redo")
    return found
