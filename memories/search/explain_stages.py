"""How far a memory comes in a search that reaches it: through candidates, ranking, echoes, reranker
and threshold to the hits. What the search kept after each is read out of its trace."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from django.utils import timezone
from numpy.typing import NDArray

from memories import ranking
from memories.index import workspace_index
from memories.models import Episode, Memory, WorkspaceIndex
from memories.ranking.columns import Array
from memories.search import Hit, SearchRequest, candidates, in_layer, query_vector, search
from memories.search.after_ranking import collapsed_into
from memories.search.candidates import Depth
from memories.search.conditions import LayerQuery
from memories.search.rank import brought_up
from memories.search.request import Placed, Trace
from workspaces.scope import Scope

DEEPEST = 5_000  # so far down is a side searched for the memory
EVERY = 1_000  # more than any ranking puts in order
Told = tuple[str, str, str]  # the step, why it failed ("": it did not), what is told if not


@dataclass(frozen=True, slots=True)
class WhyNotQuestion:
    """A question and the memory that should have answered it."""

    index: WorkspaceIndex
    request: SearchRequest
    asked: LayerQuery
    memory: Memory


@dataclass
class Walk:
    """A memory's way through one search: `hits` and `trace` are that search's."""

    scope: Scope
    question: WhyNotQuestion
    hits: Sequence[Hit]
    trace: Trace

    @property
    def place(self) -> int | None:
        """Among the hits, from 1."""
        own = self.question.memory.pk
        hits = enumerate(self.hits, start=1)
        return next((n for n, hit in hits if hit.layer == "memories" and hit.row.id == own), None)

    def at(self, stage: str) -> Placed | None:
        own = self.question.memory.pk
        return next((one for one in self.trace.stages[stage] if one.item == own), None)

    def rank_at(self, stage: str) -> int | None:
        """By its score, from 1; None where it was not left."""
        own = self.at(stage)
        if own is None:
            return None
        return 1 + sum(one.order < own.order for one in self.trace.stages[stage])

    @property
    def rank(self) -> int | None:
        """As a hit, or in the last step that it came to."""
        ranks = [self.rank_at(stage) for stage in self.trace.stages]
        last = next((rank for rank in reversed(ranks) if rank), None)
        return self.place or last or self._deeper[0]

    @property
    def placed(self) -> Placed | None:
        found = [self.at(stage) for stage in self.trace.stages]
        return next((one for one in reversed(found) if one), None) or self._deeper[1]

    @cached_property
    def _deeper(self) -> tuple[int | None, Placed | None]:
        """Where it stands, and with which score, if very many hits are asked for."""
        if self.question.memory.pk not in self.trace.ranks:
            return None, None
        include = frozenset({"scores"})
        plain = replace(self.question.request, threshold=None, rerank=False, include=include)
        answer = search(self.scope, replace(plain, limit=EVERY))
        assert answer.trace is not None
        wider = Walk(self.scope, self.question, answer.hits, answer.trace)
        return wider.rank_at("ranking"), wider.at("ranking")


def steps(walk: Walk) -> Iterator[Told]:
    """Each from what the one before it left; asking stops at the first that failed."""
    request = walk.question.request
    sides = _sides(walk.question)
    is_there = walk.question.memory.pk in walk.trace.ranks
    brought = "candidates", "" if is_there else f"Nothing brings it up. {sides}", sides
    yield brought
    rank, number = walk.rank_at("ranking"), len(walk.trace.stages["ranking"])
    below = f"It is not among the best {number}, which is as far as the ranking looks"
    below = "" if rank else f"{below} for {request.limit} hits."
    yield "ranking", below, f"It is number {rank} of {number}."
    if len(request.layers) > 1:
        yield _told_once(walk)
    if request.rerank:
        yield _reranked(walk)
    own, least = walk.at("rerank"), request.threshold
    low = ""
    if own and not walk.at("threshold"):
        low = f"Its score is {own.score:.3f}, and {least} is asked for."
    yield "threshold", low, "No score is asked for." if least is None else "Its score is enough."
    place = walk.place or walk.rank_at("threshold")
    told = f"It is number {place} of {len(walk.trace.stages['threshold'])};"
    told = f"{told} the search shows {len(walk.hits)}."
    shown = "rank", "" if walk.place else told, told
    yield shown


def _told_once(walk: Walk) -> Told:
    if walk.at("echoes"):
        return "echo", "", "Nothing above it says the same."
    hit = collapsed_into(walk.trace.stages["echoes"])[walk.question.memory.pk]
    manager = Episode.objects if hit.layer == "episodes" else Memory.objects
    above = manager.visible_to(walk.scope).get(pk=hit.item)
    kind = "episode" if hit.layer == "episodes" else "memory"
    return (
        "echo",
        f"It is told with the {kind} above it, on the same words: “{above.content[:200]}”",
        "",
    )


def _reranked(walk: Walk) -> Told:
    before, after = walk.rank_at("echoes"), walk.rank_at("rerank")
    limit = walk.question.request.limit
    if not after:
        return "rerank", f"Number {before} is further down than the reranker reads.", ""
    if walk.trace.stages["rerank"] is walk.trace.stages["echoes"]:
        return "rerank", "", "The reranker did not answer: the order stays as it was."
    told = f"It was number {before}, and is number {after} after the reranker."
    is_out = not walk.place and (before or 0) <= limit < after
    return "rerank", told if is_out else "", told


def _sides(question: WhyNotQuestion) -> str:
    """Where it stands by meaning and by words, of the sides that the ranking asks."""
    people = workspace_index.participants(question.index, question.asked.subject)
    view = ranking.analyse(
        question.request.query,
        people,
        now=timezone.now(),
        order=question.index.date_order,
        beside=question.index.languages,
    )
    vector = query_vector(question.index, view.meaning)
    there = in_layer(question.request, replace(question.asked, vector=vector), "memories")
    assert there is not None
    stems = [*view.terms, *view.names]
    pool = candidates.pool(question.index, there, stems, Depth(DEEPEST))
    own = pool.items == np.void(question.memory.pk.bytes)
    near = f"by meaning {_place(pool.cosine, own)}"
    said = f"by words {_place(np.where(pool.bm25 > 0, pool.bm25, np.nan), own)}"
    if question.request.ranking == "linea":
        whole = question.request.query.casefold() in question.memory.content.casefold()
        said = f"its text {'holds' if whole else 'does not hold'} the whole query"
    asked = {"keyword": [said], "vector": [near]}.get(question.request.ranking, [near, said])
    taken = brought_up(question.index, question.request, view)
    alone = "each side" if len(asked) > 1 else "this ranking asks nothing else, and"
    told = ", ".join(asked)
    return f"{told[0].upper()}{told[1:]}; {alone} brings up {taken}."


def _place(scores: Array, own: NDArray[np.bool_]) -> str:
    """Among those that have a score; nan: none."""
    mine = scores[own]
    if not mine.size or np.isnan(mine[0]):
        return "nowhere"
    return f"number {1 + int((scores > mine[0]).sum())}"
