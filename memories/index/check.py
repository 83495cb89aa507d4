"""Proof that truth and index agree, and that the truth holds together. Reads only."""

import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from django.db import connection, transaction

from memories import ranking
from memories.index import configured_embedder, due_vectors, entries, hnsw_segments, prepared_sql, rebuild, row_marks
from memories.index.entries import Item
from memories.language.bounds import BESIDE
from memories.language.english import lexical
from memories.language.english.statements import OwnWords
from memories.models import DueVector, Entry, Layer, WorkspaceIndex
from memories.providers.embedder import embeddable

SHOWN = 20
PLAIN_COLUMNS = (
    "subject",
    "agent",
    "visibility",
    "scope",
    "place",
    "conversation",
    "occurred_at",
    "event_at",
    "role",
    "author",
    "position",
    "live",
)


TOTALS = """
select (select count(*) from memories_entry where workspace = %(workspace)s) as entries,
       (select count(*) from memories_vector where workspace = %(workspace)s
          and embedding_model_id = %(model)s::int2) as vectors,
       (select count(*) from memories_vector where workspace = %(workspace)s
          and embedding_model_id is distinct from %(model)s::int2) as others,
       (select count(*) from memories_duevector d join memories_entry e on e.id = d.entry_id
        where e.workspace = %(workspace)s) as due
"""
SPEAKERS_DIFFER = f"""
select coalesce(s.author, said.author) as author, coalesce(s.episodes, 0) as noted,
       coalesce(said.episodes, 0) as said
from (select * from memories_speaker where workspace = %(workspace)s) s
full join ({rebuild.SAID}) said
  on said.author = s.author and said.assistant = s.assistant
     and coalesce(said.subject, '{uuid.UUID(int=0)}') = coalesce(s.subject, '{uuid.UUID(int=0)}')
where s.episodes is distinct from said.episodes
"""
LISTED = "select id, count(*) over () as number from ({}) broken order by id limit %(most)s"
SUCCESSORS = """
select id, superseded_by_id from memories_memory
where workspace_id = %(owner)s and superseded_by_id is not null
"""
_WITHOUT_TRUTH = """
select e.item as id from memories_entry e
where e.workspace = %(workspace)s and e.layer = {layer} and not exists (
  select 1 from {table} t where t.id = e.item and t.workspace_id = %(owner)s)
"""
# What has expired is a head, with its period, until the sweep ends both.
_OPEN = "select 1 from memories_memoryperiod l where l.memory_id = m.id and l.until_at is null"
# Each selects the ids of what breaks it.
RULES = {
    **{
        f"entries of {layer.label} that are not there": _WITHOUT_TRUTH.format(layer=int(layer), table=table)
        for layer, table in rebuild.TABLE.items()
    },
    "entries whose vectors have another scope": f"""
        select distinct e.id from memories_entry e join memories_vector v on v.entry_id = e.id
        where e.workspace = %(workspace)s and {rebuild.VECTORS_DIFFER}""",
    "live memories without an open period": f"""
        select m.id from memories_memory m
        where m.workspace_id = %(owner)s and m.is_head and not exists ({_OPEN})""",
    "memories with an open period that are not live": f"""
        select m.id from memories_memory m
        where m.workspace_id = %(owner)s and not m.is_head and exists ({_OPEN})""",
    "memories with more than one open period": """
        select memory_id as id from memories_memoryperiod
        where workspace_id = %(owner)s and until_at is null
        group by memory_id having count(*) > 1""",
    "memories with more than one applied supersession": """
        select old_id as id from memories_supersession
        where workspace_id = %(owner)s and state = 'applied'
        group by old_id having count(*) > 1""",
    "superseded memories without the decision": """
        select m.id from memories_memory m
        where m.workspace_id = %(owner)s and m.superseded_by_id is not null and not exists (
          select 1 from memories_supersession s where s.old_id = m.id
            and s.new_id = m.superseded_by_id and s.state = 'applied')""",
    "applied supersessions whose old memory says otherwise": """
        select s.id from memories_supersession s join memories_memory m on m.id = s.old_id
        where s.workspace_id = %(owner)s and s.state = 'applied'
          and m.superseded_by_id is distinct from s.new_id""",
    "memories superseded across workspaces": """
        select m.id from memories_memory m join memories_memory n on n.id = m.superseded_by_id
        where m.workspace_id = %(owner)s and n.workspace_id <> m.workspace_id""",
    "citations of features whose quote is not in its episode": """
        select c.id from memories_featurecitation c join memories_episode e on e.id = c.episode_id
        where c.workspace_id = %(owner)s
          and c.quote is distinct from substr(e.content, c.start + 1, c."end" - c.start)""",
    "live features that no change says so of, and changes of ended ones that say they live": """
        select f.id from memories_feature f left join memories_featurechange c
          on c.feature_id = f.id and c.is_current
        where f.workspace_id = %(owner)s
          and (c.after is null) is distinct from (f.ended_at is not null)""",
    "citations whose quote is not in its document": """
        select c.id from memories_citation c join memories_revision r on r.id = c.revision_id
        where c.workspace_id = %(owner)s
          and c.quote is distinct from substr(r.text, c.start + 1, c."end" - c.start)""",
    "citations whose quote is not in its episode": """
        select c.id from memories_citation c join memories_episode e on e.id = c.episode_id
        where c.workspace_id = %(owner)s
          and c.quote is distinct from substr(e.content, c.start + 1, c."end" - c.start)""",
}


