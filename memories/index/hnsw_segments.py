"""Approximate indexes of large layers: which there are, by which names, and how they are built,
beside search and ingest.

One partial HNSW per workspace and layer, sealed: it holds the entries up to an id, so that nothing
new is written to it. What is newer is the tail, compared one by one in a small index of its own.
Only a statement with workspace, model, layer and that id as literals can use them.

The worker builds them in the background, as the database's owner. It can try again at any time: if
a worker is killed, the server finishes its index, which is then found by its name and taken into
use, or dropped where it is no good."""

import logging
import time
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import psycopg
from django.conf import settings

from memories.index import prepared_sql
from memories.models import WIDEST_COVERED, EmbeddingModel, LargeLayer, Layer, WorkspaceIndex
from memoryproject.postgres.database_roles import owner_connection
from workspaces.scope import NOBODY

# Of a workspace: what `index_of` reads of its segments.
SEGMENTS = """
(select coalesce(jsonb_agg(jsonb_build_object(
          'layer', l.layer, 'model', l.embedding_model_id, 'upto', l.sealed_upto,
          'subjects', l.large_subjects)), '[]')
 from memories_largelayer l
 where l.workspace_id = s.number and l.sealed_upto is not null) as segments"""


LOCK_CLASS = 4243  # one builder at a time: a build takes all the cores there are
MOST = 100  # segments: each index costs every search of the table a microsecond to plan
TAIL = 0.05  # of the sealed entries; above it, and above a quarter of the threshold: build anew
LARGE_SUBJECT = 0.1  # of the layer; of less, an HNSW would look at too much that is not asked for
LOOKED_AGAIN = 0.2  # seconds, while another process builds
OTHERS_BUILD = 600.0  # seconds that a command waits for another builder
MOST_MEMORY = 2_000  # MB; a graph that does not fit is built slowly
# Our indexes by name: those of layer l of workspace w, or all.
NAMED = "l.workspace_id || '_' || l.embedding_model_id || '_' || l.layer || '_' || l.sealed_upto"
INDEXES = """
select c.relname as name from pg_index i join pg_class c on c.oid = i.indexrelid
join pg_class t on t.oid = i.indrelid
where t.relname = 'memories_vector' and t.relkind = 'r'
  and t.relnamespace = any(array(select oid from pg_namespace
                                 where nspname = any(current_schemas(false))))"""
LAYERS = f"""
select w.number, w.embedding_model_id as model, n.layer, n.live,
       coalesce(l.sealed_upto, 0) as upto, l.sealed_live,
       l.sealed_upto is not null and l.embedding_model_id = w.embedding_model_id
         and 2 = (select count(*) from ({INDEXES} and i.indisvalid) x
                  where x.name in ('vector_sealed_' || {NAMED}, 'vector_tail_' || {NAMED}))
       as is_built, w.workspace_id
from memories_workspaceindex w
cross join lateral (
  values (1, live_memories), (2, live_episodes), (3, live_features), (4, live_chunks)
) n(layer, live)
left join memories_largelayer l on l.workspace_id = w.number and l.layer = n.layer
where (%(least)s > 0 and n.live >= %(least)s) or l.sealed_upto is not null
order by n.live desc
"""
LEFTOVERS = f"""
select x.name from ({INDEXES}) x
where (starts_with(x.name, 'vector_sealed_') or starts_with(x.name, 'vector_tail_'))
  and not exists (select 1 from memories_largelayer l
                  where x.name in ('vector_sealed_' || {NAMED}, 'vector_tail_' || {NAMED}))
"""
# What an interrupted build or drop left. A build would take its name for the index being there.
BROKEN = f"""
select x.name from ({INDEXES} and not i.indisvalid) x
where starts_with(x.name, 'vector_sealed_') or starts_with(x.name, 'vector_tail_')
"""
BEGUN = f"""
select max(split_part(x.name, '_', 6)::int8) as upto from ({INDEXES} and i.indisvalid) x
where starts_with(x.name, %(prefix)s)
"""
NEWEST = """
select max(id) as upto from memories_entry where workspace = %(number)s and layer = %(layer)s
"""
TAIL_ENTRIES = """
select count(*) as number from memories_entry
where workspace = %(number)s and layer = %(layer)s and live and id > %(upto)s
"""
SUBJECTS = """
select coalesce(subject, %(nobody)s::uuid) as id from memories_vector
where workspace = %(number)s and embedding_model_id = %(model)s and layer = %(layer)s and live
  and not wide and part = 0
group by 1 having count(*) > %(least)s::float8
"""
HNSW = """
create index concurrently if not exists {segment.sealed_name} on memories_vector
  using hnsw ((embedding::{segment.kind}) halfvec_ip_ops)
  with (m = {links}, ef_construction = {effort})
  where {segment.rows} and entry_id <= {segment.upto}
"""
TAIL_INDEX = """
create index concurrently if not exists {segment.tail_name} on memories_vector (entry_id, part)
  include (subject, agent, visibility, scope, place{covered})
  where {segment.rows} and entry_id > {segment.upto}
"""


