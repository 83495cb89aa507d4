"""Routes: the asker's workspaces."""

from typing import Any, cast

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from workspaces import invitation_pages, new_workspace
from workspaces.api.fields import Camel, Free, Text, moment, read
from workspaces.api.paging import PageQuery, page_of, paged
from workspaces.api.problems import conflict, invalid, refused
from workspaces.api.views import AskerView, WorkspaceView, administrator_of
from workspaces.models import User, Workspace
from workspaces.scope import Scope
from workspaces.server_keys import ServerAsker


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


class NewWorkspaceBody(Camel):
    slug = Text(max_length=63)
    name = Text(max_length=200)
    owner_email = serializers.EmailField(
        max_length=150, required=False, allow_null=True, help_text="Is invited as its owner."
    )


class NewWorkspaceSerializer(WorkspaceSerializer):
    key = serializers.CharField(
        allow_null=True, help_text="The first key: sees all of the workspace. Shown once."
    )
    invite_url = serializers.CharField(
        allow_null=True, help_text="With `ownerEmail`: the link to hand over. Shown once."
    )


class WorkspacesView(AskerView):
    secrets = ("key", "inviteUrl")

    @extend_schema(
        operation_id="listWorkspaces",
        parameters=[PageQuery],
        responses=page_of(WorkspaceSerializer, "WorkspacePage"),
    )
    def get(self, request: Request) -> Response:
        """The workspaces of the asker: a key's own, a member's all."""
        if isinstance(request.auth, ServerAsker):
            raise refused("A server key makes and removes workspaces, and does nothing else.")
        if isinstance(request.auth, Scope):
            rows = Workspace.objects.filter(pk=request.auth.workspace_id)
        else:
            rows = Workspace.objects.filter(memberships__user=cast(User, request.user))
        return paged(request, rows, shape)

    @extend_schema(
        operation_id="createWorkspace",
        request=NewWorkspaceBody,
        responses={201: NewWorkspaceSerializer},
    )
    def post(self, request: Request) -> Response:
        """Make a workspace; for administrators of the server. A superuser becomes its owner."""
        actor = administrator_of(request)
        if not actor:
            raise refused("Administrators of the server make workspaces.")
        body = read(NewWorkspaceBody, request.data)
        if fault := new_workspace.fault_of_slug(body["slug"]):
            raise invalid("slug", fault)
        new = new_workspace.NewWorkspace(
            body["slug"],
            body["name"],
            owner=request.user if isinstance(request.user, User) else None,
            owner_email=body.get("owner_email") or "",
            with_key=True,
        )
        try:
            made = new_workspace.create_workspace(new, actor=actor)
        except new_workspace.SlugTaken:
            raise conflict("Another workspace has this slug.", field="slug") from None
        link = (
            invitation_pages.link_of(request, made.invitation, made.token)
            if made.invitation
            else None
        )
        answer = shape(made.workspace) | {"key": made.key, "inviteUrl": link}
        return Response(answer, status=201)


class OneWorkspaceView(WorkspaceView):
    @extend_schema(operation_id="readWorkspace", responses=OwnWorkspaceSerializer)
    def get(self, request: Request, workspace: str) -> Response:
        """The workspace, and what the asker may do in it."""
        row = Workspace.objects.get(pk=self.scope.workspace_id)
        return Response(shape(row) | {"asker": asker_shape(self.scope)})
