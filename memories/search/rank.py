"""The rankings, each from the candidates of the index to scored items, best first or not."""

import uuid
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial

from django.utils import timezone

from memories import ranking
from memories.index import speakers
from memories.models import Layer, WorkspaceIndex
from memories.search import query_vectors, rerank
from memories.search.candidates import DATED, DEEP, OF_QUESTION, OF_TURN, TOP, Depth, EntryMatch
from memories.search.conditions import LayerQuery
from memories.search.echoes import collapse, newest_first
from memories.search.fuse import by_place
from memories.search.layer_query import in_layer, query_vector
from memories.search.model_partitions import Embed, ModelPartition, partitions_of
from memories.search.past_features import PastFeatures
from memories.search.request import LAYERS, SearchRequest
from memories.search.scored import Scored

# Ranked beyond the limit: a row that expired in this minute falls out.
SPARE = 5
# So many times the limit is looked at where memories and the episodes they stand on meet.
ECHOES = 3
# Of a few words that are hardly a turn, what is recent gains less than a match of words or meaning.
A_TURN = 0.25


def _linea(index: WorkspaceIndex, request: SearchRequest, asked: LayerQuery) -> list[Scored]:
    embed = partial(query_vector, query=request.query, notes=asked.notes)
    return by_place(_merged(index, request, asked, embed), request.threshold)


def _vector(index: WorkspaceIndex, request: SearchRequest, asked: LayerQuery) -> list[Scored]:
    # Nothing else decides here: a provider that fails is told, not answered with nothing.
    embed = partial(query_vectors.vector_of, query=request.query)
    merged = _merged(index, request, asked, embed, most=max(_most(request), TOP))
    scaled = [replace(one, score=min(1.0, max(0.0, one.score))) for one in merged]
    return by_place(scaled, request.threshold)


def _merged(
    index: WorkspaceIndex,
    request: SearchRequest,
    asked: LayerQuery,
    embed: Embed,
    *,
    most: int | None = None,
) -> list[Scored]:
    """By words, too, unless the `most` nearest are all that is wanted."""
    found: list[Scored] = []
    asked = replace(asked, vector=embed(index))
    for layer in request.layers:
        parts = _parts(index, request, in_layer(request, asked, layer), embed)
        by_words = most is None
        rows = [row for p in parts for row in p.merged(by_words=by_words, most=most or TOP)]
        scores = dict(
            ranking.linea(
                [(one.entry, one.cosine) for one in rows if one.cosine is not None],
                [one.entry for one in rows if one.matched],
            )
        )
        if asked.trace:
            asked.trace.ranks |= _ranks(rows)
        for one in rows:
            said = {"keyword": 1.0 if one.matched else 0.0}
            if one.cosine is not None:
                said["vector"] = one.cosine
            found.append(Scored(layer, one.entry, one.item, scores[one.entry], said))
    return found


def _ranks(rows: Sequence[EntryMatch]) -> dict[uuid.UUID, dict[str, int]]:
    """Places by cosine, and among those whose text holds the whole query, the newest first."""
    near = sorted((-one.cosine, one.entry, one.item) for one in rows if one.cosine is not None)
    said = sorted((-one.entry, one.item) for one in rows if one.matched)
    ranks: dict[uuid.UUID, dict[str, int]] = {one.item: {} for one in rows}
    for place, (_, _, item) in enumerate(near, start=1):
        ranks[item]["vector"] = place
    for place, (_, item) in enumerate(said, start=1):
        ranks[item]["keyword"] = place
    return ranks


def _most(request: SearchRequest) -> int:
    """So many are ranked: what is asked for, or what the reranker reads, and some more."""
    return (max(request.limit, rerank.MOST) if request.rerank else request.limit) + SPARE


def _parts(
    index: WorkspaceIndex, request: SearchRequest, asked: LayerQuery | None, embed: Embed
) -> Iterable[ModelPartition | PastFeatures]:
    """What a layer is asked in: as it is now, or features as they were."""
    if asked is None:
        return ()
    if asked.layer == Layer.FEATURES and not request.at.is_now:
        return (PastFeatures(index, asked, request.at),)
    return partitions_of(index, asked, embed)


