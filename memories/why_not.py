"""Why a search did not show a memory that somebody expected: the step at which it fell out.

Asks step by step what `search` asks at once, so it may be slow; it changes nothing.
"""

import uuid
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np
from django.utils import timezone
from numpy.typing import NDArray

from memories import ranking
from memories.indexing import candidates, spaces, speakers
from memories.indexing.candidates import TOP, Depth
from memories.indexing.shape import EVERYTHING, Asked
from memories.models import (
    SCOPE_CODE,
    DueVector,
    Entry,
    Layer,
    Memory,
    Vector,
    WorkspaceIndex,
    place_of,
)
from memories.ranking.columns import Array
from memories.search import Hit, SearchRequest, asked_of, in_layer, query_vector, search
from memories.search.rankings import depth_of
from workspaces.scope import Scope

State = Literal["passed", "noted", "failed"]
DEEPEST = 5_000  # so far down is a side searched for the memory
EVERY = 1_000  # more than any ranking puts in order


@dataclass(frozen=True, slots=True)
class Step:
    """One condition on the way to a hit. `noted` makes a hit less likely, and excludes nothing."""

    name: str
    state: State
    told: str


@dataclass(slots=True)
class WhyNot:
    """The steps up to the one that failed. `rank` counts from 1 where the memory was ranked;
    `last` is the last hit that was shown, to compare the parts of the scores with."""

    memory: Memory | None = None
    steps: list[Step] = field(default_factory=list)
    rank: int | None = None
    hit: Hit | None = None
    last: Hit | None = None

    @property
    def failed(self) -> Step | None:
        return next((step for step in self.steps if step.state == "failed"), None)

    def note(self, name: str, failure: str, success: str) -> bool:
        """Add a step that failed where `failure` says something; whether it passed."""
        self.steps.append(Step(name, "failed" if failure else "passed", failure or success))
        return not failure


@dataclass(frozen=True, slots=True)
class Case:
    """A question and the memory that should have answered it."""

    space: WorkspaceIndex
    request: SearchRequest
    asked: Asked
    memory: Memory


def why_not(scope: Scope, request: SearchRequest, memory_id: uuid.UUID) -> WhyNot:
    """What became of a memory in a search of the memories as they are now.

    Raises as `search` does.
    """
    found = WhyNot()
    request = replace(request, layers=("memories",), rerank=False)
    asked = asked_of(scope, request)
    mine = Memory.objects.visible_to(scope).with_names().filter(pk=memory_id).first()
    if not found.note("workspace", "" if mine else "There is no such memory here.", "It is here."):
        return found
    assert mine is not None
    found.memory = mine
    case = Case(spaces.space_of(scope.workspace_id), request, asked, mine)
    if all(found.note(name, check(case), success) for name, check, success in CHECKS):
        _note_vector(case, found)
        _rank(scope, case, found)
    return found


# ---- is it asked for at all? ----------------------------------------------------------------


def _unseen(case: Case) -> str:
    if Memory.objects.visible_to(case.asked.scope).filter(pk=case.memory.pk).exists():
        return ""
    owner = getattr(case.memory, "agent_external", None) or "no agent"
    return f"It is {case.memory.visibility} to {owner}, and the asking agent does not see that."


def _ended(case: Case) -> str:
    memory = case.memory
    if memory.is_live:
        return ""
    if memory.forgotten_at:
        return f"It was forgotten on {memory.forgotten_at:%Y-%m-%d}. {memory.forget_reason}".strip()
    if memory.superseded_by_id:
        return f"It was superseded by {memory.superseded_by_id}."
    return "It waits for a person's decision." if memory.held_at else "It expired."


def _other_subject(case: Case) -> str:
    subject = case.memory.subject_id
    if case.asked.subject is None or subject in (None, case.asked.subject):
        return ""
    told = getattr(case.memory, "user_external", None)
    return f"It is about {told}, and the search about {case.request.user_id}."