@dataclass(slots=True)
class Disagreement:
    """The number of rows that break a rule, and the ids of the first of them."""

    rule: str
    number: int = 0
    ids: list[str] = field(default_factory=list)


@dataclass(slots=True)
class Agreement:
    """The counts of what was looked at in a workspace, and what disagrees, by rule."""

    memories: int = 0
    episodes: int = 0
    features: int = 0
    chunks: int = 0
    summaries: int = 0
    entries: int = 0
    vectors: int = 0
    due: int = 0
    other_vectors: int = 0
    broken: dict[str, Disagreement] = field(default_factory=dict)

    @property
    def holds(self) -> bool:
        return not self.broken

    def add(self, rule: str, identity: object) -> None:
        found = self.broken.setdefault(rule, Disagreement(rule))
        found.number += 1
        if len(found.ids) < SHOWN:
            found.ids.append(str(identity))


@contextmanager
def snapshot() -> Iterator[None]:
    """Read one state of the database in all that follows; within a transaction, that one's."""
    if connection.in_atomic_block:
        yield
        return
    with transaction.atomic():
        prepared_sql.execute("set transaction isolation level repeatable read, read only", {})
        yield


def check_index(index: WorkspaceIndex, advance: Callable[[int], object]) -> Agreement:
    """Compare each thing of the workspace with its entry, then the rules of the whole."""
    found = Agreement()
    with snapshot():
        # What is counted is read here: the caller's row is from before the snapshot.
        index = WorkspaceIndex.objects.select_related("embedding_model").get(pk=index.pk)
        words = row_marks.words_of(index)
        for layer in rebuild.TABLE:
            for ids in rebuild.batches(index, layer):
                _check_batch(index, layer, ids, words, found)
                advance(len(ids))
        _check_counts(index, found)
        for row in prepared_sql.rows(SPEAKERS_DIFFER, rebuild.speaker_values(index)):
            counted = f"{row.author!r}: {row.noted} noted, {row.said} said"
            found.add("count of a speaker's episodes", counted)
        for state in hnsw_segments.layer_states():
            if state.number == index.number and state.upto and not state.is_built:
                found.add("sealed layers without their vector index", Layer(state.layer).label)
        values = {"workspace": index.number, "owner": index.workspace_id, "most": SHOWN}
        for rule, statement in RULES.items():
            if rows := prepared_sql.rows(LISTED.format(statement), values):
                first = [str(row.id) for row in rows]
                found.broken[rule] = Disagreement(rule, rows[0].number, first)
        successors = prepared_sql.rows(SUCCESSORS, {"owner": index.workspace_id})
        for memory in endless({row.id: row.superseded_by_id for row in successors}):
            found.add("memories whose chain has no head", memory)
    return found


