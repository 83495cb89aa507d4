"""Merging two memories that say the same, parting them again, and moving memories to another
subject."""

import uuid
from collections.abc import Sequence

from django.db import connection, transaction
from django.utils import timezone

from memories.belief import resolve
from memories.belief.resolve import state_changes
from memories.belief.review.forget import audit, forget_locked, locked
from memories.belief.review.undo import believe_anew
from memories.errors import Conflict, Forbidden, Invalid, NotFound
from memories.index import row_marks, subjects, workspace_index
from memories.models import Fact, Layer, Memory, MemoryPeriod, Supersession, WorkspaceIndex
from memories.profiles.features import follow_sources
from workspaces.scope import NotAllowed, Scope, subject_to_write

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
    """Move memories, with all their versions and facts, to another subject; return how many
    versions.

    Episodes stay where they were said. Moving them back is the way to undo it.
    """
    try:
        target = subject_to_write(scope, user_id.strip())
    except NotAllowed as error:
        raise Forbidden(error.message, "userId") from None
    if target is None:
        raise Invalid("userId", "Name the subject that it is to be about.")
    space = workspace_index.index_of(scope.workspace_id)
    with transaction.atomic(durable=True):
        workspace_index.lock(space)
        chosen = _visible(scope, memory_ids)
        with connection.cursor() as cursor:
            cursor.execute(CHAINS, {"ids": list(memory_ids)})
            ids = [row[0] for row in cursor.fetchall()]
        _visible(scope, ids)
        for memory in Memory.objects.live().filter(pk__in=ids):
            follow_sources.move(scope, memory, target)
        Memory.objects.filter(pk__in=ids).update(subject=target)
        Fact.objects.filter(memory__in=ids).update(subject=target)
        subjects.move(space, Layer.MEMORIES, ids, target.pk)
        row_marks.rebuild_slots(ids, row_marks.words_of(space))
        resolve.follow_subjects(scope.workspace_id, [target.pk], scope.actor)
        for memory in chosen:
            before = memory.subject.external_id if memory.subject else ""
            memory.subject = target
            after = {"userId": target.external_id}
            audit(scope, "move", memory, before={"userId": before}, after=after)
    return len(ids)


def _visible(scope: Scope, ids: Sequence[uuid.UUID]) -> list[Memory]:
    rows = Memory.objects.visible_to(scope).filter(pk__in=ids).select_related("subject")
    memories = list(rows.select_for_update(of=("self",)))
    if len(memories) < len(set(ids)):
        raise NotFound("Memory")
    return memories


def merge_duplicates(scope: Scope, kept_id: uuid.UUID, other_id: uuid.UUID) -> Memory:
    """Merge two live memories that say the same: one stays, with the facts of both; the other is
    forgotten.

    It can be restored; the facts stay with the one that was kept, unless `part_duplicates` takes it
    back.
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
        state_changes.add_support({kept.pk: len(moved)}, timezone.now())
        forget_locked(scope.as_part_of(kept), [other], f"duplicate of {kept.pk}")
        before = {"content": other.content, "memory": str(other.pk), "facts": moved}
        audit(scope, "merge", kept, before=before, after={"content": kept.content})
    return Memory.objects.with_names().get(pk=kept.pk)


def part_duplicates(scope: Scope, kept_id: uuid.UUID, other_id: uuid.UUID, facts: Sequence[str]) -> None:
    """Undo a merge of two memories: the other is believed again, and has its `facts` again.
    Conflict where it was changed since."""
    space = workspace_index.index_of(scope.workspace_id)
    with transaction.atomic(durable=True):
        workspace_index.lock(space)
        kept, other = locked(scope, kept_id), locked(scope, other_id)
        if not other.may_return:
            raise Conflict("The other was changed since.", "stale", "id")
        moved = Fact.objects.filter(pk__in=facts, memory=kept).update(memory=other)
        state_changes.add_support({kept.pk: -moved}, timezone.now())
        believe_anew(scope, space, other, MemoryPeriod.Cause.RESTORED)
        audit(scope, "separate", kept, after={"content": other.content, "memory": str(other.pk)})


# A merge of two subjects taken back: each has its own again; and one subject parted into two.

State = Supersession.State
Ids = set[uuid.UUID]
