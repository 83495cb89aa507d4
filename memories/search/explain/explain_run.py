"""From a search and a memory to the steps that it passed."""

import uuid
from dataclasses import replace

from django.conf import settings

from memories.index import workspace_index
from memories.models import DueVector, Entry, Layer, Memory, Vector
from memories.providers import network
from memories.search import SearchRequest, asked_of, search
from memories.search.explain.exclusions import CHECKS
from memories.search.explain.stages import Walk, steps
from memories.search.explain.why_not import Step, WhyNot, WhyNotQuestion
from workspaces.scope import Scope


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
