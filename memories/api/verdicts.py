"""Route: why messages were not read."""

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from memories.skip_counts import verdicts
from workspaces.api.fields import Camel, read_query
from workspaces.api.views import WorkspaceView


class VerdictsQuery(Camel):
    days = serializers.IntegerField(min_value=1, max_value=3660, default=30)


class VerdictSerializer(Camel):
    reason = serializers.CharField()
    meaning = serializers.CharField()
    count = serializers.IntegerField()


class VerdictsSerializer(Camel):
    days = serializers.IntegerField()
    messages = serializers.IntegerField(help_text="That were told.")
    skipped = serializers.IntegerField(help_text="Of these, passed over.")
    reasons = VerdictSerializer(many=True)


class VerdictsView(WorkspaceView):
    @extend_schema(
        operation_id="countVerdicts", parameters=[VerdictsQuery], responses=VerdictsSerializer
    )
    def get(self, request: Request, workspace: str) -> Response:
        """How many messages of the last days were passed over, and why."""
        days = read_query(VerdictsQuery, request)["days"]
        found = verdicts(self.scope, days)
        return Response(
            {
                "days": days,
                "messages": found.messages,
                "skipped": found.skipped,
                "reasons": [
                    {"reason": label, "meaning": meaning, "count": count}
                    for label, meaning, count in found.reasons
                ],
            }
        )
