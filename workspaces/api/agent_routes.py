"""Routes for agents, which are made when first named and get a name and a team here."""

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
from workspaces.models import Agent, Audience, Capability
from workspaces.request_fields import AnyText, Maybe, NullIs, OneOf, OwnId, Trimmed, declared
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
