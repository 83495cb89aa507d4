"""Route: why messages were not read."""

from dataclasses import dataclass
from typing import Annotated

from msgspec import Meta
from pydantic import Field
from rest_framework.request import Request
from rest_framework.response import Response

from memories.skip_counts import verdicts
from workspaces.api.json_answers import JsonAnswer
from workspaces.api.json_requests import read_query
from workspaces.api.schema import operation
from workspaces.api.views import WorkspaceView
from workspaces.request_fields import declared


@declared
@dataclass(frozen=True, slots=True)
class VerdictsQuery:
    days: Annotated[int, Field(ge=1, le=3660)] = 30


class VerdictJson(JsonAnswer):
    reason: str
    meaning: str
    count: int


class VerdictsJson(JsonAnswer):
    days: int
    messages: Annotated[int, Meta(description="That were told.")]
    skipped: Annotated[int, Meta(description="Of these, passed over.")]
    reasons: list[VerdictJson]


class VerdictsView(WorkspaceView):
    @operation("countVerdicts", query=VerdictsQuery, answer=VerdictsJson)
    def get(self, request: Request, workspace: str) -> Response:
        """How many messages of the last days were passed over, and why."""
        days = read_query(VerdictsQuery, request).days
        found = verdicts(self.scope, days)
        reasons = [VerdictJson(*reason) for reason in found.reasons]
        return Response(VerdictsJson(days, found.messages, found.skipped, reasons))
