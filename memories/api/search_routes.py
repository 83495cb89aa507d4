"""Route: search."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Annotated, Any, Self
from uuid import UUID

from msgspec import UNSET, Meta, UnsetType
from pydantic import Field
from rest_framework.request import Request
from rest_framework.response import Response

from memories import search
from memories.api.feature_routes import FeatureJson
from memories.api.shapes import CitationJson, EpisodeJson, LinkJson, MemoryJson, PartJson
from memories.index import workspace_index
from memories.language.bounds import MOST_HITS
from memories.models import AsOf, MemoryScope, TalkSummary
from memories.search import Hit, SearchRequest, context, filters
from memories.search.confidence import FLOOR, FLOOR_OF_FEW, FLOOR_OF_MANY
from memories.search.context_floor import Nearest
from memories.search.context_lines import AS_ASKED, ORDERS
from memories.search.request import PATHS, SearchOptions, SourceMessage, SourcePassage
from workspaces.api.json_answers import AgentId, JsonAnswer, ThreadId, UserId, one_of
from workspaces.api.json_requests import read, values_of
from workspaces.api.schema import operation
from workspaces.api.views import NEEDS, WorkspaceView
from workspaces.models import Capability
from workspaces.request_fields import Free, Moment, NullIs, Number, OneOf, PastMoment, Whole, declared
from workspaces.time_zones import by_clock

Reranked = Annotated[bool | UnsetType, Meta(description="With `rerank`: false where the reranker failed.")]


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
    said_before: Annotated[
        PastMoment | None, Field(description="Only what had been said by then counts, whenever it came in.")
    ] = None
    include: tuple[Annotated[str, OneOf(search.INCLUDES)], ...] = ()
    layers: Annotated[
        tuple[Annotated[str, OneOf(search.LAYERS)], ...] | None,
        Field(
            min_length=1,
            description="By default, in `hybrid`, memories and messages are answered together, one hit for"
            " what is about the same thing, and a message that was said later before the memories that it"
            " speaks against. What only memories have (`factTypes`, `categories`, `scope`) leaves memories"
            " alone, as the other rankings do.",
        ),
    ] = None


class SourceJson(JsonAnswer):
    """The whole of a short message, or the sentences around the quote; for a document those of the
    passage, with `documentId`, `chunkId` and `part` instead of the message's fields."""

    occurred_at: datetime
    text: str
    start: Annotated[int, Meta(description="Where `text` begins in the message or document.")]
    end: int
    episode_id: UUID | UnsetType = UNSET
    external_id: str | None | UnsetType = UNSET
    role: str | UnsetType = UNSET
    name: str | UnsetType = UNSET
    document_id: UUID | UnsetType = UNSET
    chunk_id: UUID | None | UnsetType = UNSET
    title: str | UnsetType = UNSET
    part: PartJson | None | UnsetType = UNSET

    @classmethod
    def of_source(cls, source: SourceMessage | SourcePassage) -> Self:
        if isinstance(source, SourcePassage):
            row = source.row
            start, end = row.begun + source.start, row.begun + source.end
            part = PartJson(**row.part) if row.part else None
            return cls(
                row.occurred_at,
                source.text,
                start,
                end,
                document_id=row.document_id,
                chunk_id=row.chunk_id,
                title=row.title,
                part=part,
            )
        row = source.episode
        return cls(
            by_clock(row.occurred_at, row.utc_offset),
            source.text,
            source.start,
            source.end,
            row.id,
            row.external_id,
            row.role,
            row.author,
        )


class EchoJson(JsonAnswer):
    layer: str
    score: Annotated[
        float,
        Meta(
            description="Of several layers hybrid and keyword weigh all together; the others take"
            " the best of each by turns, with a score that is at least that of the next hit."
        ),
    ]
    similarity: Annotated[
        float,
        Meta(
            description="0 to 1, and comparable between queries: a half is a hit as good as chance,"
            " .99 says the same; by the cosine under the embedding model's thresholds, or by"
            " the share of the query's words where no vector was compared."
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
            description="Of a memory: the newest message that it stands on, or the passage of a"
            " document where there is none, as far as the asker may see it."
        ),
    ] = UNSET

    @classmethod
    def of_hit(cls, hit: Hit, include: frozenset[str], at: AsOf) -> Self:
        """Return a hit as JSON. `include`: the names of its parts that the caller wants."""
        shown = cls(hit.layer, hit.score, round(hit.similarity, 4))
        if hit.layer == "memories":
            shown.memory = MemoryJson.of(hit.memory, at, later=hit.later)
        elif hit.layer == "episodes":
            shown.episode = EpisodeJson.of(hit.episode)
        if "scores" in include:
            shown.scores, shown.ranks = hit.scores, hit.ranks or {}
        if "citations" in include:
            shown.citations = [CitationJson.of(row) for row in hit.citations or ()]
        if hit.source:
            shown.source = SourceJson.of_source(hit.source)
        return shown


