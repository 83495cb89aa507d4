"""Routes: ingest, and its preview."""

import time
import uuid
from dataclasses import replace
from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from memories import ingest, outbox, search
from memories.api import shapes
from memories.api.answers import MemorySerializer, OutcomeSerializer, Words
from memories.api.messages import MessageBody, new_message, refuse_written_out
from memories.errors import Conflict
from memories.index import workspace_index
from memories.ingest import IngestRequest
from memories.models import (
    MemoryScope,
    MemorySession,
    Visibility,
)
from memories.resolve import Claim
from memoryproject.front.wire import FRONT, SESSION, WAIT
from workspaces.api.fields import (
    Camel,
    Choice,
    ExternalId,
    Free,
    Moment,
    Number,
    Text,
    moment,
    read,
)
from workspaces.api.views import WorkspaceView
from workspaces.scope import Scope

LONGEST_WAIT, USUAL_WAIT = 60.0, 10.0  # seconds
FIRST_LOOK, SLOWEST_LOOK = 0.02, 0.25
MOST_MESSAGES = 1000


class IngestSerializer(Camel):
    """Exactly one of `content` and `messages`."""

    content = Text(required=False, allow_null=True)
    # With `many=True` the null that the list may be would be allowed for a message, too.
    messages: Any = serializers.ListSerializer(
        child=MessageBody(),
        required=False,
        allow_null=True,
        min_length=1,
        max_length=MOST_MESSAGES,
    )
    user_id = ExternalId()
    agent_id = ExternalId(help_text="Whose act it is; for keys without an agent.")
    thread_id = ExternalId()
    workflow_id = ExternalId()
    scope = Choice(choices=MemoryScope.choices, default=MemoryScope.USER)
    visibility = Choice(choices=Visibility.choices, required=False, allow_null=True)
    pathway = Choice(
        choices=MemorySession.Pathway.choices, default=MemorySession.Pathway.CONVERSATION
    )
    occurred_at = Moment(required=False, allow_null=True)
    metadata = Free(required=False)
    mode = Choice(choices=MemorySession.Mode.choices, default=MemorySession.Mode.SYNC)
    extract = Choice(choices=MemorySession.Extract.choices, default=MemorySession.Extract.AUTO)
    wait = Number(
        min_value=0,
        max_value=LONGEST_WAIT,
        default=USUAL_WAIT,
        help_text="Seconds after which a sync ingest answers 202: where it waits for the worker (a"
        " network model, a long text), or has many messages. Else it is always answered 201.",
    )


class IngestAnswerSerializer(OutcomeSerializer):
    memories = MemorySerializer(many=True)


class ReceivedSerializer(Camel):
    session_id = serializers.UUIDField()
    status = serializers.ChoiceField(MemorySession.State.choices)


class PreviewCitationSerializer(Camel):
    message_index = serializers.IntegerField()
    start = serializers.IntegerField()
    end = serializers.IntegerField()
    quote = serializers.CharField()


class PreviewFactSerializer(Camel):
    statement = serializers.CharField()
    category = serializers.CharField()
    fact_type = serializers.CharField()
    confidence = serializers.FloatField()
    method = serializers.CharField()
    rule = serializers.CharField()
    entities = Words()
    event_date = serializers.DateTimeField(allow_null=True)
    visibility = serializers.CharField()
    citations = PreviewCitationSerializer(many=True)


class SkippedSerializer(Camel):
    message_index = serializers.IntegerField()
    reason = serializers.CharField()


class PreviewSerializer(Camel):
    facts = PreviewFactSerializer(many=True)
    skipped = SkippedSerializer(many=True)
    reason = serializers.CharField(allow_null=True)
    took_ms = serializers.FloatField()


