"""Writing the index: one entry per searchable thing, one vector per text of it."""

import uuid
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime
from typing import Any

import numpy as np
from pgvector import HalfVector, SparseVector

from memories import ranking
from memories.index import prepared_sql, workspace_index
from memories.index.prepared_sql import New, Rows, Table
from memories.index.row_marks import RULES_VERSION
from memories.index.workspace_index import count, count_new
from memories.language.english import lexical
from memories.models import (
    APART,
    SCOPE_CODE,
    VISIBILITY_CODE,
    WIDEST_COVERED,
    Episode,
    Feature,
    Layer,
    Memory,
    MemoryScope,
    Passage,
    TalkSummary,
    WorkspaceIndex,
    place_of,
)
from memories.providers.message_pieces import passages
from memoryproject.postgres.prepared import Asked

Vectors = Sequence[np.ndarray | None]  # of one item

ENTRY_COLUMNS = {
    "id": "int8",
    "workspace": "int4",
    "layer": "int2",
    "item": "uuid",
    "subject": "uuid",
    "agent": "uuid",
    "visibility": "int2",
    "scope": "int2",
    "place": "uuid",
    "conversation": "uuid",
    "occurred_at": "timestamptz",
    "event_at": "timestamptz",
    "role": "varchar",
    "author": "varchar",
    "position": "int4",
    "marks": "int2",
    "live": "bool",
    "length": "int4",
    "terms": "int8[]",
    "trigrams": "int8[]",
    "weights": "sparsevec",
    "rules": "int2",
}
VECTOR_COLUMNS = {
    "entry_id": "int8",
    "embedding_model_id": "int2",
    "part": "int2",
    "workspace": "int4",
    "layer": "int2",
    "subject": "uuid",
    "agent": "uuid",
    "visibility": "int2",
    "scope": "int2",
    "place": "uuid",
    "live": "bool",
    "wide": "bool",
    "embedding": "halfvec",
}
ENTRIES = Table("memories_entry", ENTRY_COLUMNS)
VECTORS = Table("memories_vector", VECTOR_COLUMNS)


REWEIGH = """
update memories_entry
set terms = %(terms)s::int8[], weights = %(weights)s::sparsevec, length = %(length)s
where layer = %(layer)s and item = %(item)s
"""
MARK_DUE = """
insert into memories_duevector (entry_id, workspace, attempts, next_attempt_at, error)
select id, %(workspace)s, 0, now(), '' from unnest(%(ids)s::int8[]) id
"""
SET_KEYS = """
update memories_entry
set length = %(length)s, marks = %(marks)s, terms = %(terms)s::int8[],
    trigrams = %(trigrams)s::int8[], weights = %(weights)s::sparsevec
where id = %(id)s
"""
SET_ENTRIES_LIVE = """
update memories_entry set live = %(live)s
where layer = %(layer)s and item = any(%(items)s) and live <> %(live)s returning id
"""
SET_VECTORS_LIVE = "update memories_vector set live = %(live)s where entry_id = any(%(ids)s)"
SET_VISIBILITY = """
with changed as (update memories_entry set visibility = %(visibility)s
                 where layer = %(layer)s and item = any(%(items)s::uuid[]) returning id)
update memories_vector v set visibility = %(visibility)s from changed where v.entry_id = changed.id
"""
SET_SCOPE = """
with changed as (update memories_entry set scope = %(scope)s
                 where layer = %(layer)s and item = any(%(items)s::uuid[]) returning id)
update memories_vector v set scope = %(scope)s from changed where v.entry_id = changed.id
"""
SET_TIMES = """
update memories_entry
set occurred_at = %(since)s::timestamptz, event_at = %(event)s::timestamptz
where layer = %(layer)s and item = %(item)s
"""
REMOVE_ENTRIES = """
with gone as (select id, live from memories_entry
              where layer = %(layer)s and item = any(%(items)s)),
     due as (delete from memories_duevector where entry_id in (select id from gone)),
     vectors as (delete from memories_vector where entry_id in (select id from gone))
delete from memories_entry where id in (select id from gone) returning id, live
"""


