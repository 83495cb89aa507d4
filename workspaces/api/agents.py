"""Routes: agents. They are made when first named; here they get a name and a team."""

import uuid
from datetime import datetime
from typing import Annotated, Any

from django.db.models import QuerySet
from django.shortcuts import get_object_or_404
from drf_spectacular.utils import extend_schema
from msgspec import Meta
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from workspaces.api.fields import Camel, ExternalId, Text, read, read_query
from workspaces.api.json_answers import Json
from workspaces.api.paging import PageQuery, page_of, paged
from workspaces.api.problems import conflict
from workspaces.api.views import WorkspaceView
from workspaces.models import Agent, AuditEntry, Capability
from workspaces.scope import Scope

NEEDS = {"GET": Capability.READ, "POST": Capability.ADMIN, "PATCH": Capability.ADMIN}


class AgentQuery(PageQuery):
    external_id = serializers.CharField(required=False)


class AgentJson(Json):
    id: uuid.UUID
    external_id: str
    name: str
    team: Annotated[str, Meta(description="Empty: the workspace's default team.")]
    created_at: datetime


class AgentChanges(Camel):
    name = Text(max_length=255, required=False, allow_blank=True)
    team = Text(max_length=255, required=False, allow_blank=True)


class NewAgent(AgentChanges):
    external_id = ExternalId(required=True, allow_null=False)


def of_workspace(scope: Scope) -> QuerySet[Agent]:
    return Agent.objects.filter(workspace_id=scope.workspace_id)


class AgentsView(WorkspaceView):
    needs = NEEDS

    @extend_schema(
        operation_id="listAgents",
        parameters=[AgentQuery],
        responses=page_of(AgentJson, "AgentPage"),
    )
    def get(self, request: Request, workspace: str) -> Response:
        wish, rows = read_query(AgentQuery, request), of_workspace(self.scope)
        if "external_id" in wish:
            rows = rows.filter(external_id=wish["external_id"])
        return paged(request, rows, AgentJson.of)

    @extend_schema(operation_id="createAgent", request=NewAgent, responses={201: AgentJson})
    def post(self, request: Request, workspace: str) -> Response:
        new = Agent(workspace_id=self.scope.workspace_id, **read(NewAgent, request.data))
        Agent.objects.bulk_create([new], ignore_conflicts=True)
        made = of_workspace(self.scope).get(external_id=new.external_id)
        if made.pk != new.pk:
            raise conflict("There is an agent of this id already.", field="externalId")
        _audit(self.scope, "create_agent", made)
        return Response(AgentJson.of(made), status=201)


class AgentView(WorkspaceView):
    needs = NEEDS

    @extend_schema(operation_id="readAgent", responses=AgentJson)
    def get(self, request: Request, workspace: str, row: uuid.UUID) -> Response:
        return Response(AgentJson.of(get_object_or_404(of_workspace(self.scope), pk=row)))

    @extend_schema(operation_id="changeAgent", request=AgentChanges, responses=AgentJson)
    def patch(self, request: Request, workspace: str, row: uuid.UUID) -> Response:
        agent = get_object_or_404(of_workspace(self.scope), pk=row)
        changes = read(AgentChanges, request.data)
        for name, value in changes.items():
            setattr(agent, name, value)
        agent.save(update_fields=[*changes, "updated_at"])
        _audit(self.scope, "change_agent", agent, changes)
        return Response(AgentJson.of(agent))


def _audit(scope: Scope, action: str, agent: Agent, changes: dict[str, Any] | None = None) -> None:
    AuditEntry.line(scope.workspace_id, scope.actor, action, agent, after=changes).save()
