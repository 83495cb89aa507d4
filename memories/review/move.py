"""Whom memories are about, put right: moved to another subject; duplicates merged."""

import uuid
from collections.abc import Sequence

from django.db import connection, transaction

from memories.errors import Conflict, Forbidden, Invalid, NotFound
from memories.features import follow_memory
from memories.index import slots, subjects, workspace_index
from memories.models import Fact, Layer, Memory, WorkspaceIndex
from memories.review.forget import audit, end, locked
from workspaces.external_ids import NotAllowed, subject_to_write
from workspaces.models import Subject
from workspaces.scope import Scope

# All versions of the chains that these memories stand in, and what waits to replace them.
CHAINS = """
with recursive whole (id) as (
  select unnest(%(ids)s::uuid[])
  union
  select other from whole, lateral (
    select m.superseded_by_id from memories_memory m
    where m.id = whole.id and m.superseded_by_id is not null
    union all select m.id from memories_memory m where m.superseded_by_id = whole.id
    union all select s.new_id from memories_supersession s
    where s.old_id = whole.id and s.state = 'pending'
    union all select s.old_id from memories_supersession s
    where s.new_id = whole.id and s.state = 'pending') as beside (other)
)
select id from whole
"""


def move(scope: Scope, memory_ids: Sequence[uuid.UUID], user_id: str) -> int:
    """Let memories, with all their versions and facts, be about another subject; how many versions.

    Episodes stay where they were said. Moving them back is the way to undo it.
    """
    target = _subject(scope, user_id)
    space = workspace_index.index_of(scope.workspace_id)
    with transaction.atomic(durable=True):
        workspace_index.lock(space)
        chosen = _visible(scope, memory_ids)
        ids = _whole_chains(memory_ids)
        _visible(scope, ids)
        for memory in Memory.objects.live().filter(pk__in=ids):
            follow_memory.move(scope, memory, target)
        Memory.objects.filter(pk__in=ids).update(subject=target)
        Fact.objects.filter(memory__in=ids).update(subject=target)
        subjects.move(space, Layer.MEMORIES, ids, target.pk)
        slots.rebuild(ids, slots.words_of(space))
        for memory in chosen:
            before = memory.subject.external_id if memory.subject else ""
            memory.subject = target
            told = {"before": {"userId": before}, "after": {"userId": target.external_id}}
            audit(scope, "move", memory, **told)
    return len(ids)


def _subject(scope: Scope, user_id: str) -> Subject:
    try:
        found = subject_to_write(scope, user_id.strip())
    except NotAllowed as error:
        raise Forbidden(error.message, "userId") from None
    if found is None:
        raise Invalid("userId", "Name the subject that it is to be about.")
    return found


def _visible(scope: Scope, ids: Sequence[uuid.UUID]) -> list[Memory]:
    rows = Memory.objects.visible_to(scope).filter(pk__in=ids).select_related("subject")
    found = list(rows.select_for_update(of=("self",)))
    if len(found) < len(set(ids)):
        raise NotFound("Memory")
    return found


def _whole_chains(ids: Sequence[uuid.UUID]) -> list[uuid.UUID]:
    with connection.cursor() as cursor:
        cursor.execute(CHAINS, {"ids": list(ids)})
        return [row[0] for row in cursor.fetchall()]


def merge_duplicates(scope: Scope, kept_id: uuid.UUID, other_id: uuid.UUID) -> Memory:
    """Two live memories say the same: one stays, with the facts of both; the other is forgotten.

    It can be restored; the facts stay with the one that was kept.
    """
    space: WorkspaceIndex = workspace_index.index_of(scope.workspace_id)
    with transaction.atomic(durable=True):
        workspace_index.lock(space)
        kept, other = locked(scope, kept_id), locked(scope, other_id)
        if kept.pk == other.pk or kept.subject_id != other.subject_id:
            raise Invalid("id", "Only two memories about the same subject can be merged.")
        if not kept.is_live or not other.is_live:
            raise Conflict("One of them is no longer live.", "stale", "id")
        facts = Fact.objects.filter(memory=other)
        moved = [str(pk) for pk in facts.values_list("pk", flat=True)]
        facts.update(memory=kept)
        Memory.objects.all().add_support({kept.pk: len(moved)})
        end(scope, other, f"duplicate of {kept.pk}")
        before = {"content": other.content, "memory": str(other.pk), "facts": moved}
        audit(scope, "merge", kept, before=before, after={"content": kept.content})
    return Memory.objects.with_names().get(pk=kept.pk)
