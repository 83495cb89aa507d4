"""Routes: agents. They are made when first named; here they get a name and a team."""

import uuid
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Annotated, Any

from django.db.models import QuerySet
from django.shortcuts import get_object_or_404
from msgspec import Meta
from pydantic import Field
from rest_framework.request import Request
from rest_framework.response import Response
from typing_extensions import TypedDict

from workspaces.api.json_answers import JsonAnswer
from workspaces.api.json_requests import read, read_query
from workspaces.api.paging import PageQuery, narrowing, paged
from workspaces.api.problems import conflict
from workspaces.api.schema import operation
from workspaces.api.views import WorkspaceView
from workspaces.models import Agent, Audience, AuditEntry, Capability
from workspaces.request_fields import AnyText, Maybe, NullIs, OneOf, OwnId, Trimmed, declared
from workspaces.scope import Scope

NEEDS = {"GET": Capability.READ, "POST": Capability.ADMIN, "PATCH": Capability.ADMIN}


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


def of_workspace(scope: Scope) -> QuerySet[Agent]:
    return Agent.objects.filter(workspace_id=scope.workspace_id)


class AgentsView(WorkspaceView):
    needs = NEEDS

    @operation("listAgents", query=AgentQuery, page=AgentJson)
    def get(self, request: Request, workspace: str) -> Response:
        wanted = narrowing(read_query(AgentQuery, request), {"external_id": "external_id"})
        return paged(request, of_workspace(self.scope).filter(**wanted), AgentJson.of)

    @operation("createAgent", request=NewAgent, answer={201: AgentJson})
    def post(self, request: Request, workspace: str) -> Response:
        new = Agent(workspace_id=self.scope.workspace_id, **asdict(read(NewAgent, request.data)))
        Agent.objects.bulk_create([new], ignore_conflicts=True)
        made = of_workspace(self.scope).get(external_id=new.external_id)
        if made.pk != new.pk:
            raise conflict("There is an agent of this id already.", field="externalId")
        _audit(self.scope, "create_agent", made)
        return Response(AgentJson.of(made), status=201)


class AgentView(WorkspaceView):
    needs = NEEDS

    @operation("readAgent", answer=AgentJson)
    def get(self, request: Request, workspace: str, row: uuid.UUID) -> Response:
        return Response(AgentJson.of(get_object_or_404(of_workspace(self.scope), pk=row)))

    @operation("changeAgent", request=AgentChanges, answer=AgentJson)
    def patch(self, request: Request, workspace: str, row: uuid.UUID) -> Response:
        agent = get_object_or_404(of_workspace(self.scope), pk=row)
        changes = read(AgentChanges, request.data)
        for name, value in changes.items():
            setattr(agent, name, value)
        agent.save(update_fields=[*changes, "updated_at"])
        _audit(self.scope, "change_agent", agent, changes)
        return Response(AgentJson.of(agent))


def _audit(
    scope: Scope, action: str, agent: Agent, changes: Mapping[str, Any] | None = None
) -> None:
    AuditEntry.line(scope.workspace_id, scope.actor, action, agent, after=changes).save()
