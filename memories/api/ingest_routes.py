"""Routes: ingest, and its preview."""

import time
import uuid
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Annotated

from pydantic import Field
from rest_framework.request import Request
from rest_framework.response import Response

from memories import ingest, outbox, search
from memories.api.messages import MessageBody, new_message, refuse_written_out
from memories.api.shapes import MemoryJson, OutcomeJson
from memories.errors import Conflict
from memories.index import workspace_index
from memories.ingest import IngestRequest
from memories.ingest.ingest_request import IngestOptions
from memories.models import (
    MemorySession,
)
from memories.resolve import Claim
from memoryproject.front.wire import FRONT, SESSION, WAIT
from workspaces.api.json_answers import JsonAnswer, column
from workspaces.api.json_requests import read, values_of
from workspaces.api.schema import operation
from workspaces.api.views import WorkspaceView
from workspaces.request_fields import Number, declared
from workspaces.scope import Scope

LONGEST_WAIT, USUAL_WAIT = 60.0, 10.0  # seconds
FIRST_LOOK, SLOWEST_LOOK = 0.02, 0.25
MOST_MESSAGES = 1000


@declared
@dataclass(frozen=True, slots=True)
class IngestBody(IngestOptions):
    """Exactly one of `content` and `messages`."""

    messages: (
        Annotated[tuple[MessageBody, ...], Field(min_length=1, max_length=MOST_MESSAGES)] | None
    ) = None
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
    return IngestRequest(**values_of(body, IngestOptions) | {"messages": messages})


class IngestView(WorkspaceView):
    beside = workspace_index.BESIDE_KEY

    @operation("ingest", request=IngestBody, answer={201: IngestAnswerJson, 202: ReceivedJson})
    def post(self, request: Request, workspace: str) -> Response:
        """Keep what was said, and learn from it."""
        if waited_for := request.META.get(SESSION):
            return answer(self.scope, kept_session(self.scope.workspace_id, waited_for))
        body, began = read(IngestBody, request.data), time.monotonic()
        told = replace(request_of(body), answer=vars(request).get("answer"))
        session = ingest.ingest(self.scope, told, body.wait)
        if session.mode == MemorySession.Mode.SYNC and not session.is_final:
            if not session.claims:
                outbox.post("run_session", session.pk)
            left = body.wait - (time.monotonic() - began)
            if FRONT not in request.META:
                session = waited(session, left)
            elif left > 0:  # the front waits beside, and sends the request again
                request.META[WAIT] = [str(session.pk), left]
        return answer(self.scope, session)


def waited(session: MemorySession, seconds: float) -> MemorySession:
    """Look again and again until the session is final, or is tried again later because a model
    failed, or the seconds are over."""
    deadline, pause = time.monotonic() + seconds, FIRST_LOOK
    while not (session.is_final or session.is_postponed) and time.monotonic() < deadline:
        time.sleep(min(pause, max(0.0, deadline - time.monotonic())))
        pause = min(pause * 1.5, SLOWEST_LOOK)
        session = kept_session(session.workspace_id, session.pk)
    return session


def kept_session(workspace_id: uuid.UUID, session_id: uuid.UUID | str) -> MemorySession:
    """The session as its row is. Raises Conflict where it was erased meanwhile."""
    session = MemorySession.objects.filter(workspace_id=workspace_id, pk=session_id).first()
    if session is None:
        raise Conflict("What was sent was erased meanwhile.", code="erased")
    return session


def answer(scope: Scope, session: MemorySession) -> Response:
    """What came of an ingest, where that is known; else where to look."""
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
        """What an ingest of the same body would read out of it; nothing is stored."""
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
        PreviewCitationJson.of(quote, message_index=places[quote.episode_id])
        for quote in claim.quotes
        if quote.episode_id in places
    ]
    return PreviewFactJson.of(claim, citations=citations)
