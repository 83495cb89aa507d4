"""Routes: the audit log."""

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any
from uuid import UUID

from msgspec import Meta
from rest_framework.request import Request
from rest_framework.response import Response

from memories.errors import refuse_narrow
from workspaces.api.json_answers import JsonAnswer
from workspaces.api.json_requests import read_query
from workspaces.api.paging import PageQuery, narrowing, paged
from workspaces.api.schema import operation
from workspaces.api.views import WorkspaceView
from workspaces.models import AuditEntry, Capability
from workspaces.request_fields import Maybe, Moment, Text, declared

# Routes: the audit log.

NARROWING = {
    "action": "action",
    "actor": "actor",
    "target_kind": "target_kind",
    "target_id": "target_id",
    "subject_id": "subject_id",
    "since": "created_at__gte",
    "until": "created_at__lt",
}


@declared
@dataclass(frozen=True, slots=True)
class AuditQuery(PageQuery):
    action: Maybe[Text] = None
    actor: Maybe[Text] = None
    target_kind: Maybe[Text] = None
    target_id: Maybe[UUID] = None
    subject_id: Maybe[UUID] = None
    since: Maybe[Moment] = None
    until: Maybe[Moment] = None


class AuditEntryJson(JsonAnswer):
    id: UUID
    actor: Annotated[str, Meta(description="key:<id>, user:<id>, or a part of the server.")]
    action: str
    target_kind: str
    target_id: UUID
    subject_id: UUID | None
    reason: str | None
    before: Any
    after: Any
    created_at: datetime


class AuditView(WorkspaceView):
    needs = dict.fromkeys(("GET",), Capability.CURATE)

    @operation("listAudit", query=AuditQuery, page=AuditEntryJson)
    def get(self, request: Request, workspace: str) -> Response:
        """List the actions, each with its actor, row and values before and after, the newest first.
        Not for keys of an agent, or keys limited to subjects or spaces."""
        refuse_narrow(self.scope.is_narrow)
        wanted = narrowing(read_query(AuditQuery, request), NARROWING)
        rows = AuditEntry.objects.filter(workspace_id=self.scope.workspace_id, **wanted)
        return paged(request, rows, AuditEntryJson.of)
