"""Meetings: messages meet the live memories of their subject, and new memories the messages that were
said after them. One statement for each, however many they are; then rules say what they are to each other."""

import uuid
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Self

from memories.belief.touches.touch_rows import NewTouch
from memories.index import prepared_sql, row_marks
from memories.index.nearest import Placement
from memories.index.prepared_sql import Int8s
from memories.language.english import clauses, lexical
from memories.language.english.anchors import anchors
from memories.language.english.statements import read
from memories.language.english.touch_rules import TouchPair, verdict_of
from memories.models import LIVE_SQL, SCOPE_CODE, Episode, Layer, MemorySession, WorkspaceIndex
from memories.models.conversation import BELIEVED_AT
from memoryproject.postgres import visible
from memoryproject.postgres.crossings import MEMORIES_OF_SLOTS
from memoryproject.postgres.prepared import Asked

MOST = 20  # memories that a message is compared with, messages that a memory is
REACH = 5_000  # newest memories of a subject that are looked through
LATER = 500  # newest messages of a subject that are looked through for what touches a new memory
MOST_SENTENCES = 8  # of a message, of which attributes are looked up
LONGEST = 4_000  # characters of a message that are read
MOST_MESSAGES = 200  # of an ingest; more come as an import, and are compared with the last of them

# An offset leaves no way but to look each row up: a plan for all values would read all heads of a workspace.
# The newest memories of a subject by words; they are looked through as they lie, since a word that is rare
# for one person is common in a workspace of many.
MET = f"""
with own as materialized (
  select e.id, e.item, e.terms from memories_entry e
  where e.workspace = %(number)s and e.layer = {int(Layer.MEMORIES)} and e.live and {{subject}}
  order by coalesce(e.event_at, e.occurred_at) desc limit {REACH}),
shared as (
  select k.i, o.item, row_number() over (partition by k.i order by count(*) desc, o.id desc) as place
  from own o cross join lateral unnest(o.terms) t (term)
  join unnest(%(at)s::int4[], %(terms)s::int8[]) k (i, term) on k.term = t.term
  group by k.i, o.item, o.id),
met as (
  select i, item from shared where place <= {MOST}{{by_slot}})
select met.i, m.id, m.content, told.at as told_at, told.episode_id as told_in
from met cross join lateral (select * from memories_memory t where t.id = met.item offset 0) m
left join lateral (
  select {BELIEVED_AT} as at, e.id as episode_id
  from memories_fact f join memories_citation c on c.fact_id = f.id join memories_episode e on e.id = c.episode_id
  where f.memory_id = m.id order by 1, 2 limit 1) said on true
cross join lateral (select coalesce(said.at, m.created_at) as at, said.episode_id) told
where m.workspace_id = %(workspace)s and {LIVE_SQL} and m.scope = %(scope)s
  and (m.scope <> 'thread' or m.conversation_id = %(conversation)s::uuid)
  and (m.scope <> 'workflow' or m.workflow = %(workflow)s)
  and (m.visibility = 'global' or (m.visibility = 'team'
           and coalesce((select a.team from workspaces_agent a where a.id = m.agent_id), '') = %(team)s)
       or (m.visibility = 'private' and m.agent_id is not distinct from %(agent)s::uuid))
"""
OWN, NOBODYS = "e.subject = %(subject)s::uuid", "e.subject is null"
SLOTTED = """
  union
  select k.i, m.id from memories_memory m cross join lateral unnest(m.slots) q (slot)
  join unnest(%(slot_at)s::int4[], %(slots)s::int8[]) k (i, slot) on k.slot = q.slot
  where """
BY_SLOT = f"{SLOTTED}m.slots && %(slots)s::int8[] and m.is_head"
# Behind the walls, where that text would use no index.
BY_SLOT_ACROSS = f"{SLOTTED}m.id = any({MEMORIES_OF_SLOTS.name}(%(workspace)s, %(slots)s::int8[]))"

SAID_LATER = f"""
with later as materialized (
  select n.item, n.terms from (
    select e.* from memories_entry e
    where e.workspace = %(number)s and e.layer = {int(Layer.EPISODES)} and e.live and {{subject}}
    order by coalesce(e.event_at, e.occurred_at) desc limit {LATER}) n
  where n.occurred_at >= %(since)s::timestamptz and n.agent is not distinct from %(agent)s::uuid
    and n.scope = %(scope)s and n.place is not distinct from %(place)s::uuid),
shared as (
  select distinct k.i, l.item from later l cross join lateral unnest(l.terms) t (term)
  join unnest(%(at)s::int4[], %(terms)s::int8[]) k (i, term) on k.term = t.term),
met as (
  select s.i, e.id, e.content, e.author, {BELIEVED_AT} as said_at,
         row_number() over (partition by s.i order by e.occurred_at desc, e.id desc) as place
  from shared s join memories_episode e on e.id = s.item
  join unnest(%(told_i)s::int4[], %(told_at)s::timestamptz[], %(told_in)s::uuid[]) told (i, at, episode) on told.i = s.i
  where e.kind = any(%(kinds)s::text[]) and ({BELIEVED_AT}, e.id) > (told.at, told.episode))
select i, id, left(content, {LONGEST}) as content, author, said_at from met where place <= {MOST}
"""


