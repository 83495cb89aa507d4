"""Routes: erasing a subject, a conversation or an episode, and the certificates that stay."""

import uuid
from typing import Any

from django.shortcuts import get_object_or_404
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from memories import erase
from memories.models import Erasure
from workspaces.api.fields import Camel, Free, moment, read_query
from workspaces.api.paging import PageQuery, page_of, paged
from workspaces.api.views import ADMINISTERS, WorkspaceView
from workspaces.models import Capability
from workspaces.scope import Scope

WAIT = 10.0  # seconds that a request takes part in the work; then the worker goes on


class EraseQuery(Camel):
    dry_run = serializers.BooleanField(
        default=False, help_text="Only count what would go, by table."
    )


class PlanSerializer(Camel):
    kind = serializers.CharField(help_text="subject, conversation or episode.")
    id = serializers.UUIDField()
    plan = Free(help_text="Rows that would go, or be made anew, by what they are.")


class ErasureSerializer(Camel):
    id = serializers.UUIDField()
    kind = serializers.CharField(help_text="subject, conversation or episode.")
    target_id = serializers.UUIDField()
    status = serializers.CharField(help_text="waiting, running, done or failed.")
    requested_by = serializers.CharField()
    plan = Free()
    removed = Free()
    proof = Free(help_text="How much was looked for, where, and what was found; `clean`: nothing.")
    error = serializers.CharField(allow_null=True)
    created_at = serializers.DateTimeField()
    finished_at = serializers.DateTimeField(allow_null=True)


def shape(row: Erasure) -> dict[str, Any]:
    return {
        "id": str(row.pk),
        "kind": row.kind,
        "targetId": str(row.target_id),
        "status": row.state,
        "requestedBy": row.requested_by,
        "plan": row.plan,
        "removed": row.removed,
        "proof": row.proof,
        "error": row.error or None,
        "createdAt": moment(row.created_at),
        "finishedAt": moment(row.finished_at),
    }


def planned(scope: Scope, kind: str, row: uuid.UUID) -> Response:
    plan = erase.plan(erase.target_of(scope, kind, row))
    return Response({"kind": kind, "id": str(row), "plan": plan})


def erased(scope: Scope, kind: str, row: uuid.UUID) -> Response:
    """200 with the certificate, or 202 while the worker is still at it."""
    asked = erase.request(scope, erase.target_of(scope, kind, row))
    done = erase.run(asked.pk, WAIT) or Erasure.objects.get(pk=asked.pk)
    is_over = done.finished_at is not None
    return Response(shape(done), status=200 if is_over else 202)


def erases(view: type[WorkspaceView], kind: str, name: str) -> type[WorkspaceView]:
    """`view` with DELETE, which erases its row."""

    class Erasing(view):  # type: ignore[misc, valid-type]
        needs = {**view.needs, "DELETE": Capability.ADMIN}

        @extend_schema(
            operation_id=f"erase{name}",
            parameters=[EraseQuery],
            responses={200: ErasureSerializer, 202: ErasureSerializer},
        )
        def delete(self, request: Request, workspace: str, row: uuid.UUID) -> Response:
            """Erase it with all that was made of it; with `dryRun`, only say what would go."""
            if read_query(EraseQuery, request)["dry_run"]:
                return planned(self.scope, kind, row)
            return erased(self.scope, kind, row)

    return Erasing


def plans(kind: str, name: str) -> type[WorkspaceView]:
    class Planning(WorkspaceView):
        needs = ADMINISTERS

        @extend_schema(operation_id=f"plan{name}Erasure", responses=PlanSerializer)
        def get(self, request: Request, workspace: str, row: uuid.UUID) -> Response:
            """What would go if it were erased, in rows by table."""
            return planned(self.scope, kind, row)

    return Planning


class ErasuresView(WorkspaceView):
    needs = ADMINISTERS

    @extend_schema(
        operation_id="listErasures",
        parameters=[PageQuery],
        responses=page_of(ErasureSerializer, "ErasurePage"),
    )
    def get(self, request: Request, workspace: str) -> Response:
        rows = Erasure.objects.filter(workspace_id=self.scope.workspace_id)
        return paged(request, rows, shape)


class ErasureView(WorkspaceView):
    needs = ADMINISTERS

    @extend_schema(operation_id="readErasure", responses=ErasureSerializer)
    def get(self, request: Request, workspace: str, row: uuid.UUID) -> Response:
        rows = Erasure.objects.filter(workspace_id=self.scope.workspace_id)
        return Response(shape(get_object_or_404(rows, pk=row)))