def _other_place(case: Case) -> str:
    memory, asked = case.memory, case.asked
    place = place_of(memory.scope, memory.conversation_id, memory.workflow)
    if SCOPE_CODE[memory.scope] in asked.open_scopes or place in asked.places:
        return ""
    return f"It belongs to a {memory.scope} that the search does not name."


def _missing(case: Case) -> str:
    if candidates.is_among(case.space, replace(case.asked, wanted=EVERYTHING), case.memory.pk):
        return ""
    return "The index does not hold it as the tables do: run `manage.py checkindex`."


def _filtered(case: Case) -> str:
    there = in_layer(case.request, case.asked, "memories")
    if there is not None and candidates.is_among(case.space, there, case.memory.pk):
        return ""
    return "The search's filter, fact types or categories exclude it."


CHECKS: tuple[tuple[str, Callable[[Case], str], str], ...] = (
    ("visibility", _unseen, "The asker may see it."),
    ("life", _ended, "It is live."),
    ("subject", _other_subject, "It is about the subject, or about nobody in particular."),
    ("scope", _other_place, "Its scope is searched."),
    ("index", _missing, "The index holds it."),
    ("filter", _filtered, "No filter excludes it."),
)


# ---- how far up does it stand? --------------------------------------------------------------


def _note_vector(case: Case, found: WhyNot) -> None:
    model = case.space.embedding_model
    entry = Entry.objects.get(layer=Layer.MEMORIES, item=case.memory.pk)
    if model is None:
        found.steps.append(Step("vector", "noted", "The workspace has no embedding model."))
    elif Vector.objects.filter(entry_id=entry.pk, embedding_model_id=model.pk).exists():
        found.steps.append(Step("vector", "passed", "It has a vector."))
    else:
        due = DueVector.objects.filter(entry=entry).first()
        told = f" {due.attempts} attempts. {due.error}".rstrip() if due else ""
        found.steps.append(Step("vector", "noted", f"It has no vector yet.{told}"))


def _rank(scope: Scope, case: Case, found: WhyNot) -> None:
    hits = search(scope, replace(case.request, limit=EVERY, threshold=None)).hits
    place = next((n for n, hit in enumerate(hits) if hit.memory.id == case.memory.pk), None)
    sides = _sides(case)
    failure = "" if place is not None else f"Neither side brings it up. {sides}"
    if not found.note("candidates", failure, sides) or place is None:
        return
    limit, threshold = case.request.limit, case.request.threshold
    found.rank, found.hit = place + 1, hits[place]
    found.last = hits[min(limit, len(hits)) - 1]
    score = found.hit.score
    low = threshold is not None and score < threshold
    if found.note("threshold", f"Its score is {score:.3f}." if low else "", "Its score is enough."):
        told = (
            f"It is number {found.rank} of {len(hits)}; the search shows {min(limit, len(hits))}."
        )
        found.note("rank", told if found.rank > limit else "", told)


def _sides(case: Case) -> str:
    """Where it stands by meaning and by words, in a sentence each."""
    people = speakers.participants(case.space, case.asked.subject)
    view = ranking.analyse(case.request.query, people, now=timezone.now())
    vector = query_vector(case.space, view.meaning)
    there = in_layer(case.request, replace(case.asked, vector=vector), "memories")
    assert there is not None
    stems = [*view.terms, *view.names]
    pool = candidates.pool(case.space, there, stems, Depth(DEEPEST))
    own = pool.items == np.void(case.memory.pk.bytes)
    near = _place(pool.cosine, own)
    said = _place(np.where(pool.bm25 > 0, pool.bm25, np.nan), own)
    is_plain = case.request.ranking in ("linea", "vector")
    taken = TOP if is_plain else depth_of(case.space, case.request, view).top
    return f"By meaning {near}, by words {said}; each side brings up {taken}."


def _place(scores: Array, own: NDArray[np.bool_]) -> str:
    """Among those that have a score; nan: none."""
    mine = scores[own]
    if not mine.size or np.isnan(mine[0]):
        return "nowhere"
    return f"number {1 + int((scores > mine[0]).sum())}"
