"""Routes: ingest, its preview, and sessions, each of which is an ingest with its state and outcome;
and idempotent answers to requests that are sent again."""

import hashlib
import json
import re
import time
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Annotated, Any

from django.core.files.uploadedfile import UploadedFile
from django.db import connection, transaction
from django.db.models import JSONField, Q, QuerySet, Value
from django.shortcuts import get_object_or_404
from django.utils import timezone
from msgspec import Meta
from pydantic import BeforeValidator, Field
from pydantic_core import PydanticCustomError
from rest_framework.request import Request
from rest_framework.response import Response

from memories import ingest, leases, masks, search
from memories.api.shapes import MemoryJson, OutcomeJson, SessionJson
from memories.documents import hidden_words
from memories.errors import Invalid
from memories.index import workspace_index
from memories.ingest import IngestRequest, NewMessage
from memories.ingest.ingest_request import IngestOptions
from memories.models import Document, Episode, IdempotentAnswer, MemorySession
from memories.resolve import Claim
from memories.skip_counts import count_skips
from memories.transcripts import activities
from memories.waited_ingest import LONGEST_WAIT, USUAL_WAIT, ingest_and_wait, session_waited_for
from memoryproject import crossings
from memoryproject.front.wire import SESSION, WAIT
from workspaces.api.json_answers import JsonAnswer, JsonRenderer, column
from workspaces.api.json_requests import read, read_query, values_of
from workspaces.api.paging import PageQuery, narrowing, paged
from workspaces.api.problems import FieldProblem, Problem, conflict
from workspaces.api.schema import operation
from workspaces.api.views import WorkspaceView
from workspaces.request_fields import (
    AnyText,
    ExternalId,
    Flag,
    Free,
    Maybe,
    Metadata,
    Moment,
    NullIs,
    Number,
    OneOf,
    Text,
    declared,
)
from workspaces.scope import Scope

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
ROLES = ("user", "assistant", "system", "tool", "tool_use", "tool_result", "error", "activity")
KIND_OF = {"tool": Kind.TOOL_RESULT}
TOOLS = (Kind.TOOL_USE, Kind.TOOL_RESULT)
Line = Annotated[AnyText, Field(max_length=255)]
PAYLOAD = {
    "tool_name": "toolName",
    "tool_use_id": "toolUseId",
    "input": "input",
    "output": "output",
    "is_error": "isError",
    "duration_ms": "durationMs",
    "error_message": "errorMessage",
}

MOST_MESSAGES = 1000


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
OtherName = Annotated[Moment | None, Field(description="The same as `occurredAt`.")]


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
    occurred_at: Annotated[Moment | None, Field(description="When it was said.")] = None
    created_at: OtherName = None
    remember: Annotated[
        Flag,
        Field(description="As if it said so: what it tells is kept, in its own words at least."),
    ] = False
    id: Annotated[
        ExternalId, Field(description="The caller's own: the same id is the same episode.")
    ] = ""
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
        Field(
            description="Of an activity: app, action, object, duration (seconds); told as a"
            " sentence."
        ),
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

    messages: (
        Annotated[tuple[MessageBody, ...], Field(min_length=1, max_length=MOST_MESSAGES)] | None
    ) = None
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
            wanted = replace(request_of(body), answer=vars(request).get("answer"))
            session = ingest_and_wait(self.scope, request.META, wanted, body.wait)
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


# `Idempotency-Key`: a POST that is sent again is answered again, and done once.

KEPT = timedelta(hours=24)
HEADER = "Idempotency-Key"
IDS = re.compile(r"\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b")


def answer_once(
    scope: Scope,
    key: str,
    act: Callable[..., Response],
    secrets: Sequence[str],
    request: Request,
    /,  # a route may have a part of its own that is called `key`
    **kwargs: Any,
) -> Response:
    """Return the kept answer to `key`, or that of `act`, kept for 24 hours without its `secrets`.

    Only answers that did something are kept: an error frees the key. Where the process of the
    first request died, an ingest is answered as its session stands, and all else is done again.
    Raises 409 for another body, and while the first request still runs.
    """
    claim = _claim_key(scope, key, _digest(request), is_waited_for=SESSION in request.META)
    if claim.status is not None:
        return Response(claim.body, status=claim.status)
    rows = IdempotentAnswer.objects.filter(pk=claim.pk, claims=claim.claims, status=None)
    session = MemorySession.objects.filter(answer=claim.pk).first() if claim.claims > 1 else None
    if session is not None:
        response = answer(scope, session)
        if session.is_final:
            _keep_answer(rows, response, secrets)
        else:
            _let_go(rows, claim.pk)
        return response
    vars(request)["answer"] = (claim.pk, claim.claims)  # for what is done once by its rows
    with leases.renewed(lambda: rows):
        try:
            response = act(request, **kwargs)
        except BaseException:
            _let_go(rows, claim.pk)
            raise
    if WAIT in request.META:  # the front waits, and asks again when the session is final
        rows.update(lease_until=timezone.now() + timedelta(seconds=request.META[WAIT][1]))
    else:
        _keep_answer(rows, response, secrets)
    return response


