"""Routes: conversations (threads) and their messages; and the chat, at once or streamed."""

import asyncio
import json
import logging
import threading
import uuid
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, Self

import msgspec
from django.db.models import Q
from django.http import HttpResponse
from django.shortcuts import get_object_or_404
from drf_spectacular.types import OpenApiTypes
from msgspec import Meta
from pydantic import Field
from rest_framework.request import Request
from rest_framework.response import Response
from typing_extensions import TypedDict

from memories import ingest, masks
from memories.api.ingest_routes import MessageBody, new_message
from memories.api.shapes import ConversationJson, EpisodeJson
from memories.chat import (
    MODES,
    SIMPLE,
    TONE_KEY,
    AskedChat,
    ChatRequest,
    SourceFilter,
    as_answer,
    ask,
    check_mode,
    documents_named,
    tone_of,
)
from memories.documents.search_documents import Tag
from memories.errors import BudgetSpent, Forbidden
from memories.http_errors import as_problem
from memories.index import workspace_index
from memories.models import Conversation, ConversationSummary, Episode
from memories.providers.extractor_and_chat_model import ChatMessage
from memories.review.create_and_edit import without_secrets
from memories.summaries import running_summary
from memoryproject.front.wire import FRONT, STREAM, STREAM_HEADERS
from memoryproject.postgres import visible
from workspaces.api.agent_and_member_routes import AudienceField
from workspaces.api.json_answers import JsonAnswer, column
from workspaces.api.json_requests import read, read_query
from workspaces.api.paging import PageQuery, narrowing, paged
from workspaces.api.problems import Problem, conflict, invalid, problem_of, refused
from workspaces.api.schema import operation
from workspaces.api.views import NEEDS, WorkspaceView, idempotency_key
from workspaces.auth import scope_again
from workspaces.models import Capability
from workspaces.request_fields import (
    RESERVED,
    AnyText,
    ExternalId,
    Flag,
    Maybe,
    Metadata,
    OneOf,
    OwnId,
    Text,
    Words,
    declared,
)
from workspaces.scope import Scope, agent_to_write, subject_to_write

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
        self.scope.audit(
            "change_conversation", conversation, subject_id=conversation.subject_id, after=changes
        )
        return Response(ConversationJson.of(conversation))


@declared
@dataclass(frozen=True, slots=True)
class AppendBody:
    messages: Annotated[tuple[MessageBody, ...], Field(min_length=1, max_length=1000)]


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
        Meta(
            description="False: so much was said since it was made that some of it is not in yet."
        ),
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
    messages: Annotated[
        list[EpisodeJson], Meta(description="The newest, word for word, oldest first.")
    ]
    truncated: Annotated[
        bool, column("is_cut"), Meta(description="The newest message alone is too long.")
    ]
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
    is_error: Maybe[
        Annotated[bool, Field(description="Results of tools that failed, or that did not.")]
    ] = None


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

KIND = "chat"
CHECKED_EVERY = 0.5  # seconds, whether who asked may hear still
Run = Callable[..., Awaitable[Any]]
Send = Callable[[Iterable[int], bytes], None]


class ReaderGone(Exception):
    """Nobody reads the answer any more, or nobody may."""


def as_message(name: str, values: dict[str, Any]) -> bytes:
    text = json.dumps(values, ensure_ascii=False, separators=(",", ":"))
    return f"event: {name}\ndata: {text}\n\n".encode()


def answer_in_parts(scope: Scope, asked: AskedChat, send: Callable[[bytes], None]) -> None:
    """Send the answer part by part; an error is sent as a part as well."""

    def tell(name: str, values: dict[str, Any]) -> None:
        send(as_message(name, values))

    try:
        with visible.only(scope.workspace_id):
            result, conversation = ask(scope, asked, tell)
        tell("done", as_answer(result, conversation))
    except ReaderGone:
        log.debug("nobody hears this answer any more")
    except Exception as error:
        problem = problem_for(error)
        tell("error", {"status": problem.status_code, "code": problem.code, "detail": str(problem)})


def may_hear(scope: Scope) -> bool:
    """Tell whether the asker may still ask, and sees exactly as much as before."""
    now = scope_again(scope)
    return now is not None and now.may(Capability.WRITE) and now.sees_as(scope)


def problem_for(error: Exception) -> Problem:
    """Return the problem to send for an error; the log has the cause of an unexpected one."""
    if isinstance(error, BudgetSpent):
        return Problem(429, error.own_words, code="budget", wait=error.retry_after)
    problem = problem_of(as_problem(error))
    if problem is None:
        log.exception("an answer broke off", exc_info=error)
        return Problem(500, "The server failed. The log has the cause under this requestId.")
    return problem


