"""A memory and the message that it stands on, shown as one hit; what was replaced, after what
replaced it; what was forgotten, left out."""

import math
import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from memories.index import prepared_sql
from memories.models import LIVE_SQL
from memories.search.later_words import AskLater, LaterMessage, LaterWords
from memories.search.request import Placed, Scored
from memoryproject.postgres.prepared import Asked

CITED = """
select distinct f.memory_id, ci.episode_id
from memories_fact f join memories_citation ci on ci.fact_id = f.id
where f.memory_id = any(%(ids)s::uuid[]) and ci.episode_id is not null
"""
# The memories that stand on these episodes, and the chains from there to live memories: each
# version once, however many of a chain stand on one episode.
REPLACED = f"""
with recursive stands (episode_id, memory_id) as (
  select distinct ci.episode_id, f.memory_id
  from memories_citation ci join memories_fact f on f.id = ci.fact_id
  where ci.episode_id = any(%(ids)s::uuid[]) and f.memory_id is not null),
line (id, next_id, is_live, forgotten_at, forget_reason) as (
  select m.id, m.superseded_by_id, {LIVE_SQL}, m.forgotten_at, m.forget_reason
  from memories_memory m
  where m.id = any(array(select memory_id from stands))  -- read once, whatever the planner guesses
  union
  select m.id, m.superseded_by_id, {LIVE_SQL}, m.forgotten_at, m.forget_reason
  from line join memories_memory m on m.id = line.next_id)
select episode_id, memory_id, null::uuid as next_id, null::boolean as is_live,
       null::timestamptz as forgotten_at, null::text as forget_reason from stands
union all select null, id, next_id, is_live, forgotten_at, forget_reason from line
"""
Head = tuple[uuid.UUID, uuid.UUID, Any]  # an episode, what stands on it, its last version's row


# The words of messages that a memory stood on which was forgotten, but for those that something
# believed stands on, too.
FORGOTTEN_PLACES = f"""
select ci.episode_id, ci.start, ci."end"
from memories_citation ci join memories_fact f on f.id = ci.fact_id
where ci.episode_id = any(%(ids)s::uuid[]) and f.memory_id = any(%(forgotten)s::uuid[])
  and not exists (
    select 1 from memories_citation c join memories_fact g on g.id = c.fact_id
    join memories_memory m on m.id = g.memory_id
    where c.episode_id = ci.episode_id and c.start < ci."end" and ci.start < c."end"
      and {LIVE_SQL})
"""
# The same of revisions of documents.
FORGOTTEN_WRITTEN = f"""
select ci.revision_id, ci.start, ci."end"
from memories_citation ci join memories_fact f on f.id = ci.fact_id
join memories_memory gone on gone.id = f.memory_id and gone.forgotten_at is not null
where ci.revision_id = any(%(ids)s::uuid[])
  and not exists (
    select 1 from memories_citation c join memories_fact g on g.id = c.fact_id
    join memories_memory m on m.id = g.memory_id
    where c.revision_id = ci.revision_id and c.start < ci."end" and ci.start < c."end"
      and {LIVE_SQL})
"""


def collapse(found: Sequence[Scored], *, is_now: bool = False, later: AskLater | None = None) -> list[Scored]:
    """Return each memory with the episodes it stands on as one hit, at the place of the best of
    them.

    The memory leads if it stands on that episode alone and its own words and meaning answer no
    worse; what it stands on, or what stands on the same words, is among its `echoes`, best first.
    `is_now`: a memory that replaced one of an episode comes before that episode. `later`: so does a
    message that speaks against a memory, and the memory is among its echoes; one that says
    otherwise for a while stands before it.
    """
    memories = [one.item for one in found if one.layer == "memories"]
    episodes = [one.item for one in found if one.layer == "episodes"]
    asked: dict[str, Asked] = {"cited": (CITED, {"ids": prepared_sql.Uuids(memories)})}
    if is_now and episodes:
        asked["replaced"] = (REPLACED, {"ids": prepared_sql.Uuids(episodes)})
    if later:
        asked["later"] = later(memories, episodes)
    rows = dict(zip(asked, prepared_sql.rows_of_each(asked.values()), strict=True))
    cited: dict[uuid.UUID, set[uuid.UUID]] = {}
    for row in rows["cited"]:
        cited.setdefault(row.memory_id, set()).add(row.episode_id)
    heads = _heads(rows.get("replaced", ()))
    replaced = replaced_by(heads)
    stands: dict[uuid.UUID, set[uuid.UUID]] = {}
    for episode, memory, _ in heads:
        stands.setdefault(episode, set()).add(memory)
    groups = Groups(cited, LaterWords.of(rows.get("later", ()), stands), replaced if later else {})
    for one in newest_first(found, replaced):
        groups.add(one)
    return groups.led()


