"""Routes: sessions, each of which is an ingest with its state and outcome; and messages that were
not read."""

import uuid
from dataclasses import dataclass
from typing import Annotated

from django.shortcuts import get_object_or_404
from msgspec import Meta
from pydantic import Field
from rest_framework.request import Request
from rest_framework.response import Response

from memories import ingest
from memories.api.shapes import SessionJson
from memories.meters.skip_counts import count_skips
from memories.models import Episode, MemorySession
from workspaces.api.json_answers import JsonAnswer
from workspaces.api.json_requests import read_query
from workspaces.api.paging import PageQuery, narrowing, paged
from workspaces.api.schema import operation
from workspaces.api.views import WorkspaceView
from workspaces.request_fields import Maybe, OneOf, Text, declared

NARROWING = {"status": "state", "user_id": "subject__external_id"}


@declared
@dataclass(frozen=True, slots=True)
class SessionQuery(PageQuery):
    status: Maybe[Annotated[str, OneOf(MemorySession.State)]] = None
    user_id: Maybe[Text] = None


class SessionsView(WorkspaceView):
    @operation("listSessions", query=SessionQuery, page=SessionJson)
    def get(self, request: Request, workspace: str) -> Response:
        """List ingests with their state and outcome, the newest first."""
        wanted = narrowing(read_query(SessionQuery, request), NARROWING)
        rows = MemorySession.objects.visible_to(self.scope).filter(**wanted)
        return paged(request, rows.with_names(), SessionJson.of)


class SessionView(WorkspaceView):
    @operation("readSession", answer=SessionJson)
    def get(self, request: Request, workspace: str, row: uuid.UUID) -> Response:
        """Return an ingest: its progress, its outcome, and why there is not more of it."""
        rows = MemorySession.objects.visible_to(self.scope).with_names()
        return Response(SessionJson.of(get_object_or_404(rows, pk=row)))


class RetryView(WorkspaceView):
    @operation("retrySession", answer=SessionJson)
    def post(self, request: Request, workspace: str, row: uuid.UUID) -> Response:
        """Try a failed or dead session again, in the worker; 409 where it is neither."""
        rows = MemorySession.objects.visible_to(self.scope).with_names()
        ingest.retry(self.scope, get_object_or_404(rows, pk=row))
        return Response(SessionJson.of(rows.get(pk=row)))


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
        """Count the messages of the last days that were passed over, by reason."""
        days = read_query(VerdictsQuery, request).days
        found = count_skips(self.scope, days)
        reasons = [VerdictJson(*reason) for reason in found.reasons]
        return Response(VerdictsJson(days, found.messages, found.skipped, reasons))


Kind = Episode.Kind
