"""Routes: conversations (threads) and their messages."""

import logging
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, Self

from django.db.models import Q
from django.shortcuts import get_object_or_404
from msgspec import Meta
from pydantic import Field
from rest_framework.request import Request
from rest_framework.response import Response
from typing_extensions import TypedDict

from memories import ingest
from memories.api.ingest_routes import MessageBody, new_message
from memories.api.shapes import ConversationJson, EpisodeJson
from memories.belief.review.create import without_secrets
from memories.errors import Forbidden
from memories.index import workspace_index
from memories.language.bounds import MOST_MESSAGES
from memories.models import Conversation, ConversationSummary, Episode
from memories.privacy import masks
from memories.profiles.summaries import running_summary
from workspaces.api.agent_routes import AudienceField
from workspaces.api.json_answers import JsonAnswer, column
from workspaces.api.json_requests import read, read_query
from workspaces.api.paging import PageQuery, narrowing, paged
from workspaces.api.problems import conflict, refused
from workspaces.api.schema import operation
from workspaces.api.views import NEEDS, WorkspaceView
from workspaces.models import Capability
from workspaces.request_fields import RESERVED, AnyText, ExternalId, Maybe, Metadata, OneOf, OwnId, Text, declared
from workspaces.scope import agent_to_write, subject_to_write

NARROWING = {"thread_id": "external_id", "user_id": "subject__external_id"}

EPISODE_NARROWING = {
    "user_id": "subject__external_id",
    "agent_id": "agent__external_id",
    "thread_id": "conversation__external_id",
    "session_id": "session_id",
    "external_id": "external_id",
    "kind": "kind",
    "tool_name": "payload__toolName",
}

Title = Annotated[AnyText, Field(max_length=500)]


@declared
@dataclass(frozen=True, slots=True)
class ConversationQuery(PageQuery):
    thread_id: Maybe[Text] = None
    user_id: Maybe[Text] = None


@declared
@dataclass(frozen=True, slots=True)
class NewConversation:
    thread_id: OwnId
    user_id: ExternalId = ""
    agent_id: ExternalId = ""
    workflow_id: ExternalId = ""
    title: Title = ""
    audience: AudienceField = ""
    metadata: Metadata = field(default_factory=dict)


@declared
class ConversationChanges(TypedDict, total=False):
    title: Title
    audience: AudienceField
    metadata: Metadata


class ConversationsView(WorkspaceView):
    @operation("createConversation", request=NewConversation, answer={201: ConversationJson})
    def post(self, request: Request, workspace: str) -> Response:
        """Create a conversation before anything is said in it; ingests create theirs themselves."""
        new = read(NewConversation, request.data)
        space = workspace_index.index_of(self.scope.workspace_id)
        made = Conversation(
            workspace_id=self.scope.workspace_id,
            external_id=new.thread_id,
            subject=subject_to_write(self.scope, new.user_id),
            agent=agent_to_write(self.scope, new.agent_id),
            workflow=new.workflow_id,
            title=without_secrets(space, new.title),
            audience=new.audience,
            metadata=without_secrets(space, new.metadata),
        )
        Conversation.objects.bulk_create([made], ignore_conflicts=True)
        row = Conversation.objects.with_names().filter(pk=made.pk).first()
        if row is None:
            raise conflict("There is a conversation of this id already.", field="threadId")
        self.scope.audit("create_conversation", row)
        return Response(ConversationJson.of(row), status=201)

    @operation("listConversations", query=ConversationQuery, page=ConversationJson)
    def get(self, request: Request, workspace: str) -> Response:
        """List conversations, the newest first; by thread or user."""
        wanted = narrowing(read_query(ConversationQuery, request), NARROWING)
        rows = Conversation.objects.visible_to(self.scope).filter(**wanted)
        return paged(request, rows.with_names(), ConversationJson.of)