@dataclass(frozen=True, slots=True)
class Segment:
    """A sealed part of a layer: vectors of entries up to `upto` are in an HNSW. `large_subjects`
    are subjects of a good part of the layer; None stands for nobody in particular."""

    number: int
    model: int
    layer: int
    dimensions: int
    upto: int
    large_subjects: frozenset[uuid.UUID | None] = frozenset()

    @property
    def sealed_name(self) -> str:
        return f"vector_sealed_{self._name}"

    @property
    def tail_name(self) -> str:
        return f"vector_tail_{self._name}"

    @property
    def _name(self) -> str:
        return f"{self.number}_{self.model}_{self.layer}_{self.upto}"

    @property
    def rows(self) -> str:
        """The predicate of both indexes, but for the id."""
        return f"workspace = {self.number} and embedding_model_id = {self.model} and layer = {self.layer} and live"

    @property
    def kind(self) -> str:
        return f"halfvec({self.dimensions})"

    def speaks_of(self, subjects: Sequence[uuid.UUID | None]) -> bool:
        """Tell whether one of the subjects has so much that the HNSW is the way to it."""
        return not self.large_subjects.isdisjoint(subjects)


def segment_of(index: WorkspaceIndex, layer: int) -> Segment | None:
    """Return the segment of a layer under the model that the workspace uses."""
    for row in index.segments:
        if row["layer"] == layer and row["model"] == index.embedding_model_id:
            assert index.embedding_model is not None
            subjects = (uuid.UUID(subject) for subject in row["subjects"])
            return Segment(
                number=index.number,
                model=row["model"],
                layer=row["layer"],
                dimensions=index.embedding_model.dimensions,
                upto=row["upto"],
                large_subjects=frozenset(None if s == NOBODY else s for s in subjects),
            )
    return None


LINKS, EFFORT = 24, 100  # of the HNSW: m and ef_construction

Owner: TypeAlias = psycopg.Connection[Any]
log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class LayerState:
    """A layer that is large or was, as LAYERS selects it."""

    number: int
    model: int | None
    layer: int
    live: int
    upto: int
    sealed_live: int | None
    is_built: bool
    workspace_id: uuid.UUID

    @property
    def is_large(self) -> bool:
        # Not built and dropped by turns where a layer stays about as large as the threshold.
        least = settings.VECTOR_INDEX_FROM // (2 if self.upto else 1)
        return 0 < least <= self.live and self.model is not None

    @property
    def is_due(self) -> bool:
        """Tell whether it is to be built, for the first time or anew."""
        if not self.is_large:
            return False
        if not self.is_built:
            return True
        values = {"number": self.number, "layer": self.layer, "upto": self.upto}
        longest = max(settings.VECTOR_INDEX_FROM / 4, TAIL * (self.sealed_live or 0))
        return bool(prepared_sql.rows(TAIL_ENTRIES, values)[0].number > longest)

    @property
    def is_over(self) -> bool:
        return bool(self.upto) and not self.is_large