@transaction.atomic
def make_once(
    actor: str,
    key: str,
    make: Callable[[Request], Response],
    secrets: Sequence[str],
    request: Request,
) -> Response:
    """Do what `answer_once` does for a request that makes a workspace: the answer is kept in the
    new workspace, in the same transaction, and is removed with it."""
    asker = f"{actor} makes"  # no key that a member used inside of a workspace
    with connection.cursor() as cursor:  # the same key at once waits for the first
        cursor.execute("select pg_advisory_xact_lock(hashtextextended(%s, 0))", [f"{asker} {key}"])
    now = timezone.now()
    with crossings.everywhere():  # the workspace that was made is not the caller's
        known = IdempotentAnswer.objects.filter(asker=asker, key=key, expires_at__gt=now).first()
    digest = _digest(request)
    if known is not None:
        if bytes(known.request_digest) != digest:
            raise _key_reused()
        return Response(known.body, status=known.status)
    response = make(request)
    body = _body_to_keep(response, secrets)
    IdempotentAnswer.objects.create(
        workspace_id=body["id"],
        asker=asker,
        key=key,
        request_digest=digest,
        status=response.status_code,
        body=body,
        expires_at=now + KEPT,
    )
    return response


def _keep_answer(
    rows: QuerySet[IdempotentAnswer], response: Response, secrets: Sequence[str]
) -> None:
    rows.update(
        status=response.status_code,
        body=Value(_body_to_keep(response, secrets), JSONField()),
        lease_until=None,
        expires_at=timezone.now() + KEPT,
    )


def _body_to_keep(response: Response, secrets: Sequence[str]) -> Any:
    """Return the body as it was rendered, for it may hold values that only the renderer can write;
    without secrets."""
    body = json.loads(JsonRenderer.encode(response.data))
    return body | dict.fromkeys(secrets) if secrets else body


def _let_go(rows: QuerySet[IdempotentAnswer], pk: uuid.UUID) -> None:
    """Free the key. Where the request has made a session, only end the lease: that goes on."""
    if MemorySession.objects.filter(answer=pk).exists():
        rows.update(lease_until=timezone.now())
    else:
        rows.delete()


def _claim_key(scope: Scope, key: str, digest: bytes, *, is_waited_for: bool) -> IdempotentAnswer:
    """Return the row of this key: a new one, that of a request whose process died, or the finished
    one of an equal request. Raises a Problem for another body, and while the first still runs.

    `is_waited_for`: the front asks again for the request that made the row, so it may take it.
    """
    now = timezone.now()
    new = IdempotentAnswer(
        workspace_id=scope.workspace_id,
        asker=scope.actor,
        key=key,
        request_digest=digest,
        expires_at=now + KEPT,
        lease_until=leases.end(),
    )
    same = IdempotentAnswer.objects.filter(
        workspace_id=scope.workspace_id, asker=scope.actor, key=key
    )
    same.filter(expires_at__lte=now).delete()
    IdempotentAnswer.objects.bulk_create([new], ignore_conflicts=True)
    found = same.first()
    if found is None:
        raise _in_progress()
    if found.pk == new.pk:
        return found
    if bytes(found.request_digest) != digest and not _is_hidden(scope, found):
        raise _key_reused()
    if found.status is not None:
        return found
    return _taken_over(found, Q() if is_waited_for else leases.free(timezone.now()))


def _is_hidden(scope: Scope, found: IdempotentAnswer) -> bool:
    """Tell whether a kept answer has words that the asker may not see, though they came with the
    asker's key: then the reply must not reveal whether another body differs from the first."""
    if scope.may_unmask or found.status is None:
        return False
    ids = [uuid.UUID(each) for each in IDS.findall(json.dumps(found.body))]
    documents = Document.objects.filter(pk__in=ids)
    return masks.of_any(ids) or not all(hidden_words.is_open(each) for each in documents)


@transaction.atomic
def _taken_over(found: IdempotentAnswer, free: Q) -> IdempotentAnswer:
    """Claim the row of a request that no longer runs. Raises a Problem where it still does."""
    rows = IdempotentAnswer.objects.filter(pk=found.pk, status=None).select_for_update()
    row = rows.filter(free).first()
    if row is None:
        raise _in_progress()
    row.claims, row.lease_until = row.claims + 1, leases.end()
    row.save(update_fields=["claims", "lease_until", "updated_at"])
    return row


def _key_reused() -> Problem:
    return conflict("This key was used for another request.", field=HEADER, code="key_reused")


def _in_progress() -> Problem:
    message = "The first request with this key still runs."
    errors = [FieldProblem(HEADER, message, "in_progress")]
    return Problem(409, message, code="in_progress", errors=errors, wait=1)


def _digest(request: Request) -> bytes:
    body = json.dumps(request.data, sort_keys=True, default=_digest_of_file)
    return hashlib.sha256(f"{request.path}\n{body}".encode()).digest()


def _digest_of_file(file: UploadedFile) -> str:
    digest = hashlib.sha256()
    for part in file.chunks():
        digest.update(part)
    file.seek(0)
    return digest.hexdigest()
