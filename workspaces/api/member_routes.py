"""Routes for members and their invitations."""

import uuid
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Annotated, Any, Self

from django.db.models import QuerySet
from django.shortcuts import get_object_or_404
from msgspec import Meta
from pydantic import Field
from rest_framework.request import Request
from rest_framework.response import Response

from workspaces import members
from workspaces.api.json_answers import JsonAnswer, column
from workspaces.api.json_requests import read
from workspaces.api.paging import paged
from workspaces.api.schema import operation
from workspaces.api.views import ADMINISTERS, WorkspaceView
from workspaces.models import Invitation, Membership, Role
from workspaces.request_fields import AnyText, Email, OneOf, declared
from workspaces.scope import Scope

# Routes for members and their invitations.


class MemberJson(JsonAnswer):
    id: uuid.UUID
    email: Annotated[str, column("user.email")]
    name: Annotated[str, column("known_as")]
    role: str
    created_at: datetime


class InvitationJson(JsonAnswer):
    """An invitation. Its `id` becomes the member's id when the person accepts."""

    id: uuid.UUID
    email: str
    name: str
    role: str
    created_at: datetime
    state: Annotated[str, Meta(description="open, accepted, revoked or expired.")]
    expires_at: datetime

    @classmethod
    def of(cls, row: Any, **given: Any) -> Self:
        return super().of(row, name=row.name or row.email, **given)


class NewInvitationJson(InvitationJson):
    invite_url: Annotated[
        str | None,
        Meta(
            description="The link to hand over; no mail is sent. A new person sets a password"
            " there, who has an account accepts logged in. Shown once: null where the request is"
            " answered again."
        ),
    ]


@declared
@dataclass(frozen=True, slots=True)
class RoleBody:
    role: Annotated[str, OneOf(Role)]


@declared
@dataclass(frozen=True, slots=True)
class NewMember(RoleBody):
    email: Annotated[Email, Field(max_length=150)]
    name: Annotated[AnyText, Field(max_length=150)] = ""


def of_workspace(scope: Scope) -> QuerySet[Membership]:
    return Membership.objects.filter(workspace_id=scope.workspace_id).select_related("user")


class MembersView(WorkspaceView):
    needs = ADMINISTERS
    secrets = ("inviteUrl",)

    @operation("listMembers", page=MemberJson)
    def get(self, request: Request, workspace: str) -> Response:
        """List the members of the workspace and their roles."""
        return paged(request, of_workspace(self.scope), MemberJson.of)

    @operation("inviteMember", request=NewMember, answer={201: NewInvitationJson})
    def post(self, request: Request, workspace: str) -> Response:
        """Invite a person, who becomes a member by accepting. The answer is the same whether or not
        the address has an account."""
        invitation, token = members.invite(self.scope, **asdict(read(NewMember, request.data)))
        link = members.link_of(request, invitation, token)
        return Response(NewInvitationJson.of(invitation, invite_url=link), status=201)


class MemberView(WorkspaceView):
    needs = ADMINISTERS

    @operation("readMember", answer=MemberJson)
    def get(self, request: Request, workspace: str, row: uuid.UUID) -> Response:
        """Read a member and their role."""
        return Response(MemberJson.of(self._member(row)))

    @operation("changeMember", request=RoleBody, answer=MemberJson)
    def patch(self, request: Request, workspace: str, row: uuid.UUID) -> Response:
        """Give a member another role."""
        role = read(RoleBody, request.data).role
        return Response(MemberJson.of(members.change_role(self.scope, self._member(row), role)))

    @operation("removeMember", answer={204: None})
    def delete(self, request: Request, workspace: str, row: uuid.UUID) -> Response:
        """Remove a member. The audit log keeps what they did."""
        members.remove(self.scope, self._member(row))
        return Response(status=204)

    def _member(self, row: uuid.UUID) -> Membership:
        return get_object_or_404(of_workspace(self.scope), pk=row)


class InvitationsView(WorkspaceView):
    needs = ADMINISTERS

    @operation("listInvitations", page=InvitationJson)
    def get(self, request: Request, workspace: str) -> Response:
        """List the invitations to the workspace with their state, the newest first."""
        rows = Invitation.objects.filter(workspace_id=self.scope.workspace_id)
        return paged(request, rows, InvitationJson.of)


class OneInvitationView(WorkspaceView):
    needs = ADMINISTERS

    @operation("readInvitation", answer=InvitationJson)
    def get(self, request: Request, workspace: str, row: uuid.UUID) -> Response:
        """Read an invitation, without its link."""
        return Response(InvitationJson.of(self._invitation(row)))

    @operation("revokeInvitation", answer={204: None})
    def delete(self, request: Request, workspace: str, row: uuid.UUID) -> Response:
        """Revoke an invitation: its link no longer works."""
        members.revoke(self.scope, self._invitation(row))
        return Response(status=204)

    def _invitation(self, row: uuid.UUID) -> Invitation:
        rows = Invitation.objects.filter(workspace_id=self.scope.workspace_id)
        return get_object_or_404(rows, pk=row)
