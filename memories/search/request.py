"""A question to the memory, validated, what a search does on its way, and what answers it."""

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Annotated, Any, NamedTuple, Protocol

from pydantic import Field

from memories.language.bounds import LONGEST_QUERY, MOST_HITS
from memories.models import NOW, AsOf, Category, FactType, Layer, Link
from memories.ranking import Weights
from memories.search.filters import Filter
from workspaces.request_fields import ExternalId, Flag, Number, OneOf, Whole, Words, declared

# How the vectors of a layer were compared, each later one tells more than those before it.
PATHS = ("exact", "hnsw", "hnsw_then_exact")


class Placed(Protocol):
    """A candidate that a ranking has put in its place."""

    @property
    def layer(self) -> str: ...
    @property
    def item(self) -> uuid.UUID: ...
    @property
    def score(self) -> float: ...
    @property
    def scores(self) -> Mapping[str, float]: ...
    @property
    def order(self) -> tuple[float, int, int]: ...
    @property
    def echoes(self) -> Sequence["Placed"]: ...


@dataclass(slots=True)
class Trace:
    """The trace of a search. `ranks`: the place of each candidate on the sides that brought it,
    from 1. `stages`: what was left after each step, by the step's name, in the order of the
    steps."""

    paths: dict[Layer, str] = field(default_factory=dict)
    ranks: dict[uuid.UUID, dict[str, int]] = field(default_factory=dict)
    stages: dict[str, Sequence[Placed]] = field(default_factory=dict)

    def compared(self, layer: Layer, path: str) -> None:
        """Note how a layer was compared; a layer of several models is compared several times."""
        self.paths[layer] = max(path, self.paths.get(layer, path), key=PATHS.index)


class Scored(NamedTuple):
    """A candidate with its score. `behind` (a place among equals), then `entry` break ties;
    `echoes` are duplicates, which say the same and have no place of their own. `is_news`: a
    message that speaks against what is among its echoes, and was said later."""

    layer: str
    entry: int
    item: uuid.UUID
    score: float
    scores: Mapping[str, float]
    cosine: float | None = None
    behind: int = 0
    echoes: "tuple[Scored, ...]" = ()
    is_news: bool = False

    @property
    def order(self) -> tuple[float, int, int]:
        """The key to sort by, smallest first."""
        return -self.score, self.behind, -self.entry


# What is answered together where a caller names no layers.
EVIDENCE = ("memories", "episodes")
RANKINGS = ("hybrid", "linea", "vector", "keyword")
LAYERS = {
    "memories": Layer.MEMORIES,
    "episodes": Layer.EPISODES,
    "features": Layer.FEATURES,
    "chunks": Layer.CHUNKS,
    "summaries": Layer.SUMMARIES,
}
SINGULAR = {
    "memories": "memory",
    "episodes": "episode",
    "features": "feature",
    "chunks": "chunk",
    "summaries": "summary",
}
WORDS_ONLY, NOT_RERANKED = "words_only", "not_reranked"
# What a search had to do without.
NOTES = {
    WORDS_ONLY: "The embedding model does not answer, and is tried again by itself: words alone"
    " decided, where meaning would have.",
    NOT_RERANKED: "The reranker does not answer, and is tried again by itself: the order is that of the ranking.",
}
INCLUDES = ("citations", "scores", "chain", "neighbours")


@declared
@dataclass(frozen=True, slots=True)
class Recency:
    weight: Annotated[Number, Field(ge=0, le=1)]
    half_life_days: Annotated[Number, Field(ge=0.001, le=100_000)] = 30.0


@declared
@dataclass(frozen=True, slots=True)
class SearchOptions:
    """The options of a search, in the words of callers and of the server alike."""

    query: Annotated[Words, Field(max_length=LONGEST_QUERY)]
    limit: Annotated[Whole, Field(ge=1, le=MOST_HITS)] = 10
    user_id: Annotated[ExternalId, Field(description="What is about this subject or nobody in particular.")] = ""
    agent_id: Annotated[ExternalId, Field(description="As this agent sees it; for keys without an agent.")] = ""
    thread_id: Annotated[ExternalId, Field(description="Adds this thread's own memories.")] = ""
    workflow_id: Annotated[ExternalId, Field(description="Adds this workflow's own memories.")] = ""
    fact_types: tuple[Annotated[str, OneOf(FactType)], ...] = ()
    categories: tuple[Annotated[str, OneOf(Category)], ...] = ()
    ranking: Annotated[str, OneOf(RANKINGS)] = "hybrid"
    recency: Recency | None = None
    rerank: Annotated[
        Flag,
        Field(
            description="Lets the configured reranker order the best 50; there are no more hits"
            " then. What it leaves unscored stays in order behind the others, with a score of 0.",
        ),
    ] = False
    threshold: Annotated[Number, Field(ge=0, le=1)] | None = None
    min_similarity: (
        Annotated[
            Number,
            Field(ge=0, le=1, description="Of a hit's `similarity`: the others are left out."),
        ]
        | None
    ) = None


