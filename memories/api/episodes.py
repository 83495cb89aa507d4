"""Routes: episodes, what was said."""

import uuid

from django.shortcuts import get_object_or_404
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from memories.api.shapes import EpisodeJson
from memories.models import Episode
from workspaces.api.fields import read_query
from workspaces.api.paging import PageQuery, page_of, paged
from workspaces.api.views import WorkspaceView

NARROWING = {
    "user_id": "subject__external_id",
    "agent_id": "agent__external_id",
    "thread_id": "conversation__external_id",
    "session_id": "session_id",
    "external_id": "external_id",
    "kind": "kind",
}


class EpisodeQuery(PageQuery):
    user_id = serializers.CharField(required=False, trim_whitespace=False)
    agent_id = serializers.CharField(required=False, trim_whitespace=False)
    thread_id = serializers.CharField(required=False, trim_whitespace=False)
    session_id = serializers.UUIDField(required=False)
    external_id = serializers.CharField(required=False, trim_whitespace=False)
    kind = serializers.ChoiceField(Episode.Kind.choices, required=False)


class EpisodesView(WorkspaceView):
    @extend_schema(
        operation_id="listEpisodes",
        parameters=[EpisodeQuery],
        responses=page_of(EpisodeJson, "EpisodePage"),
    )
    def get(self, request: Request, workspace: str) -> Response:
        wish = read_query(EpisodeQuery, request)
        narrowing = {path: wish[name] for name, path in NARROWING.items() if name in wish}
        rows = Episode.objects.visible_to(self.scope).filter(**narrowing)
        return paged(request, rows.with_names(), EpisodeJson.of)


class EpisodeView(WorkspaceView):
    @extend_schema(operation_id="readEpisode", responses=EpisodeJson)
    def get(self, request: Request, workspace: str, row: uuid.UUID) -> Response:
        rows = Episode.objects.visible_to(self.scope).with_names()
        return Response(EpisodeJson.of(get_object_or_404(rows, pk=row)))
