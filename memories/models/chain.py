"""All versions of a belief, and the decisions between them."""

import uuid
from dataclasses import dataclass
from datetime import datetime

from django.db import connection

from memories.models.memory import Memory, MemoryPeriod
from memories.models.supersession import Supersession
from workspaces.scope import Scope

MEMBERS = """
with recursive older as (
  select %(id)s::uuid as id union
  select m.id from memories_memory m join older o on m.superseded_by_id = o.id),
newer as (
  select id from older union
  select m.superseded_by_id from memories_memory m join newer n on m.id = n.id
  where m.superseded_by_id is not null),
everything as (
  select id from newer union
  select m.id from memories_memory m join everything e on m.superseded_by_id = e.id)
select id from everything
"""


@dataclass(frozen=True, slots=True)
class Link:
    """A version, and the decision that put it in the place of the one before."""

    memory: Memory
    supersession: Supersession | None


def versions_of(memory_id: uuid.UUID) -> list[uuid.UUID]:
    """The ids of all versions, in no order."""
    with connection.cursor() as cursor:
        cursor.execute(MEMBERS, {"id": memory_id})
        return [row[0] for row in cursor.fetchall()]


def chain(scope: Scope, memory_id: uuid.UUID, known_at: datetime | None = None) -> list[Link]:
    """The chain that a memory belongs to, as far as `scope` sees it, oldest version first.

    At `known_at` it ends with the version that was believed last then.
    """
    seen = Memory.objects.visible_to(scope).filter(pk__in=versions_of(memory_id))
    seen = seen.with_names().as_known(known_at)
    decisions = Supersession.objects.filter(state=Supersession.State.APPLIED)
    if known_at is not None:
        believed = MemoryPeriod.objects.filter(from_at__lte=known_at)
        seen = seen.filter(pk__in=believed.values("memory_id"))
        decisions = decisions.filter(decided_at__lte=known_at)
    versions = list(seen.order_by("version", "created_at", "pk"))
    by_new = {found.new_id: found for found in decisions.filter(new__in=versions).order_by("pk")}
    return [Link(memory, by_new.get(memory.pk)) for memory in versions]