def _keyword(index: WorkspaceIndex, request: SearchRequest, asked: LayerQuery) -> list[Scored]:
    pool, _ = _pool(index, request, asked, with_vector=False)
    return by_place(_scored(ranking.by_keyword(pool)), request.threshold)


def _hybrid(index: WorkspaceIndex, request: SearchRequest, asked: LayerQuery) -> list[Scored]:
    pool, view = _pool(index, request, asked, with_vector=True)
    mixed = len(request.layers) > 1
    most = _most(request) * (ECHOES if mixed else 1)
    weights, recency = ranking.Weights.of(index.ranking), None
    if request.recency is not None:
        own = request.recency
        recency = ranking.RecencyBoost(own.weight, own.half_life_days, timezone.now())
    ranked = _scored(ranking.hybrid(view, pool, limit=most, weights=weights, recency=recency))
    if asked.trace:
        asked.trace.stages["ranking"] = ranked
    if not mixed:
        return ranked
    return collapse(newest_first(ranked) if request.at.is_now else ranked)


def _pool(
    index: WorkspaceIndex, request: SearchRequest, asked: LayerQuery, *, with_vector: bool
) -> tuple[ranking.Columns, ranking.QueryView]:
    """Candidates of all layers, and the query as the rankings see it."""
    people = speakers.participants(index, asked.subject)
    view = ranking.analyse(request.query, people, now=timezone.now(), beside=index.languages)
    embed: Embed = lambda _: None  # noqa: E731 -- by words alone
    if with_vector:
        embed = partial(query_vector, query=view.meaning, notes=asked.notes)
    vector = embed(index)
    depth = depth_of(index, request, view)
    parts: list[ranking.Columns] = []
    for layer in request.layers:
        there = in_layer(request, replace(asked, vector=vector), layer)
        for part in _parts(index, request, there, embed):
            # A memory names whom it is about; an episode is told by its author, not by its words.
            names = () if layer == "episodes" else view.names
            parts.append(part.pool([*view.terms, *names], depth))
    pool = ranking.Columns.joined(parts)
    # Without vectors nothing but its words speaks for a row.
    pool = pool.taken(pool.bm25 > 0) if vector is None else pool
    if asked.trace:
        items = (uuid.UUID(bytes=item.tobytes()) for item in pool.items)
        asked.trace.ranks |= dict(zip(items, pool.ranks(depth.top), strict=True))
    return pool, view


def depth_of(index: WorkspaceIndex, request: SearchRequest, view: ranking.QueryView) -> Depth:
    """How many are ranked: fewer where nothing could lift those further down."""
    if view.dates and request.ranking == "hybrid":
        return DATED
    lifted = view.looks_far or request.recency or index.ranking or request.ranking != "hybrid"
    if lifted or _most(request) > OF_TURN.top:
        return DEEP
    return OF_TURN if view.turn >= A_TURN else OF_QUESTION


def brought_up(index: WorkspaceIndex, request: SearchRequest, view: ranking.QueryView) -> int:
    """How many each side brings up at most."""
    if request.ranking == "linea" or (request.ranking == "vector" and _most(request) <= TOP):
        return TOP
    return depth_of(index, request, view).top


def _scored(ranked: Sequence[ranking.Ranked]) -> list[Scored]:
    names = {int(number): name for name, number in LAYERS.items()}
    return [
        Scored(names[one.layer], one.id, uuid.UUID(bytes=one.item), one.score, one.parts)
        for one in ranked
    ]


Ranker = Callable[[WorkspaceIndex, SearchRequest, LayerQuery], list[Scored]]
RANKERS: dict[str, Ranker] = {
    "linea": _linea,
    "vector": _vector,
    "keyword": _keyword,
    "hybrid": _hybrid,
}
