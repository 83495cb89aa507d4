"""Search: scope, candidates out of the index, ranking, hits with scores and citations."""

import time
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from django.utils import timezone

from memories import filters, metrics, ranking, reranking
from memories.errors import Forbidden, Invalid, ProviderError
from memories.filters import Filter
from memories.indexing import candidates, query_vectors, spaces, speakers, statements
from memories.indexing.candidates import Asked
from memories.models import BELIEVED, NOW, SAID, AsOf, Layer, Link, WorkspaceIndex, chain
from workspaces.naming import NOBODY, NotAllowed, agent_to_read
from workspaces.scope import Scope

RANKINGS = ("hybrid", "linea", "vector", "keyword")
LAYERS = {"memories": Layer.MEMORIES, "episodes": Layer.EPISODES}
# Ranked beyond the limit: a row that expired in this minute falls out.
SPARE = 5
# So many times the limit is looked at where memories and the episodes they stand on meet.
ECHOES = 3
INCLUDES = ("citations", "scores", "chain")


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
    """One result: the row of its layer, its score, and how the score came about."""

    layer: str
    score: float
    scores: dict[str, float]
    memory: Any = None
    episode: Any = None
    citations: list[Any] | None = None
    chain: list[Link] | None = None


@dataclass(frozen=True, slots=True)
class SearchAnswer:
    hits: list[Hit]
    took_ms: float


@dataclass(frozen=True, slots=True)
class Scored:
    """A candidate after ranking; `entry` breaks ties."""

    layer: str
    entry: int
    item: uuid.UUID
    score: float
    scores: Mapping[str, float]


def search(scope: Scope, request: SearchRequest) -> SearchAnswer:
    """The best hits of the asked layers, best first. Raises Invalid, Forbidden, and for the
    ranking `vector` ProviderError.

    Without a vector (no embedder, a provider that fails, no word it knows) words alone decide.
    With `rerank` there are 50 hits at most; where the reranker fails, the ranking stays as it is.
    """
    if request.rerank and not reranking.is_configured():
        raise Invalid("rerank", "No reranker is configured: set RERANK_BASE_URL.", "not_configured")
    started = time.perf_counter()
    space = spaces.space_of(scope.workspace_id)
    asked = asked_of(scope, request)
    ranked = _rankers()[request.ranking](space, request, asked)
    if request.rerank:
        ranked = _reranked(scope, request, ranked)
    if request.threshold is not None:
        ranked = [found for found in ranked if found.score >= request.threshold]
    hits = _hits(scope, request, ranked)
    took = time.perf_counter() - started
    metrics.count("searches", took, ranking=request.ranking, workspace=str(scope.workspace_id))
    return SearchAnswer(hits, took * 1e3)


def _rankers() -> dict[str, Callable[[WorkspaceIndex, SearchRequest, Asked], list[Scored]]]:
    return {"linea": _linea, "vector": _vector, "keyword": _keyword, "hybrid": _hybrid}


def asked_of(scope: Scope, request: SearchRequest) -> Asked:
    """Who asks and about whom, by the ids of the index. Raises Forbidden."""
    try:
        reader = agent_to_read(scope, request.agent_id)
    except NotAllowed as error:
        raise Forbidden(error.message, "agentId") from None
    subject, thread = _named(scope, request)
    return Asked(
        scope=reader,
        layer=Layer.MEMORIES,
        query=request.query,
        subject=subject,
        memory_scope=request.memory_scope,
        place_of_thread=thread,
        workflow=request.workflow_id,
    )


NAMED = """
select (select id from workspaces_subject
        where workspace_id = %(workspace)s and external_id = %(user)s) as subject,
       (select id from memories_conversation
        where workspace_id = %(workspace)s and external_id = %(thread)s) as thread
"""