@dataclass(frozen=True, slots=True)
class Item:
    """One searchable thing, as the index sees it. `counts` are stems, neighbours' shares too.

    `occurred_at` is when it was said or became true; `event_at` the date that a memory tells of,
    which is what a date in a query meets.
    """

    id: uuid.UUID
    layer: int
    text: str
    counts: Mapping[str, float]
    occurred_at: datetime
    event_at: datetime | None = None
    subject: uuid.UUID | None = None
    agent: uuid.UUID | None = None
    visibility: int = 0
    scope: int = 0
    place: uuid.UUID | None = None
    conversation: uuid.UUID | None = None
    role: str = ""
    author: str = ""
    position: int = 0
    live: bool = True
    is_wish: bool = False
    texts: tuple[str, ...] = field(default=())
    keys: "Keys | None" = None


@dataclass(frozen=True, slots=True)
class Keys:
    """The keys of the words by which an entry is found; made before the transaction where that
    takes a while."""

    length: int
    marks: int
    terms: list[int]
    trigrams: list[int]
    weights: SparseVector | None


# How many stems an ordinary text of a layer has, where that is not `lexical.ORDINARY_LENGTH`.
ORDINARY = {Layer.CHUNKS: lexical.PASSAGE_LENGTH, Layer.SUMMARIES: lexical.PASSAGE_LENGTH}


def keys_of(number: int, layer: int, text: str, counts: Mapping[str, float]) -> Keys:
    ordinary = ORDINARY.get(Layer(layer), lexical.ORDINARY_LENGTH)
    return Keys(
        length=round(sum(counts.values())),
        marks=ranking.marks(text),
        terms=lexical.term_keys(number, layer, counts),
        trigrams=lexical.trigram_keys(number, layer, text),
        weights=sparse(lexical.bm25_weights(counts, ordinary)),
    )


def marks_of(item: Item, of_text: int) -> int:
    """Return the marks of an item: its type makes a memory a standing wish, whatever its words."""
    return of_text | ranking.Mark.RULE if item.is_wish else of_text


UNMADE = Keys(0, 0, [], [], None)


def keys_of_episode(number: int, text: str) -> Keys:
    """Return the keys of an episode that is too long to borrow words of its neighbours."""
    return keys_of(number, Layer.EPISODES, text, lexical.document(text))


def texts_of(text: str) -> tuple[str, ...]:
    """Return the texts that are embedded: the whole, then its passages where it is long."""
    return (text, *passages(text))


def memory_item(memory: Memory) -> Item:
    return Item(
        id=memory.pk,
        layer=Layer.MEMORIES,
        text=memory.content,
        counts=lexical.counts(lexical.stems(memory.content)),
        occurred_at=memory.valid_from or memory.created_at,
        event_at=memory.event_date,
        subject=memory.subject_id,
        agent=memory.agent_id,
        visibility=VISIBILITY_CODE[memory.visibility],
        scope=SCOPE_CODE[memory.scope],
        place=place_of(memory.scope, memory.conversation_id, memory.workflow),
        conversation=memory.conversation_id,
        live=memory.state.is_head,
        is_wish=memory.is_wish,
        texts=texts_of(memory.content),
    )


def episode_item(episode: Episode, counts: Mapping[str, float]) -> Item:
    """Return the item of an episode, which is as narrow as what its session made: seen by its
    agent, in its scope."""
    return Item(
        id=episode.pk,
        layer=Layer.EPISODES,
        text=episode.content,
        counts=counts,
        occurred_at=episode.occurred_at,
        subject=episode.subject_id,
        agent=episode.agent_id,
        visibility=VISIBILITY_CODE["private"],
        scope=SCOPE_CODE[episode.scope],
        place=place_of(episode.scope, episode.conversation_id, episode.workflow),
        conversation=episode.conversation_id,
        role=episode.role,
        author=episode.author,
        position=episode.position,
        texts=texts_of(episode.content),
    )