class ConversationView(WorkspaceView):
    @operation("readConversation", answer=ConversationJson)
    def get(self, request: Request, workspace: str, row: uuid.UUID) -> Response:
        """Return a conversation by its `id` (not its `threadId`)."""
        rows = Conversation.objects.visible_to(self.scope).with_names()
        return Response(ConversationJson.of(get_object_or_404(rows, pk=row)))

    @operation("changeConversation", request=ConversationChanges, answer=ConversationJson)
    def patch(self, request: Request, workspace: str, row: uuid.UUID) -> Response:
        """Change its title, audience or metadata; what was learned before stays as it is."""
        rows = Conversation.objects.visible_to(self.scope).with_names()
        conversation = get_object_or_404(rows, pk=row)
        if self.scope.is_bound and conversation.agent_id != self.scope.agent_id:
            raise Forbidden("Whoever began it changes it, or a key of the whole workspace.")
        sent = read(ConversationChanges, request.data)
        space = workspace_index.index_of(self.scope.workspace_id)
        changes: dict[str, Any] = {k: without_secrets(space, value) for k, value in sent.items()}
        before = conversation.metadata
        kept = {name: before[name] for name in RESERVED & before.keys()}
        if kept and self.scope.is_narrow:
            raise refused("What is for all keys, a key of the whole workspace changes.")
        if kept and "metadata" in changes:
            changes["metadata"] |= kept
        for name, value in changes.items():
            setattr(conversation, name, value)
        conversation.save(update_fields=[*changes, "updated_at"])
        self.scope.audit("change_conversation", conversation, subject_id=conversation.subject_id, after=changes)
        return Response(ConversationJson.of(conversation))


@declared
@dataclass(frozen=True, slots=True)
class AppendBody:
    messages: Annotated[tuple[MessageBody, ...], Field(min_length=1, max_length=MOST_MESSAGES)]


class AppendedJson(JsonAnswer):
    results: list[EpisodeJson]


class ConversationEpisodesView(WorkspaceView):
    @operation("appendEpisodes", request=AppendBody, answer={201: AppendedJson})
    def post(self, request: Request, workspace: str, row: uuid.UUID) -> Response:
        """Keep messages in this conversation without learning from them; a single one may be sent
        without `messages`."""
        rows = Conversation.objects.visible_to(self.scope)
        conversation = get_object_or_404(rows, pk=row)
        data = request.data
        if isinstance(data, Mapping) and "role" in data and "messages" not in data:
            data = {"messages": [data]}
        body = read(AppendBody, data).messages
        messages = [new_message(one, at) for at, one in enumerate(body)]
        kept = ingest.append(self.scope, conversation, messages)
        told = Episode.objects.filter(pk__in=[episode.pk for episode in kept]).with_names()
        by_id = {episode.pk: episode for episode in told}
        results = [EpisodeJson.of(by_id[episode.pk]) for episode in kept]
        return Response(AppendedJson(results), status=201)

    @operation("listEpisodesOfConversation", page=EpisodeJson)
    def get(self, request: Request, workspace: str, row: uuid.UUID) -> Response:
        """List the messages and events of this conversation, the last recorded first."""
        rows = Conversation.objects.visible_to(self.scope)
        conversation = get_object_or_404(rows, pk=row)
        said = Episode.objects.visible_to(self.scope).filter(conversation=conversation)
        return paged(request, said.with_names(), EpisodeJson.of)


@declared
@dataclass(frozen=True, slots=True)
class WindowQuery:
    tokens: Annotated[
        int,
        Field(
            ge=running_summary.LEAST,
            le=running_summary.MOST,
            description="How long the text may be; counted from above, so that any model has room.",
        ),
    ] = running_summary.USUAL


class SummaryLineJson(JsonAnswer):
    text: str
    episode_ids: list[uuid.UUID]


class SummaryJson(JsonAnswer):
    text: str
    lines: list[SummaryLineJson]
    method: ConversationSummary.Method
    rule: Annotated[str, Meta(description="The model and the version of its prompt, or the rule.")]
    tokens: int
    episode_ids: Annotated[list[uuid.UUID], Meta(description="What the lines stand on.")]
    upto_position: Annotated[int, Meta(description="Of the last episode that it covers.")]
    is_current: Annotated[
        bool,
        Meta(description="False: so much was said since it was made that some of it is not in yet."),
    ]

    @classmethod
    def of(cls, row: Any, **given: Any) -> Self:
        return super().of(row, lines=[SummaryLineJson.of(line) for line in row.lines])


