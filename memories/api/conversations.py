"""Routes: conversations (threads) and what was said in each."""

import uuid

from django.shortcuts import get_object_or_404
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from memories import ingest
from memories.api import shapes
from memories.api.answers import ConversationSerializer, EpisodeSerializer
from memories.api.messages import MessageBody, new_message
from memories.models import Conversation, Episode
from workspaces.api.fields import Camel, read, read_query
from workspaces.api.paging import PageQuery, page_of, paged
from workspaces.api.views import WorkspaceView

NARROWING = {"thread_id": "external_id", "user_id": "subject__external_id"}


class ConversationQuery(PageQuery):
    thread_id = serializers.CharField(required=False, trim_whitespace=False)
    user_id = serializers.CharField(required=False, trim_whitespace=False)


class ConversationsView(WorkspaceView):
    @extend_schema(
        operation_id="listConversations",
        parameters=[ConversationQuery],
        responses=page_of(ConversationSerializer, "ConversationPage"),
    )
    def get(self, request: Request, workspace: str) -> Response:
        wish = read_query(ConversationQuery, request)
        narrowing = {path: wish[name] for name, path in NARROWING.items() if name in wish}
        rows = Conversation.objects.visible_to(self.scope).filter(**narrowing)
        return paged(request, rows.with_names(), shapes.conversation)


class ConversationView(WorkspaceView):
    @extend_schema(operation_id="readConversation", responses=ConversationSerializer)
    def get(self, request: Request, workspace: str, row: uuid.UUID) -> Response:
        rows = Conversation.objects.visible_to(self.scope).with_names()
        return Response(shapes.conversation(get_object_or_404(rows, pk=row)))


class AppendSerializer(Camel):
    refuses_unknown = True

    messages = MessageBody(  # type: ignore[call-arg]  # the bounds are the list's
        many=True, min_length=1, max_length=1000
    )


class AppendedSerializer(Camel):
    results = EpisodeSerializer(many=True)


class ConversationEpisodesView(WorkspaceView):
    @extend_schema(
        operation_id="appendEpisodes", request=AppendSerializer, responses={201: AppendedSerializer}
    )
    def post(self, request: Request, workspace: str, row: uuid.UUID) -> Response:
        """Keep messages in this conversation without learning from them."""
        rows = Conversation.objects.visible_to(self.scope)
        conversation = get_object_or_404(rows, pk=row)
        body = read(AppendSerializer, request.data)["messages"]
        messages = [new_message(one, at) for at, one in enumerate(body)]
        kept = ingest.append(self.scope, conversation, messages)
        told = Episode.objects.filter(pk__in=[episode.pk for episode in kept]).with_names()
        by_id = {episode.pk: episode for episode in told}
        results = [shapes.episode(by_id[episode.pk]) for episode in kept]
        return Response({"results": results}, status=201)

    @extend_schema(
        operation_id="listEpisodesOfConversation",
        parameters=[PageQuery],
        responses=page_of(EpisodeSerializer, "EpisodePage"),
    )
    def get(self, request: Request, workspace: str, row: uuid.UUID) -> Response:
        """What was said in this conversation, the newest first."""
        rows = Conversation.objects.visible_to(self.scope)
        conversation = get_object_or_404(rows, pk=row)
        said = Episode.objects.visible_to(self.scope).filter(conversation=conversation)
        return paged(request, said.with_names(), shapes.episode)
