"""Routes: sessions, each one ingest with its state and outcome."""

import uuid

from django.shortcuts import get_object_or_404
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from memories import ingest
from memories.api.shapes import SessionJson
from memories.models import MemorySession
from workspaces.api.fields import read_query
from workspaces.api.paging import PageQuery, page_of, paged
from workspaces.api.views import WorkspaceView

NARROWING = {"status": "state", "user_id": "subject__external_id"}


class SessionQuery(PageQuery):
    status = serializers.ChoiceField(MemorySession.State.choices, required=False)
    user_id = serializers.CharField(required=False, trim_whitespace=False)


class SessionsView(WorkspaceView):
    @extend_schema(
        operation_id="listSessions",
        parameters=[SessionQuery],
        responses=page_of(SessionJson, "SessionPage"),
    )
    def get(self, request: Request, workspace: str) -> Response:
        wish = read_query(SessionQuery, request)
        narrowing = {path: wish[name] for name, path in NARROWING.items() if name in wish}
        rows = MemorySession.objects.visible_to(self.scope).filter(**narrowing)
        return paged(request, rows.with_names(), SessionJson.of)


class SessionView(WorkspaceView):
    @extend_schema(operation_id="readSession", responses=SessionJson)
    def get(self, request: Request, workspace: str, row: uuid.UUID) -> Response:
        rows = MemorySession.objects.visible_to(self.scope).with_names()
        return Response(SessionJson.of(get_object_or_404(rows, pk=row)))


class RetryView(WorkspaceView):
    @extend_schema(operation_id="retrySession", request=None, responses=SessionJson)
    def post(self, request: Request, workspace: str, row: uuid.UUID) -> Response:
        """Try a failed or dead session again, in the worker; 409 where it is neither."""
        rows = MemorySession.objects.visible_to(self.scope).with_names()
        ingest.retry(self.scope, get_object_or_404(rows, pk=row))
        return Response(SessionJson.of(rows.get(pk=row)))
