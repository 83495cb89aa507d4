"""Candidates of all layers ranked; features at an instant are read out of their history.

Sets of features may speak an embedding model of their own: then the layer is asked once per
model, each with the query's vector under it, and no vector meets one of another model."""

import uuid
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import log

import numpy as np
from django.db.models import Q
from django.utils import timezone

from memories import ranking
from memories.index import due_vectors, entries, prepared_sql, workspace_index
from memories.language.english import lexical
from memories.models import (
    SCOPE_CODE,
    AsOf,
    EmbeddingModel,
    Feature,
    Layer,
    WorkspaceIndex,
    about_nobody,
    name_joins,
)
from memories.ranking import Candidate, Columns
from memories.ranking.columns import Array
from memories.search import candidates, reranking
from memories.search.candidates import (
    DATED,
    DEEP,
    OF_DOCUMENTS,
    OF_QUESTION,
    OF_TURN,
    TOP,
    Depth,
    EntryMatch,
)
from memories.search.collapse import collapse, with_later
from memories.search.conditions import LayerQuery, RowCondition
from memories.search.later_words import asks_later
from memories.search.layer_order import by_place, by_turns
from memories.search.query_vectors import query_vector
from memories.search.repeated_hits import with_repeats
from memories.search.request import LAYERS, WORDS_ONLY, Scored, SearchRequest
from memories.search.search_question import SearchQuestion
from memories.search.told_attribute import NOT_TOLD, told_attribute

# Features as they were at an instant: the index holds what they say now, so the past is read out
# of their history and compared here, with the vectors of what has not changed since.

MOST = 2_000  # of the newest features; those that differ today are embedded for the question

# Their rows, as a filter sees them.
FITS = f"""
select row.id from (
  select f.id, f.subject_id, f.agent_id, f.conversation_id, f.created_at, f.updated_at,
         c.after ->> 'category' as category, c.after ->> 'tag' as tag,
         c.after ->> 'feature' as feature, c.after ->> 'value' as value,
         c.after ->> 'about' as about, c.after ->> 'visibility' as visibility,
         c.after -> 'metadata' as metadata, t.content
  from unnest(%(changes)s::uuid[], %(contents)s::text[]) t (change, content)
  join memories_featurechange c on c.id = t.change join memories_feature f on f.id = c.feature_id
) row
{name_joins("row")}
where {{condition}}
"""
STILL = """
select f.id, f.content, v.embedding from memories_feature f
join memories_entry e on e.layer = %(layer)s and e.item = f.id
join memories_vector v on v.entry_id = e.id and v.embedding_model_id = %(model)s and v.part = 0
where f.id = any(%(ids)s::uuid[])
"""
THEIRS = """exists (select 1 from memories_featureset st where st.id = row.set_id
  and st.embedding_model_id = %(set_model)s::int2)"""
OTHERS = """exists (select 1 from memories_featureset st where st.id = row.set_id
  and st.embedding_model_id is null)"""
# Ranked beyond the limit: a row that expired in this minute falls out.
SPARE = 5
# This many times the limit is ranked where memories and the episodes they stand on become one hit.
ECHOES = 3
# For a few words that are hardly a turn, recency gains less than a match of words or meaning.
A_TURN = 0.25
EACH = 2  # hits of a part of a question that names events


