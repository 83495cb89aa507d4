"""Routes: a workspace is changed by its admins, and removed by those of the server."""

from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Annotated, Any, ClassVar
from uuid import UUID

from django.http import StreamingHttpResponse
from django.shortcuts import get_object_or_404
from drf_spectacular.types import OpenApiTypes
from msgspec import Meta
from pydantic import Field, WithJsonSchema
from rest_framework.request import Request
from rest_framework.response import Response
from typing_extensions import TypedDict

from memories.api.idempotency import make_once
from memories.exchange.export_workspace import export_over_http
from memories.ingest.waited_ingest import USUAL_WAIT
from memories.privacy.erase import workspace_removal
from memories.ranking import Weights
from memories.settings.workspace_settings import WorkspaceSettings, change_weights, change_workspace, settings_of
from workspaces.api.json_answers import JsonAnswer, column
from workspaces.api.json_requests import read, read_query
from workspaces.api.problems import refused
from workspaces.api.schema import RequestSchema, nullable, operation
from workspaces.api.views import NEEDS, AskerView, WorkspaceView, administrator_of, idempotency_key
from workspaces.api.workspace_routes import OneWorkspaceView, WorkspaceJson, WorkspacesView
from workspaces.auth import as_uuid
from workspaces.models import Capability, Workspace, WorkspaceRemoval
from workspaces.request_fields import Flag, Free, Number, Text, declared

ANYWAY = "Change it though golden questions would be answered worse; else that is 409 with code `worse_answers`."


def settings_schema() -> dict[str, Any]:
    """Return the schema of the settings as they are declared; each may be null. The view itself
    reads them, and names each part that is wrong."""
    schema = WorkspaceSettings.model_json_schema(schema_generator=RequestSchema)
    parts = schema.pop("$defs")

    def whole(value: Any) -> Any:
        if isinstance(value, list):
            return [whole(each) for each in value]
        if not isinstance(value, dict):
            return value
        named = parts[value["$ref"].rpartition("/")[2]] if "$ref" in value else {}
        # A whole object's default says what its parts say already.
        left_out = {"$ref", "title", *(["default"] if "$ref" in value else [])}
        return {name: whole(each) for name, each in (named | value).items() if name not in left_out}

    described = schema["properties"].items()
    schema["properties"] = {name: nullable(whole(setting)) for name, setting in described}
    del schema["additionalProperties"]  # earlier spellings are read, too
    return schema


@declared
class WorkspaceChanges(TypedDict, total=False):
    name: Annotated[Text, Field(max_length=200)]
    settings: Annotated[Free, WithJsonSchema(settings_schema())]
    anyway: Annotated[Flag, Field(description=ANYWAY)]


@declared
@dataclass(frozen=True, slots=True)
class RemoveQuery:
    dry_run: Annotated[bool, Field(description="Only count what would go, by table.")] = False


class RemovalJson(JsonAnswer):
    id: Annotated[UUID, column("workspace_id"), Meta(description="Of the workspace.")]
    status: Annotated[str, column("state"), Meta(description="planned, waiting, running, done or failed.")]
    requested_by: str
    plan: Annotated[Free, Meta(description="Rows that would go, by what they are.")]
    removed: Annotated[Free, Meta(description="Rows that went.")]
    error: str | None
    created_at: datetime
    finished_at: datetime | None


class CreatingWorkspacesView(WorkspacesView):
    def create(self, actor: str, request: Request) -> Response:
        """Make a single workspace for requests with the same Idempotency-Key."""
        key, make = idempotency_key(request), partial(super().create, actor)
        return make(request) if key is None else make_once(actor, key, make, self.secrets, request)