@dataclass(frozen=True, slots=True)
class PersonsMessage:
    """A message of a person: `speaker` is who says it."""

    id: uuid.UUID
    content: str
    said_at: datetime
    speaker: str


@dataclass(frozen=True, slots=True)
class TouchedMemory:
    """A new memory, and the message that it was read from: `speaker` said it."""

    id: uuid.UUID
    content: str
    episode_id: uuid.UUID
    said_at: datetime
    speaker: str


@dataclass(frozen=True, slots=True)
class Meeting:
    """Messages that are about to be kept, and the statement that finds the memories they may touch: it is
    made before the rows are written, and runs after them. So of a message and a memory that come at the
    same time one meets the other."""

    messages: tuple[PersonsMessage, ...]
    lookup: Asked

    @classmethod
    def of(cls, space: WorkspaceIndex, session: MemorySession, messages: Sequence[PersonsMessage]) -> Self | None:
        """Return the meeting of a session's messages; None where they name nothing."""
        about = session.subject_id or session.workspace_id
        messages = tuple(messages[-MOST_MESSAGES:])
        keys = _keys(space, Layer.MEMORIES, (anchors(_start(one.content), one.speaker).all for one in messages))
        slots = [(at, slot) for at, one in enumerate(messages) for slot in _slot_keys(about, one)]
        if not (keys["at"] or slots):
            return None
        by_slot = (BY_SLOT_ACROSS if visible.setting() else BY_SLOT) if slots else ""
        text = MET.format(by_slot=by_slot, subject=OWN if session.subject_id else NOBODYS)
        values: dict[str, object] = {
            **keys,
            "number": space.number,
            "workspace": session.workspace_id,
            "subject": session.subject_id,
            "agent": session.agent_id,
            "team": session.agent.team if session.agent else "",
            "scope": str(session.scope),
            "conversation": session.conversation_id,
            "workflow": session.workflow,
        }
        if slots:
            values |= {"slot_at": [at for at, _ in slots], "slots": Int8s([slot for _, slot in slots])}
        return cls(messages, (text, values))

    def touches(self) -> list[NewTouch]:
        met = []
        for row in prepared_sql.rows(*self.lookup):
            message = self.messages[row.i]
            if (message.said_at, message.id) > (row.told_at, row.told_in or message.id):
                met += _touch(row.id, row.content, message)
        return met


def said_later(space: WorkspaceIndex, place: Placement, memories: Sequence[TouchedMemory]) -> list[NewTouch]:
    """Return the touches of new memories by messages that were said after them."""
    keys = _keys(space, Layer.EPISODES, (anchors(one.content, one.speaker).all for one in memories))
    if not keys["at"]:
        return []
    text = SAID_LATER.format(subject=OWN if place.subject_id else NOBODYS)
    values: dict[str, object] = {
        **keys,
        "number": space.number,
        "subject": place.subject_id,
        "agent": place.agent_id,
        "scope": SCOPE_CODE[place.scope],
        "place": place.place,
        "since": min(one.said_at for one in memories),
        "kinds": [str(kind) for kind in Episode.OF_PEOPLE],
        "told_i": list(range(len(memories))),
        "told_at": [one.said_at for one in memories],
        "told_in": [one.episode_id for one in memories],
    }
    met = []
    for row in prepared_sql.rows(text, values):
        memory = memories[row.i]
        message = PersonsMessage(row.id, row.content, row.said_at, row.author or memory.speaker)
        met += _touch(memory.id, memory.content, message)
    return met


def _touch(memory_id: uuid.UUID, content: str, message: PersonsMessage) -> list[NewTouch]:
    verdict = verdict_of(TouchPair(content, _start(message.content), message.said_at, message.speaker))
    if verdict is None or verdict.is_slight:
        return []
    return [
        NewTouch(
            memory_id,
            message.id,
            verdict.start,
            verdict.end,
            message.said_at,
            verdict.relation,
            verdict.probability,
            until=verdict.until,
            is_sure=verdict.is_sure,
        )
    ]


def _start(text: str) -> str:
    return text[:LONGEST]


def _keys(space: WorkspaceIndex, layer: Layer, words: Iterable[frozenset[str]]) -> dict[str, object]:
    keyed = [(at, key) for at, own in enumerate(words) for key in lexical.term_keys(space.number, layer, own)]
    return {"at": [at for at, _ in keyed], "terms": Int8s([key for _, key in keyed])}


def _slot_keys(about: uuid.UUID, message: PersonsMessage) -> list[int]:
    """Return the keys of attributes that a message gives of its speaker, as memories of them have them."""
    words = sorted({word.root for word in read(message.speaker).words}) or ["user"]
    names = set()
    for start, end in list(clauses.sentences(_start(message.content)))[:MOST_SENTENCES]:
        reading = read(message.content[start:end])
        for slot in (*reading.slots, *reading.past_slots):
            parts = {part for one in slot.subject.split("-") for part in (words if one == "user" else (one,))}
            names.add(f"{'-'.join(sorted(parts))}|{slot.name}|{slot.key}")
    return row_marks.keys_of(about, names)