@dataclass(frozen=True, slots=True)
class PastFeatures:
    """The features that a question reaches, as they were: a part of the search like any other."""

    asked: LayerQuery
    at: AsOf

    def merged(self, *, by_words: bool, most: int) -> list[EntryMatch]:
        """Return the nearest and the newest that hold the whole query, as `candidates.linea`
        does."""
        features = self._features()
        cosines = self._cosines(features)
        words = self.asked.query.casefold()
        holding = [f for f in features if by_words and words in f.content.casefold()][-TOP:]
        nearest = sorted((f for f in features if f.pk in cosines), key=lambda f: -cosines[f.pk])[:most]
        here = {feature.pk for feature in (*nearest, *holding)}
        near = {feature.pk for feature in nearest}
        return [
            EntryMatch(entry, f.pk, cosines[f.pk] if f.pk in near else None, f in holding)
            for entry, f in _numbered(features)
            if f.pk in here
        ]

    def pool(self, stems: list[str], depth: Depth) -> Columns:
        features = self._features()
        cosines = self._cosines(features)
        texts = [f.content for f in features]
        documents = [lexical.bm25_weights(lexical.counts(lexical.stems(text))) for text in texts]
        wanted = {lexical.term_number(stem) for stem in stems}
        holding = Counter(number for document in documents for number in wanted & document.keys())
        idf = {n: log(1 + (len(texts) - df + 0.5) / (df + 0.5)) for n, df in holding.items()}
        scores = [sum(idf[n] * own[n] for n in idf.keys() & own.keys()) for own in documents]
        rows = [
            Candidate(
                entry,
                int(Layer.FEATURES),
                cosines.get(f.pk),
                score,
                position=0,
                at=f.created_at.timestamp(),
                assistant=None,
                author="",
                length=len(lexical.stems(f.content)),
                marks=ranking.marks(f.content),
                item=f.pk.bytes,
            )
            for (entry, f), score in zip(_numbered(features), scores, strict=True)
        ]
        return Columns.of(rows)

    def _features(self) -> list[Feature]:
        """Return the features that are reached, the oldest first."""
        # The features, of any time, that the asker may see and asks about.
        rows = Feature.objects.visible_to(self.asked.scope)
        if self.asked.subject is not None:
            rows = rows.filter(Q(subject_id=self.asked.subject) | about_nobody(self.asked.scope))
        place = Q(conversation__in=self.asked.places)
        if SCOPE_CODE["user"] in self.asked.open_scopes:
            place |= Q(conversation=None)
        if SCOPE_CODE["thread"] in self.asked.open_scopes:
            place |= Q(conversation__isnull=False)
        reached = rows.filter(place)
        found = reached.as_of(self.at)
        if self.asked.wanted.condition:
            values = {
                **self.asked.wanted_values,
                "changes": [change.pk for _, change in found],
                "contents": [feature.content for feature, _ in found],
            }
            text = FITS.format(condition=self.asked.wanted.condition)
            fitting = {row.id for row in prepared_sql.rows(text, values)}
            found = [pair for pair in found if pair[0].pk in fitting]
        return sorted((f for f, _ in found), key=lambda f: (f.created_at, f.pk))[-MOST:]

    def _cosines(self, features: Sequence[Feature]) -> dict[uuid.UUID, float]:
        """Return cosines by feature, without those that have no vector; empty where the query has
        none."""
        query = self.asked.vector
        if query is None:
            return {}
        if self.asked.trace:
            self.asked.trace.compared(self.asked.layer, "exact")
        # The vectors that search uses, of those that say the same today.
        was = {f.pk: f.content for f in features}
        values = {
            "layer": int(Layer.FEATURES),
            "model": self.asked.index.embedding_model_id,
            "ids": list(was),
        }
        vectors = {
            row.id: row.embedding.to_numpy().astype(np.float32)
            for row in prepared_sql.rows(STILL, values)
            if row.content == was[row.id]
        }
        changed = [f for f in features if f.pk not in vectors]
        made = due_vectors.embed_or_leave(self.asked.index, [entries.texts_of(f.content)[:1] for f in changed])
        if made is None:
            self.asked.notes.append(WORDS_ONLY)
        vectors |= {
            f.pk: own[0] for f, own in zip(changed, made or [[None]] * len(changed), strict=True) if own[0] is not None
        }
        return {pk: float(np.dot(query, own)) for pk, own in vectors.items()}


def _numbered(features: Sequence[Feature]) -> list[tuple[int, Feature]]:
    """Number the features as no entry is; the newest has the highest number, as with entries."""
    return list(zip(range(-len(features), 0), features, strict=True))


Embed = Callable[[WorkspaceIndex], np.ndarray | None]  # the query's vector, in a workspace's model