def passage_item(passage: Passage, content: str) -> Item:
    """Return the item of a passage, seen by those who see its document; that of a replaced revision
    is not live.

    Its document's title and its chunk's heading lend it words.
    """
    revision, document = passage.revision, passage.revision.document
    lent = f"{document.title} {passage.chunk.heading}"
    stems = [*lexical.stems(content), *lexical.stems(lent)]
    return Item(
        id=passage.pk,
        layer=Layer.CHUNKS,
        text=content,
        counts=lexical.counts(stems),
        occurred_at=revision.published_at or document.created_at,
        subject=document.subject_id,
        agent=document.agent_id,
        visibility=VISIBILITY_CODE[document.visibility],
        scope=APART if document.is_apart else SCOPE_CODE[MemoryScope.USER],
        position=passage.ordinal,
        live=revision.is_live,
        texts=texts_of(content),
    )


def feature_item(feature: Feature) -> Item:
    """Return the item of a feature: that of a conversation's set is the thread's own; others are
    the user's."""
    thread = feature.conversation_id
    scope = MemoryScope.THREAD if thread else MemoryScope.USER
    return Item(
        id=feature.pk,
        layer=Layer.FEATURES,
        text=feature.content,
        counts=lexical.counts(lexical.stems(feature.content)),
        occurred_at=feature.created_at,
        subject=feature.subject_id,
        agent=feature.agent_id,
        visibility=VISIBILITY_CODE[feature.visibility],
        scope=SCOPE_CODE[scope],
        place=place_of(scope, thread, ""),
        conversation=thread,
        live=feature.ended_at is None,
        texts=texts_of(feature.content),
    )


def summary_item(summary: TalkSummary, content: str) -> Item:
    """Return the item of a summary, seen by those who see its messages; a topic's name lends it a
    word."""
    return Item(
        id=summary.pk,
        layer=Layer.SUMMARIES,
        text=content,
        counts=lexical.counts([*lexical.stems(content), *lexical.stems(summary.name)]),
        occurred_at=summary.last_at,
        subject=summary.subject_id,
        agent=summary.agent_id,
        visibility=VISIBILITY_CODE["private"],
        conversation=summary.conversation_id,
        position=summary.ordinal,
        texts=texts_of(content),
    )


def write(
    index: WorkspaceIndex,
    items: Sequence[Item],
    vectors: Sequence[Vectors | None] | None,
    *,
    beside: Sequence[New] = (),
    then: Sequence[Asked] = (),
) -> None:
    """Add entries, and their vectors: one sequence per item, in the order of `item.texts`.

    `vectors` None: the embedder could not be asked, and the entries are due; so is an entry with
    None in the place of its sequence. A text without a vector (it has no word that the model knows)
    has None in its place, and is found by its words. `beside`: rows of truth that are written at
    the same time; `then`: statements that follow.
    """
    prepared_sql.require_transaction()
    if not items:
        prepared_sql.insert(*beside, then=then)
        return
    ids, model = count_new(index, Counter(item.layer for item in items if item.live), len(items))
    numbered = list(zip(ids, items, strict=True))
    records = (entry_record(entry, index.number, item) for entry, item in numbered)
    rows = [*beside, Rows(ENTRIES, len(ids), records)]
    paired = list(zip(numbered, vectors or [None] * len(ids), strict=True))
    found = [(*each, own) for each, own in paired if own is not None]
    rows.append(_vector_rows(index, found, index.embedding_model_id))
    prepared_sql.insert(*rows, then=then)
    if len(found) < len(ids):
        due = [entry for (entry, _), own in paired if own is None]
        prepared_sql.execute(MARK_DUE, {"ids": due, "workspace": index.number})
    if model != index.embedding_model_id:
        workspace_index.leave_due(index, ids)


def write_vectors(
    index: WorkspaceIndex, found: Iterable[tuple[int, Item, Vectors]], model_id: int | None = None
) -> None:
    """Add the vectors of entries that are written; `model_id` None: the workspace's own model."""
    prepared_sql.insert(_vector_rows(index, found, model_id or index.embedding_model_id))


def _vector_rows(index: WorkspaceIndex, found: Iterable[tuple[int, Item, Vectors]], model: int | None) -> Rows:
    made = [
        (entry, part, item, vector)
        for entry, item, vectors in found
        for part, vector in enumerate(vectors)
        if vector is not None
    ]
    records = (
        (
            entry,
            model,
            part,
            index.number,
            int(item.layer),
            item.subject,
            item.agent,
            item.visibility,
            item.scope,
            item.place,
            item.live,
            len(vector) > WIDEST_COVERED,
            HalfVector(vector),
        )
        for entry, part, item, vector in made
    )
    return Rows(VECTORS, len(made), records)


