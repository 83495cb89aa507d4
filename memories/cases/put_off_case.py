"""A case left for later, or given to somebody."""

import uuid
from datetime import datetime

from django.db import transaction
from django.utils import timezone

from memories.cases.decide_case import audit_case, locked_case, refuse_changed
from memories.errors import Invalid
from memories.models import Case
from workspaces.models import Membership
from workspaces.scope import Scope


@transaction.atomic(durable=True)
def snooze_case(scope: Scope, case_id: uuid.UUID, until: datetime | None) -> Case:
    """It waits no more until then; None wakes it. Conflict where it is decided."""
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
    members = Membership.objects.filter(workspace_id=scope.workspace_id)
    member = members.filter(pk=member_id).first() if member_id else None
    if member_id and member is None:
        raise Invalid("assignee", "There is no such member of this workspace.")
    before = {"assignee": str(case.assignee_id) if case.assignee_id else None}
    case.assignee = member
    case.save(update_fields=["assignee", "updated_at"])
    after = {"assignee": str(member_id) if member_id else None}
    audit_case(scope, "assign", case, before=before, after=after)
    return case
