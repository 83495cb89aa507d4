"""The reason why a search did not show a memory that somebody expected: the step at which it fell
out, from candidates over ranking, duplicates and reranker to the page."""

import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Literal

import numpy as np
from django.conf import settings
from numpy.typing import NDArray

from memories import ranking
from memories.models import (
    SCOPE_CODE,
    DueVector,
    Entry,
    Episode,
    Layer,
    Memory,
    Vector,
    about_nobody,
    place_of,
)
from memories.providers import network
from memories.ranking.columns import Array
from memories.search import Hit, SearchRequest, candidates, query_vector, search
from memories.search.candidates import Depth
from memories.search.collapse import collapsed_into
from memories.search.conditions import EVERYTHING, LayerQuery
from memories.search.rank import brought_up
from memories.search.request import Placed, Trace
from memories.search.search_question import SearchQuestion
from workspaces.scope import Scope

DEEPEST = 5_000  # so far down is a side searched for the memory
EVERY = 1_000  # more than any ranking puts in order
Told = tuple[str, str, str]  # the step, why it failed ("": it did not), what is told if not


@dataclass(frozen=True, slots=True)
class WhyNotQuestion:
    """A question and the memory that should have answered it."""

    search: SearchQuestion
    memory: Memory

    @property
    def request(self) -> SearchRequest:
        return self.search.request

    @property
    def asked(self) -> LayerQuery:
        return self.search.asked


@dataclass
class Walk:
    """A memory's way through one search: `hits` and `trace` are that search's."""

    scope: Scope
    question: WhyNotQuestion
    hits: Sequence[Hit]
    trace: Trace

    @property
    def place(self) -> int | None:
        """Its place among the hits, from 1."""
        own = self.question.memory.pk
        hits = enumerate(self.hits, start=1)
        return next((n for n, hit in hits if hit.layer == "memories" and hit.row.id == own), None)

    def at(self, stage: str) -> Placed | None:
        own = self.question.memory.pk
        return next((one for one in self.trace.stages[stage] if one.item == own), None)

    def rank_at(self, stage: str) -> int | None:
        """Return its rank by score after a stage, from 1; None where it was not left."""
        own = self.at(stage)
        if own is None:
            return None
        return 1 + sum(one.order < own.order for one in self.trace.stages[stage])

    @property
    def rank(self) -> int | None:
        """Its rank as a hit, or in the last step that it came to."""
        ranks = [self.rank_at(stage) for stage in self.trace.stages]
        last = next((rank for rank in reversed(ranks) if rank), None)
        return self.place or last or self._deeper[0]

    @property
    def placed(self) -> Placed | None:
        found = [self.at(stage) for stage in self.trace.stages]
        return next((one for one in reversed(found) if one), None) or self._deeper[1]

    @cached_property
    def _deeper(self) -> tuple[int | None, Placed | None]:
        """Its rank and score if very many hits are asked for."""
        if self.question.memory.pk not in self.trace.ranks:
            return None, None
        include = frozenset({"scores"})
        plain = replace(self.question.request, threshold=None, rerank=False, include=include)
        answer = search(self.scope, replace(plain, limit=EVERY))
        assert answer.trace is not None
        wider = Walk(self.scope, self.question, answer.hits, answer.trace)
        return wider.rank_at("ranking"), wider.at("ranking")


def steps(walk: Walk) -> Iterator[Told]:
    """Yield the steps, each from what the one before it left; the caller stops at the first that
    failed."""
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
    """Say where it ranks by meaning and by words, on the sides that the ranking asks."""
    people, voices = question.search.participants()
    view = ranking.analyse(
        question.request.query,
        people,
        voices,
        now=question.search.now,
        order=question.asked.index.date_order,
    )
    there = question.search.in_layer("memories")
    assert there is not None
    there = replace(there, vector=query_vector(there.index, view.meaning))
    stems = [*view.terms, *view.names]
    pool = candidates.pool(there, stems, Depth(DEEPEST))
    own = pool.items == np.void(question.memory.pk.bytes)
    near = f"by meaning {_place(pool.cosine, own)}"
    said = f"by words {_place(np.where(pool.bm25 > 0, pool.bm25, np.nan), own)}"
    if question.request.ranking == "linea":
        whole = question.request.query.casefold() in question.memory.content.casefold()
        said = f"its text {'holds' if whole else 'does not hold'} the whole query"
    asked = {"keyword": [said], "vector": [near]}.get(question.request.ranking, [near, said])
    taken = brought_up(there.index, question.request, view)
    alone = "each side" if len(asked) > 1 else "this ranking asks nothing else, and"
    told = ", ".join(asked)
    return f"{told[0].upper()}{told[1:]}; {alone} brings up {taken}."