def _named(scope: Scope, request: SearchRequest) -> tuple[uuid.UUID | None, uuid.UUID | None]:
    """Ids of the subject and thread that are named; of an unknown one, an id that nothing has."""
    user, thread = request.user_id, request.thread_id
    if not user and not thread:
        return None, None
    values = {"workspace": scope.workspace_id, "user": user, "thread": thread}
    found = statements.rows(NAMED, values)[0]
    return (found.subject or NOBODY) if user else None, (found.thread or NOBODY) if thread else None


def query_vector(space: WorkspaceIndex, query: str) -> np.ndarray | None:
    try:
        return query_vectors.vector_of(space, query)
    except ProviderError:
        return None


def in_layer(request: SearchRequest, asked: Asked, layer: str) -> Asked | None:
    """The question put to one layer; None where its filters leave nothing to find there."""
    if layer != "memories" and (request.fact_types or request.categories):
        return None
    own = {"factType": list(request.fact_types), "category": list(request.categories)}
    tree = filters.all_of(own, request.filter)
    values: dict[str, Any] = {}
    conditions = [filters.sql_of(tree, layer, values)] if tree else []
    history = not request.at.is_now
    if history:
        conditions.append(_believed(request.at, layer, values))
    wanted = candidates.Wanted(" and ".join(conditions), history and layer == "memories")
    return replace(asked, layer=LAYERS[layer], wanted=wanted, wanted_values=values)


def _believed(at: AsOf, layer: str, values: dict[str, Any]) -> str:
    values |= at.values
    return BELIEVED if layer == "memories" else SAID


# ---- the rankings ---------------------------------------------------------------------------


def _linea(space: WorkspaceIndex, request: SearchRequest, asked: Asked) -> list[Scored]:
    vector = query_vector(space, request.query)
    return _merged(space, request, replace(asked, vector=vector))


def _vector(space: WorkspaceIndex, request: SearchRequest, asked: Asked) -> list[Scored]:
    # Nothing else decides here: a provider that fails is told, not answered with nothing.
    vector = query_vectors.vector_of(space, request.query)
    found = _merged(space, request, replace(asked, vector=vector), by_words=False)
    return [_scaled(one, one.score) for one in found]


def _merged(
    space: WorkspaceIndex, request: SearchRequest, asked: Asked, *, by_words: bool = True
) -> list[Scored]:
    found: list[Scored] = []
    for layer in request.layers:
        there = in_layer(request, asked, layer)
        rows = candidates.linea(space, there, by_words=by_words) if there else []
        scores = dict(
            ranking.linea(
                [(one.entry, one.cosine) for one in rows if one.cosine is not None],
                [one.entry for one in rows if one.matched],
            )
        )
        for one in rows:
            parts = {"keyword": 1.0 if one.matched else 0.0}
            if one.cosine is not None:
                parts["vector"] = one.cosine
            found.append(Scored(layer, one.entry, one.item, scores[one.entry], parts))
    return found


def _scaled(found: Scored, score: float) -> Scored:
    return Scored(found.layer, found.entry, found.item, min(1.0, max(0.0, score)), found.scores)


def _keyword(space: WorkspaceIndex, request: SearchRequest, asked: Asked) -> list[Scored]:
    pool, _ = _pool(space, request, asked, with_vector=False)
    return _scored(pool, ranking.by_keyword([candidate for candidate, _ in pool.values()]))


def _hybrid(space: WorkspaceIndex, request: SearchRequest, asked: Asked) -> list[Scored]:
    pool, view = _pool(space, request, asked, with_vector=True)
    chosen = [candidate for candidate, _ in pool.values()]
    most = (max(request.limit, reranking.MOST) if request.rerank else request.limit) + SPARE
    mixed = len(request.layers) > 1
    most *= ECHOES if mixed else 1
    found = _scored(pool, ranking.hybrid(view, chosen, limit=most, recency=_recency(request)))
    return _without_echoes(found) if mixed else found


CITED = """
select distinct f.memory_id, ci.episode_id
from memories_fact f join memories_citation ci on ci.fact_id = f.id
where f.memory_id = any(%(ids)s::uuid[])
"""


