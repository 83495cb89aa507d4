"""Route: context, ready for a prompt."""

from dataclasses import dataclass
from typing import Annotated
from uuid import UUID

from msgspec import UNSET, Meta
from pydantic import Field
from rest_framework.request import Request
from rest_framework.response import Response

from memories.api.search_routes import (
    HitJson,
    NoteJson,
    Notes,
    Reranked,
    SearchBody,
    hits_of,
    request_of,
)
from memories.index import workspace_index
from memories.search import context
from workspaces.api.json_answers import JsonAnswer
from workspaces.api.json_requests import read
from workspaces.api.schema import operation
from workspaces.api.views import NEEDS, WorkspaceView
from workspaces.models import Capability
from workspaces.request_fields import Whole, declared


@declared
@dataclass(frozen=True, slots=True)
class ContextBody(SearchBody):
    limit: Annotated[Whole, Field(ge=1, le=100, description="At most so many hits.")] = 50
    tokens: Annotated[
        Whole,
        Field(
            ge=context.LEAST,
            le=context.MOST,
            description="How long the text may be, in a vocabulary of 32,000 pieces; newer and"
            " larger ones make fewer of most texts. Without the embedded model's package it is an"
            " estimate.",
        ),
    ] = context.USUAL


class ContextAnswerJson(JsonAnswer):
    text: Annotated[
        str,
        Meta(
            description="A <memories> block; [m1] is the first of memoryIds, [e1] of episodeIds,"
            " [f1] of featureIds. Newest belief first: a line's date is when its words were said,"
            " or when it was written or corrected by hand; `from` is since when it holds, if that"
            " is another day."
        ),
    ]
    tokens: int
    memory_ids: list[UUID]
    episode_ids: list[UUID]
    feature_ids: list[UUID]
    hits: Annotated[list[HitJson], Meta(description="What the text tells, in its order.")]
    truncated: Annotated[bool, Meta(description="More was found than the budget has room for.")]
    took_ms: float
    reranked: Reranked = UNSET
    notes: Notes = UNSET


class ContextView(WorkspaceView):
    beside = workspace_index.BESIDE_KEY
    needs = NEEDS | {"POST": Capability.READ}

    @operation("packContext", request=ContextBody, answer=ContextAnswerJson)
    def post(self, request: Request, workspace: str) -> Response:
        """What answers a question best, packed into a token budget as text for a prompt."""
        body = read(ContextBody, request.data)
        wanted = request_of(body)
        packed = context.context(self.scope, wanted, body.tokens)
        shown = ContextAnswerJson.of(
            packed, hits=hits_of(packed.hits, wanted), took_ms=round(packed.took_ms, 3)
        )
        shown.notes = NoteJson.of_codes(packed.notes)
        if wanted.rerank:
            shown.reranked = packed.reranked
        return Response(shown)
