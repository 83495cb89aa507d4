"""What changes the state of memories that are there: one text for each act, of a batch or of one.

Each writes the rows, the periods in which they were believed, and the index; behind the workspace's
lock, in the caller's transaction.
"""

import uuid
from collections.abc import Mapping, Sequence
from datetime import datetime

from django.utils import timezone

from memories.index import entries, statements
from memories.models import Layer, Memory, MemoryPeriod, WorkspaceIndex
from memories.resolve import grounds

SUPERSEDE = """
with pair as (
  select * from unnest(%(olds)s::uuid[], %(news)s::uuid[], %(since)s::timestamptz[])
    p(old, new, since)),
ended as (
  update memories_memoryperiod l
  set from_at = least(l.from_at, %(at)s), until_at = %(at)s, ended_by = 'superseded' from pair
  where l.memory_id = pair.old and l.until_at is null)
update memories_memory m
set superseded_by_id = pair.new, superseded_at = %(at)s, updated_at = %(at)s,
    valid_until = case when m.valid_until is null and m.valid_from < pair.since
                       then pair.since else m.valid_until end
from pair where m.id = pair.old and m.superseded_by_id is null
"""
SUPPORT = """
update memories_memory m set source_count = m.source_count + more.facts, updated_at = %(at)s
from unnest(%(ids)s::uuid[], %(facts)s::int4[]) more(id, facts) where m.id = more.id
"""


def supersede(
    space: WorkspaceIndex,
    successors: Mapping[uuid.UUID, tuple[uuid.UUID, datetime | None]],
    at: datetime,
) -> None:
    """End heads: by the id of each, the memory that takes its place and since when that is true.

    A row in hand is not changed: it is to be read again.
    """
    if not successors:
        return
    values = {
        "olds": list(successors),
        "news": [new for new, _ in successors.values()],
        "since": [since for _, since in successors.values()],
        "at": at,
    }
    statements.execute(SUPERSEDE, values)
    entries.set_live(space, Layer.MEMORIES, successors, live=False)
    grounds.follow(space, successors)


def add_support(facts: Mapping[uuid.UUID, int], at: datetime) -> None:
    """Count so many more facts, or fewer, under each memory."""
    if facts:
        values = {"ids": list(facts), "facts": list(facts.values()), "at": at}
        statements.execute(SUPPORT, values)


def end(space: WorkspaceIndex, memories: Sequence[Memory], reason: str, at: datetime) -> None:
    """They are forgotten from `at` on."""
    ids = [memory.pk for memory in memories]
    for memory in memories:
        memory.forgotten_at, memory.forget_reason, memory.updated_at = at, reason, at
    Memory.objects.filter(pk__in=ids).update(forgotten_at=at, forget_reason=reason, updated_at=at)
    MemoryPeriod.objects.filter(memory__in=ids).end(at, "forgotten")
    entries.set_live(space, Layer.MEMORIES, ids, live=False)
    grounds.follow(space, ids)


def hold(space: WorkspaceIndex, memory: Memory, at: datetime) -> None:
    """It is believed no more until a person says so; one that was forgotten waits again."""
    memory.held_at, memory.forgotten_at, memory.forget_reason = at, None, ""
    memory.save(update_fields=["held_at", "forgotten_at", "forget_reason", "updated_at"])
    memory.periods.all().end(at, "held")
    entries.set_live(space, Layer.MEMORIES, [memory.pk], live=False)
    grounds.follow(space, [memory.pk])


def restore(space: WorkspaceIndex, memory: Memory, cause: str) -> None:
    """It is a head from now on, neither forgotten nor held, unless another one superseded it."""
    memory.forgotten_at, memory.forget_reason, memory.held_at = None, "", None
    memory.save(update_fields=["forgotten_at", "forget_reason", "held_at", "updated_at"])
    begin_period(memory, cause)
    entries.set_live(space, Layer.MEMORIES, [memory.pk], live=True)
    grounds.follow(space, [memory.pk])


def begin_period(memory: Memory, cause: str) -> None:
    """It is believed from now on, where it is not yet."""
    if not memory.periods.filter(until_at=None).exists():
        MemoryPeriod.objects.create(
            workspace_id=memory.workspace_id, memory=memory, from_at=timezone.now(), cause=cause
        )


def unlink(old: Memory, new: Memory, heir: Memory | None = None) -> None:
    """Take `new` out of the place of `old`, and `heir` into it, if there is one."""
    grounds.move_back(new, heir or old)
    if old.valid_until is not None and old.valid_until == new.valid_from:
        old.valid_until = heir.valid_from if heir else None
    old.superseded_by = heir
    old.superseded_at = old.superseded_at if heir else None
    old.save(update_fields=["superseded_by", "superseded_at", "valid_until", "updated_at"])
