"""Rules that a workspace wrote itself, switched on and off, and undo of a change to any rule."""

import uuid
from collections.abc import Mapping
from typing import Any, TypeAlias

from django.core.exceptions import ValidationError
from django.db import transaction

from memories.errors import Conflict, Invalid, NotFound
from memories.models import WorkspaceChange, WorkspacePattern, WorkspaceSlot
from memories.settings.workspace_settings import switch_decision, switch_pattern
from workspaces.models import AuditEntry, Workspace
from workspaces.scope import Scope

OwnRule: TypeAlias = WorkspacePattern | WorkspaceSlot | WorkspaceChange
# Models by the kind of row that a line of the audit log names.
MODELS: Mapping[str, type[OwnRule]] = {
    "workspacepattern": WorkspacePattern,
    "workspaceslot": WorkspaceSlot,
    "workspacechange": WorkspaceChange,
}
SWITCHES = {"switch_pattern": switch_pattern, "switch_decision": switch_decision}
UNTOLD = {"id", "workspace", "created_at", "updated_at"}
SHOWN_CHANGES = 8


def values_of(row: OwnRule) -> dict[str, Any]:
    """The fields of a rule for the audit log: enough to make it again."""
    names = [f.name for f in row._meta.concrete_fields if f.name not in UNTOLD]
    return {name: getattr(row, name) for name in names}


def rule_of(scope: Scope, kind: str, rule_id: uuid.UUID) -> OwnRule:
    """Return a rule. Raises NotFound."""
    model = MODELS.get(kind)
    rows = model._default_manager.filter(workspace_id=scope.workspace_id) if model else None
    row = rows.filter(pk=rule_id).first() if rows is not None else None
    if row is None:
        raise NotFound("Rule")
    return row


@transaction.atomic
def switch_own(scope: Scope, kind: str, rule_id: uuid.UUID, *, is_off: bool) -> OwnRule:
    """Switch a rule on or off. Raises NotFound, and Invalid where its examples no longer hold."""
    row = rule_of(scope, kind, rule_id)
    if row.enabled == is_off:
        _write(scope, row, {"enabled": not is_off})
    return row


def _write(scope: Scope, row: OwnRule, values: Mapping[str, Any]) -> None:
    known = values_of(row)
    for name in values:
        setattr(row, name, values[name])
    try:
        row.save()
    except ValidationError as error:
        raise Invalid("examples", " ".join(error.messages)) from error
    before = {name: known[name] for name in values if known[name] != values[name]}
    after = {name: values[name] for name in before}
    scope.audit("change", row, before=before, after=after)


def changes_of(scope: Scope) -> list[AuditEntry]:
    """The latest changes to rules here, the newest first."""
    lines = AuditEntry.objects.filter(workspace_id=scope.workspace_id).order_by("-pk")
    switched = lines.filter(action__in=SWITCHES)[:SHOWN_CHANGES]
    own = lines.filter(action__in=("change", "delete"), target_kind__in=MODELS)[:SHOWN_CHANGES]
    return sorted([*switched, *own], key=lambda line: line.pk, reverse=True)[:SHOWN_CHANGES]


def take_back(scope: Scope, line_id: uuid.UUID) -> str:
    """Restore a rule to its state before the change in this line of the log; its name.

    Raises NotFound, Invalid, and Conflict where it was changed again since, or its earlier state
    was not kept.
    """
    rows = AuditEntry.objects.filter(workspace_id=scope.workspace_id, pk=line_id)
    line = rows.first()
    if line is None or not (line.action in SWITCHES or line.target_kind in MODELS):
        raise NotFound("Change of a rule")
    if line.action in SWITCHES:
        is_off = line.reason in (line.before or [])
        SWITCHES[line.action](scope, line.reason, is_off=is_off)
        return line.reason
    return _take_back_own(scope, line)


@transaction.atomic
def _take_back_own(scope: Scope, line: AuditEntry) -> str:
    Workspace.objects.select_for_update(no_key=True).get(pk=scope.workspace_id)
    before = line.before if isinstance(line.before, dict) else {}
    since = AuditEntry.objects.filter(workspace_id=scope.workspace_id, target_id=line.target_id, pk__gt=line.pk)
    if since.exists():
        raise Conflict("It was changed again since: take that back first.", "stale")
    model = MODELS[line.target_kind]
    if not before or not set(before) <= set(values_of(model())):
        raise Conflict("Nobody kept how it was before.", "stale")
    if line.action == "delete":
        row = model(pk=line.target_id, workspace_id=scope.workspace_id, **before)
        try:
            row.save()
        except ValidationError as error:
            raise Invalid("name", " ".join(error.messages)) from error
        scope.audit("create", row, after=before)
        return row.name
    row = rule_of(scope, line.target_kind, line.target_id)
    _write(scope, row, before)
    return row.name
