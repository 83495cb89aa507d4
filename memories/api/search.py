"""Route: search."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from memories import search
from memories.api import feature_shapes, shapes
from memories.api.answers import (
    CitationSerializer,
    EpisodeSerializer,
    LinkSerializer,
    MemorySerializer,
)
from memories.api.feature_shapes import FeatureSerializer
from memories.index import workspace_index
from memories.models import AsOf, Category, FactType, MemoryScope
from memories.search import Hit, Recency, SearchRequest, filters
from memories.search.trace import PATHS, Trace
from workspaces.api.fields import (
    Camel,
    Choice,
    ExternalId,
    Flag,
    Free,
    Moment,
    Number,
    Text,
    Whole,
    read,
)
from workspaces.api.views import NEEDS, WorkspaceView
from workspaces.models import Capability


class RecencySerializer(Camel):
    weight = Number(min_value=0, max_value=1)
    half_life_days = Number(min_value=0.001, max_value=100_000, default=30)


class SearchSerializer(Camel):
    query = Text(max_length=10_000)
    limit = Whole(min_value=1, max_value=100, default=10)
    scope = Choice(choices=MemoryScope.choices, required=False, allow_null=True)
    user_id = ExternalId(help_text="What is about this subject or nobody in particular.")
    agent_id = ExternalId(help_text="As this agent sees it; for keys without an agent.")
    thread_id = ExternalId(help_text="Adds this thread's own memories.")
    workflow_id = ExternalId(help_text="Adds this workflow's own memories.")
    fact_types = serializers.ListField(child=Choice(choices=FactType.choices), required=False)
    categories = serializers.ListField(child=Choice(choices=Category.choices), required=False)
    filter = Free(
        required=False,
        allow_null=True,
        help_text="{and|or|not: [...]} over {field, op, value}; fields of the memory, and"
        " metadata.<key>: all after the first dot is one key, nothing is looked for inside of"
        " values. Operators: eq, neq, gt, gte, lt, lte, in, contains, exists. eq null is exists"
        " false, neq null exists true; not of metadata, where exists alone asks that. A value"
        " that the field cannot have is refused.",
    )
    ranking = Choice(choices=search.RANKINGS, default="hybrid")
    recency = RecencySerializer(required=False, allow_null=True)
    valid_at = Moment(required=False, allow_null=True, help_text="What was true then.")
    known_at = Moment(required=False, allow_null=True, help_text="What was believed then.")
    rerank = Flag(
        default=False,
        help_text="Lets the configured reranker order the best 50; there are no more hits then."
        " What it leaves unscored stays in order behind the others, with a score of 0.",
    )
    threshold = Number(min_value=0, max_value=1, required=False, allow_null=True)
    include = serializers.ListField(child=Choice(choices=search.INCLUDES), required=False)
    layers = serializers.ListField(
        child=Choice(choices=tuple(search.LAYERS)), required=False, min_length=1
    )


class EchoSerializer(Camel):
    layer = serializers.CharField()
    score = serializers.FloatField(
        help_text="Of several layers the ranking hybrid weighs all together; the others take the"
        " best of each by turns, with a score that is at least that of the next hit."
    )
    memory = MemorySerializer(required=False)
    episode = EpisodeSerializer(required=False)
    scores = serializers.DictField(child=serializers.FloatField(), required=False)
    ranks = serializers.DictField(
        child=serializers.IntegerField(),
        required=False,
        help_text="With `scores`: its place among the candidates of its layer by `vector` and by"
        " `keyword`, from 1; absent where that side did not bring it up.",
    )
    citations = CitationSerializer(many=True, required=False)


class HitSerializer(EchoSerializer):
    feature = FeatureSerializer(required=False)
    echoes = EchoSerializer(
        many=True,
        required=False,
        help_text="Where `hybrid` searches memories and episodes: a memory and the episode it"
        " stands on are one hit, at the better place of the two. The memory leads where its words"
        " answer no worse than the episode's. Here is what it was one with: that episode, and"
        " other memories of the same words; or the memories of an episode that leads.",
    )
    chain = LinkSerializer(many=True, required=False)
    neighbours = EpisodeSerializer(
        many=True,
        required=False,
        help_text="With `neighbours`, of an episode: what was said right before and after it.",
    )


class NoteSerializer(Camel):
    code = serializers.ChoiceField(choices=tuple(search.NOTES))
    detail = serializers.CharField()


NOTES_HELP = "What this answer had to do without; absent where it lacks nothing."


class SearchAnswerSerializer(Camel):
    results = HitSerializer(many=True)
    count = serializers.IntegerField()
    took_ms = serializers.FloatField()
    reranked = serializers.BooleanField(
        required=False, help_text="With `rerank`: false where the reranker failed."
    )
    notes = NoteSerializer(many=True, required=False, help_text=NOTES_HELP)
    weights = serializers.DictField(
        child=serializers.FloatField(),
        required=False,
        help_text="With `scores`, of the hybrid ranking: how much each part counts.",
    )
    index_paths = serializers.DictField(
        child=serializers.ChoiceField(choices=PATHS),
        required=False,
        help_text="With `scores`, by layer: how its vectors were compared, one by one (`exact`),"
        " through the approximate index (`hnsw`), or one by one because the index saw too few that"
        " fit (`hnsw_then_exact`); absent where none were.",
    )


class SearchView(WorkspaceView):
    beside = workspace_index.BESIDE_KEY
    needs = NEEDS | {"POST": Capability.READ}

    @extend_schema(
        operation_id="search", request=SearchSerializer, responses=SearchAnswerSerializer
    )
    def post(self, request: Request, workspace: str) -> Response:
        """The memories (or episodes, or features) that answer a question best."""
        wanted = request_of(read(SearchSerializer, request.data))
        answer = search.search(self.scope, wanted)
        shaped: dict[str, Any] = {
            "results": [hit_shape(hit, wanted) for hit in answer.hits],
            "count": len(answer.hits),
            "tookMs": round(answer.took_ms, 3),
        }
        if wanted.rerank:
            shaped["reranked"] = answer.reranked
        if answer.notes:
            shaped["notes"] = notes_shape(answer.notes)
        if "scores" in wanted.include and answer.weights:
            shaped["weights"] = answer.weights.named()
        if answer.trace:
            shaped["indexPaths"] = index_paths(answer.trace)
        return Response(shaped)


def request_of(body: dict[str, Any]) -> SearchRequest:
    layers = tuple(dict.fromkeys(body.get("layers", ("memories",))))
    tree, recency = body.get("filter"), body.get("recency")
    return SearchRequest(
        query=body["query"],
        limit=body["limit"],
        memory_scope=body.get("scope") or "",
        user_id=body.get("user_id") or "",
        agent_id=body.get("agent_id") or "",
        thread_id=body.get("thread_id") or "",
        workflow_id=body.get("workflow_id") or "",
        fact_types=tuple(body.get("fact_types", ())),
        categories=tuple(body.get("categories", ())),
        filter=None if tree is None else filters.parse(tree, layers),
        ranking=body["ranking"],
        at=AsOf(body.get("valid_at"), body.get("known_at")),
        recency=recency and Recency(**recency),
        rerank=body["rerank"],
        threshold=body.get("threshold"),
        layers=layers,
        include=frozenset(body.get("include", ())),
    )


def notes_shape(notes: Iterable[str]) -> list[dict[str, str]]:
    return [{"code": code, "detail": search.NOTES[code]} for code in notes]


def index_paths(trace: Trace) -> dict[str, str]:
    return {name: trace.paths[of] for name, of in search.LAYERS.items() if of in trace.paths}


def hit_shape(hit: Hit, wanted: SearchRequest) -> dict[str, Any]:
    include = wanted.include
    shaped: dict[str, Any] = {"layer": hit.layer, "score": hit.score}
    if hit.layer == "memories":
        shaped["memory"] = shapes.memory(hit.memory, wanted.at.known_at)
    elif hit.layer == "episodes":
        shaped["episode"] = shapes.episode(hit.episode)
    else:
        shaped["feature"] = feature_shapes.feature(hit.feature)
    if "scores" in include:
        shaped["scores"] = hit.scores
        shaped["ranks"] = hit.ranks or {}
    if "citations" in include:
        shaped["citations"] = [shapes.citation(c, c.external_id) for c in hit.citations or ()]
    if hit.echoes:
        told = replace(wanted, include=include & {"scores", "citations"})
        shaped["echoes"] = [hit_shape(echo, told) for echo in hit.echoes]
    if "neighbours" in include and hit.neighbours is not None:
        shaped["neighbours"] = [shapes.episode(row) for row in hit.neighbours]
    if "chain" in include:
        shaped["chain"] = [shapes.link(link, wanted.at.known_at) for link in hit.chain or ()]
    return shaped