def with_later(found: Sequence[Scored], later: AskLater) -> list[Scored]:
    """Return memories, each as a hit of its own, but for those behind a message that speaks against
    them."""
    groups = Groups({}, LaterWords.of(prepared_sql.rows(*later([one.item for one in found], [])), {}), {})
    for one in found:
        groups.add(one)
    return groups.led()


@dataclass(slots=True)
class Groups:
    """Hits in the making: what is told together, in the order of the best of each.

    `cited`: the episodes that a memory stands on. `replaced`: the memories that replaced all that
    stood on an episode. `place`: of an item that was met, the group that tells it. `news`: of a
    group, the message that leads it because it was said last.
    """

    cited: Mapping[uuid.UUID, set[uuid.UUID]]
    later: LaterWords
    replaced: Mapping[uuid.UUID, Sequence[uuid.UUID]]
    groups: list[list[Scored]] = field(default_factory=list)
    place: dict[uuid.UUID, int] = field(default_factory=dict)
    news: dict[int, uuid.UUID] = field(default_factory=dict)
    raised: set[uuid.UUID] = field(default_factory=set)

    def add(self, one: Scored) -> None:
        if one.item in self.raised:
            return
        against = self.later.against(one)
        if against:
            at = self._led_by(against, one)
            if self.later.is_all_against(one):
                self.place.setdefault(one.item, at)
                self.groups[at].append(one)
                return
        elif exception := self.later.beside(one):
            self._led_by(exception, one)
        says = self.cited.get(one.item, set()) if one.layer == "memories" else {one.item}
        after = [self.place[head] for head in self.replaced.get(one.item, ()) if head in self.place]
        if says and (says <= self.place.keys() or after):
            at = min(after) if after else min(self.place[episode] for episode in says)
            self.place.setdefault(one.item, at)
            self.groups[at].append(one)
            return
        for item in (*says, one.item):
            self.place.setdefault(item, len(self.groups))
        self.groups.append([one])

    def _led_by(self, message: LaterMessage, one: Scored) -> int:
        """Return the group that a later message leads: where it has a place already, or before
        this hit. It is as near to the question as what it speaks of: it may share no word with it."""
        at = self.place.get(message.item)
        if at is None:
            at = self.place[message.item] = len(self.groups)
            score = min(1.0, math.nextafter(one.score, 2.0))
            self.groups.append([Scored("episodes", message.entry, message.item, score, {}, one.cosine)])
            self.raised.add(message.item)
        self.news.setdefault(at, message.item)
        return at

    def led(self) -> list[Scored]:
        return [_led(group, self.cited, self.news.get(at)) for at, group in enumerate(self.groups)]


def collapsed_into(found: Sequence[Placed]) -> dict[uuid.UUID, Placed]:
    """Map the id of each item that was folded into a hit to that hit."""
    return {echo.item: hit for hit in found for echo in hit.echoes}


def _led(group: Sequence[Scored], cited: Mapping[uuid.UUID, set[uuid.UUID]], news: uuid.UUID | None = None) -> Scored:
    first = group[0]
    best = next((one for one in group if one.item == news), first)
    if len(group) > 1 and news is None and first.layer != "memories":
        able = [one for one in group if cited.get(one.item, {first.item}) == {first.item}]
        # How well its own words and meaning answer, without who said it and where.
        sides = ("keyword", "vector")
        own = [sum(one.scores.get(side, 0.0) for side in sides) for one in able]
        at = max(range(len(able)), key=lambda n: (own[n], able[n].layer == "memories"))
        best = able[at]
    others = tuple(one for one in group if one is not best)
    return best._replace(score=first.score, echoes=others, is_news=best.item == news)