def _place(scores: Array, own: NDArray[np.bool_]) -> str:
    """Say the place among those that have a score; nan: none."""
    mine = scores[own]
    if not mine.size or np.isnan(mine[0]):
        return "nowhere"
    return f"number {1 + int((scores > mine[0]).sum())}"


State = Literal["passed", "noted", "failed"]


@dataclass(frozen=True, slots=True)
class Step:
    """One condition on the way to a hit. `noted` makes a hit less likely, and excludes nothing."""

    name: str
    state: State
    told: str


@dataclass(slots=True)
class WhyNot:
    """The steps up to the one that failed. `rank` counts from 1 where the memory was ranked, and
    `placed` has its score; `last` is the last hit that was shown, to compare the parts with."""

    memory: Memory | None = None
    steps: list[Step] = field(default_factory=list)
    rank: int | None = None
    placed: Placed | None = None
    last: Hit | None = None

    @property
    def failed(self) -> Step | None:
        return next((step for step in self.steps if step.state == "failed"), None)

    def note(self, name: str, failure: str, success: str) -> bool:
        """Add a step that failed where `failure` says something; return whether it passed."""
        self.steps.append(Step(name, "failed" if failure else "passed", failure or success))
        return not failure


def _unseen(question: WhyNotQuestion) -> str:
    memory = question.memory
    if Memory.objects.visible_to(question.asked.scope).filter(pk=memory.pk).exists():
        return ""
    owner = getattr(memory, "agent_external", None)
    if owner is None:
        return f"It is {memory.visibility} and belongs to no agent: the asking agent sees it not."
    return f"It is {memory.visibility} to {owner}, and the asking agent does not see that."


def _other_subject(question: WhyNotQuestion) -> str:
    subject = question.memory.subject_id
    if question.asked.subject is None or subject == question.asked.subject:
        return ""
    if subject is None:
        beside = Memory.objects.filter(about_nobody(question.asked.scope), pk=question.memory.pk)
        owner = getattr(question.memory, "agent_external", None)
        if beside.exists():
            return ""
        return f"It is about nobody and private to {owner}; the search is about a user."
    told = getattr(question.memory, "user_external", None)
    return f"It is about {told}, and the search about {question.request.user_id}."


def _not_believed(question: WhyNotQuestion) -> str:
    if question.request.at.is_now:
        return "" if question.memory.is_live else _end(question.memory)
    anything = replace(question.request, filter=None, fact_types=(), categories=())
    if not _has_entry(question) or _is_reached(question, anything):
        return ""
    memory, at = question.memory, question.request.at
    if at.known_at and memory.created_at > at.known_at:
        return f"It was not believed then: it was learned on {memory.created_at:%Y-%m-%d %H:%M}."
    if at.valid_at and memory.valid_from and memory.valid_from > at.valid_at:
        return f"It was not true then: it is true from {memory.valid_from:%Y-%m-%d %H:%M}."
    if at.valid_at and memory.valid_until and memory.valid_until <= at.valid_at:
        return f"It was not true then: it was true until {memory.valid_until:%Y-%m-%d %H:%M}."
    return "It was not believed then." + ("" if memory.is_live else f" {_end(memory)}")


def _end(memory: Memory) -> str:
    if memory.forgotten_at:
        return f"It was forgotten on {memory.forgotten_at:%Y-%m-%d}. {memory.forget_reason}".strip()
    if memory.superseded_by_id:
        return f"It was superseded by {memory.superseded_by_id}."
    return "It waits for a person's decision." if memory.held_at else "It expired."


