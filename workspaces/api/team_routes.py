"""Routes: teams. Agents name theirs; here it is said whom a team's agents speak for."""

import uuid
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Annotated, Any

from django.db.models import QuerySet
from django.shortcuts import get_object_or_404
from pydantic import Field
from rest_framework.request import Request
from rest_framework.response import Response
from typing_extensions import TypedDict

from workspaces.api.agent_routes import NEEDS, AudienceField
from workspaces.api.json_answers import JsonAnswer
from workspaces.api.json_requests import read, read_query
from workspaces.api.paging import PageQuery, paged
from workspaces.api.problems import conflict
from workspaces.api.schema import operation
from workspaces.api.views import WorkspaceView
from workspaces.models import Audience, AuditEntry, Team
from workspaces.request_fields import Text, declared
from workspaces.scope import Scope


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


def of_workspace(scope: Scope) -> QuerySet[Team]:
    return Team.objects.filter(workspace_id=scope.workspace_id)


class TeamsView(WorkspaceView):
    needs = NEEDS

    @operation("listTeams", query=PageQuery, page=TeamJson)
    def get(self, request: Request, workspace: str) -> Response:
        """Teams of which something is known beside their name."""
        read_query(PageQuery, request)
        return paged(request, of_workspace(self.scope), TeamJson.of)

    @operation("createTeam", request=NewTeam, answer={201: TeamJson})
    def post(self, request: Request, workspace: str) -> Response:
        new = Team(workspace_id=self.scope.workspace_id, **asdict(read(NewTeam, request.data)))
        Team.objects.bulk_create([new], ignore_conflicts=True)
        made = of_workspace(self.scope).get(name=new.name)
        if made.pk != new.pk:
            raise conflict("There is a team of this name already.", field="name")
        _audit(self.scope, "create_team", made)
        return Response(TeamJson.of(made), status=201)


class TeamView(WorkspaceView):
    needs = NEEDS

    @operation("readTeam", answer=TeamJson)
    def get(self, request: Request, workspace: str, row: uuid.UUID) -> Response:
        return Response(TeamJson.of(get_object_or_404(of_workspace(self.scope), pk=row)))

    @operation("changeTeam", request=TeamChanges, answer=TeamJson)
    def patch(self, request: Request, workspace: str, row: uuid.UUID) -> Response:
        team = get_object_or_404(of_workspace(self.scope), pk=row)
        changes = read(TeamChanges, request.data)
        for name, value in changes.items():
            setattr(team, name, value)
        team.save(update_fields=[*changes, "updated_at"])
        _audit(self.scope, "change_team", team, changes)
        return Response(TeamJson.of(team))


def _audit(scope: Scope, action: str, team: Team, changes: Mapping[str, Any] | None = None) -> None:
    AuditEntry.line(scope.workspace_id, scope.actor, action, team, after=changes).save()
