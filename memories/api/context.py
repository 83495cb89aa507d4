"""Route: context, ready for a prompt."""

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from memories.api.search import (
    NOTES_HELP,
    HitSerializer,
    NoteSerializer,
    SearchSerializer,
    hit_shape,
    notes_shape,
    request_of,
)
from memories.index import workspace_index
from memories.search import context
from workspaces.api.fields import Camel, Whole, read
from workspaces.api.views import NEEDS, WorkspaceView
from workspaces.models import Capability


class ContextSerializer(SearchSerializer):
    limit = Whole(min_value=1, max_value=100, default=50, help_text="At most so many hits.")
    tokens = Whole(
        min_value=context.LEAST,
        max_value=context.MOST,
        default=context.USUAL,
        help_text="How long the text may be, in a vocabulary of 32,000 pieces; newer and larger"
        " ones make fewer of most texts. Without the embedded model's package it is an estimate.",
    )


class ContextAnswerSerializer(Camel):
    text = serializers.CharField(
        help_text="A <memories> block; [m1] is the first of memoryIds, [e1] of episodeIds, [f1] of"
        " featureIds. Newest belief first: a line's date is when its words were said, or when it"
        " was written or corrected by hand; `from` is since when it holds, if that is another day."
    )
    tokens = serializers.IntegerField()
    memory_ids = serializers.ListField(child=serializers.UUIDField())
    episode_ids = serializers.ListField(child=serializers.UUIDField())
    feature_ids = serializers.ListField(child=serializers.UUIDField())
    hits = HitSerializer(many=True, help_text="What the text tells, in its order.")
    truncated = serializers.BooleanField(help_text="More was found than the budget has room for.")
    took_ms = serializers.FloatField()
    reranked = serializers.BooleanField(
        required=False, help_text="With `rerank`: false where the reranker failed."
    )
    notes = NoteSerializer(many=True, required=False, help_text=NOTES_HELP)


class ContextView(WorkspaceView):
    beside = workspace_index.BESIDE_KEY
    needs = NEEDS | {"POST": Capability.READ}

    @extend_schema(
        operation_id="packContext", request=ContextSerializer, responses=ContextAnswerSerializer
    )
    def post(self, request: Request, workspace: str) -> Response:
        """What answers a question best, packed into a token budget as text for a prompt."""
        body = read(ContextSerializer, request.data)
        wanted = request_of(body)
        packed = context.context(self.scope, wanted, body["tokens"])
        return Response(
            ({"reranked": packed.reranked} if wanted.rerank else {})
            | ({"notes": notes_shape(packed.notes)} if packed.notes else {})
            | {
                "text": packed.text,
                "tokens": packed.tokens,
                "memoryIds": packed.memory_ids,
                "episodeIds": packed.episode_ids,
                "featureIds": packed.feature_ids,
                "hits": [hit_shape(hit, wanted) for hit in packed.hits],
                "truncated": packed.truncated,
                "tookMs": round(packed.took_ms, 3),
            }
        )