def _without_echoes(found: Sequence[Scored]) -> list[Scored]:
    """A memory and the episode it stands on say the same once: where the better one ranks."""
    memories = [one.item for one in found if one.layer == "memories"]
    cited: dict[uuid.UUID, set[uuid.UUID]] = {}
    for row in statements.rows(CITED, {"ids": memories}):
        cited.setdefault(row.memory_id, set()).add(row.episode_id)
    told: set[uuid.UUID] = set()
    kept = []
    for one in found:
        says = cited.get(one.item, set()) if one.layer == "memories" else {one.item}
        if not says or says - told:
            kept.append(one)
        told |= says
    return kept


def _recency(request: SearchRequest) -> ranking.Recency | None:
    if request.recency is None:
        return None
    wanted = request.recency
    return ranking.Recency(wanted.weight, wanted.half_life_days, timezone.now())


# By entry: what is ranked, and the bytes of the id of what it stands for.
Pool = dict[int, tuple[ranking.Candidate, bytes]]


def _pool(
    space: WorkspaceIndex, request: SearchRequest, asked: Asked, *, with_vector: bool
) -> tuple[Pool, ranking.QueryView]:
    """Candidates of all layers by entry, and the query as the rankings see it."""
    people = speakers.participants(space, asked.subject)
    view = ranking.analyse(request.query, people, now=timezone.now())
    vector = query_vector(space, view.meaning) if with_vector else None
    pool: Pool = {}
    for layer in request.layers:
        there = in_layer(request, replace(asked, vector=vector), layer)
        for row in candidates.pool(space, there, _stems(view, layer)) if there else []:
            # Without vectors nothing but its words speaks for a row.
            if vector is not None or row.bm25:
                pool[row.id] = (_candidate(row, LAYERS[layer]), row.item)
    return pool, view


def _stems(view: ranking.QueryView, layer: str) -> list[str]:
    """A memory names whom it is about; an episode is told by its author, not by its words."""
    return [*view.terms, *view.names] if layer == "memories" else list(view.terms)


def _candidate(row: Any, layer: Layer) -> ranking.Candidate:
    return ranking.Candidate(
        id=row.id,
        layer=layer,
        cosine=row.best,
        bm25=row.bm25 or 0.0,
        conversation=row.conversation,
        position=row.position,
        at=row.at,
        assistant=row.role == "assistant" if layer == Layer.EPISODES else None,
        author=row.author,
        length=row.length,
        marks=row.marks,
    )


def _scored(pool: Pool, ranked: Sequence[ranking.Ranked]) -> list[Scored]:
    names = {number: name for name, number in LAYERS.items()}
    return [
        Scored(
            names[Layer(one.layer)], one.id, uuid.UUID(bytes=pool[one.id][1]), one.score, one.parts
        )
        for one in ranked
    ]


def _reranked(scope: Scope, request: SearchRequest, ranked: list[Scored]) -> list[Scored]:
    best = sorted(ranked, key=lambda found: (-found.score, -found.entry))[: reranking.MOST]
    rows = _rows(scope, best, history=not request.at.is_now)
    texts = [(one, row.content) for one, row in rows if row is not None]
    scores = reranking.scores(request.query, [text for _, text in texts])
    if scores is None:
        return ranked
    return [
        Scored(one.layer, one.entry, one.item, score, {**one.scores, "rerank": score})
        for (one, _), score in zip(texts, scores, strict=True)
    ]


# ---- from candidates to hits ----------------------------------------------------------------

