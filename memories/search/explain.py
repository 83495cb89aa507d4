"""Why a search did not show a memory that somebody expected: the step at which it fell out.

Runs the very search, and asks step by step what it asks at once, so it may be slow; it changes
nothing."""

import uuid
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Literal

from django.conf import settings

from memories.index import workspace_index
from memories.models import (
    SCOPE_CODE,
    AsOf,
    DueVector,
    Entry,
    Layer,
    Memory,
    Vector,
    about_nobody,
    place_of,
)
from memories.providers import network
from memories.search import Hit, SearchRequest, asked_of, candidates, in_layer, search
from memories.search.conditions import EVERYTHING
from memories.search.explain_stages import Walk, WhyNotQuestion, steps
from memories.search.request import Placed
from workspaces.scope import Scope

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
        """Add a step that failed where `failure` says something; whether it passed."""
        self.steps.append(Step(name, "failed" if failure else "passed", failure or success))
        return not failure


def _other_layer(question: WhyNotQuestion) -> str:
    layers = question.request.layers
    return "" if "memories" in layers else f"The search looks at {' and '.join(layers)} alone."


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


def _other_place(question: WhyNotQuestion) -> str:
    memory, asked = question.memory, question.asked
    place = place_of(memory.scope, memory.conversation_id, memory.workflow)
    if SCOPE_CODE[memory.scope] in asked.open_scopes or place in asked.places:
        return ""
    return f"It belongs to a {memory.scope} that the search does not name."


def _not_believed(question: WhyNotQuestion) -> str:
    if question.request.at.is_now:
        return "" if question.memory.is_live else _end(question.memory)
    anything = replace(question.request, filter=None, fact_types=(), categories=())
    if not _has_entry(question) or _is_reached(question, anything):
        return ""
    return _untimely(question.memory, question.request.at)


def _end(memory: Memory) -> str:
    if memory.forgotten_at:
        return f"It was forgotten on {memory.forgotten_at:%Y-%m-%d}. {memory.forget_reason}".strip()
    if memory.superseded_by_id:
        return f"It was superseded by {memory.superseded_by_id}."
    return "It waits for a person's decision." if memory.held_at else "It expired."


def _untimely(memory: Memory, at: AsOf) -> str:
    """Why it was not believed, or not true, at an instant."""
    if at.known_at and memory.created_at > at.known_at:
        return f"It was not believed then: it was learned on {memory.created_at:%Y-%m-%d %H:%M}."
    if at.valid_at and memory.valid_from and memory.valid_from > at.valid_at:
        return f"It was not true then: it is true from {memory.valid_from:%Y-%m-%d %H:%M}."
    if at.valid_at and memory.valid_until and memory.valid_until <= at.valid_at:
        return f"It was not true then: it was true until {memory.valid_until:%Y-%m-%d %H:%M}."
    return "It was not believed then." + ("" if memory.is_live else f" {_end(memory)}")


def _has_entry(question: WhyNotQuestion) -> bool:
    return Entry.objects.filter(layer=Layer.MEMORIES, item=question.memory.pk).exists()


def _is_reached(question: WhyNotQuestion, request: SearchRequest) -> bool:
    there = in_layer(request, question.asked, "memories")
    return there is not None and candidates.is_reached(question.index, there, question.memory.pk)


def _missing(question: WhyNotQuestion) -> str:
    now = replace(question.asked, wanted=EVERYTHING)
    is_now = question.request.at.is_now
    if (
        candidates.is_reached(question.index, now, question.memory.pk)
        if is_now
        else _has_entry(question)
    ):
        return ""
    return "The index does not hold it as the tables do: run `manage.py checkindex`."


def _filtered(question: WhyNotQuestion) -> str:
    if _is_reached(question, question.request):
        return ""
    memory, request = question.memory, question.request
    if request.categories and memory.category not in request.categories:
        return f"Its category is {memory.category}: not {', '.join(request.categories)}."
    if request.fact_types and memory.fact_type not in request.fact_types:
        return f"Its fact type is {memory.fact_type}: not {', '.join(request.fact_types)}."
    return "The search's filter excludes it."


CHECKS: tuple[tuple[str, Callable[[WhyNotQuestion], str], str], ...] = (
    ("layer", _other_layer, "Memories are searched."),
    ("visibility", _unseen, "The asker may see it."),
    ("subject", _other_subject, "It is about the subject, or about nobody in particular."),
    ("scope", _other_place, "Its scope is searched."),
    ("life", _not_believed, "It is believed at the time that is asked for."),
    ("index", _missing, "The index holds it."),
    ("filter", _filtered, "No filter, category or fact type excludes it."),
)


def why_not(scope: Scope, request: SearchRequest, memory_id: uuid.UUID) -> WhyNot:
    """What became of a memory in this very search. Raises as `search` does."""
    found = WhyNot()
    asked = asked_of(scope, replace(request, include=frozenset()))
    mine = Memory.objects.visible_to(scope).with_names().filter(pk=memory_id).first()
    if not found.note("workspace", "" if mine else "There is no such memory here.", "It is here."):
        return found
    assert mine is not None
    found.memory = mine
    question = WhyNotQuestion(workspace_index.index_of(scope.workspace_id), request, asked, mine)
    if all(found.note(name, check(question), success) for name, check, success in CHECKS):
        model = question.index.embedding_model
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
            _walk(scope, question, found)
    return found


def _walk(scope: Scope, question: WhyNotQuestion, found: WhyNot) -> None:
    """Ask the search itself, and follow the memory through what was left after each step."""
    answer = search(scope, replace(question.request, include=question.request.include | {"scores"}))
    assert answer.trace is not None
    walk = Walk(scope, question, answer.hits, answer.trace)
    for name, failure, success in steps(walk):
        if not found.note(name, failure, success):
            break
    found.last = answer.hits[-1] if answer.hits else None
    found.rank, found.placed = walk.rank, walk.placed
