"""Later words about the memories that a search found: messages that speak against them, or say otherwise
for a while."""

import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

from django.utils import timezone

from memories.index import prepared_sql
from memories.models import CARRIED_LATER, DOUBTS
from memories.search.conditions import parameters, shape_of
from memories.search.request import Scored
from memories.search.search_question import SearchQuestion
from memoryproject.postgres.prepared import Asked

# Of the memories, and of those that stand on the episodes, the messages that the asker may find. One
# that was said before what carries the memory now counts no more.
LATER = f"""
with {{prelude}} known as materialized (
  select unnest(%(found)s::uuid[]) as id
  union
  select f.memory_id from memories_citation ci join memories_fact f on f.id = ci.fact_id
  where ci.episode_id = any(%(told)s::uuid[]) and f.memory_id is not null)
select t.memory_id, t.relation = 'exception' as is_exception, x.id as entry, x.item as episode_id
from memories_touch t
cross join lateral (select x.id, x.item {{entries}} and x.item = t.episode_id offset 0) x
where t.memory_id = any(array(select id from known)) and t.relation in {(*DOUBTS, "exception")}
  and (t.until is null or t.until > %(instant)s::timestamptz) and not {CARRIED_LATER}
order by t.said_at, t.episode_id
"""

# Makes the statement for memories and episodes that were found.
AskLater = Callable[[Sequence[uuid.UUID], Sequence[uuid.UUID]], Asked]


def asks_later(question: SearchQuestion) -> AskLater | None:
    """Return what makes the statement; None where the search reaches no messages."""
    there = question.in_layer("episodes")
    if there is None:
        return None
    shape = shape_of(there, by_vector=False)
    text = LATER.format(prelude=shape.prelude, entries=shape.entries())
    at = question.request.at
    instant = at.valid_at or at.said_before or at.known_at or timezone.now()
    values = parameters(there) | {"instant": instant}

    def later(memories: Sequence[uuid.UUID], episodes: Sequence[uuid.UUID]) -> Asked:
        return text, values | {"found": prepared_sql.Uuids(memories), "told": prepared_sql.Uuids(episodes)}

    return later


class LaterMessage(NamedTuple):
    """A message with its entry; `place` is later for what was said later."""

    place: int
    entry: int
    item: uuid.UUID


@dataclass(frozen=True, slots=True)
class LaterWords:
    """Later messages by memory: the newest that speaks against it, and the newest that says otherwise
    for a while. `stands`: the memories that stand on an episode."""

    doubts: Mapping[uuid.UUID, LaterMessage]
    exceptions: Mapping[uuid.UUID, LaterMessage]
    stands: Mapping[uuid.UUID, set[uuid.UUID]]

    @classmethod
    def of(cls, rows: Iterable[Any], stands: Mapping[uuid.UUID, set[uuid.UUID]]) -> Self:
        """Read rows of LATER."""
        doubts: dict[uuid.UUID, LaterMessage] = {}
        exceptions: dict[uuid.UUID, LaterMessage] = {}
        for place, row in enumerate(rows):
            kind = exceptions if row.is_exception else doubts
            kind[row.memory_id] = LaterMessage(place, row.entry, row.episode_id)
        return cls(doubts, exceptions, stands)

    def against(self, one: Scored) -> LaterMessage | None:
        """Return the newest message that speaks against this, or against what it says."""
        newest, item, memories = None, one.item, self._beliefs(one)
        passed = {item}
        while found := [self.doubts[each] for each in memories if each in self.doubts]:
            last = max(found)
            if last.item in passed:
                break
            passed.add(last.item)
            newest, memories = last, self.stands.get(last.item, set())
        return newest

    def beside(self, one: Scored) -> LaterMessage | None:
        """Return the newest message that says otherwise for a while."""
        return max((self.exceptions[each] for each in self._beliefs(one) if each in self.exceptions), default=None)

    def is_all_against(self, one: Scored) -> bool:
        """Tell whether later words speak against all that is believed of it."""
        return self._beliefs(one) <= self.doubts.keys()

    def _beliefs(self, one: Scored) -> set[uuid.UUID]:
        return {one.item} if one.layer == "memories" else self.stands.get(one.item, set())
