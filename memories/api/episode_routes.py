"""Routes: episodes, what was said."""

import uuid
from dataclasses import dataclass
from typing import Annotated

from django.shortcuts import get_object_or_404
from rest_framework.request import Request
from rest_framework.response import Response

from memories.api.shapes import EpisodeJson
from memories.models import Episode
from workspaces.api.json_requests import read_query
from workspaces.api.paging import PageQuery, narrowing, paged
from workspaces.api.schema import operation
from workspaces.api.views import WorkspaceView
from workspaces.request_fields import Maybe, OneOf, Text, declared

NARROWING = {
    "user_id": "subject__external_id",
    "agent_id": "agent__external_id",
    "thread_id": "conversation__external_id",
    "session_id": "session_id",
    "external_id": "external_id",
    "kind": "kind",
}


@declared
@dataclass(frozen=True, slots=True)
class EpisodeQuery(PageQuery):
    user_id: Maybe[Text] = None
    agent_id: Maybe[Text] = None
    thread_id: Maybe[Text] = None
    session_id: Maybe[uuid.UUID] = None
    external_id: Maybe[Text] = None
    kind: Maybe[Annotated[str, OneOf(Episode.Kind)]] = None


class EpisodesView(WorkspaceView):
    @operation("listEpisodes", query=EpisodeQuery, page=EpisodeJson)
    def get(self, request: Request, workspace: str) -> Response:
        wanted = narrowing(read_query(EpisodeQuery, request), NARROWING)
        rows = Episode.objects.visible_to(self.scope).filter(**wanted)
        return paged(request, rows.with_names(), EpisodeJson.of)


class EpisodeView(WorkspaceView):
    @operation("readEpisode", answer=EpisodeJson)
    def get(self, request: Request, workspace: str, row: uuid.UUID) -> Response:
        rows = Episode.objects.visible_to(self.scope).with_names()
        return Response(EpisodeJson.of(get_object_or_404(rows, pk=row)))