@dataclass(frozen=True, slots=True)
class ModelPartition:
    """The part of a layer whose vectors are of one model; `own_model` is the workspace's."""

    asked: LayerQuery
    own_model: EmbeddingModel | None = None

    def merged(self, *, by_words: bool, most: int) -> list[EntryMatch]:
        rows = candidates.linea(self.asked, by_words=by_words, most=most)
        if self._is_own:
            return rows
        cosines = self._in_own_terms(np.array([row.cosine for row in rows], float)).tolist()
        return [
            replace(row, cosine=None if row.cosine is None else cosine)
            for row, cosine in zip(rows, cosines, strict=True)
        ]

    def in_own_terms(self, found: Columns) -> Columns:
        """Return its candidates with cosines that compare to those of the workspace's model."""
        return found if self._is_own else replace(found, cosine=self._in_own_terms(found.cosine))

    @property
    def _is_own(self) -> bool:
        return self.own_model in (None, self.asked.index.embedding_model)

    def _in_own_terms(self, cosines: Array) -> Array:
        """Convert cosines to the workspace's model: each model has its own cosine for chance and
        for the same."""
        own = self.asked.index.embedding_model
        if own is None or self.own_model is None:
            return cosines
        reach = (cosines - own.search_floor) / max(own.duplicate_threshold - own.search_floor, 0.01)
        span = self.own_model.duplicate_threshold - self.own_model.search_floor
        there: Array = (self.own_model.search_floor + reach * span).clip(-1.0, 1.0)
        return there


def _partitions(search: SearchQuestion, asked: LayerQuery, embed: Embed) -> Iterator[ModelPartition]:
    """Yield the parts of a layer; `asked` has the query's vector in the workspace's model
    already."""
    models = search.models() if asked.layer == Layer.FEATURES else []
    if not models:
        yield ModelPartition(asked)
        return
    yield ModelPartition(_only(asked, OTHERS))
    for model in models:
        other = workspace_index.under_model(search.index, model)
        there = replace(_only(asked, THEIRS, model.pk), index=other, vector=embed(other))
        yield ModelPartition(there, search.index.embedding_model)


def _only(asked: LayerQuery, condition: str, model: int | None = None) -> LayerQuery:
    both = " and ".join(filter(None, (asked.wanted.condition, condition)))
    wanted = RowCondition(both, asked.wanted.history)
    return replace(asked, wanted=wanted, wanted_values={**asked.wanted_values, "set_model": model})


def _merged(search: SearchQuestion, embed: Embed, *, most: int | None = None) -> list[Scored]:
    """Search by meaning, and by words, too, unless the `most` nearest are all that is wanted."""
    found: list[Scored] = []
    search = replace(search, asked=replace(search.asked, vector=embed(search.index)))
    trace = search.asked.trace
    for layer in search.request.layers:
        by_words = most is None
        rows = [row for p in _parts(search, layer, embed) for row in p.merged(by_words=by_words, most=most or TOP)]
        scores = dict(
            ranking.linea(
                [(one.entry, one.cosine) for one in rows if one.cosine is not None],
                [one.entry for one in rows if one.matched],
            )
        )
        if trace:
            trace.ranks |= _ranks(rows)
        for one in rows:
            said = {"keyword": 1.0 if one.matched else 0.0}
            if one.cosine is not None:
                said["vector"] = one.cosine
            found.append(Scored(layer, one.entry, one.item, scores[one.entry], said, one.cosine))
    return found


def _ranks(rows: Sequence[EntryMatch]) -> dict[uuid.UUID, dict[str, int]]:
    """Return places by cosine, and among those whose text holds the whole query, the newest
    first."""
    near = sorted((-one.cosine, one.entry, one.item) for one in rows if one.cosine is not None)
    said = sorted((-one.entry, one.item) for one in rows if one.matched)
    ranks: dict[uuid.UUID, dict[str, int]] = {one.item: {} for one in rows}
    for place, (_, _, item) in enumerate(near, start=1):
        ranks[item]["vector"] = place
    for place, (_, item) in enumerate(said, start=1):
        ranks[item]["keyword"] = place
    return ranks


def _most(request: SearchRequest) -> int:
    """Return how many are ranked: what is asked for, or what the reranker reads, and some more."""
    return (max(request.limit, reranking.RERANKED) if request.rerank else request.limit) + SPARE


def _parts(search: SearchQuestion, layer: str, embed: Embed) -> Iterable[ModelPartition | PastFeatures]:
    """Return the parts in which a layer is asked: as it is now, or features as they were."""
    asked, at = search.in_layer(layer), search.request.at
    if asked is None:
        return ()
    if asked.layer == Layer.FEATURES and not at.is_now:
        return (PastFeatures(asked, at),)
    return _partitions(search, asked, embed)


