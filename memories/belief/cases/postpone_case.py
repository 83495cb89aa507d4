"""Cases asked by hand, snoozed and assigned; failures that a person leaves."""

import uuid
from datetime import datetime
from typing import Any

from django.db import transaction
from django.utils import timezone

from memories.belief.cases.decide_case import State, audit_case, locked_case, refuse_changed
from memories.belief.cases.inbox import RISKS, failed
from memories.belief.resolve.file_cases import (
    ASKED,
    CaseAbout,
    NewItem,
    WaitingPair,
    file_pairs,
    known_memory,
    open_case,
)
from memories.belief.review.forget import locked
from memories.errors import Conflict, Invalid, NotFound
from memories.index import row_marks, workspace_index
from memories.language.english import statements
from memories.models import Case, FailureMark, MemoryState, Supersession, topic_of
from workspaces.models import AuditEntry, Membership
from workspaces.scope import Scope

# A case made by a person, left for later, or given to somebody; and what failed, left for later,
# given to somebody, or as it is.


@transaction.atomic(durable=True)
def ask_case(scope: Scope, memory_id: uuid.UUID) -> Case:
    """The case in which a live memory waits for somebody's word: the one that is open about its
    attribute, else a new one. Conflict where it is believed no more."""
    space = workspace_index.index_of(scope.workspace_id)
    workspace_index.lock(space)
    memory = locked(scope, memory_id)
    if memory.state != MemoryState.LIVE:
        raise Conflict(f"It is {memory.state}: there is nothing to decide about it.")
    keys = statements.slot_keys(statements.read(memory.content, row_marks.words_of(space)))
    attribute, topic = memory.category or "other", memory.pk
    if keys:
        attribute, topic = keys[0].split("|")[1], topic_of(keys[0])
    about = CaseAbout(scope.workspace_id, memory.subject_id, attribute, topic)
    item = NewItem(memory.valid_from or memory.created_at, ASKED, memory_id=memory.pk)
    case = Case.objects.get(pk=open_case(about, Case.Kind.UNCERTAIN, [item]))
    audit_case(scope, "ask", case)
    return case


@transaction.atomic(durable=True)
def ask_pair(scope: Scope, one_id: uuid.UUID, other_id: uuid.UUID) -> Case:
    """The case in which somebody says which of two live memories about one subject is right; both
    are believed until then. Conflict where that waits already, or was decided."""
    space = workspace_index.index_of(scope.workspace_id)
    workspace_index.lock(space)
    old, new = sorted((locked(scope, pk) for pk in (one_id, other_id)), key=lambda each: each.pk)
    if old.pk == new.pk or old.subject_id != new.subject_id:
        raise Invalid("id", "Only two memories about the same subject can contradict each other.")
    if not old.is_live or not new.is_live:
        raise Conflict("One of them is no longer live.", "stale", "id")
    if Supersession.objects.filter(old__in=(old, new), new__in=(old, new)).exists():
        raise Conflict("It is decided, or waits in the inbox.", "stale", "id")
    pair = Supersession(
        workspace_id=scope.workspace_id,
        old=old,
        new=new,
        rule="values",
        method="manual",
        state=State.PENDING,
        decided_by=scope.actor,
    )
    waiting = WaitingPair(pair, known_memory(old), known_memory(new), is_held=False)
    file_pairs(old.subject_id, [waiting], row_marks.words_of(space))
    pair.save()
    case = Case.objects.get(pairs=pair)
    audit_case(scope, "ask", case)
    return case


@transaction.atomic(durable=True)
def snooze_case(scope: Scope, case_id: uuid.UUID, until: datetime | None) -> Case:
    """Snooze a case until then; None wakes it. Conflict where it is decided."""
    case = locked_case(scope, case_id)
    refuse_changed(case)
    if until is not None and until <= timezone.now():
        raise Invalid("until", "This time has passed.")
    before = {"snoozedUntil": case.snoozed_until.isoformat() if case.snoozed_until else None}
    case.state = Case.State.OPEN if until is None else Case.State.SNOOZED
    case.snoozed_until = until
    case.save(update_fields=["state", "snoozed_until", "updated_at"])
    after = {"snoozedUntil": until.isoformat() if until else None}
    audit_case(scope, "snooze", case, before=before, after=after)
    return case


@transaction.atomic(durable=True)
def assign_case(scope: Scope, case_id: uuid.UUID, member_id: uuid.UUID | None) -> Case:
    """Give it to a member of the workspace, by the id of the membership; None takes it back."""
    case = locked_case(scope, case_id)
    refuse_changed(case)
    member = member_of(scope, member_id)
    before = {"assignee": str(case.assignee_id) if case.assignee_id else None}
    case.assignee = member
    case.save(update_fields=["assignee", "updated_at"])
    after = {"assignee": str(member_id) if member_id else None}
    audit_case(scope, "assign", case, before=before, after=after)
    return case


def member_of(scope: Scope, member_id: uuid.UUID | None) -> Membership | None:
    """Return the membership with this id. Invalid where nobody of the workspace has it."""
    members = Membership.objects.filter(workspace_id=scope.workspace_id)
    member = members.filter(pk=member_id).first() if member_id else None
    if member_id and member is None:
        raise Invalid("assignee", "There is no such member of this workspace.")
    return member


@transaction.atomic(durable=True)
def assign_failure(scope: Scope, row_id: uuid.UUID, member_id: uuid.UUID | None) -> None:
    """Give it to a member of the workspace, by the id of the membership; None takes it back."""
    row, mark = _marked(scope, row_id)
    member = member_of(scope, member_id)
    before = {"assignee": str(mark.assignee_id) if mark.assignee_id else None}
    mark.assignee = member
    after = {"assignee": str(member_id) if member_id else None}
    _keep(scope, row, mark, "assign", before=before, after=after)


@transaction.atomic(durable=True)
def snooze_failure(scope: Scope, row_id: uuid.UUID, until: datetime | None) -> None:
    """Snooze a failure until then; None wakes it."""
    if until is not None and until <= timezone.now():
        raise Invalid("until", "This time has passed.")
    row, mark = _marked(scope, row_id)
    before = {"snoozedUntil": mark.snoozed_until.isoformat() if mark.snoozed_until else None}
    mark.snoozed_until = until
    after = {"snoozedUntil": until.isoformat() if until else None}
    _keep(scope, row, mark, "snooze", before=before, after=after)


@transaction.atomic(durable=True)
def leave_failure(scope: Scope, row_id: uuid.UUID, *, is_left: bool = True) -> None:
    """Leave a failure as it is: it waits for nobody until it fails again. `is_left=False` undoes
    that."""
    row, mark = _marked(scope, row_id)
    mark.left_as = row.failure if is_left else None
    _keep(scope, row, mark, "leave" if is_left else "take_up")


def _marked(scope: Scope, row_id: uuid.UUID) -> tuple[Any, FailureMark]:
    """Return the failed row and its mark, locked until the transaction ends; NotFound where `scope`
    does not see it, or where it no longer fails."""
    for kind in RISKS:
        row = failed(kind).visible_to(scope).filter(pk=row_id).first()  # type: ignore[attr-defined]
        if row is not None:
            own = {"workspace_id": row.workspace_id, f"{kind}_id": row.pk}
            mark, _ = FailureMark.objects.select_for_update().get_or_create(**own)
            return row, mark
    raise NotFound("Entry of the inbox")


def _keep(scope: Scope, row: Any, mark: FailureMark, action: str, **details: object) -> None:
    mark.save()
    line = AuditEntry.line(scope.workspace_id, scope.actor, action, row, subject_id=row.subject_id, **details)
    line.save()
