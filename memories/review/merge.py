"""Subjects and memories put together: two subjects or two duplicates become one, memories move."""

import uuid
from collections.abc import Mapping, Sequence
from typing import Any

from django.db import connection, transaction
from django.utils import timezone

from memories import outbox, resolve
from memories.errors import Conflict, Forbidden, Invalid, NotFound, needed
from memories.features import follow_memory
from memories.features import merge_subjects as features
from memories.index import row_marks, subjects, workspace_index
from memories.models import (
    Connection,
    Conversation,
    Document,
    Episode,
    Fact,
    Intent,
    Layer,
    Memory,
    MemorySession,
    MergedRows,
    Rejection,
    SubjectMerge,
    WorkspaceIndex,
)
from memories.resolve import state_changes
from memories.review.forget import audit, forget_locked, locked
from memories.summaries import talk_summaries
from workspaces.models import Subject
from workspaces.models.workspace import uuid7
from workspaces.scope import NotAllowed, Scope, subject_to_write

# What was said and believed goes over; sets and features follow in their own way.
FOLLOWING: dict[str, Any] = {
    "conversation": Conversation,
    "session": MemorySession,
    "episode": Episode,
    "fact": Fact,
    "memory": Memory,
    "rejection": Rejection,
    "intent": Intent,
    "document": Document,
    "connection": Connection,
}
SHARED = "rejection of both"  # the target's, where the source had the same


def merge_subjects(scope: Scope, source_id: uuid.UUID, target_id: uuid.UUID) -> SubjectMerge:
    """What was said and believed about one subject is about another from now on; `separate` takes
    it back.

    The source stays, empty: what programs tell about it later is its own again. Keys that are
    limited to it do not see the target.
    """
    if source_id == target_id:
        raise Invalid("userId", "A subject cannot be merged into itself.")
    space = workspace_index.index_of(scope.workspace_id)
    with transaction.atomic(durable=True):
        workspace_index.lock(space)
        source, target = (locked_subject(scope, each) for each in (source_id, target_id))
        lock_writers(space, source, target)
        made = SubjectMerge.objects.create(
            workspace_id=scope.workspace_id, source=source, target=target, batch=uuid7(),
            merged_by=scope.actor,
        )  # fmt: skip
        # What both rejected stays the target's alone.
        own = Rejection.objects.filter(subject=source)
        both = Rejection.objects.filter(subject=target, fingerprint__in=own.values("fingerprint"))
        shared = list(both.values_list("pk", flat=True))
        own.filter(fingerprint__in=both.values("fingerprint")).delete()
        talk_summaries.start_again(space, Episode.objects.filter(subject=source), {target.pk})
        moved = {kind: reassign(kind, source, target) for kind in FOLLOWING}
        subjects.merge(space, source.pk, target.pk)
        row_marks.rebuild_slots(moved["memory"], row_marks.words_of(space))
        resolve.follow_subjects(scope.workspace_id, [source.pk, target.pk], scope.actor)
        restart_sessions(moved["session"])
        moved |= features.merge(scope, made) | {SHARED: shared}
        MergedRows.objects.bulk_create(
            MergedRows(workspace_id=made.workspace_id, merge=made, kind=kind, ids=ids)
            for kind, ids in moved.items()
            if ids
        )
        audit_merge(scope, made, "merge", {kind: len(ids) for kind, ids in moved.items()})
    return made


def locked_subject(scope: Scope, subject_id: uuid.UUID) -> Subject:
    """The subject, locked; NotFound where `scope` does not see it."""
    rows = Subject.objects.filter(workspace_id=scope.workspace_id)
    if scope.subject_ids is not None:
        rows = rows.filter(pk__in=scope.subject_ids)
    # Not against keys: who writes a row about it waits for the workspace, and holds a share of it.
    return needed(rows.filter(pk=subject_id).select_for_update(no_key=True).first(), "Subject")


def lock_writers(space: WorkspaceIndex, *subjects: Subject) -> None:
    """Wait for those who are writing down what is said about these subjects: they lock first the
    conversation, then the workspace's row. What they write after is about whom they named."""
    rows = Conversation.objects.filter(subject__in=subjects).order_by("pk")
    list(rows.select_for_update(no_key=True).values_list("pk", flat=True))
    WorkspaceIndex.objects.select_for_update(no_key=True).get(pk=space.pk)


def reassign(kind: str, source: Subject, target: Subject, **which: Any) -> list[uuid.UUID]:
    """Rows of one kind that were about `source` are about `target`; their ids."""
    rows = FOLLOWING[kind]._default_manager.filter(subject=source, **which)
    ids = list(rows.values_list("pk", flat=True))
    FOLLOWING[kind]._default_manager.filter(pk__in=ids).update(subject=target)
    return ids


def restart_sessions(session_ids: list[uuid.UUID]) -> None:
    """Sessions that a worker is at begin again, with whom they are about now."""
    busy = MemorySession.objects.filter(pk__in=session_ids, state=MemorySession.State.EXTRACTING)
    ids = list(busy.select_for_update().values_list("pk", flat=True))
    busy.filter(pk__in=ids).update(
        state=MemorySession.State.RECEIVED,  # by which the worker sees that it was taken over
        next_attempt_at=timezone.now(),
        lease_until=None,
    )
    for each in ids:
        outbox.post("run_session", each)


def audit_merge(scope: Scope, made: SubjectMerge, action: str, moved: Mapping[str, int]) -> None:
    """A line on each of the two, so that each one's history tells it."""
    for subject in (made.source, made.target):
        scope.audit(
            action,
            subject,
            subject_id=subject.pk,
            before={"userId": made.source.external_id},
            after={"userId": made.target.external_id, "moved": dict(moved), "merge": str(made.pk)},
        )


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
            follow_memory.move(scope, memory, target)
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
        state_changes.add_support({kept.pk: len(moved)}, timezone.now())
        forget_locked(scope, [other], f"duplicate of {kept.pk}")
        before = {"content": other.content, "memory": str(other.pk), "facts": moved}
        audit(scope, "merge", kept, before=before, after={"content": kept.content})
    return Memory.objects.with_names().get(pk=kept.pk)
