"""Route: what agents keep saying."""

from datetime import datetime
from typing import Annotated, Any, Self
from uuid import UUID

from drf_spectacular.utils import extend_schema
from msgspec import Meta
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from memories.models import Category
from memories.repeats import RepeatQuery, repeats
from workspaces.api.fields import Camel, read_query
from workspaces.api.json_answers import Json
from workspaces.api.views import WorkspaceView

MOST = 100_000


class RepeatsQuery(Camel):
    min_agents = serializers.IntegerField(
        min_value=1,
        max_value=MOST,
        default=1,
        help_text="What one agent alone says counts where it did so in two sessions at least.",
    )
    min_count = serializers.IntegerField(
        min_value=1, max_value=MOST, default=2, help_text="How often it was said in all."
    )
    category = serializers.ChoiceField(Category.choices, required=False)
    limit = serializers.IntegerField(min_value=1, max_value=100, default=50)


class AgentShareJson(Json):
    agent_id: str
    name: str
    count: int
    sessions: int


class RepeatJson(Json):
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


class RepeatsJson(Json):
    results: list[RepeatJson]


class RepeatsView(WorkspaceView):
    @extend_schema(operation_id="listRepeats", parameters=[RepeatsQuery], responses=RepeatsJson)
    def get(self, request: Request, workspace: str) -> Response:
        """Statements that agents keep making, in several sessions; those of the most agents come first."""
        found = repeats(self.scope, RepeatQuery(**read_query(RepeatsQuery, request)))
        return Response(RepeatsJson([RepeatJson.of(repeat) for repeat in found]))
