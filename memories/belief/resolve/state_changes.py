"""Changes of the state of existing memories: one function for each act, for one memory or a batch.

Each writes the rows, the periods in which they were believed, and the index; behind the workspace's
lock, in the caller's transaction.
"""

import uuid
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import NamedTuple

from django.utils import timezone

from memories.belief.resolve import grounds
from memories.index import due_summaries, entries, prepared_sql
from memories.models import Layer, Memory, MemoryPeriod, WorkspaceIndex

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
    valid_until = case when m.valid_from < pair.since
                       then least(m.valid_until, pair.since) else m.valid_until end
from pair where m.id = pair.old and m.superseded_by_id is null
"""
# Of heads, those whose end one of these tells.
TO_BE_OVER = """
select m.id, m.ended_by, m.valid_until from memories_memory m
where m.ended_by = any(%(ids)s::uuid[]) and m.superseded_by_id is null
"""
NEVER_SO = "wrong"  # why something was forgotten
SUPPORT = """
update memories_memory m set source_count = m.source_count + more.facts, updated_at = %(at)s
from unnest(%(ids)s::uuid[], %(facts)s::int4[]) more(id, facts) where m.id = more.id
"""


def supersede(
    space: WorkspaceIndex,
    successors: Mapping[uuid.UUID, tuple[uuid.UUID, datetime | None]],
    at: datetime,
) -> None:
    """End heads: `successors` has, by the id of each, its successor and since when that is true.

    Rows already read are not changed: read them again.
    """
    if not successors:
        return
    values = {
        "olds": list(successors),
        "news": [new for new, _ in successors.values()],
        "since": [since for _, since in successors.values()],
        "at": at,
    }
    prepared_sql.execute(SUPERSEDE, values)
    _follow_plans({old: End(since or at, new) for old, (new, since) in successors.items()}, at)
    entries.set_live(space, Layer.MEMORIES, successors, live=False)
    _touched(space, successors)


def _touched(space: WorkspaceIndex, ids: Collection[uuid.UUID]) -> None:
    """Review what rests on these memories, and make the summaries about them due again."""
    grounds.follow(space, ids)
    due_summaries.of_memories(space.workspace_id, ids)


class End(NamedTuple):
    """The end of something's truth, and the memory that tells it."""

    until: datetime
    by: uuid.UUID


def end_validity(ends: Mapping[uuid.UUID, End], at: datetime) -> None:
    """Set when memories ceased to be true, as known from `at` on; they are believed as before."""
    for pk, end in ends.items():
        Memory.objects.filter(pk=pk).update(valid_until=end.until, valid_until_at=at, ended_by=end.by, updated_at=at)


def _follow_plans(gone: Mapping[uuid.UUID, End | None], at: datetime, *, never: bool = False) -> None:
    """Adjust memories whose end was set by a plan that is no longer believed: they get the end of
    the plan in its place, else none. Those already over stay so, unless the plan `never` was true.
    """
    for row in prepared_sql.rows(TO_BE_OVER, {"ids": list(gone)}):
        if row.valid_until is None or not (never or row.valid_until > at):
            continue
        moved = gone[row.ended_by]
        is_plan = moved is not None and moved.until > at
        Memory.objects.filter(pk=row.id).update(
            valid_until=moved.until if moved and is_plan else None,
            ended_by=moved.by if moved and is_plan else row.ended_by,
            valid_until_at=at,
            updated_at=at,
        )


def add_support(facts: Mapping[uuid.UUID, int], at: datetime) -> None:
    """Add to (or take from) the number of facts under each memory."""
    if facts:
        values = {"ids": list(facts), "facts": list(facts.values()), "at": at}
        prepared_sql.execute(SUPPORT, values)


def end(space: WorkspaceIndex, memories: Sequence[Memory], reason: str, at: datetime) -> None:
    """Forget these memories from `at` on."""
    ids = [memory.pk for memory in memories]
    for memory in memories:
        memory.forgotten_at, memory.forget_reason, memory.updated_at = at, reason, at
    Memory.objects.filter(pk__in=ids).update(forgotten_at=at, forget_reason=reason, updated_at=at)
    MemoryPeriod.objects.filter(memory__in=ids).end(at, "forgotten")
    _follow_plans(dict.fromkeys(ids), at, never=reason == NEVER_SO)
    entries.set_live(space, Layer.MEMORIES, ids, live=False)
    _touched(space, ids)


def hold(space: WorkspaceIndex, memory: Memory, at: datetime) -> None:
    """Hold a memory: it is not believed until a person says so; a forgotten one waits again."""
    memory.held_at, memory.forgotten_at, memory.forget_reason = at, None, ""
    memory.save(update_fields=["held_at", "forgotten_at", "forget_reason", "updated_at"])
    memory.periods.all().end(at, "held")
    _follow_plans({memory.pk: None}, at)
    entries.set_live(space, Layer.MEMORIES, [memory.pk], live=False)
    _touched(space, [memory.pk])


def restore(space: WorkspaceIndex, memory: Memory, cause: str) -> None:
    """Make a memory a head again, neither forgotten nor held, unless another superseded it."""
    memory.forgotten_at, memory.forget_reason, memory.held_at = None, "", None
    memory.save(update_fields=["forgotten_at", "forget_reason", "held_at", "updated_at"])
    begin_period(memory, cause)
    for row in prepared_sql.rows(TO_BE_OVER, {"ids": [memory.pk]}):
        if row.valid_until is None and memory.valid_from is not None:
            end_validity({row.id: End(memory.valid_from, memory.pk)}, timezone.now())
    entries.set_live(space, Layer.MEMORIES, [memory.pk], live=True)
    _touched(space, [memory.pk])


def begin_period(memory: Memory, cause: str) -> None:
    """Begin a period in which the memory is believed, where it is not yet."""
    if not memory.periods.filter(until_at=None).exists():
        MemoryPeriod.objects.create(
            workspace_id=memory.workspace_id, memory=memory, from_at=timezone.now(), cause=cause
        )


def unlink(old: Memory, new: Memory, heir: Memory | None = None) -> None:
    """Remove `new` as the successor of `old`, and put `heir` in its place, if there is one."""
    grounds.move_back(new, heir or old)
    if old.valid_until is not None and old.valid_until == new.valid_from:
        old.valid_until = heir.valid_from if heir else None
    old.superseded_by = heir
    old.superseded_at = old.superseded_at if heir else None
    old.save(update_fields=["superseded_by", "superseded_at", "valid_until", "updated_at"])
