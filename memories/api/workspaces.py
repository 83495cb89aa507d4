"""Routes: a workspace is changed by its admins, and removed by those of the server."""

from functools import partial
from typing import Any, ClassVar

from django.shortcuts import get_object_or_404
from drf_spectacular.utils import extend_schema, extend_schema_field
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from memories.api.idempotency import make_once
from memories.erase import workspace_removal
from memories.extraction import configured_models
from memories.ranking import Weights
from memories.resolve import RULES
from memories.workspace_settings import change_workspace
from workspaces.api.fields import Camel, Choice, Free, Text, moment, read, read_query
from workspaces.api.problems import refused
from workspaces.api.views import (
    NEEDS,
    AskerView,
    WorkspaceView,
    administrator_of,
    idempotency_key,
)
from workspaces.api.workspaces import (
    OneWorkspaceView,
    WorkspaceSerializer,
    WorkspacesView,
    shape,
)
from workspaces.auth import as_uuid
from workspaces.models import Capability, Workspace, WorkspaceRemoval

WAIT = 10.0  # seconds that a request takes part in the work; then the worker goes on
WEIGHTS = ", ".join(Weights.described())


class SettingsSerializer(serializers.Serializer[Any]):
    """What is not said has its default; null gives it back."""

    conflictRule = Choice(  # noqa: N815  as it is in the settings
        choices=RULES, required=False, allow_null=True
    )
    llm = Choice(
        choices=configured_models.WHEN,
        required=False,
        allow_null=True,
        help_text="Which messages a model reads: those that no pattern covered, or all.",
    )
    extractors = serializers.ListField(
        child=serializers.DictField(),
        required=False,
        allow_null=True,
        help_text="The models that read, in the order in which they are asked: provider, model,"
        " baseUrl, timeout, dailyCap, keyEnv.",
    )
    featureSets = Free(  # noqa: N815  as it is in the settings
        required=False,
        allow_null=True,
        help_text="categories, updatePrompt, consolidationPrompt, languageModel, embedder,"
        " messages, seconds, featuresPerConsolidation.",
    )
    ranking = serializers.DictField(
        child=serializers.FloatField(),
        required=False,
        allow_null=True,
        help_text=f"Weights of the hybrid ranking: {WEIGHTS}.",
    )
    review = Free(
        required=False,
        allow_null=True,
        help_text="What is held back for a person: similarity [from, up to], confidence,"
        " categories, agents.",
    )


@extend_schema_field(SettingsSerializer)
class Settings(Free):
    """Read by the verb, which says of each part what is wrong with it."""


class WorkspaceChanges(Camel):
    name = Text(max_length=200, required=False)
    settings = Settings(required=False)


class RemoveQuery(Camel):
    dry_run = serializers.BooleanField(
        default=False, help_text="Only count what would go, by table."
    )


class RemovalSerializer(Camel):
    id = serializers.UUIDField(help_text="Of the workspace.")
    status = serializers.CharField(help_text="planned, waiting, running, done or failed.")
    requested_by = serializers.CharField()
    plan = Free(help_text="Rows that would go, by what they are.")
    removed = Free(help_text="Rows that went.")
    error = serializers.CharField(allow_null=True)
    created_at = serializers.DateTimeField()
    finished_at = serializers.DateTimeField(allow_null=True)


def removal_shape(row: WorkspaceRemoval) -> dict[str, Any]:
    return {
        "id": str(row.workspace_id),
        "status": row.state,
        "requestedBy": row.requested_by,
        "plan": row.plan,
        "removed": row.removed,
        "error": row.error or None,
        "createdAt": moment(row.created_at),
        "finishedAt": moment(row.finished_at),
    }


class CreatingWorkspacesView(WorkspacesView):
    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """With an Idempotency-Key, an administrator's POST makes one workspace."""
        super().initial(request, *args, **kwargs)
        if request.method == "POST" and (actor := administrator_of(request)):
            key = idempotency_key(request)
            if key is not None:
                vars(self)["post"] = partial(make_once, actor, key, self.post, self.secrets)


class ChangingWorkspaceView(OneWorkspaceView):
    needs: ClassVar = {**NEEDS, "PATCH": Capability.ADMIN, "DELETE": Capability.READ}

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """Who administers the server need be no member to remove a workspace."""
        if request.method == "DELETE" and administrator_of(request):
            AskerView.initial(self, request, *args, **kwargs)
        else:
            WorkspaceView.initial(self, request, *args, **kwargs)

    @extend_schema(
        operation_id="changeWorkspace", request=WorkspaceChanges, responses=WorkspaceSerializer
    )
    def patch(self, request: Request, workspace: str) -> Response:
        """Another name, other settings: those that are named, whole; the others stay."""
        body = read(WorkspaceChanges, request.data)
        row = change_workspace(self.scope, body.get("name"), body.get("settings"))
        return Response(shape(row))

    @extend_schema(
        operation_id="removeWorkspace",
        parameters=[RemoveQuery],
        responses={200: RemovalSerializer, 202: RemovalSerializer},
    )
    def delete(self, request: Request, workspace: str) -> Response:
        """Remove it with every row of it; with `dryRun`, only say what would go. For administrators
        of the server. Asked again by its id, it says how far it has come."""
        actor = administrator_of(request)
        if not actor:
            raise refused("Administrators of the server remove workspaces.")
        wish = read_query(RemoveQuery, request)
        named = as_uuid(workspace)
        rows = Workspace.objects.filter(pk=named) if named else Workspace.objects.none()
        row = rows.first() or Workspace.objects.filter(slug=workspace).first()
        if row is None:
            done = get_object_or_404(WorkspaceRemoval, workspace_id=named)
            return Response(removal_shape(done))
        if wish["dry_run"]:
            plan = workspace_removal.plan(row)
            planned = WorkspaceRemoval(
                workspace_id=row.pk, state="planned", requested_by=actor, plan=plan
            )
            return Response(removal_shape(planned))
        asked = workspace_removal.request(row, actor)
        workspace_removal.run(asked.pk, WAIT)
        asked.refresh_from_db()
        return Response(removal_shape(asked), status=202 if asked.is_open else 200)