def _pool(
    search: SearchQuestion, *, with_vector: bool, side: ranking.EventSide | None = None
) -> tuple[ranking.Columns, ranking.QueryView]:
    """Return candidates of all layers, and the query as the rankings see it."""
    index, request, asked = search.index, search.request, search.asked
    people, voices = search.participants()
    now = search.now
    view = ranking.analyse(request.query, people, voices, now=now, order=index.date_order)
    view = replace(view, side=side) if side else view
    told = NOT_TOLD
    if request.ranking == "hybrid" and request.at.is_now:
        told = told_attribute(asked, request.query, people)
        view = replace(view, told=told.keys)
    embed: Embed = lambda _: None  # noqa: E731 -- by words alone
    if with_vector:
        embed = partial(query_vector, query=view.meaning, notes=asked.notes)
    vector = embed(index)
    asked = replace(asked, vector=vector, days=ranking.asked_days(view.dates, now))
    search = replace(search, asked=asked)
    depth = depth_of(index, request, view)
    parts: list[tuple[ModelPartition | PastFeatures, list[str]]] = []
    for layer in request.layers:
        is_empty = request.at.is_now and not index.live(LAYERS[layer])
        if is_empty and (layer == "chunks" or not asked.trace):
            continue  # most have no documents; of other layers a trace tells how they were compared
        # A memory names whom it is about; an episode is told by its author, not by its words.
        stems = [*view.terms, *(() if layer == "episodes" else view.names)]
        parts += [(part, stems) for part in _parts(search, layer, embed)]
    pool = ranking.Columns.joined(_pools(parts, depth))
    if told.memories and not pool.among(view.told).any() and "memories" in request.layers:
        own = _only_these(search, told.memories)
        stems = [*view.terms, *view.names]
        pool = ranking.Columns.joined([pool, *(candidates.pool(each, stems, depth) for each in own)])
    pool = pool.weighed_for(view.turn)
    # Without vectors nothing but its words speaks for a row.
    if vector is None:
        pool = pool.taken(pool.bm25 > 0)
    elif view.turn >= A_TURN and request.at.is_now and "episodes" in request.layers:
        pool = candidates.cosines_around(asked, pool)
    if asked.trace:
        items = (uuid.UUID(bytes=item.tobytes()) for item in pool.items)
        asked.trace.ranks |= dict(zip(items, pool.ranks(depth.top), strict=True))
    return pool, view


def _only_these(search: SearchQuestion, items: Sequence[uuid.UUID]) -> list[LayerQuery]:
    """Put the question to these memories alone, where it reaches any."""
    there = search.in_layer("memories")
    if there is None:
        return []
    conditions = filter(None, (there.wanted.condition, "row.id = any(%(told)s::uuid[])"))
    few = "select unnest(%(told)s::uuid[]) as id"
    wanted = RowCondition(" and ".join(conditions), there.wanted.history, few)
    values = {**there.wanted_values, "told": list(items)}
    return [replace(there, wanted=wanted, wanted_values=values)]


def _pools(parts: Sequence[tuple[ModelPartition | PastFeatures, list[str]]], depth: Depth) -> list[Columns]:
    """Return the candidates of each part by its stems; all that the index has come in one round
    trip."""
    indexed = [(p.asked, stems) for p, stems in parts if isinstance(p, ModelPartition)]
    found = iter(candidates.pools(indexed, depth))
    return [
        part.in_own_terms(next(found)) if isinstance(part, ModelPartition) else part.pool(stems, depth)
        for part, stems in parts
    ]


def depth_of(index: WorkspaceIndex, request: SearchRequest, view: ranking.QueryView) -> Depth:
    """Choose how many are ranked: fewer where nothing could lift those further down."""
    if request.layers == ("chunks",) and request.ranking == "hybrid":
        return OF_DOCUMENTS
    is_hybrid = request.ranking == "hybrid"
    lifted = view.looks_far or request.recency or index.ranking or not is_hybrid
    depth = OF_TURN if view.turn >= A_TURN else OF_QUESTION
    if (view.dates or view.side) and is_hybrid:
        depth = DATED
    elif lifted or _most(request) > OF_TURN.top:
        depth = DEEP
    return depth._replace(
        wishes=is_hybrid and view.asks_help and view.among < 1,
        taught=is_hybrid and view.asks_whatever,
    )


