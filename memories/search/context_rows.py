"""Rows that a context tells beside its hits: the person's standing wishes, and the messages that
memories stand on."""

import uuid
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from memories.index import prepared_sql
from memories.language.english import lexical
from memories.language.english.standing_wishes import PREFERS, condition, preference, standing_wishes
from memories.language.english.statements.instruction_kinds import is_permission
from memories.models import LIVE_SQL, Layer, WorkspaceIndex, name_joins
from memories.ranking import Mark
from memories.search import Hit, conditions
from memories.search.confidence import similarity_of
from memories.search.context_lines import ContextEntry, said_of, wish_of
from memories.search.hits import statement_of_rows
from memories.search.query_vectors import query_vector
from memories.search.search_question import SearchQuestion

# Standing wishes of a person, as far as they are still believed: in the words of the message, else
# in those of the memory; and the person's preferences about what a query speaks of.
#
# A message whose wish was corrected, replaced or forgotten since is no wish any more: the state of
# the memories that stand on it decides. A message on which no memory ever stood counts by its own
# words.

READ_WISHES = 40  # messages, and memories, the newest of them
PREFERRED_MOST = 2
MEANT = 0.5  # similarity of a question and what a wish is for: nearer than by chance
SAID = """
select x.item {entries} and x.marks & {rule} = {rule} and x.role = 'user'
order by x.id desc limit {most}
"""
BELIEVED = """
select x.item {entries} and x.marks & {rule} = {rule}
order by x.id desc limit {most}
"""
OF_PERSON = """
select x.item {entries} and x.subject = %(subject)s::uuid
order by x.id desc limit {most}
"""
PREFERRED = """
select x.item {entries} and x.trigrams @> %(trigrams)s::int8[] and x.role = 'user'
order by x.id desc limit {most}
"""
# The offset keeps it a condition of the few rows that are found.
FITTING = """
  and exists (select 1 from {table} row {joins}
              where row.id = x.item and {condition} offset 0)"""
# What stands on these messages, and where. What a person rejected, and what waits for one, has no
# memory.
STOOD_ON = f"""
select ci.episode_id, ci.start, ci."end", m.id as memory_id,
       m.id is not null and {LIVE_SQL} as is_live
from memories_citation ci join memories_fact f on f.id = ci.fact_id
left join memories_memory m on m.id = f.memory_id
where ci.episode_id = any(%(ids)s::uuid[])
"""


@dataclass(frozen=True, slots=True)
class LayerRows:
    """The part of a layer that the asker may find about the person, as the statements take it."""

    entries: str
    by_key: str
    values: dict[str, Any]

    def asked(self, text: str, **values: Any) -> tuple[str, dict[str, Any]]:
        """Return the statement of `text`, and its values."""
        entries = self.by_key if "trigrams" in values else self.entries
        statement = text.format(entries=entries, rule=int(Mark.RULE), most=READ_WISHES)
        return statement, self.values | values


def standing_entries(question: SearchQuestion, *, with_preferences: bool) -> list[ContextEntry]:
    """Return wishes, the newest first; then the person's preferences about what the query speaks
    of, the nearest first. The filter applies here, too; kinds of memories narrow no wish."""
    scope, request, index = question.scope, question.request, question.index
    if not request.user_id:
        return []
    said, believed = (layer_rows(question, name) for name in ("episodes", "memories"))
    if said is None or believed is None:
        return []
    texts = [said.asked(SAID), believed.asked(BELIEVED)]
    if with_preferences:
        keys = lexical.ilike_keys(index.number, Layer.EPISODES, PREFERS)
        texts.append(said.asked(PREFERRED, trigrams=keys))
    items = [[row.item for row in found] for found in prepared_sql.rows_of_each(texts)]
    if not any(items):
        return []
    heard = list(dict.fromkeys([*items[0], *(items[2] if with_preferences else ())]))
    episodes, memories, stood_on = prepared_sql.rows_of_each(
        [
            statement_of_rows(scope, "episodes", heard),
            statement_of_rows(scope, "memories", items[1]),
            (STOOD_ON, {"ids": items[0]}),
        ]
    )
    rows = {row.id: row for row in [*episodes, *memories]}
    wished, held, *preferred = [[rows[item] for item in own if item in rows] for own in items]
    wishes = [wish for wish in _wishes(wished, held, stood_on) if _holds(index, request.query, wish.said)]
    wishes.sort(key=lambda entry: entry.key, reverse=True)
    known = set(items[0])
    others = [row for own in preferred for row in own if row.id not in known]
    return [*wishes, *_matching(request.query, others)[:PREFERRED_MOST]]


def layer_rows(question: SearchQuestion, layer: str) -> LayerRows | None:
    """Return the rows of a layer that the asker may find; None where the filter leaves nothing."""
    request = replace(question.request, fact_types=(), categories=())
    found = replace(question, request=request).in_layer(layer)
    if found is None:
        return None
    everything = replace(found, wanted=conditions.EVERYTHING)
    shape = conditions.shape_of(everything, by_vector=False)
    values = conditions.parameters(found)
    fitting, condition = "", found.wanted.condition
    if condition:
        table = conditions.TABLES[found.layer]
        fitting = FITTING.format(table=table, joins=name_joins("row"), condition=condition)
    entries, by_key = shape.entries() + fitting, shape.entries(by_key=True) + fitting
    return LayerRows(entries, by_key, values)


def _wishes(messages: Sequence[Any], memories: Sequence[Any], stood_on: Sequence[Any]) -> Iterator[ContextEntry]:
    """Yield the sentences of messages with a wish that has not ended since, a wish once; then the
    memories of wishes that none of them tells."""
    stood: dict[uuid.UUID, list[Any]] = {}
    for row in stood_on:
        stood.setdefault(row.episode_id, []).append(row)
    told: set[uuid.UUID] = set()
    for message in messages:
        places = []
        for start, end in standing_wishes(message.content):
            here = [row for row in stood.get(message.id, ()) if row.start < end and start < row.end]
            live = {row.memory_id for row in here if row.is_live}
            if (here and not live) or (live and live <= told):
                continue
            told |= live
            places.append((start, end))
        if places:
            yield wish_of(Hit("episodes", 0.0, {}, message), places)
    for memory in memories:
        if memory.id not in told and not is_permission(memory.content):
            hit = Hit("memories", 0.0, {}, memory)
            yield replace(said_of(hit, (), (), set()), is_standing=True)


def _holds(index: WorkspaceIndex, query: str, wish: str) -> bool:
    """Tell whether the query speaks of what a wish is for, by its words or by their meaning."""
    needed = condition(wish)
    if not needed or lexical.stem_set(needed) & lexical.stem_set(query):
        return True
    first, second = (query_vector(index, text) for text in (needed, query))
    if first is None or second is None:
        return False
    return (similarity_of(float(np.dot(first, second)), index.embedding_model) or 0.0) >= MEANT


def _matching(query: str, rows: Sequence[Any]) -> list[ContextEntry]:
    """Return the messages in which the author states a preference in words of the query, best
    first: the rarer those words, the better."""
    places = {row.id: place for row in rows if (place := preference(row.content))}
    asked = set(lexical.stems(query))
    held = {row.id: asked & set(lexical.stems(row.content[slice(*places[row.id])])) for row in rows if row.id in places}
    often = Counter(stem for stems in held.values() for stem in stems)
    worth = {item: sum(1 / often[stem] for stem in stems) for item, stems in held.items() if stems}
    best = sorted((row for row in rows if row.id in worth), key=lambda row: -worth[row.id])
    return [wish_of(Hit("episodes", 0.0, {}, row), [places[row.id]]) for row in best]
