"""Items of the index as the truth has them: what an entry should say, whatever it says now."""

import logging
import uuid
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from django.db import transaction
from django.db.models import F, Func, IntegerField, QuerySet
from django.utils import timezone

from memories.index import due_vectors, entries, prepared_sql, row_marks
from memories.index.entries import ENTRY_COLUMNS, Item
from memories.index.row_marks import PASSAGES_SINCE, RULES_VERSION
from memories.index.workspace_index import lock
from memories.language.bounds import BESIDE, LARGE, runs
from memories.language.english import lexical
from memories.models import (
    Entry,
    Episode,
    Feature,
    FeatureSet,
    Layer,
    Memory,
    Passage,
    Revision,
    TalkSummary,
    WorkspaceIndex,
    words_of_passages,
)

BATCH = 100  # rows; writers of the workspace wait as long as one takes
TABLE = {
    Layer.MEMORIES: "memories_memory",
    Layer.EPISODES: "memories_episode",
    Layer.FEATURES: "memories_feature",
    Layer.CHUNKS: "memories_passage",
    Layer.SUMMARIES: "memories_talksummary",
}
# The neighbours of an episode, the nearest before it first: in its conversation by time; outside of
# one, within its request.
AROUND = """
select e.id, later.content as following,
  array(
    (select left(p.content, %(most)s) from memories_episode p
     where p.conversation_id = e.conversation_id
       and (p.occurred_at, p.position) < (e.occurred_at, e.position)
     order by p.occurred_at desc, p.position desc limit 2)
    union all
    (select left(p.content, %(most)s) from memories_episode p
     where e.conversation_id is null and p.conversation_id is null
       and p.session_id = e.session_id and p.position between e.position - 2 and e.position - 1
     order by p.position desc limit 2)
  ) as earlier
from memories_episode e
left join lateral (
  (select left(n.content, %(most)s) as content from memories_episode n
   where n.conversation_id = e.conversation_id
     and (n.occurred_at, n.position) > (e.occurred_at, e.position)
   order by n.occurred_at, n.position limit 1)
  union all
  (select left(n.content, %(most)s) from memories_episode n
   where e.conversation_id is null and n.conversation_id is null
     and n.session_id = e.session_id and n.position = e.position + 1 limit 1)
) later on true
where e.id = any(%(ids)s::uuid[])
"""

# Beside an episode stand those whose index entries borrowed words from it.
BESIDE_EPISODES = """
select distinct n.id from memories_episode e
cross join lateral (
  (select p.id from memories_episode p where p.conversation_id = e.conversation_id
     and (p.occurred_at, p.position) < (e.occurred_at, e.position)
     and p.id <> all(%(ids)s::uuid[]) order by p.occurred_at desc, p.position desc limit 1)
  union all
  (select p.id from memories_episode p where p.conversation_id = e.conversation_id
     and (p.occurred_at, p.position) > (e.occurred_at, e.position)
     and p.id <> all(%(ids)s::uuid[]) order by p.occurred_at, p.position limit 2)
  union all
  (select p.id from memories_episode p where e.conversation_id is null
     and p.conversation_id is null and p.session_id = e.session_id
     and p.position between e.position - 1 and e.position + 2 and p.id <> all(%(ids)s::uuid[]))
) n where e.id = any(%(ids)s::uuid[])
"""


KEPT = ("id", "layer", "item")
CHANGING = {name: kind for name, kind in ENTRY_COLUMNS.items() if name not in KEPT}
SCOPE_COLUMNS = ("workspace", "layer", "subject", "agent", "visibility", "scope", "place", "live")
UPDATE = f"""
update memories_entry set ({", ".join(CHANGING)}) =
  row({", ".join(f"%({name})s::{kind}" for name, kind in CHANGING.items())})
where id = %(id)s and row({", ".join(CHANGING)}) is distinct from
  row({", ".join(f"%({name})s::{kind}" for name, kind in CHANGING.items())})
"""
PARTS = """
select e.id, (select array_agg(v.part::int4 order by v.part) from memories_vector v
              where v.entry_id = e.id and v.embedding_model_id = %(model)s::int2) as parts,
       exists (select 1 from memories_duevector d where d.entry_id = e.id) as due
from memories_entry e where e.id = any(%(ids)s::int8[])
"""
WITHOUT_TRUTH = """
select e.item from memories_entry e
where e.workspace = %(workspace)s and e.layer = %(layer)s and not exists (
  select 1 from {table} t where t.id = e.item and t.workspace_id = %(owner)s)
order by e.id limit %(most)s
"""
COUNTS = """
select layer, count(*) as live from memories_entry
where workspace = %(workspace)s and live group by layer
"""
SAID = """
select e.subject_id as subject, e.author, not (e.kind = any(%(people)s)) as assistant,
       count(*) as episodes
from memories_episode e where e.workspace_id = %(owner)s group by 1, 2, 3
"""
RECOUNT_SPEAKERS = f"""
insert into memories_speaker (workspace, subject, author, assistant, episodes)
select %(workspace)s, subject, author, assistant, episodes from ({SAID}) said
"""