def _has_entry(question: WhyNotQuestion) -> bool:
    return Entry.objects.filter(layer=Layer.MEMORIES, item=question.memory.pk).exists()


def _is_reached(question: WhyNotQuestion, request: SearchRequest) -> bool:
    there = replace(question.search, request=request).in_layer("memories")
    return there is not None and candidates.is_reached(there, question.memory.pk)


def _filtered(question: WhyNotQuestion) -> str:
    if _is_reached(question, question.request):
        return ""
    memory, request = question.memory, question.request
    if request.categories and memory.category not in request.categories:
        return f"Its category is {memory.category}: not {', '.join(request.categories)}."
    if request.fact_types and memory.fact_type not in request.fact_types:
        return f"Its fact type is {memory.fact_type}: not {', '.join(request.fact_types)}."
    return "The search's filter excludes it."


def checks(question: WhyNotQuestion) -> Iterator[Told]:
    """Yield what must be true of a memory before it is compared; the caller stops at the first
    check that fails."""
    memory, asked, layers = question.memory, question.asked, question.request.layers
    told = f"The search looks at {' and '.join(layers)} alone."
    yield "layer", "" if "memories" in layers else told, "Memories are searched."
    yield "visibility", _unseen(question), "The asker may see it."
    about = "It is about the subject, or about nobody in particular."
    yield "subject", _other_subject(question), about
    place = place_of(memory.scope, memory.conversation_id, memory.workflow)
    is_searched = SCOPE_CODE[memory.scope] in asked.open_scopes or place in asked.places
    told = f"It belongs to a {memory.scope} that the search does not name."
    yield "scope", "" if is_searched else told, "Its scope is searched."
    yield "life", _not_believed(question), "It is believed at the time that is asked for."
    if question.request.at.is_now:
        now = replace(asked, wanted=EVERYTHING)
        is_held = candidates.is_reached(now, memory.pk)
    else:
        is_held = _has_entry(question)
    told = "The index does not hold it as the tables do: run the command `checkindex`."
    yield "index", "" if is_held else told, "The index holds it."
    yield "filter", _filtered(question), "No filter, category or fact type excludes it."


def why_not(scope: Scope, request: SearchRequest, memory_id: uuid.UUID) -> WhyNot:
    """Tell what became of a memory in this very search. Raises as `search` does."""
    found = WhyNot()
    asked = SearchQuestion.of(scope, replace(request, include=frozenset()))
    mine = Memory.objects.visible_to(scope).with_names().filter(pk=memory_id).first()
    if not found.note("workspace", "" if mine else "There is no such memory here.", "It is here."):
        return found
    assert mine is not None
    found.memory = mine
    question = WhyNotQuestion(replace(asked, request=request), mine)
    if all(found.note(*check) for check in checks(question)):
        model = question.asked.index.embedding_model
        entry = Entry.objects.get(layer=Layer.MEMORIES, item=question.memory.pk)
        if model is None:
            found.steps.append(Step("vector", "noted", "The workspace has no embedding model."))
        elif Vector.objects.filter(entry_id=entry.pk, embedding_model_id=model.pk).exists():
            found.steps.append(Step("vector", "passed", "It has a vector."))
        else:
            due = DueVector.objects.filter(entry=entry).first()
            told = f" {due.attempts} attempts. {due.error}".rstrip() if due else ""
            found.steps.append(Step("vector", "noted", f"It has no vector yet.{told}"))
        # It searches more than once: none of the models is waited for anew each time.
        with network.patience(settings.QUERY_TIMEOUT + settings.RERANK_TIMEOUT):
            # The search itself; the memory is followed through what was left after each step.
            include = request.include | {"scores"}
            answer = search(scope, replace(request, include=include))
            assert answer.trace is not None
            walk = Walk(scope, question, answer.hits, answer.trace)
            for step in steps(walk):
                if not found.note(*step):
                    break
            found.last = answer.hits[-1] if answer.hits else None
            found.rank, found.placed = walk.rank, walk.placed
    return found
