"""Routes: ingest, and its preview."""

import time
import uuid
from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from memories import ingest, outbox, search
from memories.api import shapes
from memories.api.answers import MemorySerializer, OutcomeSerializer, Words
from memories.api.messages import MessageBody, new_message, refuse_written_out
from memories.indexing import spaces
from memories.ingest import IngestRequest
from memories.models import (
    MemoryScope,
    MemorySession,
    Visibility,
)
from memories.supersession import Claim
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
        help_text="Seconds that a sync ingest waits for a network model before it answers 202.",
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
    beside = spaces.BESIDE_KEY

    @extend_schema(
        operation_id="ingest",
        request=IngestSerializer,
        responses={201: IngestAnswerSerializer, 202: ReceivedSerializer},
    )
    def post(self, request: Request, workspace: str) -> Response:
        """Keep what was said, and learn from it."""
        body = read(IngestSerializer, request.data)
        session = ingest.ingest(self.scope, request_of(body))
        if session.mode == MemorySession.Mode.SYNC and not session.is_final:
            outbox.post("run_session", session.pk)
            session = waited(session, body["wait"])
        if not session.is_final:
            return Response({"sessionId": str(session.pk), "status": session.state}, status=202)
        return Response(shapes.outcome(session) | {"memories": made(self.scope, session)}, 201)


def waited(session: MemorySession, wait: float) -> MemorySession:
    """Look again and again until the session is final or `wait` seconds are over."""
    deadline, pause = time.monotonic() + wait, FIRST_LOOK
    while not session.is_final and time.monotonic() < deadline:
        time.sleep(min(pause, max(0.0, deadline - time.monotonic())))
        pause = min(pause * 1.5, SLOWEST_LOOK)
        session.refresh_from_db()
    return session


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
