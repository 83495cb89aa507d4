"""All versions of a belief, and the decisions between them."""

import uuid
from dataclasses import dataclass

from django.db import connection

from memories.models.memory import Memory
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


def chain(scope: Scope, memory_id: uuid.UUID) -> list[Link]:
    """The chain that a memory belongs to, as far as `scope` sees it, oldest version first."""
    seen = Memory.objects.visible_to(scope).with_names().filter(pk__in=versions_of(memory_id))
    versions = list(seen.order_by("version", "created_at", "pk"))
    decisions = Supersession.objects.filter(
        new__in=versions, state=Supersession.State.APPLIED
    ).order_by("pk")
    by_new = {decision.new_id: decision for decision in decisions}
    return [Link(memory, by_new.get(memory.pk)) for memory in versions]
