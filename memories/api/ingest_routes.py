"""Routes: ingest, and its preview."""

import json
import time
import uuid
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Annotated, Any

from pydantic import BeforeValidator, Field
from pydantic_core import PydanticCustomError
from rest_framework.request import Request
from rest_framework.response import Response

from memories import ingest, search
from memories.api.session_routes import Kind
from memories.api.shapes import MemoryJson, OutcomeJson
from memories.belief.resolve import Claim
from memories.errors import Invalid
from memories.index import workspace_index
from memories.ingest import IngestRequest, NewMessage
from memories.ingest.ingest_request import IngestOptions
from memories.ingest.waited_ingest import LONGEST_WAIT, USUAL_WAIT, session_waited_for, wait_for_ingest
from memories.language.bounds import LONGEST_ID, MOST_MESSAGES
from memories.models import MemorySession
from memories.transcripts import activities
from workspaces.api.json_answers import JsonAnswer, column
from workspaces.api.json_requests import read, values_of
from workspaces.api.schema import operation
from workspaces.api.views import WorkspaceView
from workspaces.request_fields import (
    AnyText,
    ExternalId,
    Flag,
    Free,
    Metadata,
    NullIs,
    Number,
    OneOf,
    ToldMoment,
    declared,
)
from workspaces.scope import Scope

ROLES = ("user", "assistant", "system", "tool", "tool_use", "tool_result", "error", "activity")
KIND_OF = {"tool": Kind.TOOL_RESULT}
TOOLS = (Kind.TOOL_USE, Kind.TOOL_RESULT)
Line = Annotated[AnyText, Field(max_length=LONGEST_ID)]
PAYLOAD = {
    "tool_name": "toolName",
    "tool_use_id": "toolUseId",
    "input": "input",
    "output": "output",
    "is_error": "isError",
    "duration_ms": "durationMs",
    "error_message": "errorMessage",
}


TEXT_PARTS = ("text", "input_text", "output_text")


def _spoken(given: Any) -> Any:
    """Return the text of a message that comes in parts, as chat clients send it: each text part is
    a paragraph; another part (an image, a file) is named in brackets in its place."""
    if not isinstance(given, list):
        return given
    paragraphs = []
    for index, part in enumerate(given):
        kind = part.get("type") if isinstance(part, dict) else None
        text = part.get("text") if kind in TEXT_PARTS else f"[{kind}]"
        if not isinstance(kind, str) or not kind.strip() or not isinstance(text, str):
            raise PydanticCustomError(
                "invalid",
                "Part {index} is none: a part has a type, and a text where it is of type text.",
                {"index": index},
            )
        paragraphs.append(text)
    return "\n\n".join(paragraphs)


MessageText = Annotated[AnyText, BeforeValidator(_spoken, json_schema_input_type=str | list[Free])]

# `createdAt` for `occurredAt`, as other servers and chat clients say.
OtherName = Annotated[ToldMoment | None, Field(description="The same as `occurredAt`.")]


def moment_of(body: Any, place: str = "") -> datetime | None:
    """Return the time of a message, given under either name. Raises Invalid where the two names
    give different times."""
    if None not in (body.occurred_at, body.created_at) and body.occurred_at != body.created_at:
        raise Invalid(f"{place}createdAt", "Says another time than occurredAt: give one of them.")
    moment: datetime | None = body.occurred_at or body.created_at
    return moment


@declared
@dataclass(frozen=True, slots=True)
class MessageBody:
    role: Annotated[str, OneOf(ROLES)]
    content: (
        Annotated[
            MessageText,
            Field(
                description="A text, or parts as chat clients send them: the texts are joined by"
                " empty lines, a part of another type is named in brackets."
            ),
        ]
        | None
    ) = None
    name: Annotated[Line, NullIs("")] = ""
    occurred_at: Annotated[
        ToldMoment | None,
        Field(description='When it was said; from the day of its offset counts "yesterday".'),
    ] = None
    created_at: OtherName = None
    remember: Annotated[
        Flag,
        Field(description="As if it said so: what it tells is kept, in its own words at least."),
    ] = False
    id: Annotated[ExternalId, Field(description="The caller's own: the same id is the same episode.")] = ""
    metadata: Annotated[Metadata, NullIs({})] = field(default_factory=dict)
    tool_name: Annotated[Line, Field(min_length=1)] | None = None
    tool_use_id: Annotated[Line, Field(min_length=1)] | None = None
    input: Any = None
    output: Any = None
    is_error: Flag | None = None
    duration_ms: Annotated[Number, Field(ge=0)] | None = None
    error_message: AnyText | None = None
    payload: Annotated[
        Free,
        NullIs({}),
        Field(description="Of an activity: app, action, object, duration (seconds); told as a sentence."),
    ] = field(default_factory=dict)


def new_message(body: MessageBody, index: int) -> NewMessage:
    """Return a MessageBody as ingest takes it. Raises Invalid without content.

    An activity is written as a sentence, before its own words, if any: that is what is kept, read
    and cited. Raises Invalid where its fields are wrong. Empty content is kept, and nothing is
    learned from it: transcripts have such messages.
    """
    kind = kind_of(body)
    content, payload = body.content, body.payload
    if kind == Kind.ACTIVITY:
        for name, fault in activities.faults_of(payload).items():
            raise Invalid(f"messages[{index}].payload.{name}", fault)
        refuse_written_out(content, f"messages[{index}].content")
        told = activities.sentence_of(payload)
        if told and told != content:
            content = f"{told} {content}" if content else told
    if not content and kind in TOOLS:
        content = written(body) or content
    if content is None:
        raise Invalid(f"messages[{index}].content", "A message must say something.", "blank")
    kept = {spoken: getattr(body, name) for name, spoken in PAYLOAD.items()}
    return NewMessage(
        content=content,
        role=body.role,
        name=body.name,
        created_at=moment_of(body, f"messages[{index}]."),
        id=body.id,
        remember=body.remember,
        kind=kind,
        metadata=body.metadata,
        payload={**payload, **{name: value for name, value in kept.items() if value is not None}},
    )