@dataclass(frozen=True, slots=True)
class SearchRequest(SearchOptions):
    """A validated search; ids are the callers' own. `filter` comes from `filters.parse`. `now` is
    when it is asked, for "last week": this moment, unless given. `newest_first`: what was said last
    about a thing leads what is believed of it, also where memories alone are looked for; see
    `with_news`."""

    layers: tuple[str, ...] = ("memories",)
    memory_scope: str = ""
    filter: Filter | None = None
    at: AsOf = NOW
    include: frozenset[str] = frozenset()
    now: datetime | None = None
    newest_first: bool = False


def evidence_first(request: SearchRequest) -> SearchRequest:
    """Return what is asked where the caller names no layers: memories and messages together. What
    only a memory has leaves memories alone, and the other rankings are about them, too."""
    if request.ranking != "hybrid":
        return request
    of_memories = request.fact_types or request.categories or request.memory_scope
    return replace(request, layers=("memories",) if of_memories else EVIDENCE, newest_first=True)


@dataclass(frozen=True, slots=True)
class SourceMessage:
    """The message that a memory stands on, `start` to `end` of it: all of a short one."""

    episode: Any
    start: int
    end: int

    @property
    def text(self) -> str:
        return str(self.episode.content[self.start : self.end])


@dataclass(frozen=True, slots=True)
class SourcePassage:
    """The words of a document that a memory stands on: `start` to `end` of the passage that `row`
    has as `content`, which begins at `begun` of the document's text."""

    row: Any
    start: int
    end: int

    @property
    def episode(self) -> None:
        """None, because it is no message."""

    @property
    def text(self) -> str:
        return str(self.row.content[self.start : self.end])


@dataclass(slots=True)
class Hit:
    """One result: its layer and score, how the score came about, and the row, which has an id, a
    content and the callers' own ids.

    `similarity` is 0 to 1 and compares hits of any two queries. `ranks`, where scores are asked
    for: its place among the candidates of its layer on each side that brought it, from 1.
    `is_news`: it is a message that speaks against beliefs among its echoes, and was said later.
    `echoes`: what is told by this hit, too, and has no place of its own: the episode that a memory
    stands on, or the memories that stand on an episode, best first. `later`: of a memory, what was
    said of it later.
    """

    layer: str
    score: float
    scores: dict[str, float]
    row: Any
    cosine: float | None = None
    similarity: float = 0.0
    ranks: dict[str, int] | None = None
    citations: list[Any] | None = None
    chain: list[Link] | None = None
    neighbours: list[Any] | None = None
    echoes: "list[Hit]" = field(default_factory=list)
    source: "SourceMessage | SourcePassage | None" = None
    is_news: bool = False
    later: Sequence[Any] = ()

    @property
    def memory(self) -> Any:
        """The row of a memory; None for other layers."""
        return self.row if self.layer == "memories" else None

    @property
    def episode(self) -> Any:
        return self.row if self.layer == "episodes" else None

    @property
    def feature(self) -> Any:
        return self.row if self.layer == "features" else None

    @property
    def chunk(self) -> Any:
        return self.row if self.layer == "chunks" else None

    @property
    def summary(self) -> Any:
        return self.row if self.layer == "summaries" else None


@dataclass(frozen=True, slots=True)
class SearchAnswer:
    """The answer to a search. `notes`: codes of what it had to do without, of NOTES. `weights` are
    those of the hybrid ranking; others have none. `trace` is there where scores were asked for;
    `reranked` is false where the reranker was not asked or failed."""

    hits: list[Hit]
    took_ms: float
    weights: Weights | None = None
    trace: Trace | None = None
    reranked: bool = False
    notes: tuple[str, ...] = ()
    confidence: float = 0.0


def with_news(hits: Sequence[Hit]) -> list[Hit]:
    """Return the memories of a search that looked at memories alone, each behind the message that
    speaks against it."""
    told = []
    for hit in hits:
        told += [hit, *(one for one in hit.echoes if one.memory)] if hit.is_news else [hit]
    return told