class LiveChat:
    """A chat that is streamed. `run` calls functions that wait for the database and for models,
    `look` those that wait for the database alone."""

    def __init__(self, send: Send, run: Run, look: Run) -> None:
        self.send, self.run, self.look = send, run, look

    async def serve(self, number: int, ticket: dict[str, Any]) -> None:
        """Run until it is answered, or the asker may not read it any more. When the reader leaves,
        the model call ends with its next word."""
        loop, is_over = asyncio.get_running_loop(), threading.Event()

        def send(part: bytes) -> None:
            if is_over.is_set():
                raise ReaderGone
            loop.call_soon_threadsafe(tell, part)

        def tell(part: bytes) -> None:
            if not is_over.is_set():
                self.send([number], part)

        scope = msgspec.convert(ticket["scope"], Scope)
        asked = msgspec.convert(ticket["asked"], AskedChat)
        answering = asyncio.ensure_future(self.run(answer_in_parts, scope, asked, send))
        refused = asyncio.ensure_future(self._refused(scope))
        try:
            done, _ = await asyncio.wait({answering, refused}, return_when=asyncio.FIRST_COMPLETED)
            for each in done:
                each.result()
            await asyncio.sleep(0)  # what was sent from the thread goes first
        finally:
            is_over.set()
            answering.cancel()
            refused.cancel()

    async def _refused(self, scope: Scope) -> None:
        """Return once the asker may not read the answer any more."""
        while await self.look(may_hear, scope):
            await asyncio.sleep(CHECKED_EVERY)


def ticket_of(scope: Scope, asked: AskedChat) -> dict[str, Any]:
    own = msgspec.to_builtins(replace(scope, beside=()))
    return {"kind": KIND, "scope": own, "asked": msgspec.to_builtins(asked)}


@declared
@dataclass(frozen=True, slots=True)
class ChatMessageBody:
    role: Annotated[str, OneOf(("user", "assistant"))]
    content: Annotated[Words, Field(max_length=50_000)]


@declared
@dataclass(frozen=True, slots=True)
class ChatBody:
    messages: Annotated[
        tuple[ChatMessageBody, ...],
        Field(min_length=1, max_length=100, description="The last one is the question."),
    ]
    mode: Annotated[str, OneOf(MODES)] = SIMPLE
    conversation_id: Annotated[
        uuid.UUID | None, Field(description="Goes on there; else a new one is made.")
    ] = None
    scoped_document_ids: Annotated[
        tuple[OwnId, ...],
        Field(max_length=200, description="These documents alone, and no memories."),
    ] = ()
    container_tags: Annotated[
        tuple[Tag, ...], Field(max_length=100, description="Documents of any of these spaces.")
    ] = ()
    user_id: ExternalId = ""
    metadata: Annotated[
        Metadata, Field(description=f"Kept with the question; {TONE_KEY}: how to answer.")
    ] = field(default_factory=dict)
    stream: Flag = False


class ChatCitationJson(JsonAnswer):
    """`quote` is the text of the document or message from `start` to `end`."""

    n: int
    quote: str
    start: int
    end: int
    page: str
    document_id: uuid.UUID | None
    chunk_id: uuid.UUID | None
    memory_id: uuid.UUID | None
    episode_id: uuid.UUID | None


class ChatUsageJson(JsonAnswer):
    input_tokens: int
    output_tokens: int
    calls: int


class ChatJson(JsonAnswer):
    message: Annotated[str, Meta(description="[n] stands for a citation.")]
    model: Annotated[str | None, Meta(description="Null: no model was asked.")]
    citations: list[ChatCitationJson]
    conversation_id: uuid.UUID
    struck_out: Annotated[int, Meta(description="Marks of the model that named no source.")]
    usage: ChatUsageJson


class ChatView(WorkspaceView):
    @operation(
        "chat",
        request=ChatBody,
        answer={200: ChatJson, (200, "text/event-stream"): OpenApiTypes.STR},
    )
    def post(self, request: Request, workspace: str) -> Response | HttpResponse:
        """Answer from documents and memories, each statement with its source. Without a language
        model `simple` answers in quotes, and the other modes are 409 with the code `no_model`. With
        `stream` the answer is sent as events while it is made: conversation, search, text
        (`delta`), citation, usage, done, error."""
        body = read(ChatBody, request.data)
        if body.messages[-1].role != "user":
            raise invalid("messages", "The last one must be the user's.")
        check_mode(body.mode)
        documents = documents_named(self.scope, body.scoped_document_ids)
        messages = tuple(
            ChatMessage("user" if each.role == "user" else "assistant", each.content)
            for each in body.messages
        )
        only = SourceFilter(body.user_id, body.container_tags, documents)
        chat = ChatRequest(messages, body.mode, only, tone_of(body.metadata))
        asked = AskedChat(chat, body.conversation_id, body.user_id, body.metadata)
        if body.stream:
            if idempotency_key(request):
                raise invalid("Idempotency-Key", "What is streamed is not kept.")
            parts: list[bytes] = []
            if FRONT in request.META:  # another process goes on
                request.META[STREAM] = ticket_of(self.scope, asked)
            else:
                answer_in_parts(self.scope, asked, parts.append)
            return HttpResponse(
                b"".join(parts), content_type="text/event-stream", headers=STREAM_HEADERS
            )
        try:
            # The caller waits for the whole answer, and gets no parts.
            result, conversation = ask(self.scope, asked, lambda name, values: None)
        except BudgetSpent as error:
            raise problem_for(error) from error
        return Response(as_answer(result, conversation))