class PassageJson(JsonAnswer):
    """A passage of a document's chunk: `content` is the document's text from `start` to `end`."""

    id: Annotated[UUID, Meta(description="Of the chunk.")]
    document_id: UUID
    custom_id: str | None
    title: str
    type: str
    url: str | None
    content: str
    start: int
    end: int
    heading: str | None
    parts: list[PartJson]
    published_at: datetime | None
    occurred_at: datetime
    metadata: Free
    user_id: UserId
    agent_id: AgentId

    @classmethod
    def of_row(cls, row: Any) -> Self:
        return cls.of(row, id=row.chunk_id, parts=PartJson.of_stored(row.parts))


class SummaryHitJson(JsonAnswer):
    """A summary of a conversation, of a stretch of it or of a topic; its `citations` are those of
    the hit, in the order of its lines."""

    id: UUID
    kind: TalkSummary.Kind
    name: Annotated[str | None, Meta(description="Of a topic: the word that it is about.")]
    content: str
    first_at: Annotated[datetime, Meta(description="When the first of it was said.")]
    last_at: datetime
    thread_id: ThreadId
    user_id: UserId
    agent_id: AgentId
    created_at: datetime


class HitJson(EchoJson):
    feature: FeatureJson | UnsetType = UNSET
    chunk: PassageJson | UnsetType = UNSET
    summary: SummaryHitJson | UnsetType = UNSET
    echoes: Annotated[
        list[EchoJson] | UnsetType,
        Meta(
            description="Where `hybrid` or `keyword` searches memories and episodes: a memory and"
            " the episode it stands on are one hit, at the better place of the two, and so are"
            " messages of one text. The memory leads where its words answer no worse than the"
            " episode's. Here is what it was one with: that episode, and other memories of the same"
            " words; or the memories of an episode that leads, and what repeats its text."
        ),
    ] = UNSET
    chain: list[LinkJson] | UnsetType = UNSET
    neighbours: Annotated[
        list[EpisodeJson] | UnsetType,
        Meta(description="With `neighbours`, of an episode: what was said right before and after it."),
    ] = UNSET

    @classmethod
    def of_hit(cls, hit: Hit, include: frozenset[str], at: AsOf) -> Self:
        shown = super().of_hit(hit, include, at)
        if hit.layer == "features":
            shown.feature = FeatureJson.of(hit.feature)
        elif hit.layer == "chunks":
            shown.chunk = PassageJson.of_row(hit.chunk)
        elif hit.layer == "summaries":
            shown.summary = SummaryHitJson.of(hit.summary)
        if hit.echoes:
            shown.echoes = [EchoJson.of_hit(echo, include, at) for echo in hit.echoes]
        if "neighbours" in include and hit.neighbours is not None:
            shown.neighbours = [EpisodeJson.of(row) for row in hit.neighbours]
        if "chain" in include:
            shown.chain = [LinkJson.of_link(link, at.known_at) for link in hit.chain or ()]
        return shown


def hits_of(hits: Iterable[Hit], request: SearchRequest) -> list[HitJson]:
    return [HitJson.of_hit(hit, request.include, request.at) for hit in hits]


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
        """Return the memories (or episodes, or features) that answer a question best."""
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
    named = tuple(dict.fromkeys(body.layers or ()))
    known = named or search.EVIDENCE
    wanted = SearchRequest(
        **values_of(body, SearchOptions),
        layers=named or ("memories",),
        memory_scope=body.scope,
        filter=None if body.filter is None else filters.parse(body.filter, known),
        at=AsOf(body.valid_at, body.known_at, body.said_before),
        include=frozenset(body.include),
    )
    return wanted if named else search.evidence_first(wanted)


