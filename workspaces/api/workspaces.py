"""Routes: the asker's workspaces."""

from typing import Any, cast

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from workspaces.api.fields import Camel, Free, moment
from workspaces.api.paging import PageQuery, page_of, paged
from workspaces.api.views import AskerView, WorkspaceView
from workspaces.models import User, Workspace
from workspaces.scope import Scope


class AskerSerializer(Camel):
    role = serializers.CharField(help_text="A member's role; empty for a key.")
    capabilities = serializers.ListField(child=serializers.CharField())
    agent_bound = serializers.BooleanField()
    subject_limited = serializers.BooleanField()


class WorkspaceSerializer(Camel):
    id = serializers.UUIDField()
    slug = serializers.CharField()
    name = serializers.CharField()
    settings = Free()
    created_at = serializers.DateTimeField()


class OwnWorkspaceSerializer(WorkspaceSerializer):
    asker = AskerSerializer()


def shape(workspace: Workspace) -> dict[str, Any]:
    return {
        "id": str(workspace.pk),
        "slug": workspace.slug,
        "name": workspace.name,
        "settings": workspace.settings,
        "createdAt": moment(workspace.created_at),
    }


def asker_shape(scope: Scope) -> dict[str, Any]:
    return {
        "role": scope.role,
        "capabilities": sorted(scope.capabilities),
        "agentBound": scope.is_bound,
        "subjectLimited": scope.subject_ids is not None,
    }


class WorkspacesView(AskerView):
    @extend_schema(
        operation_id="listWorkspaces",
        parameters=[PageQuery],
        responses=page_of(WorkspaceSerializer, "WorkspacePage"),
    )
    def get(self, request: Request) -> Response:
        """The workspaces of the asker: a key's own, a member's all."""
        if isinstance(request.auth, Scope):
            rows = Workspace.objects.filter(pk=request.auth.workspace_id)
        else:
            rows = Workspace.objects.filter(memberships__user=cast(User, request.user))
        return paged(request, rows, shape)


class OneWorkspaceView(WorkspaceView):
    @extend_schema(operation_id="readWorkspace", responses=OwnWorkspaceSerializer)
    def get(self, request: Request, workspace: str) -> Response:
        """The workspace, and what the asker may do in it."""
        row = Workspace.objects.get(pk=self.scope.workspace_id)
        return Response(shape(row) | {"asker": asker_shape(self.scope)})
