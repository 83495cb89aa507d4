"""Removal of the facts that a memory stands on, and what becomes of memories that stand on
nothing."""

import uuid
from collections import Counter
from collections.abc import Sequence
from datetime import datetime

from django.db.models import Q, QuerySet
from django.utils import timezone

from memories.belief.resolve.protected_memories import Policy
from memories.belief.resolve.state_changes import add_support
from memories.index import prepared_sql
from memories.judge.judge import NAME
from memories.models import Fact, Memory, Supersession, WorkspaceIndex

MODEL = "model:"  # the beginning of the actor where a language model decides, which its name follows

# What carries memories, when some of it is taken away: a document's new revision does not say it
# any more.

KEPT = "kept"  # the rule of the fact that is a person's word, who keeps what nothing else carries
# A richer text has inherited the support of what it replaced.
TAKE_AWAY = """
with recursive line (origin, id) as (
  select id, id from unnest(%(ids)s::uuid[]) lost (id)
  union
  select l.origin, s.new_id from line l join memories_supersession s on s.old_id = l.id
  where s.state = 'applied' and s.rule = 'richer'),
less (id, facts) as (
  select l.id, sum(lost.facts)::int4 from line l
  join unnest(%(ids)s::uuid[], %(facts)s::int4[]) lost (id, facts) on lost.id = l.origin
  group by l.id)
update memories_memory m
set source_count = greatest(0, m.source_count - less.facts), updated_at = %(at)s
from less where m.id = less.id
returning m.id, m.is_head and m.source_count = 0 as is_bare
"""


def take_support_away(facts: QuerySet[Fact], at: datetime) -> list[Memory]:
    """Withdraw these facts from `at` on; they wait for nobody any more. Return, locked, the heads
    that nothing carries then."""
    rows = list(facts.filter(withdrawn_at=None).order_by("pk"))
    lost = Counter(fact.memory_id for fact in rows if fact.memory_id)
    Fact.objects.filter(pk__in=[fact.pk for fact in rows]).update(withdrawn_at=at, quarantined_at=None, updated_at=at)
    if not lost:
        return []
    values = {"ids": list(lost), "facts": list(lost.values()), "at": at}
    bare = [row.id for row in prepared_sql.rows(TAKE_AWAY, values) if row.is_bare]
    return list(Memory.objects.filter(pk__in=bare).select_for_update(of=("self",)).order_by("pk"))


def decided_by_people(space: WorkspaceIndex, memories: Sequence[Memory]) -> set[uuid.UUID]:
    """Return the memories that no machine may end alone: those that a person pinned or decided for,
    and those that the workspace's policy protects."""
    policy = Policy.of(space.review)
    rows = Supersession.objects.filter(new__in=memories, state=Supersession.State.APPLIED)
    by_machines = (
        Q(decided_by__startswith="session:") | Q(decided_by__startswith=NAME) | Q(decided_by__startswith=MODEL)
    )
    decided = rows.exclude(by_machines).values_list("new_id", flat=True)
    return {m.pk for m in memories if m.pinned or m.category in policy.categories} | set(decided)


def keep_unsupported(memory: Memory) -> Fact | None:
    """Keep a memory that nothing carries, as a person says: a new fact carries it from now on.
    None where something carries it already."""
    if not Memory.objects.unsupported().filter(pk=memory.pk).exists():
        return None
    add_support({memory.pk: 1}, timezone.now())
    return Fact.objects.create(
        workspace_id=memory.workspace_id,
        memory=memory,
        subject_id=memory.subject_id,
        agent_id=memory.agent_id,
        statement=memory.content,
        category=memory.category,
        fact_type=memory.fact_type,
        confidence=memory.confidence,
        method=Fact.Method.MANUAL,
        rule=KEPT,
        entities=memory.entities,
        visibility=memory.visibility,
        event_date=memory.event_date,
    )


def take_keeping_back(fact_id: uuid.UUID) -> None:
    """Undo `keep_unsupported`."""
    for fact in Fact.objects.filter(pk=fact_id, rule=KEPT):
        if fact.memory_id is not None:
            add_support({fact.memory_id: -1}, timezone.now())
        fact.delete()
