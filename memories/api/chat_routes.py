"""Routes: the chat, at once or streamed."""

import asyncio
import json
import threading
import uuid
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import Annotated, Any

import msgspec
from django.http import HttpResponse
from drf_spectacular.types import OpenApiTypes
from msgspec import Meta
from pydantic import Field
from rest_framework.request import Request
from rest_framework.response import Response

from memories.api.conversation_routes import log
from memories.api.http_errors import as_problem
from memories.chat.replies import MODES, SIMPLE, TONE_KEY, AskedChat, ChatRequest, as_answer, ask, check_mode, tone_of
from memories.chat.sources import SourceFilter, documents_named
from memories.documents.search_documents import Tag
from memories.errors import BudgetSpent
from memories.providers.chat_model import ChatMessage
from memoryproject.postgres import visible
from memoryproject.server.front.wire import FRONT, STREAM, STREAM_HEADERS
from workspaces.api.json_answers import JsonAnswer
from workspaces.api.json_requests import read
from workspaces.api.problems import Problem, invalid, problem_of
from workspaces.api.schema import operation
from workspaces.api.views import WorkspaceView
from workspaces.auth import scope_again
from workspaces.models import Capability
from workspaces.request_fields import ExternalId, Flag, Metadata, OneOf, OwnId, Words, declared
from workspaces.scope import Scope

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
        uuid.UUID | None, Field(description="Goes on there, about its user alone; else a new one.")
    ] = None
    scoped_document_ids: Annotated[
        tuple[OwnId, ...],
        Field(max_length=200, description="These documents alone, and no memories."),
    ] = ()
    container_tags: Annotated[
        tuple[Tag, ...], Field(max_length=100, description="Documents of any of these spaces.")
    ] = ()
    user_id: ExternalId = ""
    metadata: Annotated[Metadata, Field(description=f"Kept with the question; {TONE_KEY}: how to answer.")] = field(
        default_factory=dict
    )
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
            ChatMessage("user" if each.role == "user" else "assistant", each.content) for each in body.messages
        )
        only = SourceFilter(body.user_id, body.container_tags, documents)
        chat = ChatRequest(messages, body.mode, only, tone_of(body.metadata))
        asked = AskedChat(chat, body.conversation_id, body.user_id, body.metadata)
        if body.stream:
            if self.kept_answer:
                raise invalid("Idempotency-Key", "What is streamed is not kept.")
            parts: list[bytes] = []
            if FRONT in request.META:  # another process goes on
                request.META[STREAM] = ticket_of(self.scope, asked)
            else:
                answer_in_parts(self.scope, asked, parts.append)
            return HttpResponse(b"".join(parts), content_type="text/event-stream", headers=STREAM_HEADERS)
        try:
            # The caller waits for the whole answer, and gets no parts.
            result, conversation = ask(self.scope, asked, lambda name, values: None)
        except BudgetSpent as error:
            raise problem_for(error) from error
        return Response(as_answer(result, conversation))
