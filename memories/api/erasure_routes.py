"""Routes: erasing a subject, a conversation or an episode, and the certificates of it."""

import uuid
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated

from django.shortcuts import get_object_or_404
from msgspec import Meta
from pydantic import Field
from rest_framework.request import Request
from rest_framework.response import Response

from memories.ingest.waited_ingest import USUAL_WAIT
from memories.models import Erasure
from memories.privacy import erase
from workspaces.api.json_answers import JsonAnswer, column
from workspaces.api.json_requests import read_query
from workspaces.api.paging import paged
from workspaces.api.schema import operation
from workspaces.api.views import ADMINISTERS, WorkspaceView
from workspaces.models import Capability
from workspaces.request_fields import Free, declared
from workspaces.scope import Scope


@declared
@dataclass(frozen=True, slots=True)
class EraseQuery:
    dry_run: Annotated[bool, Field(description="Only count what would go, by table.")] = False


class PlanJson(JsonAnswer):
    kind: Annotated[str, Meta(description="subject, conversation or episode.")]
    id: uuid.UUID
    plan: Annotated[Free, Meta(description="Rows that would go, or be made anew, by what they are.")]


class ErasureJson(JsonAnswer):
    id: uuid.UUID
    kind: Annotated[str, Meta(description="subject, conversation or episode.")]
    target_id: uuid.UUID
    status: Annotated[str, column("state"), Meta(description="waiting, running, done or failed.")]
    requested_by: str
    plan: Free
    removed: Free
    proof: Annotated[
        Free,
        Meta(description="How much was looked for, where, and what was found; `clean`: nothing."),
    ]
    error: str | None
    created_at: datetime
    finished_at: datetime | None


# A certificate, or what `dryRun` tells in its place. It says all that a plan says, and more.
CERTIFICATE_OR_PLAN = {"anyOf": [{"$ref": f"#/components/schemas/{name}"} for name in ("Erasure", "Plan")]}


def planned(scope: Scope, kind: str, row: uuid.UUID) -> Response:
    plan = erase.plan(erase.target_of(scope, kind, row))
    return Response(PlanJson(kind, row, plan))


def erased(scope: Scope, kind: str, row: uuid.UUID) -> Response:
    """Erase the row: 200 with the certificate, or 202 while the worker is still at it."""
    asked = erase.request(scope, erase.target_of(scope, kind, row))
    done = erase.run_or_wait(asked.pk, USUAL_WAIT)
    is_over = done.finished_at is not None
    return Response(ErasureJson.of(done), status=200 if is_over else 202)


def erases(view: type[WorkspaceView], kind: str, name: str) -> type[WorkspaceView]:
    """Add DELETE to `view`, which erases its row."""

    class Erasing(view):  # type: ignore[misc, valid-type]
        needs = {**view.needs, "DELETE": Capability.ADMIN}

        @operation(f"erase{name}", query=EraseQuery, answer={200: CERTIFICATE_OR_PLAN, 202: ErasureJson})
        def delete(self, request: Request, workspace: str, row: uuid.UUID) -> Response:
            """Erase it with all that was made of it: 200 with the certificate, or 202 while the
            worker is still at it. With `dryRun`, only count what would go: 200 with the plan."""
            if read_query(EraseQuery, request).dry_run:
                return planned(self.scope, kind, row)
            return erased(self.scope, kind, row)

    return Erasing


def plans(kind: str, name: str) -> type[WorkspaceView]:
    class Planning(WorkspaceView):
        needs = ADMINISTERS

        @operation(f"plan{name}Erasure", answer=PlanJson)
        def get(self, request: Request, workspace: str, row: uuid.UUID) -> Response:
            """Count the rows that an erasure would remove, by table."""
            return planned(self.scope, kind, row)

    return Planning


class ErasuresView(WorkspaceView):
    needs = ADMINISTERS

    @operation("listErasures", page=ErasureJson)
    def get(self, request: Request, workspace: str) -> Response:
        """List the erasures that were requested, the newest first."""
        rows = Erasure.objects.filter(workspace_id=self.scope.workspace_id)
        return paged(request, rows, ErasureJson.of)


class ErasureView(WorkspaceView):
    needs = ADMINISTERS

    @operation("readErasure", answer=ErasureJson)
    def get(self, request: Request, workspace: str, row: uuid.UUID) -> Response:
        """Return the certificate of an erasure: what was removed, and the proof that it is gone."""
        rows = Erasure.objects.filter(workspace_id=self.scope.workspace_id)
        return Response(ErasureJson.of(get_object_or_404(rows, pk=row)))