@declared
@dataclass(frozen=True, slots=True)
class ContextBody(SearchBody):
    limit: Annotated[Whole, Field(ge=1, le=MOST_HITS, description="At most so many hits.")] = 50
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
    layers: Annotated[tuple[Annotated[str, OneOf(search.LAYERS)], ...], Field(min_length=1)] = context.PACKED
    order: Annotated[
        str,
        OneOf((AS_ASKED, *ORDERS)),
        Field(
            description="Of the lines below the standing wishes. `as_asked`: oldest first where the"
            " query asks for a story or a summary, else newest first."
        ),
    ] = AS_ASKED
    floor: (
        Annotated[
            Number,
            Field(
                ge=0,
                le=1,
                description="Where the confidence is below it, nothing is told but the person's"
                " standing wishes; 0 tells what there is. If nobody says else it grows with the"
                f" messages that there are, from {FLOOR_OF_FEW} for three over {FLOOR} for three hundred"
                f" to {FLOOR_OF_MANY} for three thousand; it is {FLOOR_OF_FEW}, too, where"
                " something of the person is asked for who is named; where there is no more to"
                " find, the little that is known of them is told whatever the confidence. A"
                " question for all that is known of them is answered with it.",
            ),
        ]
        | None
    ) = None


class NearestJson(JsonAnswer):
    """The best hit that was not near enough, where no hit was."""

    content: str
    confidence: float

    @classmethod
    def of_nearest(cls, nearest: Nearest | None) -> Self | None:
        return cls(nearest.content, nearest.confidence) if nearest else None


class ContextAnswerJson(JsonAnswer):
    text: Annotated[
        str,
        Meta(
            description="A <memories> block; [m1] is the first of memoryIds, [e1] of episodeIds,"
            " [f1] of featureIds. A message with [e1 m1] says what the memory says; a memory that"
            " says more has a line below it (`current`), and so has what was believed of it until"
            " it was replaced. A line's date is when its words were said, or when it was written or"
            " corrected by hand; `from` is since when it holds, if that is another day; a line"
            " without a date is of the day above. [e1 always] and [m1 always] are the person's"
            " standing wishes, as far as they are still believed, which come first; `filter`"
            " narrows them, too. A message of which all that was believed was forgotten is left"
            " out, and of another what tells of it."
        ),
    ]
    tokens: int
    memory_ids: list[UUID]
    episode_ids: list[UUID]
    feature_ids: list[UUID]
    chunk_ids: Annotated[list[UUID], Meta(description="Of [c1] and on: documents' chunks.")]
    summary_ids: Annotated[list[UUID], Meta(description="Of [s1] and on: summaries of talks.")]
    hits: Annotated[list[HitJson], Meta(description="What the text tells, in its order.")]
    truncated: Annotated[bool, Meta(description="More was found than the budget has room for.")]
    more: Annotated[
        dict[str, int],
        Meta(description="By layer: how many were found and are not told, for lack of room."),
    ]
    confidence: Confidence
    took_ms: float
    reason: Annotated[
        str | None,
        Meta(description="Why the text is empty: how near the nearest came. null where it is not."),
    ]
    nearest: Annotated[NearestJson | None, Meta(description="Of an empty text what came nearest, if anything.")]
    reranked: Reranked = UNSET
    notes: Notes = UNSET


class ContextView(WorkspaceView):
    beside = workspace_index.BESIDE_KEY
    needs = NEEDS | {"POST": Capability.READ}

    @operation("packContext", request=ContextBody, answer=ContextAnswerJson)
    def post(self, request: Request, workspace: str) -> Response:
        """Return the best hits for a question, packed into a token budget as text for a prompt."""
        body = read(ContextBody, request.data)
        wanted = request_of(body)
        packed = context.context(self.scope, wanted, body.tokens, order=body.order, floor=body.floor)
        shown = ContextAnswerJson.of(
            packed,
            hits=hits_of(packed.hits, wanted),
            took_ms=round(packed.took_ms, 3),
            reason=packed.reason or None,
            nearest=NearestJson.of_nearest(packed.nearest),
        )
        shown.notes = NoteJson.of_codes(packed.notes)
        if wanted.rerank:
            shown.reranked = packed.reranked
        return Response(shown)
