"""The building blocks of search statements: scope and visibility stand here once, for every layer.

Texts are put together from fixed pieces only, so each is prepared once and planned once; what
the caller said is a parameter. The exact texts compare an untyped column without a cast, which
leaves the planner no index but the covering one.
"""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import numpy as np
from pgvector import HalfVector

from memories.index import hnsw_segments
from memories.index.hnsw_segments import Segment
from memories.models import (
    APART,
    SCOPE_CODE,
    WIDEST_COVERED,
    Layer,
    WorkspaceIndex,
    name_joins,
    workflow_place,
)
from memories.ranking import WISHES
from memories.search.request import Trace
from workspaces.scope import Scope

# The condition of the index `entry_wishes`.
WISHED = f"(x.marks & {int(WISHES)}) > 0"
MOST_WISHES = 20
# The column of the indexes `entry_dated` and `entry_dated_subject`: when what is told happens, or
# was said. At most MOST_DATED entries of the days asked for are read, the latest of each stretch.
WHEN = "coalesce(x.event_at, x.occurred_at)"
MOST_DATED = 1_000
# x is an entry or a vector: both carry the scope columns. Of these a text has what its asker needs,
# because every condition is evaluated for every row of a scan.
AS_AGENT = """
  and (x.visibility = 2
       or (x.visibility = 1 and (x.agent = any(%(team)s::uuid[])
                                 or (x.agent is null and %(default_team)s)))
       or (x.visibility = 0 and x.agent = %(bound)s::uuid))"""
OF_SUBJECTS = """
  and x.subject = any(%(subjects)s::uuid[])"""
OPEN_SCOPE = """
  and x.scope = %(open_scope)s::int2"""
SCOPE_OR_PLACE = """
  and (x.scope = any(%(open_scopes)s::int2[]) or x.place = any(%(places)s::uuid[]))"""
# A search about somebody also finds what is about nobody in particular. What an agent keeps to
# itself is not for users of another one; for those bound to an agent AS_AGENT says so already.
ABOUT = "x.subject = %(subject)s::uuid"
ABOUT_NOBODY = "x.subject is null"
ABOUT_NOBODY_TO_ALL = "x.subject is null and (x.visibility <> 0 or x.agent is null)"
# Entries of documents that the worker is indexing in steps: nobody finds half a document. A search
# at an earlier time finds what one said then, also while its entries leave the hot path.
IN_STEPS = """
unready as materialized (
  select e.id from memories_revision r
  join memories_passage p on p.revision_id = r.id
  join memories_entry e on e.layer = %(layer)s and e.item = p.id
  where r.workspace_id = %(tenant)s::uuid and r.stage <> ''{but}),"""
NO_VECTORS = "select null::int8 as entry_id, null::int2 as part, null::float8 as d where false"
# Vectors that are taken from the HNSW: more than are wanted, for the sake of recall. Where fewer
# are found, a condition leaves so little that comparing one by one is right.
DEPTH = 150
# Each that a filter leaves over costs many that it does not: at a million and one in a hundred, 60
# find as many of the first ten as 150, in half the time.
FILTERED_DEPTH = 60
# Of a larger layer all live entries stand for those that the asker may find, which are not counted.
COUNTED = 20_000
TABLES = {
    Layer.MEMORIES: "memories_memory",
    Layer.EPISODES: "memories_episode",
    Layer.FEATURES: "memories_feature",
    Layer.CHUNKS: "memories_passagetext",
    Layer.SUMMARIES: "memories_summarytext",
}


@dataclass(frozen=True, slots=True)
class RowCondition:
    """A condition that narrows a search, in SQL over `row`, s, a, c.

    `history`: also rows that are no longer live; the condition says what was believed. `few`: a
    statement of the ids to which it narrows, where these are few enough to be looked up.
    `indexed`: the part of the condition by which an index finds the rows of a workspace.
    """

    condition: str = ""
    history: bool = False
    few: str = ""
    indexed: str = ""


EVERYTHING = RowCondition()


