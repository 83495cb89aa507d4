"""Routes for teams, and whom they speak for."""

import uuid
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Annotated

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
from workspaces.models import Audience, Team
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