class ConversationContextJson(JsonAnswer):
    conversation_id: Annotated[uuid.UUID, column("conversation.pk")]
    thread_id: Annotated[str, column("conversation.external_id")]
    text: Annotated[str, Meta(description="A <context> block, ready for a prompt.")]
    tokens: int
    summary: Annotated[
        SummaryJson | None,
        Meta(description="Of what came before the messages; null where all of it fits."),
    ]
    messages: Annotated[list[EpisodeJson], Meta(description="The newest, word for word, oldest first.")]
    truncated: Annotated[bool, column("is_cut"), Meta(description="The newest message alone is too long.")]
    took_ms: float


class ConversationContextView(WorkspaceView):
    @operation("readConversationContext", query=WindowQuery, answer=ConversationContextJson)
    def get(self, request: Request, workspace: str, row: uuid.UUID) -> Response:
        """Return the newest messages word for word and a summary of the rest, in a token budget."""
        found = running_summary.window(self.scope, row, read_query(WindowQuery, request).tokens)
        return Response(
            ConversationContextJson.of(
                found,
                summary=SummaryJson.of(found.summary) if found.summary else None,
                messages=[EpisodeJson.of(episode) for episode in found.messages],
            )
        )


@declared
@dataclass(frozen=True, slots=True)
class EpisodeQuery(PageQuery):
    user_id: Maybe[Text] = None
    agent_id: Maybe[Text] = None
    thread_id: Maybe[Text] = None
    session_id: Maybe[uuid.UUID] = None
    external_id: Maybe[Text] = None
    kind: Maybe[Annotated[str, OneOf(Episode.Kind)]] = None
    tool_name: Maybe[Text] = None
    is_error: Maybe[Annotated[bool, Field(description="Results of tools that failed, or that did not.")]] = None


class EpisodesView(WorkspaceView):
    @operation("listEpisodes", query=EpisodeQuery, page=EpisodeJson)
    def get(self, request: Request, workspace: str) -> Response:
        """List messages and events as they came, the last recorded first."""
        query = read_query(EpisodeQuery, request)
        wanted = narrowing(query, EPISODE_NARROWING)
        rows = Episode.objects.visible_to(self.scope).filter(**wanted)
        if query.is_error is not None:
            failed = Q(kind=Episode.Kind.ERROR) | Q(payload__contains={"isError": True})
            ended = rows.filter(kind__in=(Episode.Kind.TOOL_RESULT, Episode.Kind.ERROR))
            rows = ended.filter(failed if query.is_error else ~failed)
        return paged(request, rows.with_names(), EpisodeJson.of)


class EpisodeView(WorkspaceView):
    @operation("readEpisode", answer=EpisodeJson)
    def get(self, request: Request, workspace: str, row: uuid.UUID) -> Response:
        """Return a message or event as it came."""
        rows = Episode.objects.visible_to(self.scope).with_names()
        return Response(EpisodeJson.of(get_object_or_404(rows, pk=row)))


class UnmaskEpisodeView(WorkspaceView):
    needs = NEEDS | {"POST": Capability.CURATE}

    @operation("unmaskEpisode", answer=EpisodeJson)
    def post(self, request: Request, workspace: str, row: uuid.UUID) -> Response:
        """Return the episode with its masked words: for people and the workspace's own backend,
        never for an agent. The audit log keeps who looked; the episode stays masked."""
        if self.scope.is_bound:
            raise Forbidden("An agent's key sees no masked words.")
        rows = Episode.objects.visible_to(self.scope).with_names()
        episode = get_object_or_404(rows, pk=row)
        episode.content = masks.reveal(self.scope, episode)
        return Response(EpisodeJson.of(episode))


# Routes: the chat, as one answer or as it is made.

# An answer of the chat as it is made, as server-sent events.

log = logging.getLogger(__name__)