@dataclass(frozen=True, slots=True)
class LayerQuery:
    """The query of one layer, in which index and who asks it, as the statements take it.

    `subject` None: about anybody; `called`: its id and its name; `time_zone`: its
    own, else the workspace's. `trace` None: no trace is wanted.
    `notes`: codes of what the search had to do without. `days`: the periods that are asked for.
    `with_apart`: documents that stand apart, too.
    """

    index: WorkspaceIndex
    scope: Scope
    layer: Layer
    query: str
    vector: np.ndarray | None = None
    subject: uuid.UUID | None = None
    called: tuple[str, ...] = ()
    time_zone: str = ""
    memory_scope: str = ""
    place_of_thread: uuid.UUID | None = None
    workflow: str = ""
    wanted: RowCondition = EVERYTHING
    wanted_values: dict[str, Any] = field(default_factory=dict)
    trace: Trace | None = None
    notes: list[str] = field(default_factory=list)
    days: Sequence[tuple[datetime, datetime]] = ()
    with_apart: bool = False

    @property
    def places(self) -> list[uuid.UUID]:
        asked = self.memory_scope
        thread = [self.place_of_thread] if self.place_of_thread and asked != "workflow" else []
        workflow = [workflow_place(self.workflow)] if self.workflow and asked != "thread" else []
        return [] if asked == "user" else [*thread, *workflow]

    @property
    def open_scopes(self) -> list[int]:
        """The scopes that are searched whole; a thread's or workflow's own memories need its
        name."""
        asked = self.memory_scope or "user"
        own = [] if asked != "user" and self.places else [SCOPE_CODE[asked]]
        return [*own, APART] if self.with_apart else own


def parameters(asked: LayerQuery) -> dict[str, Any]:
    index, scope = asked.index, asked.scope
    return {
        "workspace": index.number,
        "tenant": scope.workspace_id,
        "model": index.embedding_model_id,
        "layer": int(asked.layer),
        "vector": None if asked.vector is None else HalfVector(asked.vector),
        "bound": scope.agent_id,
        "team": list(scope.team_agent_ids),
        "default_team": scope.in_default_team,
        "subjects": None if scope.subject_ids is None else list(scope.subject_ids),
        "spaces": None if scope.container_tags is None else list(scope.container_tags),
        "subject": asked.subject,
        "open_scope": next(iter(asked.open_scopes), None),
        "open_scopes": asked.open_scopes,
        "places": asked.places,
        "begins": [begin for begin, _ in asked.days],
        "ends": [end for _, end in asked.days],
        **asked.wanted_values,
    }


