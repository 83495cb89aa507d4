"""Route: search."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Annotated, Self
from uuid import UUID

from msgspec import UNSET, Meta, UnsetType
from pydantic import Field
from rest_framework.request import Request
from rest_framework.response import Response

from memories import search
from memories.api.feature_routes import FeatureJson
from memories.api.shapes import CitationJson, EpisodeJson, LinkJson, MemoryJson
from memories.index import workspace_index
from memories.models import AsOf, MemoryScope
from memories.search import Hit, SearchRequest, context, filters
from memories.search.context_text import ORDERS
from memories.search.request import PATHS, SearchOptions, SourceMessage
from workspaces.api.json_answers import JsonAnswer, one_of
from workspaces.api.json_requests import read, values_of
from workspaces.api.schema import operation
from workspaces.api.views import NEEDS, WorkspaceView
from workspaces.models import Capability
from workspaces.request_fields import Free, Moment, NullIs, Number, OneOf, Whole, declared

Reranked = Annotated[
    bool | UnsetType, Meta(description="With `rerank`: false where the reranker failed.")
]


@declared
@dataclass(frozen=True, slots=True)
class SearchBody(SearchOptions):
    scope: Annotated[str, OneOf(MemoryScope), NullIs("")] = ""
    filter: Annotated[
        Free | None,
        Field(
            description="{and|or|not: [...]} over {field, op, value}; fields of the memory, and"
            " metadata.<key>: all after the first dot is one key, nothing is looked for inside of"
            " values. Operators: eq, neq, gt, gte, lt, lte, in, contains, exists. eq null is"
            " exists false, neq null exists true; not of metadata, where exists alone asks that. A"
            " value that the field cannot have is refused.",
        ),
    ] = None
    valid_at: Annotated[Moment | None, Field(description="What was true then.")] = None
    known_at: Annotated[Moment | None, Field(description="What was believed then.")] = None
    include: tuple[Annotated[str, OneOf(search.INCLUDES)], ...] = ()


class SourceJson(JsonAnswer):
    """All of a short message, or the sentences around the quote."""

    episode_id: UUID
    external_id: str
    role: str
    name: str
    occurred_at: datetime
    text: str
    start: Annotated[int, Meta(description="Where `text` begins in the message.")]
    end: int

    @classmethod
    def of_source(cls, source: SourceMessage) -> Self:
        row = source.episode
        return cls(
            row.id, row.external_id, row.role, row.author, row.occurred_at, source.text,
            source.start, source.end,
        )  # fmt: skip


class EchoJson(JsonAnswer):
    layer: str
    score: Annotated[
        float,
        Meta(
            description="Of several layers the ranking hybrid weighs all together; the others take"
            " the best of each by turns, with a score that is at least that of the next hit."
        ),
    ]
    memory: MemoryJson | UnsetType = UNSET
    episode: EpisodeJson | UnsetType = UNSET
    scores: dict[str, float] | UnsetType = UNSET
    ranks: Annotated[
        dict[str, int] | UnsetType,
        Meta(
            description="With `scores`: its place among the candidates of its layer by `vector`"
            " and by `keyword`, from 1; absent where that side did not bring it up."
        ),
    ] = UNSET
    citations: list[CitationJson] | UnsetType = UNSET
    source: Annotated[
        SourceJson | UnsetType,
        Meta(
            description="Of a memory: the newest message that it stands on, where the asker may see"
            " that."
        ),
    ] = UNSET

    @classmethod
    def of_hit(cls, hit: Hit, include: frozenset[str], known_at: datetime | None) -> Self:
        """`include`: what of its parts was asked for."""
        shown = cls(hit.layer, hit.score)
        if hit.layer == "memories":
            shown.memory = MemoryJson.of(hit.memory, known_at)
        elif hit.layer == "episodes":
            shown.episode = EpisodeJson.of(hit.episode)
        if "scores" in include:
            shown.scores, shown.ranks = hit.scores, hit.ranks or {}
        if "citations" in include:
            shown.citations = [CitationJson.of(row) for row in hit.citations or ()]
        if hit.source:
            shown.source = SourceJson.of_source(hit.source)
        return shown


class HitJson(EchoJson):
    feature: FeatureJson | UnsetType = UNSET
    echoes: Annotated[
        list[EchoJson] | UnsetType,
        Meta(
            description="Where `hybrid` searches memories and episodes: a memory and the episode"
            " it stands on are one hit, at the better place of the two. The memory leads where its"
            " words answer no worse than the episode's. Here is what it was one with: that"
            " episode, and other memories of the same words; or the memories of an episode that"
            " leads."
        ),
    ] = UNSET
    chain: list[LinkJson] | UnsetType = UNSET
    neighbours: Annotated[
        list[EpisodeJson] | UnsetType,
        Meta(
            description="With `neighbours`, of an episode: what was said right before and after it."
        ),
    ] = UNSET

    @classmethod
    def of_hit(cls, hit: Hit, include: frozenset[str], known_at: datetime | None) -> Self:
        shown = super().of_hit(hit, include, known_at)
        if hit.layer == "features":
            shown.feature = FeatureJson.of(hit.feature)
        if hit.echoes:
            shown.echoes = [EchoJson.of_hit(echo, include, known_at) for echo in hit.echoes]
        if "neighbours" in include and hit.neighbours is not None:
            shown.neighbours = [EpisodeJson.of(row) for row in hit.neighbours]
        if "chain" in include:
            shown.chain = [LinkJson.of_link(link, known_at) for link in hit.chain or ()]
        return shown


def hits_of(hits: Iterable[Hit], request: SearchRequest) -> list[HitJson]:
    return [HitJson.of_hit(hit, request.include, request.at.known_at) for hit in hits]


class NoteJson(JsonAnswer):
    code: Annotated[str, one_of(search.NOTES)]
    detail: str

    @classmethod
    def of_codes(cls, codes: Iterable[str]) -> "list[NoteJson] | UnsetType":
        return [cls(code, search.NOTES[code]) for code in codes] or UNSET


Notes = Annotated[
    list[NoteJson] | UnsetType,
    Meta(description="What this answer had to do without; absent where it lacks nothing."),
]


Confidence = Annotated[
    float,
    Meta(
        description="0 to 1: the chance that what was asked for stands in this answer, fitted for"
        " the ranking `hybrid` under the embedded model."
    ),
]


class SearchAnswerJson(JsonAnswer):
    results: list[HitJson]
    count: int
    confidence: Confidence
    took_ms: float
    reranked: Reranked = UNSET
    notes: Notes = UNSET
    weights: Annotated[
        dict[str, float] | UnsetType,
        Meta(description="With `scores`, of the hybrid ranking: how much each part counts."),
    ] = UNSET
    index_paths: Annotated[
        dict[str, Annotated[str, one_of(PATHS)]] | UnsetType,
        Meta(
            description="With `scores`, by layer: how its vectors were compared, one by one"
            " (`exact`), through the approximate index (`hnsw`), or one by one because the index"
            " saw too few that fit (`hnsw_then_exact`); absent where none were."
        ),
    ] = UNSET


class SearchView(WorkspaceView):
    beside = workspace_index.BESIDE_KEY
    needs = NEEDS | {"POST": Capability.READ}

    @operation("search", request=SearchBody, answer=SearchAnswerJson)
    def post(self, request: Request, workspace: str) -> Response:
        """The memories (or episodes, or features) that answer a question best."""
        wanted = request_of(read(SearchBody, request.data))
        answer = search.search(self.scope, replace(wanted, include=wanted.include | {"source"}))
        shown = SearchAnswerJson(
            results=hits_of(answer.hits, wanted),
            count=len(answer.hits),
            confidence=round(answer.confidence, 3),
            took_ms=round(answer.took_ms, 3),
            reranked=answer.reranked if wanted.rerank else UNSET,
            notes=NoteJson.of_codes(answer.notes),
        )
        if "scores" in wanted.include and answer.weights:
            shown.weights = answer.weights.named()
        if answer.trace:
            paths = answer.trace.paths
            shown.index_paths = {n: paths[of] for n, of in search.LAYERS.items() if of in paths}
        return Response(shown)


def request_of(body: SearchBody) -> SearchRequest:
    layers = tuple(dict.fromkeys(body.layers))
    return SearchRequest(
        **values_of(body, SearchOptions) | {"layers": layers},
        memory_scope=body.scope,
        filter=None if body.filter is None else filters.parse(body.filter, layers),
        at=AsOf(body.valid_at, body.known_at),
        include=frozenset(body.include),
    )


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
    layers: Annotated[tuple[Annotated[str, OneOf(search.LAYERS)], ...], Field(min_length=1)] = (
        "memories",
        "episodes",
    )
    order: Annotated[
        str,
        OneOf(ORDERS),
        Field(description="Of the lines below the standing wishes."),
    ] = "newest"
    floor: Annotated[
        Number,
        Field(
            ge=0,
            le=1,
            description="Where the confidence is below it, nothing is told but the person's"
            " standing wishes; 0 tells what there is.",
        ),
    ] = context.FLOOR


class ContextAnswerJson(JsonAnswer):
    text: Annotated[
        str,
        Meta(
            description="A <memories> block; [m1] is the first of memoryIds, [e1] of episodeIds,"
            " [f1] of featureIds. A message with [e1 m1] says what the memory says; a memory that"
            " says more has a line below it (`current`), and so has what was believed of it until"
            " it was replaced. A line's date is when its words were said, or when it was written or"
            " corrected by hand; `from` is since when it holds, if that is another day; a line"
            " without a date is of the day above. [e1 standing] are the person's standing wishes,"
            " which come first."
        ),
    ]
    tokens: int
    memory_ids: list[UUID]
    episode_ids: list[UUID]
    feature_ids: list[UUID]
    hits: Annotated[list[HitJson], Meta(description="What the text tells, in its order.")]
    truncated: Annotated[bool, Meta(description="More was found than the budget has room for.")]
    more: Annotated[
        dict[str, int],
        Meta(description="By layer: how many were found and are not told, for lack of room."),
    ]
    confidence: Confidence
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
        packed = context.context(
            self.scope, wanted, body.tokens, order=body.order, floor=body.floor
        )
        shown = ContextAnswerJson.of(
            packed, hits=hits_of(packed.hits, wanted), took_ms=round(packed.took_ms, 3)
        )
        shown.notes = NoteJson.of_codes(packed.notes)
        if wanted.rerank:
            shown.reranked = packed.reranked
        return Response(shown)