class ChangingWorkspaceView(OneWorkspaceView):
    needs: ClassVar = {**NEEDS, "PATCH": Capability.ADMIN, "DELETE": Capability.READ}

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """Check the request; administrators of the server need not be members to remove a
        workspace."""
        if request.method == "DELETE" and administrator_of(request):
            AskerView.initial(self, request, *args, **kwargs)
        else:
            WorkspaceView.initial(self, request, *args, **kwargs)

    @operation("changeWorkspace", request=WorkspaceChanges, answer=WorkspaceJson)
    def patch(self, request: Request, workspace: str) -> Response:
        """Change the name or settings: each setting that is sent is replaced whole; the others
        stay."""
        body = read(WorkspaceChanges, request.data)
        row = change_workspace(self.scope, body.get("name"), body.get("settings"), anyway=body.get("anyway", False))
        return Response(WorkspaceJson.of(row))

    @operation("removeWorkspace", query=RemoveQuery, answer={200: RemovalJson, 202: RemovalJson})
    def delete(self, request: Request, workspace: str) -> Response:
        """Remove a workspace with all its rows; with `dryRun`, only count what would go. For
        administrators of the server. Sent again with its id, it reports the progress."""
        actor = administrator_of(request)
        if not actor:
            raise refused("Administrators of the server remove workspaces.")
        wish = read_query(RemoveQuery, request)
        named = as_uuid(workspace)
        rows = Workspace.objects.filter(pk=named) if named else Workspace.objects.none()
        row = rows.first() or Workspace.objects.filter(slug=workspace).first()
        if row is None:
            done = get_object_or_404(WorkspaceRemoval, workspace_id=named)
            return Response(RemovalJson.of(done))
        if wish.dry_run:
            plan = workspace_removal.plan(row)
            planned = WorkspaceRemoval(workspace_id=row.pk, state="planned", requested_by=actor, plan=plan)
            return Response(RemovalJson.of(planned))
        asked = workspace_removal.request(row, actor)
        workspace_removal.run(asked.pk, USUAL_WAIT)
        asked.refresh_from_db()
        return Response(RemovalJson.of(asked), status=202 if asked.is_open else 200)


class ExportView(WorkspaceView):
    needs = dict.fromkeys(("GET",), Capability.ADMIN)

    @operation("exportWorkspace", answer={(200, "application/x-ndjson"): OpenApiTypes.STR})
    def get(self, request: Request, workspace: str) -> StreamingHttpResponse:
        """Export the workspace with all its history as lines of JSON, as `importworkspace` reads
        them: with masked words, and without keys and members. One that is too large for a request
        is 409 with code `too_large`. The audit log keeps who exported it."""
        row = Workspace.objects.get(pk=self.scope.workspace_id)
        parts = export_over_http(row, self.scope.actor)
        answer = StreamingHttpResponse(parts, content_type="application/x-ndjson")
        answer.headers["Content-Disposition"] = f'attachment; filename="{row.slug}.jsonl"'
        return answer


class WeightJson(JsonAnswer):
    value: float
    default: float
    least: float
    most: float
    about: str


class WeightsJson(JsonAnswer):
    weights: dict[str, WeightJson]


@declared
@dataclass(frozen=True, slots=True)
class WeightChanges:
    weights: Annotated[
        dict[str, Number | None],
        Field(min_length=1, description="By name; null gives a weight its default back."),
    ]
    anyway: Annotated[Flag, Field(description=ANYWAY)] = False


def weights_response(weights: Weights) -> Response:
    values, described = weights.named(), Weights.described()
    return Response(WeightsJson({name: WeightJson(values[name], **described[name]) for name in described}))


class RankingView(WorkspaceView):
    needs = NEEDS | {"PATCH": Capability.ADMIN}

    @operation("readRanking", answer=WeightsJson)
    def get(self, request: Request, workspace: str) -> Response:
        """Return the weights of the hybrid ranking, with defaults and ranges."""
        return weights_response(settings_of(self.scope).ranking)

    @operation("changeRanking", request=WeightChanges, answer=WeightsJson)
    def patch(self, request: Request, workspace: str) -> Response:
        """Change the weights of this workspace."""
        body = read(WeightChanges, request.data)
        return weights_response(change_weights(self.scope, body.weights, anyway=body.anyway))
