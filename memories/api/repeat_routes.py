"""Route: what agents keep saying."""

from datetime import datetime
from typing import Annotated, Any, Self
from uuid import UUID

from msgspec import Meta
from rest_framework.request import Request
from rest_framework.response import Response

from memories.models import Category
from memories.repeats import RepeatQuery, repeats
from workspaces.api.json_answers import JsonAnswer
from workspaces.api.json_requests import read_query
from workspaces.api.schema import operation
from workspaces.api.views import WorkspaceView


class AgentShareJson(JsonAnswer):
    agent_id: str
    name: str
    count: int
    sessions: int


class RepeatJson(JsonAnswer):
    """Statements of the same meaning, in the most frequent wording."""

    statement: str
    category: Category
    count: int
    sessions: Annotated[int, Meta(description="In how many sessions it was said.")]
    agents: list[AgentShareJson]
    memory_ids: Annotated[list[UUID], Meta(description="At most 20.")]
    entities: list[str]
    first_at: datetime
    last_at: datetime

    @classmethod
    def of(cls, row: Any, **given: Any) -> Self:
        return super().of(row, agents=[AgentShareJson.of(share) for share in row.agents])


class RepeatsJson(JsonAnswer):
    results: list[RepeatJson]


class RepeatsView(WorkspaceView):
    @operation("listRepeats", query=RepeatQuery, answer=RepeatsJson)
    def get(self, request: Request, workspace: str) -> Response:
        """Statements that agents keep making, in several sessions; those of the most agents come first."""
        found = repeats(self.scope, read_query(RepeatQuery, request))
        return Response(RepeatsJson([RepeatJson.of(repeat) for repeat in found]))