class OctetLength(Func):
    """The bytes of a text, which Postgres knows without reading it."""

    function, output_field = "octet_length", IntegerField()


def size(index: WorkspaceIndex) -> int:
    """Return how many searchable things the workspace has."""
    return sum(_rows_of_truth(index, layer).count() for layer in TABLE)


def batches(index: WorkspaceIndex, layer: Layer) -> Iterator[list[uuid.UUID]]:
    """Yield the ids of a layer's things in the order they came, also of those that come
    meanwhile."""
    # A passage's content is no column: it would be cut out of the whole text.
    size = F("end") - F("start") if layer == Layer.CHUNKS else OctetLength("content")
    rows = _rows_of_truth(index, layer).order_by("pk").annotate(size=size).values_list("pk", "size")
    found = list(rows[:BATCH])
    while found:
        yield from runs(found, LARGE)
        found = list(rows.filter(pk__gt=found[-1][0])[:BATCH])


def items_of_truth(layer: Layer, ids: Sequence[uuid.UUID]) -> list[Item]:
    """Return the items of these ids that exist."""
    if layer == Layer.MEMORIES:
        memories = Memory.objects.filter(pk__in=ids).order_by("pk")
        return [entries.memory_item(memory) for memory in memories]
    if layer == Layer.FEATURES:
        features = Feature.objects.live().filter(pk__in=ids).order_by("pk")
        return [entries.feature_item(feature) for feature in features]
    if layer == Layer.CHUNKS:
        passages = Passage.places.filter(pk__in=ids).order_by("pk").defer("revision__text")
        passages = passages.select_related("chunk", "revision__document")
        words = words_of_passages(ids)
        return [entries.passage_item(passage, words[passage.pk]) for passage in passages]
    if layer == Layer.SUMMARIES:
        rows = TalkSummary.objects.filter(pk__in=ids).order_by("pk")
        return [entries.summary_item(row, row.content) for row in rows]
    values = {"ids": list(ids), "most": BESIDE + 1}
    around = {row.id: row for row in prepared_sql.rows(AROUND, values)}
    items = []
    for episode in Episode.objects.filter(pk__in=around).order_by("pk"):
        if len(episode.content) > BESIDE:
            items.append(entries.episode_item(episode, lexical.document(episode.content)))
            continue
        row = around[episode.pk]
        texts = (episode.content, *[*row.earlier, "", ""][:2], row.following or "")
        own, previous, earlier, following = map(lexical.lent, texts)
        stems = lexical.index_stems(own, previous, following, earlier)
        items.append(entries.episode_item(episode, stems))
    return items


def beside(ids: Collection[uuid.UUID]) -> list[uuid.UUID]:
    """Return other episodes, whose entries borrowed words of these."""
    return [row.id for row in prepared_sql.rows(BESIDE_EPISODES, {"ids": list(ids)})]


def _rows_of_truth(index: WorkspaceIndex, layer: Layer) -> QuerySet[Any]:
    own = {"workspace_id": index.workspace_id}
    if layer == Layer.FEATURES:  # one that ended has no entry: it comes back with a new one
        return Feature.objects.live().filter(**own)
    if layer == Layer.CHUNKS:  # whose entries are made in steps, by the worker
        return Passage.places.filter(**own).exclude(
            revision__in=Revision.objects.filter(**own).exclude(stage="").values("pk")
        )
    return due_vectors.TEXTS[layer]._default_manager.filter(**own)


log = logging.getLogger(__name__)


def _columns(of: str) -> str:
    return ", ".join(f"{of}.{name}" for name in SCOPE_COLUMNS)


VECTORS_DIFFER = f"v.entry_id = e.id and row({_columns('v')}) is distinct from row({_columns('e')})"
ALIGN_VECTORS = f"""
update memories_vector v set ({", ".join(SCOPE_COLUMNS)}) = row({_columns("e")})
from memories_entry e where e.id = any(%(ids)s::int8[]) and {VECTORS_DIFFER}
"""


@dataclass(slots=True)
class Rebuilt:
    """Entries that were added, changed and removed; `incomplete` are entries whose vectors are
    not those of their text."""

    added: int = 0
    changed: int = 0
    removed: int = 0
    incomplete: list[int] = field(default_factory=list)


@contextmanager
def alone(index: WorkspaceIndex) -> Iterator[None]:
    """Open a transaction in which nobody else changes the workspace's truth or index.

    It takes the workspace's lock and also the index's row, where writers that only add episodes
    count.
    """
    with transaction.atomic():
        lock(index)
        WorkspaceIndex.objects.select_for_update().get(pk=index.pk)
        yield


