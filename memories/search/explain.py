"""Why a search did not show a memory that somebody expected: the step at which it fell out.

Runs the very search, and asks step by step what it asks at once, so it may be slow; it changes
nothing."""

import uuid
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Literal

from django.conf import settings

from memories.index import workspace_index
from memories.models import (
    SCOPE_CODE,
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
from memories.search.explain_stages import Told, Walk, WhyNotQuestion, steps
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
    there = in_layer(request, question.asked, "memories")
    return there is not None and candidates.is_reached(question.index, there, question.memory.pk)


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
    """What must be true of a memory before it is compared; asking stops at the first that is
    not."""
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
        is_held = candidates.is_reached(question.index, now, memory.pk)
    else:
        is_held = _has_entry(question)
    told = "The index does not hold it as the tables do: run `manage.py checkindex`."
    yield "index", "" if is_held else told, "The index holds it."
    yield "filter", _filtered(question), "No filter, category or fact type excludes it."


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
    if all(found.note(*check) for check in checks(question)):
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
