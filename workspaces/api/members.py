"""Routes: members, and how they come in."""

import uuid
from typing import Any

from django.db.models import QuerySet
from django.shortcuts import get_object_or_404
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from workspaces import invitation_pages, invitations, members
from workspaces.api.fields import Camel, Choice, Text, moment, read
from workspaces.api.paging import PageQuery, page_of, paged
from workspaces.api.views import ADMINISTERS, WorkspaceView
from workspaces.models import Invitation, Membership, Role
from workspaces.scope import Scope


class MemberSerializer(Camel):
    id = serializers.UUIDField()
    email = serializers.CharField()
    name = serializers.CharField()
    role = serializers.CharField()
    created_at = serializers.DateTimeField()


class InvitationSerializer(MemberSerializer):
    """Somebody who becomes a member, by this id, when they accept."""

    state = serializers.CharField(help_text="open, accepted, revoked or expired.")
    expires_at = serializers.DateTimeField()


class NewInvitationSerializer(InvitationSerializer):
    invite_url = serializers.CharField(
        allow_null=True,
        help_text="The link to hand over; no mail is sent. A new person sets a password there, who"
        " has an account accepts logged in. Shown once: null where the request is answered again.",
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
        "name": member.known_as,
        "role": member.role,
        "createdAt": moment(member.created_at),
    }


def of_workspace(scope: Scope) -> QuerySet[Membership]:
    return Membership.objects.filter(workspace_id=scope.workspace_id).select_related("user")


def invitation_shape(row: Invitation) -> dict[str, Any]:
    return {
        "id": str(row.pk),
        "email": row.email,
        "name": row.name or row.email,
        "role": row.role,
        "createdAt": moment(row.created_at),
        "state": row.state,
        "expiresAt": moment(row.expires_at),
    }


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
        operation_id="inviteMember", request=NewMember, responses={201: NewInvitationSerializer}
    )
    def post(self, request: Request, workspace: str) -> Response:
        """Invite somebody: they are a member when they have accepted. The answer is the same
        whether or not the address has an account."""
        invitation, token = invitations.invite(self.scope, **read(NewMember, request.data))
        link = {"inviteUrl": invitation_pages.link_of(request, invitation, token)}
        return Response(invitation_shape(invitation) | link, status=201)


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


class InvitationsView(WorkspaceView):
    needs = ADMINISTERS

    @extend_schema(
        operation_id="listInvitations",
        parameters=[PageQuery],
        responses=page_of(InvitationSerializer, "InvitationPage"),
    )
    def get(self, request: Request, workspace: str) -> Response:
        rows = Invitation.objects.filter(workspace_id=self.scope.workspace_id)
        return paged(request, rows, invitation_shape)


class InvitationView(WorkspaceView):
    needs = ADMINISTERS

    @extend_schema(operation_id="readInvitation", responses=InvitationSerializer)
    def get(self, request: Request, workspace: str, row: uuid.UUID) -> Response:
        return Response(invitation_shape(self._invitation(row)))

    @extend_schema(operation_id="revokeInvitation", responses={204: None})
    def delete(self, request: Request, workspace: str, row: uuid.UUID) -> Response:
        """Take it back: its link opens nothing any more."""
        invitations.revoke(self.scope, self._invitation(row))
        return Response(status=204)

    def _invitation(self, row: uuid.UUID) -> Invitation:
        rows = Invitation.objects.filter(workspace_id=self.scope.workspace_id)
        return get_object_or_404(rows, pk=row)
