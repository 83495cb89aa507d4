"""Routes: agents, made when first named; here they get a name and a team. And teams: whom they
speak for."""

import uuid
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Annotated

from django.db.models import QuerySet
from django.shortcuts import get_object_or_404
from msgspec import Meta
from pydantic import Field
from rest_framework.request import Request
from rest_framework.response import Response
from typing_extensions import TypedDict

from workspaces import agents
from workspaces.api.json_answers import JsonAnswer
from workspaces.api.json_requests import read, read_query
from workspaces.api.paging import PageQuery, narrowing, paged
from workspaces.api.problems import conflict
from workspaces.api.schema import operation
from workspaces.api.views import ADMINISTERS, WorkspaceView
from workspaces.models import Agent, Audience, Capability, Team
from workspaces.request_fields import AnyText, Maybe, NullIs, OneOf, OwnId, Text, Trimmed, declared
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
        """Programs that write and ask here, the newest first."""
        wanted = narrowing(read_query(AgentQuery, request), {"external_id": "external_id"})
        return paged(request, agents_of(self.scope).filter(**wanted), AgentJson.of)

    @operation("createAgent", request=NewAgent, answer={201: AgentJson})
    def post(self, request: Request, workspace: str) -> Response:
        """Make an agent known before it says anything."""
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
        """An agent, by our id."""
        return Response(AgentJson.of(get_object_or_404(agents_of(self.scope), pk=row)))

    @operation("changeAgent", request=AgentChanges, answer=AgentJson)
    def patch(self, request: Request, workspace: str, row: uuid.UUID) -> Response:
        """Give it another name, team or audience."""
        agent = get_object_or_404(agents_of(self.scope), pk=row)
        changes = read(AgentChanges, request.data)
        for name, value in changes.items():
            setattr(agent, name, value)
        agent.save(update_fields=[*changes, "updated_at"])
        self.scope.audit("change_agent", agent, after=changes)
        return Response(AgentJson.of(agent))

    @operation("removeAgent", answer={204: None})
    def delete(self, request: Request, workspace: str, row: uuid.UUID) -> Response:
        """Remove it: its keys are refused from now on. What it wrote stays as it is, seen by
        nobody who did not see it before."""
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
        """Teams of which something is known beside their name."""
        read_query(PageQuery, request)
        return paged(request, teams_of(self.scope), TeamJson.of)

    @operation("createTeam", request=NewTeam, answer={201: TeamJson})
    def post(self, request: Request, workspace: str) -> Response:
        """Say of a team whom its agents speak for."""
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
        """A team, by our id."""
        return Response(TeamJson.of(get_object_or_404(teams_of(self.scope), pk=row)))

    @operation("changeTeam", request=TeamChanges, answer=TeamJson)
    def patch(self, request: Request, workspace: str, row: uuid.UUID) -> Response:
        """Say anew whom its agents speak for."""
        team = get_object_or_404(teams_of(self.scope), pk=row)
        changes = read(TeamChanges, request.data)
        for name, value in changes.items():
            setattr(team, name, value)
        team.save(update_fields=[*changes, "updated_at"])
        self.scope.audit("change_team", team, after=changes)
        return Response(TeamJson.of(team))
