"""Route: why messages were not read."""

from typing import Annotated

from drf_spectacular.utils import extend_schema
from msgspec import Meta
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from memories.skip_counts import verdicts
from workspaces.api.fields import Camel, read_query
from workspaces.api.json_answers import Json
from workspaces.api.views import WorkspaceView


class VerdictsQuery(Camel):
    days = serializers.IntegerField(min_value=1, max_value=3660, default=30)


class VerdictJson(Json):
    reason: str
    meaning: str
    count: int


class VerdictsJson(Json):
    days: int
    messages: Annotated[int, Meta(description="That were told.")]
    skipped: Annotated[int, Meta(description="Of these, passed over.")]
    reasons: list[VerdictJson]


class VerdictsView(WorkspaceView):
    @extend_schema(operation_id="countVerdicts", parameters=[VerdictsQuery], responses=VerdictsJson)
    def get(self, request: Request, workspace: str) -> Response:
        """How many messages of the last days were passed over, and why."""
        days = read_query(VerdictsQuery, request)["days"]
        found = verdicts(self.scope, days)
        reasons = [VerdictJson(*reason) for reason in found.reasons]
        return Response(VerdictsJson(days, found.messages, found.skipped, reasons))