@dataclass(frozen=True, slots=True)
class StatementShape:
    """All that a statement's text depends on, and the pieces of the text."""

    layer: Layer
    wanted: RowCondition
    has_subject: bool
    has_vector: bool
    is_wide: bool
    is_bound: bool = False
    is_limited: bool = False
    has_places: bool = False
    is_large: bool = False
    segment: Segment | None = None

    @property
    def is_all(self) -> bool:
        """Tell whether nothing narrows the layer but the scope of its memories."""
        narrowed = self.has_subject or self.is_bound or self.is_limited
        return not (narrowed or self.wanted.condition or self.wanted.history)

    @property
    def depth(self) -> int:
        """The number of vectors that are taken from the HNSW."""
        return FILTERED_DEPTH if self.wanted.condition else DEPTH

    @property
    def is_by_entry(self) -> bool:
        """Tell whether the wanted rows are no range of an index, and have to be looked up."""
        return self.wanted.history or bool(self.wanted.few)

    @property
    def is_by_row_index(self) -> bool:
        """Tell whether an index of the rows finds what is wanted."""
        return bool(self.wanted.indexed and not self.wanted.few)

    @property
    def is_by_exact_vector(self) -> bool:
        return self.has_vector and not self.segment

    @property
    def is_subject_by_vector(self) -> bool:
        return self.is_by_exact_vector and self.has_subject

    @property
    def prelude(self) -> str:
        """The first parts of the statement, each evaluated once: passages whose indexing is under
        way (unready), and what a filter wants (w). Old versions are in no index for search, only in
        w."""
        return self._in_steps + self._wanted

    @property
    def _in_steps(self) -> str:
        if self.layer != Layer.CHUNKS:
            return ""
        return IN_STEPS.format(but=" and r.stage <> 'going'" if self.wanted.history else "")

    @property
    def _wanted(self) -> str:
        if not self.wanted.condition or self.segment:
            return ""
        table = TABLES[self.layer]
        live = "" if self.wanted.history else "and x.live"
        own = f"x.workspace = %(workspace)s and x.layer = %(layer)s {live} {self._subject}"
        if self.is_by_row_index:
            # All ids at once: entries lie in the order in which rows were made, and a page of their
            # index has many of them.
            return f"""
w as materialized (
  select x.id from (select * from memories_entry t
    where t.layer = %(layer)s and t.item = any(array(
      select row.id from {table} row {name_joins("row")}
      where row.workspace_id = %(tenant)s::uuid and {self.wanted.indexed}
        and {self.wanted.condition} offset 0)) offset 0) x
  where {own}),"""
        # The planner takes all workspaces for equally large, and would read the whole table for the
        # rows of a small one. The offset leaves it no way but to look each of them up.
        of_few = f"cross join lateral (select * from {table} t where t.id = x.item offset 0) row"
        is_read = self.is_large and not self.wanted.few
        rows = f"join {table} row on row.id = x.item" if is_read else of_few
        # The same for the entries of what is named.
        entries = "memories_entry x"
        if self.wanted.few:
            entries = f"""(select distinct id from ({self.wanted.few}) named) few
  cross join lateral (select * from memories_entry t
    where t.layer = %(layer)s and t.item = few.id offset 0) x"""
        return f"""
w as materialized (
  select x.id from {entries}
  {rows}
  {name_joins("row")}
  where {own}
    and {self.wanted.condition}),"""

    @property
    def is_compared_once(self) -> bool:
        """Tell whether the distances are used more than once: they also tell how many entries there
        are, and which are the newest."""
        return self.is_by_exact_vector and not self.is_all

    @property
    def compared(self) -> str:
        """The vectors with their distances, as a part of a statement, where that is so."""
        if not self.is_compared_once:
            return ""
        return f"""
compared as materialized ({self.vectors("")}),"""

    def nearest(self, number: int, part: str = "") -> str:
        """Select at least the `number` nearest vectors with their distance d (the negative
        cosine)."""
        if not self.segment:
            return f"select * from ({self.vectors(part)}) x order by d, entry_id limit {number}"
        # Of the HNSW so many, and all of the tail. Literals, because a partial index never meets a
        # parameter; the cast, because the index has it; one case of all conditions, because the
        # planner would multiply its guesses of each and shun the index.
        kind, rows, upto = self.segment.kind, self.segment.rows, self.segment.upto
        visible = self._visible("x.entry_id")
        narrowed, fitting = f"{self._subject} {part} {visible}", self._fitting("x.entry_id")
        return f"""
  (select x.entry_id, x.part, x.embedding::{kind} <#> %(vector)s::{kind} as d
   from memories_vector x
   where {rows} and entry_id <= {upto} {fitting}
     and case when true {narrowed} then true else false end
   order by x.embedding::{kind} <#> %(vector)s::{kind} limit {self.depth})
  union all
  select x.entry_id, x.part, x.embedding <#> %(vector)s::halfvec as d
  from memories_vector x
  where {rows} and entry_id > {upto} {narrowed} {fitting}"""

    def vectors(self, part: str) -> str:
        """Select all vectors of the asked set, index-only: one range of the covering index for each
        subject that the rows are about."""
        if not self.has_vector:
            return NO_VECTORS
        visible = self._visible("x.entry_id")
        if self.is_by_entry:
            return f"""
  select x.entry_id, x.part, x.embedding <#> %(vector)s::halfvec as d
  from w join memories_vector x on x.entry_id = w.id
  where x.embedding_model_id = %(model)s {part} {visible}"""
        wide = "x.wide" if self.is_wide else "not x.wide"
        return "\n  union all".join(
            f"""
  select x.entry_id, x.part, x.embedding <#> %(vector)s::halfvec as d
  from memories_vector x
  where x.workspace = %(workspace)s and x.embedding_model_id = %(model)s
    and x.layer = %(layer)s and x.live and {wide} {branch} {part} {visible}
    {self._fitting("x.entry_id")}"""
            for branch in ([f"and {about}" for about in self._abouts] or [""])
        )

    def entries(self, *, by_key: bool = False) -> str:
        """`from ... where ...`: the entries x of the layer that the asker may find.

        `by_key`: a key follows, which names workspace and layer already. Hidden from the planner,
        they do not make it read the whole workspace beside each key's rows.
        """
        if self.is_by_entry:
            return f"from w join memories_entry x on x.id = w.id where true {self._visible()}"
        hidden = " + 0" if by_key else ""
        return f"""from memories_entry x
  where x.workspace{hidden} = %(workspace)s and x.layer{hidden} = %(layer)s and x.live
    {self._subject} {self._visible()} {self._fitting("x.id")}"""

    # A subject's own stand together in the covering index, among the entries they are scattered;
    # and what an agent sees is counted there without reading the entries.

    @property
    def count(self) -> str:
        """The number of entries to be found, in SQL; of a large layer, the number of live ones."""
        if self.is_all or self.segment or (self.is_large and not self.is_subject_by_vector):
            return "%(n)s::int8"
        if self.is_by_exact_vector:
            return "(select count(*) from compared where part = 0)"
        return f"(select count(*) {self.entries()})"

    @property
    def newest(self) -> str:
        """The 40 newest entries that the asker may find."""
        if self.is_subject_by_vector:
            return "select entry_id as id from compared where part = 0 order by 1 desc limit 40"
        return f"select x.id {self.entries()} order by x.id desc limit 40"

    @property
    def wishes(self) -> str:
        """The newest entries with what the person asked for once and for all, or prefers: one range
        of their own index for each subject that the rows are about. A search about everybody gets
        those that are about nobody."""
        return "\n  union all".join(
            f"""
  (select x.id from memories_entry x
   where x.workspace = %(workspace)s and x.layer = %(layer)s and x.live and {WISHED} and {about}
     and x.role = 'user' {self._visible()} {self._fitting("x.id")}
   order by x.subject desc, x.id desc limit {MOST_WISHES})"""
            for about in self._abouts or (ABOUT_NOBODY,)
        )

    @property
    def dated(self) -> str:
        """The entries of the days asked for: one range of an index for each stretch of days and
        each subject that the rows are about."""
        found = [self.entries()]
        if self.has_subject and not self.is_by_entry:
            own = "from memories_entry x\n  where x.workspace = %(workspace)s and x.layer = %(layer)s"
            rest = f"{self._visible()} {self._fitting('x.id')}"
            found = [f"{own}\n    and x.live and {about} {rest}" for about in self._abouts]
        return "\n  union all".join(
            f"""
  (select of_days.id from unnest(%(begins)s::timestamptz[], %(ends)s::timestamptz[]) r(begin, until)
   cross join lateral (
     select x.id {entries} and {WHEN} >= r.begin and {WHEN} < r.until
     order by {WHEN} desc limit {MOST_DATED}) of_days
   limit {MOST_DATED})"""
            for entries in found
        )

    def _fitting(self, entry: str) -> str:
        """Return the condition that an entry passes the filter; nothing where there is no
        filter."""
        if not self.wanted.condition:
            return ""
        if not self.segment:
            # What an array names the planner takes for few, and would look each of them up: as a
            # condition they are a hash, past which the vectors are scanned.
            is_in = f"{entry} in (select id from w)"
            return f"and ({is_in}) is true" if self.is_by_row_index else f"and {is_in}"
        # In a large layer a filter looks at the rows that are found, not for all rows that it
        # wants. The offset keeps it a condition: as a join it could come before the index.
        return f"""
  and exists (select 1 from memories_entry f join {TABLES[self.layer]} row on row.id = f.item
    {name_joins("row")}
    where f.id = {entry} and {self.wanted.condition} offset 0)"""

    def _visible(self, entry: str = "x.id") -> str:
        """Return the condition for what the asker may find of the layer, and has asked for."""
        who = AS_AGENT if self.is_bound else ""
        about = OF_SUBJECTS if self.is_limited else ""
        if self.layer == Layer.CHUNKS:
            who += f" and {entry} not in (select id from unready)"
        return who + about + (SCOPE_OR_PLACE if self.has_places else OPEN_SCOPE)

    @property
    def _abouts(self) -> tuple[str, ...]:
        if not self.has_subject:
            return ()
        return ABOUT, ABOUT_NOBODY if self.is_bound else ABOUT_NOBODY_TO_ALL

    @property
    def _subject(self) -> str:
        return f"and ({' or '.join(self._abouts)})" if self.has_subject else ""


def shape_of(asked: LayerQuery, *, by_vector: bool = True, exact: bool = False) -> StatementShape:
    index, model = asked.index, asked.index.embedding_model
    has_vector = by_vector and asked.vector is not None and model is not None
    segment = None
    if has_vector and not exact and not asked.wanted.history and not asked.wanted.few:
        segment = hnsw_segments.segment_of(index, asked.layer)
        subjects: list[uuid.UUID | None] = [*(asked.scope.subject_ids or ())]
        if asked.subject is not None:
            subjects = [asked.subject, None]
        # For a few subjects with little of the layer, vectors are compared one by one.
        if segment and subjects and not segment.speaks_of(subjects):
            segment = None
    return StatementShape(
        asked.layer,
        asked.wanted,
        has_subject=asked.subject is not None,
        has_vector=has_vector,
        is_wide=model is not None and model.dimensions > WIDEST_COVERED,
        is_bound=asked.scope.is_bound,
        is_limited=asked.scope.subject_ids is not None,
        has_places=bool(asked.places) or asked.with_apart,
        is_large=index.live(asked.layer) > COUNTED,
        segment=segment,
    )