def layer_states() -> list[LayerState]:
    found = prepared_sql.rows(LAYERS, {"least": settings.VECTOR_INDEX_FROM})
    return [LayerState(*row) for row in found[:MOST]]


def is_due() -> bool:
    """Tell whether `rebuild_indexes` would do anything; cheap enough to be asked every minute."""
    changing = any(state.is_due or state.is_over for state in layer_states())
    return changing or bool(prepared_sql.rows(LEFTOVERS, {}))


def rebuild_indexes(tell: Callable[[str], object] = log.info, wait: float = 0.0) -> int:
    """Build and drop until all is as it should be; return the number of layers changed.

    It is 0 where another process is at it for longer than `wait` seconds. `tell` is called for each
    step.
    """
    until, is_told = time.monotonic() + wait, False
    with owner_connection() as owner:
        while not _is_ours(owner):
            if time.monotonic() >= until:
                return 0
            if not is_told:
                tell("Another process builds indexes; this one waits for its end.")
                is_told = True
            time.sleep(LOOKED_AGAIN)
        _drop(BROKEN, owner)
        changing = [state for state in layer_states() if state.is_due or state.is_over]
        for state in changing:
            tell(f"workspace {state.number}, layer {state.layer}: {state.live} entries")
            started = time.perf_counter()
            is_due = state.is_due
            if is_due:
                _build(state, owner)
            else:
                rows = LargeLayer.objects.filter(workspace=state.number, layer=state.layer)
                rows.update(sealed_upto=None, embedding_model=None, large_subjects=[])
            log.info(
                "Segment %s: workspace %s, %s, %d live entries, %.1f s",
                "built" if is_due else "dropped",
                state.workspace_id,
                Layer(state.layer).label,
                state.live,
                time.perf_counter() - started,
            )
        _drop(LEFTOVERS, owner)
        return len(changing)


def _is_ours(owner: Owner) -> bool:
    """Take the lock of the builder; the server holds it as long as a build runs, even if we are
    killed."""
    took = owner.execute("select pg_try_advisory_lock(%s, 0)", [LOCK_CLASS]).fetchone()
    return bool(took and took[0])


def _drop(which: str, owner: Owner) -> None:
    for row in prepared_sql.rows(which, {}):
        owner.execute(f"drop index concurrently if exists {row.name}")


def _build(state: LayerState, owner: Owner) -> None:
    """Build the next indexes, then let searches change over to them."""
    model = EmbeddingModel.objects.get(pk=state.model or 0)
    layer = {"number": state.number, "model": model.pk, "layer": state.layer}
    # The id up to which an index was begun that no search uses yet; else the newest one.
    prefix = f"vector_sealed_{state.number}_{model.pk}_{state.layer}_"
    begun: int = prepared_sql.rows(BEGUN, {"prefix": prefix})[0].upto or 0
    upto = begun if begun > state.upto else prepared_sql.rows(NEWEST, layer)[0].upto
    segment = Segment(state.number, model.pk, state.layer, model.dimensions, upto)
    owner.execute(f"set maintenance_work_mem = '{min(MOST_MEMORY, 64 + state.live // 400)}MB'")
    covered = ", embedding" if model.dimensions <= WIDEST_COVERED else ""
    owner.execute(TAIL_INDEX.format(segment=segment, covered=covered))
    owner.execute(HNSW.format(segment=segment, links=LINKS, effort=EFFORT))
    least = max(settings.VECTOR_INDEX_FROM, LARGE_SUBJECT * state.live)
    subjects = prepared_sql.rows(SUBJECTS, layer | {"nobody": NOBODY, "least": least})
    LargeLayer.objects.update_or_create(
        workspace_id=state.number,
        layer=state.layer,
        defaults={
            "embedding_model": model,
            "sealed_upto": upto,
            "sealed_live": state.live,
            "large_subjects": [row.id for row in subjects],
        },
    )
