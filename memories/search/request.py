"""A question to the memory, validated, and what answers it."""

from dataclasses import dataclass, field
from typing import Any

from memories.models import NOW, AsOf, Layer, Link
from memories.ranking import Weights
from memories.search.filters import Filter
from memories.search.trace import Trace

RANKINGS = ("hybrid", "linea", "vector", "keyword")
LAYERS = {
    "memories": Layer.MEMORIES,
    "episodes": Layer.EPISODES,
    "features": Layer.FEATURES,
}
SINGULAR = {"memories": "memory", "episodes": "episode", "features": "feature"}
WORDS_ONLY, NOT_RERANKED = "words_only", "not_reranked"
# What a search had to do without.
NOTES = {
    WORDS_ONLY: "The embedding model does not answer, and is tried again by itself: words alone"
    " decided, where meaning would have.",
    NOT_RERANKED: "The reranker does not answer, and is tried again by itself: the order is that of"
    " the ranking.",
}
INCLUDES = ("citations", "scores", "chain", "neighbours")


@dataclass(frozen=True, slots=True)
class Recency:
    weight: float
    half_life_days: float


@dataclass(frozen=True, slots=True)
class SearchRequest:
    """A validated question; ids are the callers' own. `filter` comes from `filters.parse`."""

    query: str
    limit: int = 10
    memory_scope: str = ""
    user_id: str = ""
    agent_id: str = ""
    thread_id: str = ""
    workflow_id: str = ""
    fact_types: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    filter: Filter | None = None
    ranking: str = "hybrid"
    at: AsOf = NOW
    recency: Recency | None = None
    rerank: bool = False
    threshold: float | None = None
    layers: tuple[str, ...] = ("memories",)
    include: frozenset[str] = frozenset()


@dataclass(slots=True)
class Hit:
    """One result: its layer and score, how the score came about, and the row, which has an id, a
    content and the callers' own ids.

    `ranks`, where scores are asked for: its place among the candidates of its layer on each side
    that brought it, from 1. `echoes`: what is told by this hit, too, and has no place of its own:
    the episode that a memory stands on, or the memories that stand on an episode, best first.
    """

    layer: str
    score: float
    scores: dict[str, float]
    row: Any
    ranks: dict[str, int] | None = None
    citations: list[Any] | None = None
    chain: list[Link] | None = None
    neighbours: list[Any] | None = None
    echoes: "list[Hit]" = field(default_factory=list)

    @property
    def memory(self) -> Any:
        """The row, where it is a memory's; else None."""
        return self.row if self.layer == "memories" else None

    @property
    def episode(self) -> Any:
        return self.row if self.layer == "episodes" else None

    @property
    def feature(self) -> Any:
        return self.row if self.layer == "features" else None


@dataclass(frozen=True, slots=True)
class SearchAnswer:
    """`notes`: what it had to do without, codes of NOTES. `weights` are those of the hybrid ranking; of the others there are none. `trace` is there
    where scores were asked for; `reranked` is false where the reranker was not asked or failed."""

    hits: list[Hit]
    took_ms: float
    weights: Weights | None = None
    trace: Trace | None = None
    reranked: bool = False
    notes: tuple[str, ...] = ()
