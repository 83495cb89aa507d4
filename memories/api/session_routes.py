"""Routes: sessions, each one ingest with its state and outcome."""

import uuid
from dataclasses import dataclass
from typing import Annotated

from django.shortcuts import get_object_or_404
from rest_framework.request import Request
from rest_framework.response import Response

from memories import ingest
from memories.api.shapes import SessionJson
from memories.models import MemorySession
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
        wanted = narrowing(read_query(SessionQuery, request), NARROWING)
        rows = MemorySession.objects.visible_to(self.scope).filter(**wanted)
        return paged(request, rows.with_names(), SessionJson.of)


class SessionView(WorkspaceView):
    @operation("readSession", answer=SessionJson)
    def get(self, request: Request, workspace: str, row: uuid.UUID) -> Response:
        rows = MemorySession.objects.visible_to(self.scope).with_names()
        return Response(SessionJson.of(get_object_or_404(rows, pk=row)))


class RetryView(WorkspaceView):
    @operation("retrySession", answer=SessionJson)
    def post(self, request: Request, workspace: str, row: uuid.UUID) -> Response:
        """Try a failed or dead session again, in the worker; 409 where it is neither."""
        rows = MemorySession.objects.visible_to(self.scope).with_names()
        ingest.retry(self.scope, get_object_or_404(rows, pk=row))
        return Response(SessionJson.of(rows.get(pk=row)))
