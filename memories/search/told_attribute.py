"""Memories that tell the attribute that a question asks for, of the person it asks about, and the
messages that they stand on: "Ada moved to Lisbon", where "Where does Ada live?" shares no word with
it, and the homes of others share more."""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass

from memories.index import people_by_name, prepared_sql, row_marks
from memories.language.english.asked_attribute import AskedAttribute, asked_attribute
from memories.models import LIVE_SQL
from memories.ranking import SPEAKER_ROLES, Participant
from memories.search.conditions import LayerQuery
from memoryproject.postgres import visible
from memoryproject.postgres.crossings import MEMORIES_OF_SLOTS
from workspaces.scope import NOBODY

NAMELESS = "User"  # whom a statement is about, where nobody gave a name
MOST = 20
BY_SLOT = "m.slots && %(slots)s::int8[]"
# Behind the walls, where that text would use no index.
BY_SLOT_ACROSS = f"m.id = any({MEMORIES_OF_SLOTS.name}(%(workspace)s, %(slots)s::int8[]))"
TOLD = f"""
select m.id,
       array(select ci.episode_id from memories_fact f
             join memories_citation ci on ci.fact_id = f.id
             where f.memory_id = m.id and ci.episode_id is not null
             order by ci.id desc limit {MOST}) as episodes
from memories_memory m
where {{by_slot}}
  and m.workspace_id = %(workspace)s and {LIVE_SQL} and m.valid_until is null
order by m.id desc limit {MOST}
"""


@dataclass(frozen=True, slots=True)
class ToldAttribute:
    """The ids of such memories and messages. The asker may not see all of them: they are looked for
    among what they may see."""

    memories: tuple[uuid.UUID, ...] = ()
    episodes: tuple[uuid.UUID, ...] = ()

    @property
    def keys(self) -> frozenset[bytes]:
        return frozenset(each.bytes for each in (*self.memories, *self.episodes))


NOT_TOLD = ToldAttribute()


def told_attribute(asked: LayerQuery, query: str, people: Sequence[Participant]) -> ToldAttribute:
    """Return what tells the attribute that is asked for; nothing where none is."""
    wanted = asked_attribute(query)
    if wanted is None or asked.subject == NOBODY:
        return NOT_TOLD
    speakers = [
        each.author
        for each in people
        if each.author and not (each.assistant or each.author.casefold() in SPEAKER_ROLES)
    ]
    slots = _keys(asked, wanted, speakers)
    if not slots:
        return NOT_TOLD
    text = TOLD.format(by_slot=BY_SLOT_ACROSS if visible.setting() else BY_SLOT)
    rows = prepared_sql.rows(text, {"workspace": asked.index.workspace_id, "slots": slots})
    return ToldAttribute(tuple(row.id for row in rows), tuple(each for row in rows for each in row.episodes))


def _keys(asked: LayerQuery, wanted: AskedAttribute, speakers: Sequence[str]) -> list[int]:
    words = row_marks.words_of(asked.index)
    low = wanted.who.casefold()
    own = [name for name in speakers if not low or low in name.casefold().split()]
    if asked.subject is not None:
        names = [*own, wanted.who] if low else [*own, NAMELESS]
        if low and not own and any(low in called.casefold().split() for called in asked.called):
            names += [NAMELESS, *asked.called]  # whoever speaks to an assistant alone rarely gives a name
        return row_marks.keys_of(asked.subject, wanted.keys(filter(None, names), words))
    if not low:
        return []
    found: list[int] = []
    for person in people_by_name.people_called(asked.index, [wanted.who]):
        called = {person.spoken_of_as or NAMELESS, wanted.who}
        found += row_marks.keys_of(person.id, wanted.keys(called, words))
    return found