def brought_up(index: WorkspaceIndex, request: SearchRequest, view: ranking.QueryView) -> int:
    """Return how many each side brings up at most."""
    if request.ranking == "linea" or (request.ranking == "vector" and _most(request) <= TOP):
        return TOP
    return depth_of(index, request, view).top


def _scored(ranked: Sequence[ranking.Ranked]) -> list[Scored]:
    names = {int(number): name for name, number in LAYERS.items()}
    return [
        Scored(names[one.layer], one.id, uuid.UUID(bytes=one.item), one.score, one.parts, one.cosine) for one in ranked
    ]


def rank(search: SearchQuestion) -> list[Scored]:
    """Return the best of all layers by the ranking that is asked for, best first. Where the embedder fails, words
    decide for `vector`, too."""
    request, notes = search.request, search.asked.notes
    if request.ranking == "linea":
        embed: Embed = partial(query_vector, query=request.query, notes=notes)
        return by_place(_merged(search, embed), request.threshold)
    if request.ranking == "vector":
        embed = partial(query_vector, query=request.query, notes=notes)
        merged = _merged(search, embed, most=max(_most(request), TOP))
        if merged or WORDS_ONLY not in notes:
            scaled = [one._replace(score=min(1.0, max(0.0, one.score))) for one in merged]
            return by_place(scaled, request.threshold)
    if request.ranking in ("keyword", "vector"):
        pool, _ = _pool(search, with_vector=False)
        ranked = _scored(ranking.by_keyword(pool))
        return ranked if len(request.layers) < 2 else collapse(ranked[: _most(request) * ECHOES])
    event = ranking.event_question(request.query, search.now, search.index.date_order)
    found = [_hybrid(search)]
    if event:
        found = [*_of_events(search, event), *found]
    else:
        found += [_hybrid(search.part(thing, 1))[:1] for thing in ranking.listed(request.query)]
    if len(found) == 1:
        return found[0]
    turns = by_turns(found)
    return with_repeats(turns) if len(request.layers) > 1 else turns


def _of_events(search: SearchQuestion, question: ranking.EventQuestion) -> Iterator[list[Scored]]:
    """Yield hits that tell of each event; or, where the question asks what was before or after one,
    hits of that time. Yield nothing where the event is not found."""
    parts = [search.part(text, EACH) for text in question.events]
    if not question.about:
        yield from (_hybrid(part)[:EACH] for part in parts)
        return
    pool, view = _pool(parts[0], with_vector=True)
    best = ranking.hybrid(view, pool, limit=1, weights=ranking.Weights.of(search.index.ranking))
    if not best or not best[0].parts.get("keyword"):
        return
    place = int(np.flatnonzero((pool.ids == best[0].id) & (pool.layers == best[0].layer))[0])
    at = pool.at[place] if np.isnan(pool.event[place]) else pool.event[place]
    if not np.isnan(at):
        side = ranking.EventSide(float(at), question.is_before, question.is_near, of_event=True)
        yield _hybrid(search.part(question.about, EACH), side)[:EACH]


def _hybrid(search: SearchQuestion, side: ranking.EventSide | None = None) -> list[Scored]:
    pool, view = _pool(search, with_vector=True, side=side)
    request, trace = search.request, search.asked.trace
    mixed = len(request.layers) > 1
    most = _most(request) * (ECHOES if mixed else 1)
    weights, recency = ranking.Weights.of(search.index.ranking), None
    if request.recency is not None:
        own = request.recency
        recency = ranking.RecencyBoost(own.weight, own.half_life_days, timezone.now())
    if request.layers == ("chunks",):
        ranked = _scored(ranking.by_passage(pool, recency)[:most])
    else:
        ranked = _scored(ranking.hybrid(view, pool, limit=most, weights=weights, recency=recency))
    if trace:
        trace.stages["ranking"] = ranked
    later = asks_later(search) if request.newest_first else None
    if mixed:
        return collapse(ranked, is_now=request.at.is_now, later=later)
    return with_later(ranked, later) if later else ranked