def _check_batch(
    index: WorkspaceIndex,
    layer: Layer,
    ids: Sequence[uuid.UUID],
    words: OwnWords,
    found: Agreement,
) -> None:
    name = layer.label
    setattr(found, name, getattr(found, name) + len(ids))
    known = {row.item: row for row in Entry.objects.filter(layer=layer, item__in=ids)}
    here = []
    for item in rebuild.items_of_truth(layer, ids):
        entry = known.get(item.id)
        if entry is None:
            found.add(f"{name} without an entry", item.id)
            continue
        here.append((entry.pk, item))
        is_unmade = entry.length == 0 and len(item.text) > BESIDE
        if is_unmade and DueVector.objects.filter(entry=entry.pk).exists():
            continue  # its keys are due with its vectors
        for column in _differing(index, entry, item):
            found.add(f"{name} whose entry has another {column}", item.id)
    if layer == Layer.MEMORIES:
        for memory in row_marks.stale_slots(ids, words):
            found.add("memories with other keys of attributes", memory.pk)
    lacking = set(rebuild.incomplete(index, here))
    _check_vectors(index, [(e, item) for e, item in here if e in lacking], found)


def _differing(index: WorkspaceIndex, entry: Entry, item: Item) -> list[str]:
    names = [name for name in PLAIN_COLUMNS if getattr(entry, name) != getattr(item, name)]
    wanted = lexical.term_keys(index.number, item.layer, lexical.document(item.text))
    has_terms = list(entry.terms) == wanted
    # What neighbours lend depends on the order in which they came; a heading lends as well.
    if item.layer in (Layer.EPISODES, Layer.CHUNKS, Layer.SUMMARIES):
        has_terms = set(wanted) <= set(entry.terms)
    own = {
        "workspace": entry.workspace == index.number,
        "marks": entry.marks == entries.marks_of(item, ranking.marks(item.text)),
        "trigrams": entry.trigrams == lexical.trigram_keys(index.number, item.layer, item.text),
        "terms": has_terms,
        "weights": (entry.weights is None) == (not entry.terms),
    }
    return [*names, *(name for name, agrees in own.items() if not agrees)]


def _check_vectors(index: WorkspaceIndex, lacking: Sequence[tuple[int, Item]], found: Agreement) -> None:
    """Check entries that have not one vector per text: is a text without one a text without
    words?"""
    if not lacking:
        return
    values = {"ids": [entry for entry, _ in lacking], "model": index.embedding_model_id}
    parts = {row.id: set(row.parts or ()) for row in prepared_sql.rows(rebuild.PARTS, values)}
    texts = [item.texts for _, item in lacking]
    embedder = configured_embedder.embedder_of(index)
    if index.embedding_model_id is None:
        wanted: list[set[int]] = [set() for _ in lacking]
    elif embedder.is_remote or embedder.is_beside:  # asking it costs; what it cannot embed is blank
        wanted = [{n for n, text in enumerate(own) if embeddable(text)} for own in texts]
    else:
        vectors = due_vectors.embed(index, texts)
        wanted = [{n for n, vector in enumerate(own) if vector is not None} for own in vectors]
    for (entry, item), expected in zip(lacking, wanted, strict=True):
        name = Layer(item.layer).label
        if expected - parts[entry]:
            found.add(f"{name} without all their vectors, and not due", item.id)
        if parts[entry] - expected:
            found.add(f"{name} with vectors of texts that are not there", item.id)


def _check_counts(index: WorkspaceIndex, found: Agreement) -> None:
    live = rebuild.live_counts(index)
    for layer in rebuild.TABLE:
        noted = getattr(index, f"live_{layer.label}")
        if noted != live.get(layer, 0):
            found.add(f"count of live {layer.label}", f"{noted} noted, {live.get(layer, 0)} there")
    values = {"workspace": index.number, "model": index.embedding_model_id}
    totals = prepared_sql.rows(TOTALS, values)[0]
    found.entries, found.due = totals.entries, totals.due
    found.vectors, found.other_vectors = totals.vectors, totals.others


def endless(successors: Mapping[uuid.UUID, uuid.UUID]) -> list[uuid.UUID]:
    """Return those from which following `successors` never ends."""
    ends: dict[uuid.UUID, bool] = {}
    for start in successors:
        path: list[uuid.UUID] = []
        here: uuid.UUID | None = start
        while here is not None and here not in ends:
            ends[here] = False  # until the end is seen; met again on the way, it is a circle
            path.append(here)
            here = successors.get(here)
        is_ended = here is None or ends[here]
        ends.update(dict.fromkeys(path, is_ended))
    return [memory for memory, is_ended in ends.items() if not is_ended]