def newest_first(found: Sequence[Scored], heads: Mapping[uuid.UUID, Sequence[uuid.UUID]]) -> list[Scored]:
    """Put each memory that replaced one of an episode right before that episode, if it ranked
    below."""
    below = {one.item: one for one in found if one.layer == "memories"}
    ordered = []
    for one in found:
        if one.layer == "memories":
            if below.pop(one.item, None):
                ordered.append(one)
            continue
        for head in heads.get(one.item, ()):
            newer = below.pop(head, None)
            if newer:
                ordered.append(newer._replace(score=min(1.0, math.nextafter(one.score, 2.0))))
        ordered.append(one)
    return ordered


def replaced_by(heads: Iterable[Head]) -> Mapping[uuid.UUID, Sequence[uuid.UUID]]:
    """Map each episode on which no live memory stands to the live memories that replaced those that
    did."""
    replaced: dict[uuid.UUID, dict[uuid.UUID, None]] = {}
    believed: set[uuid.UUID] = set()
    for episode, memory_id, head in heads:
        if head.is_live and head.memory_id == memory_id:
            believed.add(episode)
        elif head.is_live:
            replaced.setdefault(episode, {})[head.memory_id] = None
    return {episode: list(ids) for episode, ids in replaced.items() if episode not in believed}


def forgotten_written(revisions: Iterable[uuid.UUID]) -> Mapping[uuid.UUID, list[tuple[int, int]]]:
    """Map revisions to the places in them that a forgotten memory cites and no live one does."""
    places: dict[uuid.UUID, list[tuple[int, int]]] = {}
    for row in prepared_sql.rows(FORGOTTEN_WRITTEN, {"ids": prepared_sql.Uuids(list(revisions))}):
        places.setdefault(row.revision_id, []).append((row.start, row.end))
    return places


def forgotten_in(heads: Iterable[Head]) -> Mapping[uuid.UUID, list[tuple[int, int]] | None]:
    """Map each episode that a forgotten memory cites to the forgotten places in it; to None where
    nothing else of the episode is believed, so that all of it is left out."""
    gone: dict[uuid.UUID, set[uuid.UUID]] = {}
    believed: set[uuid.UUID] = set()
    for episode, memory_id, head in heads:
        if head.is_live:
            believed.add(episode)
        elif head.forgotten_at is not None:
            gone.setdefault(episode, set()).add(memory_id)
    places: dict[uuid.UUID, list[tuple[int, int]] | None] = {
        episode: [] if episode in believed else None for episode in gone
    }
    partly = [episode for episode in gone if episode in believed]
    if partly:
        ended = [memory for episode in partly for memory in gone[episode]]
        values = {"ids": prepared_sql.Uuids(partly), "forgotten": prepared_sql.Uuids(ended)}
        for row in prepared_sql.rows(FORGOTTEN_PLACES, values):
            own = places[row.episode_id]
            if own is not None:
                own.append((row.start, row.end))
    return places


def heads_of(episodes: Sequence[uuid.UUID]) -> list[Head]:
    """Return the memories that stand on each episode, each with the row of its last version."""
    return _heads(prepared_sql.rows(REPLACED, {"ids": prepared_sql.Uuids(episodes)})) if episodes else []


def _heads(rows: Sequence[Any]) -> list[Head]:
    """Build the heads from rows of REPLACED."""
    line = {row.memory_id: row for row in rows if row.episode_id is None}
    heads: dict[uuid.UUID, uuid.UUID] = {}  # the last version, of each that was passed
    found: list[Head] = []
    for row in rows:
        if row.episode_id is None:
            continue
        passed: dict[uuid.UUID, None] = {}
        last = row.memory_id
        # Nothing but the code keeps a chain from being a ring.
        while last not in heads and last not in passed and line[last].next_id is not None:
            passed[last] = None
            last = line[last].next_id
        head = heads.get(last, last)
        heads |= dict.fromkeys([*passed, last], head)
        found.append((row.episode_id, row.memory_id, line[head]))
    return found
