"""Routes: members, and how they come in."""

import uuid
from typing import Any

from django.db.models import QuerySet
from django.shortcuts import get_object_or_404
from django.urls import reverse
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from workspaces import members
from workspaces.api.fields import Camel, Choice, Text, moment, read
from workspaces.api.paging import PageQuery, page_of, paged
from workspaces.api.views import ADMINISTERS, WorkspaceView
from workspaces.members import Invitation
from workspaces.models import Membership, Role
from workspaces.scope import Scope


class MemberSerializer(Camel):
    id = serializers.UUIDField()
    email = serializers.CharField()
    name = serializers.CharField()
    role = serializers.CharField()
    created_at = serializers.DateTimeField()


class InvitationSerializer(MemberSerializer):
    invite_url = serializers.CharField(
        allow_null=True,
        help_text="Where the new person sets a password, once; null for who has an account.",
    )


class RoleBody(Camel):
    role = Choice(choices=Role.choices)


class NewMember(RoleBody):
    email = serializers.EmailField(max_length=150)
    name = Text(max_length=150, required=False, allow_blank=True)


def shape(member: Membership) -> dict[str, Any]:
    return {
        "id": str(member.pk),
        "email": member.user.email,
        "name": member.user.get_full_name() or member.user.username,
        "role": member.role,
        "createdAt": moment(member.created_at),
    }


def of_workspace(scope: Scope) -> QuerySet[Membership]:
    return Membership.objects.filter(workspace_id=scope.workspace_id).select_related("user")


def invite_url(request: Request, invitation: Invitation) -> str | None:
    if not invitation.token:
        return None
    path = reverse("password_reset_confirm", args=[invitation.uid, invitation.token])
    return request.build_absolute_uri(path)


class MembersView(WorkspaceView):
    needs = ADMINISTERS
    secrets = ("inviteUrl",)

    @extend_schema(
        operation_id="listMembers",
        parameters=[PageQuery],
        responses=page_of(MemberSerializer, "MemberPage"),
    )
    def get(self, request: Request, workspace: str) -> Response:
        return paged(request, of_workspace(self.scope), shape)

    @extend_schema(
        operation_id="inviteMember", request=NewMember, responses={201: InvitationSerializer}
    )
    def post(self, request: Request, workspace: str) -> Response:
        """Make somebody a member; who has no account gets a link to set a password."""
        invitation = members.invite(self.scope, **read(NewMember, request.data))
        answer = shape(invitation.membership) | {"inviteUrl": invite_url(request, invitation)}
        return Response(answer, status=201)


class MemberView(WorkspaceView):
    needs = ADMINISTERS

    @extend_schema(operation_id="readMember", responses=MemberSerializer)
    def get(self, request: Request, workspace: str, row: uuid.UUID) -> Response:
        return Response(shape(self._member(row)))

    @extend_schema(operation_id="changeMember", request=RoleBody, responses=MemberSerializer)
    def patch(self, request: Request, workspace: str, row: uuid.UUID) -> Response:
        role = read(RoleBody, request.data)["role"]
        return Response(shape(members.change_role(self.scope, self._member(row), role)))

    @extend_schema(operation_id="removeMember", responses={204: None})
    def delete(self, request: Request, workspace: str, row: uuid.UUID) -> Response:
        members.remove(self.scope, self._member(row))
        return Response(status=204)

    def _member(self, row: uuid.UUID) -> Membership:
        return get_object_or_404(of_workspace(self.scope), pk=row)
