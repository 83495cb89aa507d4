"""What a person says of something in the inbox that failed: it is somebody's, it rests, it may
stay as it is."""

import uuid
from datetime import datetime
from typing import Any

from django.db import transaction
from django.utils import timezone

from memories.cases.inbox import RISKS, failed
from memories.cases.put_off_case import member_of
from memories.errors import Invalid, NotFound
from memories.models import FailureMark
from workspaces.models import AuditEntry
from workspaces.scope import Scope


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
    """It rests until then; None wakes it."""
    if until is not None and until <= timezone.now():
        raise Invalid("until", "This time has passed.")
    row, mark = _marked(scope, row_id)
    before = {"snoozedUntil": mark.snoozed_until.isoformat() if mark.snoozed_until else None}
    mark.snoozed_until = until
    after = {"snoozedUntil": until.isoformat() if until else None}
    _keep(scope, row, mark, "snooze", before=before, after=after)


@transaction.atomic(durable=True)
def leave_failure(scope: Scope, row_id: uuid.UUID, *, is_left: bool = True) -> None:
    """It may stay as it is, and waits for nobody until it fails anew; `is_left=False` takes that
    back."""
    row, mark = _marked(scope, row_id)
    mark.left_as = row.failure if is_left else None
    _keep(scope, row, mark, "leave" if is_left else "take_up")


def _marked(scope: Scope, row_id: uuid.UUID) -> tuple[Any, FailureMark]:
    """What failed, and its mark, locked until the transaction ends; NotFound where `scope` does not
    see it, or where it is well by now."""
    for kind in RISKS:
        row = failed(kind).visible_to(scope).filter(pk=row_id).first()  # type: ignore[attr-defined]
        if row is not None:
            own = {"workspace_id": row.workspace_id, f"{kind}_id": row.pk}
            mark, _ = FailureMark.objects.select_for_update().get_or_create(**own)
            return row, mark
    raise NotFound("Entry of the inbox")


def _keep(scope: Scope, row: Any, mark: FailureMark, action: str, **details: object) -> None:
    mark.save()
    line = AuditEntry.line(
        scope.workspace_id, scope.actor, action, row, subject_id=row.subject_id, **details
    )
    line.save()