def request_of(body: dict[str, Any]) -> IngestRequest:
    if body["pathway"] == MemorySession.Pathway.ACTIVITY:
        refuse_written_out(body.get("content"), "content")
    messages = tuple(new_message(one, at) for at, one in enumerate(body.get("messages") or ()))
    return IngestRequest(
        content=body.get("content"),
        messages=messages,
        user_id=body.get("user_id") or "",
        agent_id=body.get("agent_id") or "",
        thread_id=body.get("thread_id") or "",
        workflow_id=body.get("workflow_id") or "",
        scope=body["scope"],
        visibility=body.get("visibility") or "",
        pathway=body["pathway"],
        occurred_at=body.get("occurred_at"),
        metadata=body.get("metadata", {}),
        mode=body["mode"],
        extract=body["extract"],
    )


class IngestView(WorkspaceView):
    beside = workspace_index.BESIDE_KEY

    @extend_schema(
        operation_id="ingest",
        request=IngestSerializer,
        responses={201: IngestAnswerSerializer, 202: ReceivedSerializer},
    )
    def post(self, request: Request, workspace: str) -> Response:
        """Keep what was said, and learn from it."""
        if waited_for := request.META.get(SESSION):
            return answer(self.scope, kept_session(self.scope.workspace_id, waited_for))
        body, began = read(IngestSerializer, request.data), time.monotonic()
        told = replace(request_of(body), answer=vars(request).get("answer"))
        session = ingest.ingest(self.scope, told, body["wait"])
        if session.mode == MemorySession.Mode.SYNC and not session.is_final:
            if not session.claims:
                outbox.post("run_session", session.pk)
            left = body["wait"] - (time.monotonic() - began)
            if FRONT not in request.META:
                session = waited(session, left)
            elif left > 0:  # the front waits beside, and sends the request again
                request.META[WAIT] = [str(session.pk), left]
        return answer(self.scope, session)


def _is_kept_only(session: MemorySession) -> bool:
    """Whether nothing is believed because texts are longer than a memory."""
    return bool(session.counts.get("tooLong")) and not session.counts.get("facts")


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
    if not session.is_final or _is_kept_only(session):
        return Response({"sessionId": str(session.pk), "status": session.state}, status=202)
    return Response(shapes.outcome(session) | {"memories": made(scope, session)}, 201)


def made(scope: Scope, session: MemorySession) -> list[dict[str, Any]]:
    if not session.created_ids:
        return []
    # This request made them for this asker: nobody has to ask again who may see them.
    rows = search.rows_of(scope, "memories", session.created_ids)
    return [shapes.memory(row) for row in sorted(rows, key=lambda row: row.id)]


class PreviewView(WorkspaceView):
    @extend_schema(
        operation_id="previewExtraction", request=IngestSerializer, responses=PreviewSerializer
    )
    def post(self, request: Request, workspace: str) -> Response:
        """What an ingest of the same body would read out of it; nothing is stored."""
        started = time.perf_counter()
        shown = ingest.preview(self.scope, request_of(read(IngestSerializer, request.data)))
        found, places = shown.found, {message.id: message.index for message in shown.messages}
        return Response(
            {
                "facts": [claim_shape(claim, places) for claim in found.claims],
                "skipped": [
                    {"messageIndex": skip.index, "reason": skip.reason} for skip in found.skipped
                ],
                "reason": found.reason or None,
                "tookMs": round((time.perf_counter() - started) * 1e3, 2),
            }
        )


def claim_shape(claim: Claim, places: dict[uuid.UUID, int]) -> dict[str, Any]:
    return {
        "statement": claim.statement,
        "category": claim.category,
        "factType": claim.fact_type,
        "confidence": claim.confidence,
        "method": claim.method,
        "rule": claim.rule,
        "entities": list(claim.entities),
        "eventDate": moment(claim.event_date),
        "visibility": claim.visibility,
        "citations": [
            {
                "messageIndex": places[quote.episode_id],
                "start": quote.start,
                "end": quote.end,
                "quote": quote.quote,
            }
            for quote in claim.quotes
            if quote.episode_id in places
        ],
    }