def set_live(index: WorkspaceIndex, layer: int, items: Iterable[uuid.UUID], *, live: bool) -> None:
    """Move entries off the hot path, or back on it; their vectors stay for time travel."""
    prepared_sql.require_transaction()
    values = {"layer": int(layer), "items": list(items), "live": live}
    changed = prepared_sql.rows(SET_ENTRIES_LIVE, values)
    if changed:
        prepared_sql.execute(SET_VECTORS_LIVE, {"ids": [r.id for r in changed], "live": live})
        count(index, layer, len(changed) if live else -len(changed))


def reweigh(index: WorkspaceIndex, layer: int, item: uuid.UUID, counts: Mapping[str, float]) -> None:
    """Give an entry another lexical document: its next neighbour has arrived."""
    prepared_sql.execute(*reweighing(index, layer, item, counts))


def reweighing(index: WorkspaceIndex, layer: int, item: uuid.UUID, counts: Mapping[str, float]) -> Asked:
    """Return the statement of `reweigh`, for the caller to send."""
    values = {
        "terms": lexical.term_keys(index.number, layer, counts),
        "weights": lexical.sparse_text(lexical.bm25_weights(counts)),
        "length": round(sum(counts.values())),
        "layer": int(layer),
        "item": item,
    }
    return REWEIGH, values


def set_keys(entry: int, keys: Keys) -> None:
    """Let words find an entry that was written without keys."""
    prepared_sql.execute(SET_KEYS, {**asdict(keys), "id": entry})


def change_visibility(layer: int, items: Iterable[uuid.UUID], visibility: str) -> None:
    """Let others, or fewer, find entries."""
    prepared_sql.require_transaction()
    values = {"layer": int(layer), "items": list(items), "visibility": VISIBILITY_CODE[visibility]}
    prepared_sql.execute(SET_VISIBILITY, values)


def change_scope(layer: int, items: Iterable[uuid.UUID], scope: int) -> None:
    """Let entries be found where this scope is searched."""
    prepared_sql.require_transaction()
    prepared_sql.execute(SET_SCOPE, {"layer": int(layer), "items": list(items), "scope": scope})


def change_times(memory: Memory) -> None:
    """Correct since when a memory is true, or when what it tells happens."""
    prepared_sql.require_transaction()
    item = memory_item(memory)
    values = {"item": item.id, "layer": int(item.layer), "since": item.occurred_at}
    prepared_sql.execute(SET_TIMES, values | {"event": item.event_at})


def remove(index: WorkspaceIndex, layer: int, items: Iterable[uuid.UUID]) -> int:
    """Take entries and their vectors out of the index for good; return how many entries."""
    prepared_sql.require_transaction()
    gone = prepared_sql.rows(REMOVE_ENTRIES, {"layer": int(layer), "items": list(items)})
    if gone:
        count(index, layer, -sum(row.live for row in gone))
    return len(gone)


def entry_record(entry: int, number: int, item: Item) -> tuple[Any, ...]:
    """Return the values of an item's entry, in the order of ENTRY_COLUMNS."""
    keys = item.keys or keys_of(number, item.layer, item.text, item.counts)
    marks = marks_of(item, keys.marks)
    return (
        entry,
        number,
        int(item.layer),
        item.id,
        item.subject,
        item.agent,
        item.visibility,
        item.scope,
        item.place,
        item.conversation,
        item.occurred_at,
        item.event_at,
        item.role,
        item.author,
        item.position,
        marks,
        item.live,
        keys.length,
        prepared_sql.Int8s(keys.terms),
        prepared_sql.Int8s(keys.trigrams),
        keys.weights,
        RULES_VERSION,
    )


def sparse(weights: Mapping[int, float]) -> SparseVector | None:
    """Return `weights` by term number, as pgvector's type; None for a text without a word."""
    kept = dict(sorted(weights.items(), key=lambda pair: -pair[1])[: lexical.SPARSE_ENTRIES])
    # pgvector's constructor counts from 0, the text form from 1.
    positions = {number - 1: weight for number, weight in kept.items()}
    return SparseVector(positions, lexical.SPARSE_DIMENSIONS) if positions else None
