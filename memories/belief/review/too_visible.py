"""Memories that more can see than if they were learned today."""

import uuid
from collections.abc import Collection, Iterator
from dataclasses import dataclass

from django.db import transaction
from django.db.models import QuerySet

from memories.belief.review.forget import audit
from memories.index import entries, workspace_index
from memories.language.english.patterns.pattern import TEAM_CATEGORIES
from memories.language.english.topics import is_private_life, is_work
from memories.language.english.workspace_patterns import RULE
from memories.models import Category, Episode, Layer, Memory, Source, Visibility
from memories.models.conversation import is_shared_by_default
from workspaces.scope import Scope

PRIVATE_LIFE = "it tells of somebody's private life"
ASSISTANTS = "only an assistant said it"
OF_A_PERSON = "a person is named, and nobody said that it is the team's"
NOT_OF_WORK = "a person decided it with others, and it tells of no work"
AT_ONCE = 500  # memories that are read together
MADE_PRIVATE = 100  # memories of one transaction


@dataclass(frozen=True, slots=True)
class VisibilityChange:
    """A live memory that would be private today, and why."""

    memory: Memory
    reason: str


def visibility_changes(scope: Scope) -> Iterator[VisibilityChange]:
    """Yield the live memories that machines read and made the team's and that would be private
    today. What a request, a person or a workspace's own pattern made visible stays."""
    default = str(workspace_index.index_of(scope.workspace_id).guard.get("audience") or "")
    rows = _shared(scope).select_related("agent", "subject", "conversation")
    for memory in rows.order_by("pk").iterator(chunk_size=AT_ONCE):
        cited = Episode.objects.filter(citations__fact__memory=memory)
        episodes = list(cited.select_related("conversation").order_by("pk"))
        conversation = memory.conversation or next(
            (episode.conversation for episode in episodes if episode.conversation), None
        )
        subject_id = memory.subject_id or next((e.subject_id for e in episodes), None)
        if is_private_life(memory.content):
            yield VisibilityChange(memory, PRIVATE_LIFE)
        elif episodes and all(each.kind == Episode.Kind.ASSISTANT for each in episodes):
            yield VisibilityChange(memory, ASSISTANTS)
        elif not is_shared_by_default(subject_id, memory.agent, conversation, default):
            yield VisibilityChange(memory, OF_A_PERSON)
        elif subject_id and memory.category == Category.DECISION and not is_work(memory.content):
            yield VisibilityChange(memory, NOT_OF_WORK)


def make_private(scope: Scope, memory_ids: Collection[uuid.UUID]) -> int:
    """Show these to nobody but their own agent and subject. Return how many were shown to more. A
    PATCH of `visibility` undoes it."""
    ids, done = list(memory_ids), 0
    for start in range(0, len(ids), MADE_PRIVATE):
        done += _make_private(scope, ids[start : start + MADE_PRIVATE])
    return done


@transaction.atomic(durable=True)
def _make_private(scope: Scope, memory_ids: Collection[uuid.UUID]) -> int:
    workspace_index.lock(workspace_index.index_of(scope.workspace_id))
    rows = list(_shared(scope).filter(pk__in=memory_ids).select_for_update(of=("self",)))
    for memory in rows:
        before = {"visibility": memory.visibility}
        memory.visibility = Visibility.PRIVATE
        memory.save(update_fields=["visibility", "updated_at"])
        entries.change_visibility(Layer.MEMORIES, [memory.pk], memory.visibility)
        after = {"visibility": memory.visibility}
        audit(scope, "edit", memory, before=before, after=after)
    return len(rows)


def _shared(scope: Scope) -> QuerySet[Memory]:
    rows = Memory.objects.visible_to(scope).live().filter(visibility=Visibility.TEAM)
    rows = rows.filter(source=Source.EXTRACTED, category__in=TEAM_CATEGORIES)
    said = rows.filter(facts__session__visibility=Visibility.TEAM)
    own = rows.filter(facts__rule__startswith=RULE)
    return rows.exclude(pk__in=said.values("pk")).exclude(pk__in=own.values("pk"))