def refuse_written_out(content: str | None, field: str) -> None:
    """Raise Invalid where an activity's fields stand in the content."""
    if content and activities.is_written_out(content):
        raise Invalid(field, "Give app, action, object and duration as messages[].payload.")


def kind_of(body: MessageBody) -> str:
    """Return the kind of a message: an activity by its payload, a tool's call by its input, else
    what the role says."""
    role = body.role
    if role == "user" and body.payload and activities.is_activity(body.payload):
        return Kind.ACTIVITY
    if role in ("assistant", "tool") and body.input is not None:
        return Kind.TOOL_USE
    return str(KIND_OF.get(role, role))


def written(body: MessageBody) -> str:
    """Return a tool's call or result as text, for a message without content."""
    name, given = body.tool_name or "", body.input
    if given is None:
        given = body.output
    if given is None:
        return name
    text = given if isinstance(given, str) else json.dumps(given, ensure_ascii=False)
    return f"{name}: {text}" if name else text


@declared
@dataclass(frozen=True, slots=True)
class IngestBody(IngestOptions):
    """Exactly one of `content` and `messages`."""

    messages: Annotated[tuple[MessageBody, ...], Field(min_length=1, max_length=MOST_MESSAGES)] | None = None
    created_at: OtherName = None
    wait: Annotated[
        Number,
        Field(
            ge=0,
            le=LONGEST_WAIT,
            description="Seconds after which a sync ingest answers 202: where it waits for the"
            " worker (a network model, a long text), or has many messages. Else it is always"
            " answered 201.",
        ),
    ] = USUAL_WAIT


class IngestAnswerJson(OutcomeJson):
    memories: list[MemoryJson]


class ReceivedJson(JsonAnswer):
    session_id: uuid.UUID
    status: MemorySession.State


class PreviewCitationJson(JsonAnswer):
    message_index: int
    start: int
    end: int
    quote: str


class PreviewFactJson(JsonAnswer):
    statement: str
    category: str
    fact_type: str
    confidence: float
    method: str
    rule: str
    entities: list[str]
    event_date: datetime | None
    visibility: str
    citations: list[PreviewCitationJson]


class SkippedJson(JsonAnswer):
    message_index: Annotated[int, column("index")]
    reason: str


class PreviewJson(JsonAnswer):
    facts: list[PreviewFactJson]
    skipped: list[SkippedJson]
    reason: str | None
    took_ms: float


def request_of(body: IngestBody) -> IngestRequest:
    if body.pathway == MemorySession.Pathway.ACTIVITY:
        refuse_written_out(body.content, "content")
    messages = tuple(new_message(one, at) for at, one in enumerate(body.messages or ()))
    said = {"messages": messages, "occurred_at": moment_of(body)}
    return IngestRequest(**values_of(body, IngestOptions) | said)


class IngestView(WorkspaceView):
    beside = workspace_index.BESIDE_KEY

    @operation("ingest", request=IngestBody, answer={201: IngestAnswerJson, 202: ReceivedJson})
    def post(self, request: Request, workspace: str) -> Response:
        """Keep a text or messages, and learn memories from them."""
        session = session_waited_for(self.scope, request.META)
        if session is None:
            body = read(IngestBody, request.data)
            wanted = replace(request_of(body), answer=self.kept_answer)
            session = wait_for_ingest(self.scope, request.META, wanted, body.wait)
        return answer(self.scope, session)


def answer(scope: Scope, session: MemorySession) -> Response:
    """Answer an ingest: 201 with its outcome where that is known, else 202 with the session to
    look at."""
    # Nothing is believed, because texts are longer than a memory.
    is_kept_only = session.counts.get("tooLong") and not session.counts.get("facts")
    if not session.is_final or is_kept_only:
        return Response(ReceivedJson(session.pk, MemorySession.State(session.state)), status=202)
    return Response(IngestAnswerJson.of(session, memories=made(scope, session)), status=201)


def made(scope: Scope, session: MemorySession) -> list[MemoryJson]:
    if not session.created_ids:
        return []
    # This request made them for this asker: nobody has to ask again who may see them.
    rows = search.rows_of(scope, "memories", session.created_ids)
    return [MemoryJson.of(row) for row in sorted(rows, key=lambda row: row.id)]


class PreviewView(WorkspaceView):
    @operation("previewExtraction", request=IngestBody, answer=PreviewJson)
    def post(self, request: Request, workspace: str) -> Response:
        """Return what an ingest of the same body would extract; nothing is stored."""
        started = time.perf_counter()
        shown = ingest.preview(self.scope, request_of(read(IngestBody, request.data)))
        found, places = shown.found, {message.id: message.index for message in shown.messages}
        return Response(
            PreviewJson(
                facts=[preview_of(claim, places) for claim in found.claims],
                skipped=[SkippedJson.of(skip) for skip in found.skipped],
                reason=found.reason or None,
                took_ms=round((time.perf_counter() - started) * 1e3, 2),
            )
        )


def preview_of(claim: Claim, places: dict[uuid.UUID, int]) -> PreviewFactJson:
    citations = [
        PreviewCitationJson.of(quote, message_index=places[quote.text_id])
        for quote in claim.quotes
        if quote.text_id in places
    ]
    return PreviewFactJson.of(claim, citations=citations)
