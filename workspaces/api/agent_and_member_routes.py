"""Routes for agents, which are made when first named and get a name and a team here; for teams, and
whom they speak for; and for members and their invitations."""

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
from typing_extensions import TypedDict

from workspaces import agents, members
from workspaces.api.json_answers import JsonAnswer, column
from workspaces.api.json_requests import read, read_query
from workspaces.api.paging import PageQuery, narrowing, paged
from workspaces.api.problems import conflict
from workspaces.api.schema import operation
from workspaces.api.views import ADMINISTERS, WorkspaceView
from workspaces.models import Agent, Audience, Capability, Invitation, Membership, Role, Team
from workspaces.request_fields import (
    AnyText,
    Email,
    Maybe,
    NullIs,
    OneOf,
    OwnId,
    Text,
    Trimmed,
    declared,
)
from workspaces.scope import Scope

NEEDS = ADMINISTERS | {"GET": Capability.READ}


@declared
@dataclass(frozen=True, slots=True)
class AgentQuery(PageQuery):
    external_id: Maybe[Trimmed] = None


class AgentJson(JsonAnswer):
    id: uuid.UUID
    external_id: str
    name: str
    team: Annotated[str, Meta(description="Empty: the workspace's default team.")]
    audience: Annotated[
        Audience | None,
        Meta(description="Whom it speaks for: what is decided is the team's, or a person's own."),
    ]
    created_at: datetime


AudienceField = Annotated[str, OneOf(Audience), NullIs("")]
Name = Annotated[AnyText, Field(max_length=255)]


@declared
class AgentChanges(TypedDict, total=False):
    name: Name
    team: Name
    audience: AudienceField


@declared
@dataclass(frozen=True, slots=True)
class NewAgent:
    external_id: OwnId
    name: Name = ""
    team: Name = ""
    audience: AudienceField = ""


def agents_of(scope: Scope) -> QuerySet[Agent]:
    return Agent.objects.present().filter(workspace_id=scope.workspace_id)


class AgentsView(WorkspaceView):
    needs = NEEDS

    @operation("listAgents", query=AgentQuery, page=AgentJson)
    def get(self, request: Request, workspace: str) -> Response:
        """List the agents, the programs that read and write here, the newest first."""
        wanted = narrowing(read_query(AgentQuery, request), {"external_id": "external_id"})
        return paged(request, agents_of(self.scope).filter(**wanted), AgentJson.of)

    @operation("createAgent", request=NewAgent, answer={201: AgentJson})
    def post(self, request: Request, workspace: str) -> Response:
        """Register an agent before it writes anything."""
        new = Agent(workspace_id=self.scope.workspace_id, **asdict(read(NewAgent, request.data)))
        Agent.objects.bulk_create([new], ignore_conflicts=True)
        made = agents_of(self.scope).get(external_id=new.external_id)
        if made.pk != new.pk:
            raise conflict("There is an agent of this id already.", field="externalId")
        self.scope.audit("create_agent", made)
        return Response(AgentJson.of(made), status=201)


class AgentView(WorkspaceView):
    needs = NEEDS

    @operation("readAgent", answer=AgentJson)
    def get(self, request: Request, workspace: str, row: uuid.UUID) -> Response:
        """Read an agent by its `id`."""
        return Response(AgentJson.of(get_object_or_404(agents_of(self.scope), pk=row)))

    @operation("changeAgent", request=AgentChanges, answer=AgentJson)
    def patch(self, request: Request, workspace: str, row: uuid.UUID) -> Response:
        """Change the name, team or audience of an agent."""
        agent = get_object_or_404(agents_of(self.scope), pk=row)
        changes = read(AgentChanges, request.data)
        for name, value in changes.items():
            setattr(agent, name, value)
        agent.save(update_fields=[*changes, "updated_at"])
        self.scope.audit("change_agent", agent, after=changes)
        return Response(AgentJson.of(agent))

    @operation("removeAgent", answer={204: None})
    def delete(self, request: Request, workspace: str, row: uuid.UUID) -> Response:
        """Remove an agent. Its keys are refused from now on. What it wrote stays, and nobody sees
        more of it than before."""
        agents.remove(self.scope, get_object_or_404(agents_of(self.scope), pk=row))
        return Response(status=204)


class TeamJson(JsonAnswer):
    id: uuid.UUID
    name: str
    audience: Audience | None
    created_at: datetime


@declared
class TeamChanges(TypedDict, total=False):
    audience: AudienceField


@declared
@dataclass(frozen=True, slots=True)
class NewTeam:
    name: Annotated[Text, Field(max_length=255, description="As agents carry it.")]
    audience: AudienceField = ""


def teams_of(scope: Scope) -> QuerySet[Team]:
    return Team.objects.filter(workspace_id=scope.workspace_id)


class TeamsView(WorkspaceView):
    needs = NEEDS

    @operation("listTeams", query=PageQuery, page=TeamJson)
    def get(self, request: Request, workspace: str) -> Response:
        """List the teams that are registered; all others have the defaults."""
        read_query(PageQuery, request)
        return paged(request, teams_of(self.scope), TeamJson.of)

    @operation("createTeam", request=NewTeam, answer={201: TeamJson})
    def post(self, request: Request, workspace: str) -> Response:
        """Register a team, and set whom its agents speak for."""
        new = Team(workspace_id=self.scope.workspace_id, **asdict(read(NewTeam, request.data)))
        Team.objects.bulk_create([new], ignore_conflicts=True)
        made = teams_of(self.scope).get(name=new.name)
        if made.pk != new.pk:
            raise conflict("There is a team of this name already.", field="name")
        self.scope.audit("create_team", made)
        return Response(TeamJson.of(made), status=201)


class TeamView(WorkspaceView):
    needs = NEEDS

    @operation("readTeam", answer=TeamJson)
    def get(self, request: Request, workspace: str, row: uuid.UUID) -> Response:
        """Read a team by its `id`."""
        return Response(TeamJson.of(get_object_or_404(teams_of(self.scope), pk=row)))

    @operation("changeTeam", request=TeamChanges, answer=TeamJson)
    def patch(self, request: Request, workspace: str, row: uuid.UUID) -> Response:
        """Change whom the agents of a team speak for."""
        team = get_object_or_404(teams_of(self.scope), pk=row)
        changes = read(TeamChanges, request.data)
        for name, value in changes.items():
            setattr(team, name, value)
        team.save(update_fields=[*changes, "updated_at"])
        self.scope.audit("change_team", team, after=changes)
        return Response(TeamJson.of(team))


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