def rebuild(index: WorkspaceIndex, advance: Callable[[int], object]) -> Rebuilt:
    """Rebuild entries, speakers and counts; `advance` is called after each batch."""
    done = Rebuilt()
    for layer in TABLE:
        for ids in batches(index, layer):
            with alone(index):
                rebuild_batch(index, layer, ids, done)
            advance(len(ids))
    finish(index, done)
    own = FeatureSet.objects.filter(workspace=index.workspace_id, embedding_model__isnull=False)
    own.update(embedding_due_at=timezone.now())
    return done


def finish(index: WorkspaceIndex, done: Rebuilt) -> None:
    """Bring up to date what is true of the whole workspace, once all its rows are made anew."""
    for layer in TABLE:
        gone: list[uuid.UUID] | None = None
        while gone is None or len(gone) == BATCH:
            with alone(index):
                gone = strangers(index, layer, BATCH)
                entries.remove(index, layer, gone)
            done.removed += len(gone)
    # Not `alone`: a writer has the workspace's row before it counts speakers, and would wait.
    with transaction.atomic():
        # Writers that have counted have committed, and the others are not seen below.
        prepared_sql.execute("lock table memories_speaker in share row exclusive mode", {})
        prepared_sql.execute(
            "delete from memories_speaker where workspace = %(workspace)s",
            {"workspace": index.number},
        )
        prepared_sql.execute(RECOUNT_SPEAKERS, speaker_values(index))
    with alone(index):
        live = live_counts(index)
        WorkspaceIndex.objects.filter(pk=index.pk).update(
            **{f"live_{layer.label}": live.get(layer, 0) for layer in TABLE}
        )
    WorkspaceIndex.objects.filter(pk=index.pk).update(rules=RULES_VERSION)
    log.info(
        "Index of workspace %s made anew: %d entries added, %d changed, %d removed",
        index.workspace_id,
        done.added,
        done.changed,
        done.removed,
    )


def rebuild_batch(index: WorkspaceIndex, layer: Layer, ids: Sequence[uuid.UUID], done: Rebuilt) -> None:
    """Make the marks of these rows anew; the caller holds the workspace's lock."""
    if layer == Layer.MEMORIES:
        row_marks.rebuild_slots(ids, row_marks.words_of(index))
    rows = Entry.objects.filter(layer=layer, item__in=ids).values_list("item", "pk", "rules")
    known = {item: (entry, version) for item, entry, version in rows}
    items = items_of_truth(layer, ids)
    new = [item for item in items if item.id not in known]
    entries.write(index, new, None)
    old = [(known[item.id][0], item) for item in items if item.id in known]
    cut = {entry for entry, version in known.values() if version < PASSAGES_SINCE}
    done.added += len(new)
    if old:
        records = [
            dict(zip(ENTRY_COLUMNS, entries.entry_record(entry, index.number, item), strict=True))
            for entry, item in old
        ]
        with prepared_sql.cursor_of() as cursor:
            cursor.executemany(UPDATE, records)
            done.changed += cursor.rowcount
        prepared_sql.execute(ALIGN_VECTORS, {"ids": [entry for entry, _ in old]})
    done.incomplete += incomplete(index, [each for each in old if each[0] not in cut])
    done.incomplete += [entry for entry, item in old if entry in cut and len(item.texts) > 1]


def incomplete(index: WorkspaceIndex, found: Sequence[tuple[int, Item]]) -> list[int]:
    """Return the entries that do not have one vector per text, and are not due.

    This includes entries with a text that can have no vector: only the embedder can tell.
    """
    ids = [entry for entry, _ in found]
    values = {"ids": ids, "model": index.embedding_model_id}
    state = {row.id: row for row in prepared_sql.rows(PARTS, values)}
    wanted = index.embedding_model_id is not None
    return [
        entry
        for entry, item in found
        if not state[entry].due and (state[entry].parts or []) != list(range(len(item.texts) if wanted else 0))
    ]


def strangers(index: WorkspaceIndex, layer: Layer, most: int) -> list[uuid.UUID]:
    """Return the ids of what up to `most` entries stand for, and is not there."""
    values = {
        "workspace": index.number,
        "owner": index.workspace_id,
        "layer": int(layer),
        "most": most,
    }
    text = WITHOUT_TRUTH.format(table=TABLE[layer])
    return [row.item for row in prepared_sql.rows(text, values)]


def live_counts(index: WorkspaceIndex) -> dict[int, int]:
    """Count live entries by layer."""
    return {row.layer: row.live for row in prepared_sql.rows(COUNTS, {"workspace": index.number})}


# ---- speakers -------------------------------------------------------------------------------


def speaker_values(index: WorkspaceIndex) -> dict[str, Any]:
    """Return the parameters of SAID and RECOUNT_SPEAKERS."""
    people = [str(kind) for kind in Episode.OF_PEOPLE]
    return {"workspace": index.number, "owner": index.workspace_id, "people": people}