MEMORY_ROWS = """
select m.*, s.external_id as user_external, a.external_id as agent_external,
       c.external_id as thread_external
from memories_memory m
left join workspaces_subject s on s.id = m.subject_id
left join workspaces_agent a on a.id = m.agent_id
left join memories_conversation c on c.id = m.conversation_id
where m.id = any(%(ids)s::uuid[]) and m.workspace_id = %(workspace)s
  and (%(history)s or m.forget_after is null or m.forget_after > now())
"""
EPISODE_ROWS = """
select e.*, s.external_id as user_external, a.external_id as agent_external,
       c.external_id as thread_external
from memories_episode e
left join workspaces_subject s on s.id = e.subject_id
left join workspaces_agent a on a.id = e.agent_id
left join memories_conversation c on c.id = e.conversation_id
where e.id = any(%(ids)s::uuid[]) and e.workspace_id = %(workspace)s
"""
# A quote is seen by whom its episode is seen: the agent that recorded it, unbound keys, members.
CITATION_ROWS = """
select f.memory_id, ci.fact_id, ci.episode_id, ci.start, ci."end", ci.quote,
       e.external_id as external_id
from memories_fact f join memories_citation ci on ci.fact_id = f.id
join memories_episode e on e.id = ci.episode_id
where f.memory_id = any(%(ids)s::uuid[])
  and (%(bound)s::uuid is null or e.agent_id = %(bound)s::uuid)
  and (%(subjects)s::uuid[] is null or e.subject_id = any(%(subjects)s::uuid[]))
order by ci.id
"""
ROWS = {"memories": MEMORY_ROWS, "episodes": EPISODE_ROWS}


def _hits(scope: Scope, request: SearchRequest, ranked: Sequence[Scored]) -> list[Hit]:
    best = _ordered(scope, ranked, request)
    hits = [_hit(found, row) for found, row in best]
    if "citations" in request.include:
        _cite(scope, hits)
    if "chain" in request.include:
        for hit in hits:
            hit.chain = chain(scope, hit.memory.id) if hit.memory else []
    return hits


def _ordered(
    scope: Scope, ranked: Sequence[Scored], request: SearchRequest
) -> list[tuple[Scored, Any]]:
    """The best with their rows; equal scores by the time they were made, newest first."""
    chosen = sorted(ranked, key=lambda found: (-found.score, -found.entry))[: request.limit + SPARE]
    found = [
        (one, row)
        for one, row in _rows(scope, chosen, history=not request.at.is_now)
        if row is not None
    ]
    found.sort(key=lambda pair: (-pair[0].score, -pair[1].created_at.timestamp(), pair[1].id))
    return found[: request.limit]


def rows_of(
    scope: Scope, layer: str, ids: Sequence[uuid.UUID], *, history: bool = False
) -> list[Any]:
    """Rows of the workspace by id, with the callers' own ids, in any order; the caller has seen
    to it that the asker may see them. `history`: also what has expired."""
    values = {"ids": list(ids), "workspace": scope.workspace_id, "history": history}
    return statements.rows(ROWS[layer], values)


def _rows(scope: Scope, chosen: Sequence[Scored], *, history: bool) -> list[tuple[Scored, Any]]:
    rows: dict[tuple[str, uuid.UUID], Any] = {}
    for layer in {one.layer for one in chosen}:
        ids = [one.item for one in chosen if one.layer == layer]
        rows |= {(layer, row.id): row for row in rows_of(scope, layer, ids, history=history)}
    return [(one, rows.get((one.layer, one.item))) for one in chosen]


def _hit(found: Scored, row: Any) -> Hit:
    hit = Hit(found.layer, found.score, dict(found.scores))
    if found.layer == "memories":
        hit.memory = row
    else:
        hit.episode = row
    return hit


def _cite(scope: Scope, hits: Sequence[Hit]) -> None:
    values = {
        "ids": [hit.memory.id for hit in hits if hit.memory],
        "bound": scope.agent_id,
        "subjects": None if scope.subject_ids is None else list(scope.subject_ids),
    }
    by_memory: dict[uuid.UUID, list[Any]] = {}
    for row in statements.rows(CITATION_ROWS, values):
        by_memory.setdefault(row.memory_id, []).append(row)
    for hit in hits:
        hit.citations = by_memory.get(hit.memory.id, []) if hit.memory else []
