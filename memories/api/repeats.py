"""Route: what agents keep saying."""

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from memories.api.answers import Ids, Words
from memories.models import Category
from memories.repeats import Repeat, RepeatQuery, repeats
from workspaces.api.fields import Camel, moment, read_query
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


class AgentShareSerializer(Camel):
    agent_id = serializers.CharField()
    name = serializers.CharField()
    count = serializers.IntegerField()
    sessions = serializers.IntegerField()


class RepeatSerializer(Camel):
    """Statements of the same meaning, in the most frequent wording."""

    statement = serializers.CharField()
    category = serializers.ChoiceField(Category.choices)
    count = serializers.IntegerField()
    sessions = serializers.IntegerField(help_text="In how many sessions it was said.")
    agents = AgentShareSerializer(many=True)
    memory_ids = Ids(help_text="At most 20.")
    entities = Words()
    first_at = serializers.DateTimeField()
    last_at = serializers.DateTimeField()


class RepeatsSerializer(Camel):
    results = RepeatSerializer(many=True)


class RepeatsView(WorkspaceView):
    @extend_schema(
        operation_id="listRepeats", parameters=[RepeatsQuery], responses=RepeatsSerializer
    )
    def get(self, request: Request, workspace: str) -> Response:
        """Statements that agents keep making, in several sessions; those of the most agents come first."""
        found = repeats(self.scope, RepeatQuery(**read_query(RepeatsQuery, request)))
        return Response({"results": [_shape(repeat) for repeat in found]})


def _shape(repeat: Repeat) -> dict[str, Any]:
    return {
        "statement": repeat.statement,
        "category": repeat.category,
        "count": repeat.count,
        "sessions": repeat.sessions,
        "agents": [
            {
                "agentId": share.agent_id,
                "name": share.name,
                "count": share.count,
                "sessions": share.sessions,
            }
            for share in repeat.agents
        ],
        "memoryIds": [str(each) for each in repeat.memory_ids],
        "entities": list(repeat.entities),
        "firstAt": moment(repeat.first_at),
        "lastAt": moment(repeat.last_at),
    }
