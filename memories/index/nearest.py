"""The live memories that a claim is compared with: those near it. Many vectors against all that a
subject has are one product of matrices, outside of the database: the rows come as binary COPY out
of the covering index. A thousand statements against ten thousand memories take a tenth of a second;
as a join, two."""

import uuid
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, islice
from operator import attrgetter
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import psycopg
from pgvector import HalfVector

from memories.index import hnsw_segments, prepared_sql
from memories.index.hnsw_segments import Segment
from memories.models import (
    SCOPE_CODE,
    VISIBILITY_CODE,
    WIDEST_COVERED,
    EmbeddingModel,
    Layer,
    WorkspaceIndex,
    place_of,
)
from memories.models.memory import OF_OTHER_SPACES
from memoryproject.postgres.prepared import Asked

Floats = npt.NDArray[np.float32]
CHUNK = 2_048  # rows of one product, which stays near the processor
# Of binary COPY: the signature, flags and the length of an extension; at the end a -1.
HEADER, TRAILER = 19, 2


# From so many statements on the comparison is a product of matrices.
MANY = 16
WHO = {
    VISIBILITY_CODE["global"]: "x.visibility = 2",
    VISIBILITY_CODE["team"]: "x.visibility = 1 and (x.agent = any(%(team)s::uuid[])"
    " or (x.agent is null and %(default_team)s))",
    VISIBILITY_CODE["private"]: "x.visibility = 0 and x.agent is not distinct from %(agent)s::uuid",
}
ANY_OF_THEM = " or ".join(f"(n.visible = {code} and {who})" for code, who in WHO.items())
OUT_OF_REACH = f"select id from memories_entry where item in ({OF_OTHER_SPACES})"
ITEMS = "select id, item from memories_entry where id = any(%(ids)s::int8[])"
# `n` are the new statements, where there are several in one text.
STATEMENTS = """
  select v, visible, i - 1 as i from unnest(%(vectors)b::halfvec[], %(visible)s::int2[])
  with ordinality n(v, visible, i) where v is not null"""
# Of each statement the best of those that are `near`.
BEST_OF_EACH = """
select near.i, near.similarity, e.item from near join memories_entry e on e.id = near.entry_id
where near.rank <= %(most)s
order by near.i, near.similarity desc, near.entry_id
"""


def best_pairs(
    select: str, values: dict[str, Any], asked: Floats, *, floor: float, most: int
) -> list[tuple[int, int, float]]:
    """Return (row of `asked`, entry id, cosine) of pairs at or over `floor`, `most` per row, best
    first.

    `select` returns entry_id and embedding, all of the length that `asked` has.
    """
    found = _Pairs(np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0, np.float32))
    bounds = np.full(len(asked), floor, np.float32)
    for ids, vectors in _chunks(select, values, asked.shape[1]):
        cosines = asked @ vectors.T
        # As one row: in two dimensions numpy looks for them six times as long.
        rows, columns = divmod(np.flatnonzero(cosines >= bounds[:, None]), len(ids))
        found = found.with_more(_Pairs(rows, ids[columns], cosines[rows, columns]))
        found, ranks = found.best(most)
        # Vectors farther than the last of a full row are not looked at again.
        is_last = ranks == most - 1
        bounds[found.rows[is_last]] = found.cosines[is_last]
    return list(zip(*(each.tolist() for each in found), strict=True))


class _Pairs(NamedTuple):
    """Pairs by column; a row's are the best first once they are `best`."""

    rows: npt.NDArray[np.int64]
    ids: npt.NDArray[np.int64]
    cosines: Floats

    def with_more(self, more: "_Pairs") -> "_Pairs":
        return _Pairs(
            np.concatenate((self.rows, more.rows)),
            np.concatenate((self.ids, more.ids)),
            np.concatenate((self.cosines, more.cosines)),
        )

    def best(self, most: int) -> tuple["_Pairs", npt.NDArray[np.int64]]:
        """Return at most so many pairs of each row, with their ranks from 0 on."""
        order = np.lexsort((self.ids, -self.cosines, self.rows))
        rows = self.rows[order]
        ranks = np.arange(len(rows)) - np.searchsorted(rows, rows)
        kept = order[ranks < most]
        found = _Pairs(self.rows[kept], self.ids[kept], self.cosines[kept])
        return found, ranks[ranks < most]


def _chunks(select: str, values: dict[str, Any], dimensions: int) -> Iterator[tuple[npt.NDArray[np.int64], Floats]]:
    text = f"copy ({select}) to stdout (format binary)"
    with (
        psycopg.Cursor(prepared_sql.hot_connection()) as cursor,
        cursor.copy(text, values) as reader,
    ):
        told = b"".join(bytes(part) for part in reader)[HEADER:-TRAILER]
    # One row of binary COPY: a count of fields, then each with its length before it.
    layout = np.dtype(
        [("fields", ">i2"), ("id_length", ">i4"), ("id", ">i8"), ("vector_length", ">i4")]
        + [("dimensions", ">i2"), ("unused", ">i2"), ("vector", ">f2", (dimensions,))]
    )
    rows = np.frombuffer(told, layout)
    for start in range(0, len(rows), CHUNK):
        part = rows[start : start + CHUNK]
        yield part["id"].astype(np.int64), part["vector"].astype(np.float32)


# Fewer links of the HNSW are followed for each of many statements, and none far away where few rows
# are of the statement's visibility: what says the same lies near. What a function sets would reach
# no other node of a distributed server.
QUICK, QUICKER = (
    ("set local hnsw.max_scan_tuples = 2000", f"set local hnsw.ef_search = {links}") for links in (200, 40)
)


@dataclass(frozen=True, slots=True)
class Placement:
    """The place of a writer's memories: what they are about, who wrote them, in which scope.

    `team` are the agents of the writer's team; what no agent wrote is the default team's.
    `meets_all`: they are compared with all that is believed of the subject, whoever may see it.
    `spaces` None: the writer is not limited to some; else it meets nothing that only documents of
    other spaces say.
    """

    workspace_id: uuid.UUID
    subject_id: uuid.UUID | None
    agent_id: uuid.UUID | None
    team: tuple[uuid.UUID, ...]
    in_default_team: bool
    scope: str
    conversation_id: uuid.UUID | None
    workflow: str
    meets_all: bool = False
    spaces: tuple[str, ...] | None = None

    @property
    def place(self) -> uuid.UUID | None:
        return place_of(self.scope, self.conversation_id, self.workflow)


@dataclass(frozen=True, slots=True)
class Reach:
    """The least cosine of a memory to a statement, and how many are looked for at most per
    statement."""

    floor: float
    most: int


@dataclass(frozen=True, slots=True)
class Pair:
    """Statement number `index` and a live memory, with their cosine where it was taken."""

    index: int
    memory_id: uuid.UUID
    similarity: float | None


def nearest(
    index: WorkspaceIndex,
    placement: Placement,
    vectors: Sequence[np.ndarray | None],
    visibilities: Sequence[str],
    reach: Reach,
) -> list[Pair]:
    """Return the pairs within reach, the nearest first per statement."""
    if asked := asked_of_few(index, placement, vectors, visibilities, reach):
        return pairs_of(prepared_sql.rows_of_each(asked)[-1])
    model = index.embedding_model
    if model is None or all(vector is None for vector in vectors):
        return []
    codes = [VISIBILITY_CODE[visibility] for visibility in visibilities]
    values, texts = _values(index, placement, reach), _texts(model, placement)
    segment = _segment(index, placement)
    if segment is not None:
        return _in_segment(segment, texts, values, vectors, codes)
    return _compared(texts.rows, values, vectors, codes)


def asked_of_few(
    index: WorkspaceIndex,
    placement: Placement,
    vectors: Sequence[np.ndarray | None],
    visibilities: Sequence[str],
    reach: Reach,
) -> list[Asked]:
    """Return the statements of `nearest` for few vectors, which the caller sends with others; the
    rows of the last one are for `pairs_of`. Return none for many, which are compared outside of the
    database."""
    model = index.embedding_model
    if model is None or len(vectors) >= MANY or all(vector is None for vector in vectors):
        return []
    codes = [VISIBILITY_CODE[visibility] for visibility in visibilities]
    values, texts = _values(index, placement, reach), _texts(model, placement)
    segment = _segment(index, placement)
    if segment is not None:
        text = texts.in_segment(segment, reach.most, with_tail=True)
        return [*((each, {}) for each in QUICK), (text, values | _arrays(vectors, codes))]
    if len(vectors) == 1 and vectors[0] is not None:
        return [(texts.one(codes[0]), values | {"vector": HalfVector(vectors[0])})]
    return [(texts.pairs(), values | _arrays(vectors, codes))]


def pairs_of(rows: Iterable[Any]) -> list[Pair]:
    return [Pair(row.i, row.item, row.similarity) for row in rows]


def _values(index: WorkspaceIndex, placement: Placement, reach: Reach) -> dict[str, Any]:
    return {
        "workspace": index.number,
        "model": index.embedding_model_id,
        "layer": int(Layer.MEMORIES),
        "subject": placement.subject_id,
        "scope": SCOPE_CODE[placement.scope],
        "place": placement.place,
        "agent": placement.agent_id,
        "team": list(placement.team),
        "default_team": placement.in_default_team,
        "tenant": placement.workspace_id,
        "spaces": None if placement.spaces is None else list(placement.spaces),
        "threshold": reach.floor,
        "most": reach.most,
    }


def _texts(model: EmbeddingModel, placement: Placement) -> "_Texts":
    is_wide, of_nobody = model.dimensions > WIDEST_COVERED, placement.subject_id is None
    return _Texts(is_wide, of_nobody, in_spaces=placement.spaces is not None)


def _segment(index: WorkspaceIndex, placement: Placement) -> Segment | None:
    """Return the layer's segment, where it is the way to what the subject has."""
    segment = hnsw_segments.segment_of(index, Layer.MEMORIES) if index.segments else None
    return segment if segment and segment.speaks_of([placement.subject_id]) else None


def _in_segment(
    segment: Segment,
    texts: "_Texts",
    values: dict[str, Any],
    vectors: Sequence[np.ndarray | None],
    codes: Sequence[int],
) -> list[Pair]:
    """Find the nearest in a segment. Many vectors are compared with its tail outside of the
    database, as in a layer without a segment: a scan of it for each would take longer than the
    HNSW."""
    most = values["most"]
    text = texts.in_segment(segment, most, with_tail=False)
    asked = [*((each, {}) for each in QUICKER), (text, values | _arrays(vectors, codes))]
    found = pairs_of(prepared_sql.rows_of_each(asked)[-1])
    found += _compared(lambda code: texts.tail(segment, code), values, vectors, codes)
    # The sort is stable: of two that are as near, the older one first, as everywhere.
    found.sort(key=lambda pair: (pair.index, -(pair.similarity or 0.0)))
    return [p for _, own in groupby(found, attrgetter("index")) for p in islice(own, most)]


def _compared(
    text_of: Callable[[int], str],
    values: dict[str, Any],
    vectors: Sequence[np.ndarray | None],
    codes: Sequence[int],
) -> list[Pair]:
    pairs = []
    reach = {"floor": values["threshold"], "most": values["most"]}
    for code in sorted(set(codes)):
        own = enumerate(zip(vectors, codes, strict=True))
        asked = [(i, v) for i, (v, of) in own if of == code and v is not None]
        if not asked:
            continue
        # As the index has them: in half precision.
        rows = np.array([vector for _, vector in asked], np.float16).astype(np.float32)
        found = best_pairs(text_of(code), values, rows, **reach)
        ids = list({entry for _, entry, _ in found})
        items = {row.id: row.item for row in prepared_sql.rows(ITEMS, {"ids": ids})}
        pairs += [Pair(asked[row][0], items[entry], cosine) for row, entry, cosine in found]
    return pairs


@dataclass(frozen=True, slots=True)
class _Texts:
    """The texts for a workspace's vectors, for what is about somebody or about nobody, and for a
    writer that is limited to spaces or to none."""

    is_wide: bool
    of_nobody: bool
    in_spaces: bool

    def one(self, code: int) -> str:
        """Return the text of `pairs` for one statement: without the join, a third faster."""
        return f"""
select 0 as i, near.similarity, e.item from (
  select x.entry_id, -(x.embedding <#> %(vector)s::halfvec) as similarity {self._exact(WHO[code])}
    and (x.embedding <#> %(vector)s::halfvec) <= -%(threshold)s::float8
  order by similarity desc, x.entry_id limit %(most)s) near
join memories_entry e on e.id = near.entry_id
order by near.similarity desc, near.entry_id
"""

    def rows(self, code: int) -> str:
        return f"select x.entry_id, x.embedding {self._exact(WHO[code])}"

    def pairs(self) -> str:
        """Return the text for the best pairs at or over a cosine in one scan of the subject's rows,
        index-only."""
        exact = self._exact(f"({ANY_OF_THEM})")
        return f"""
with asked as materialized ({STATEMENTS}),
near as materialized (
  select n.i, x.entry_id, -(x.embedding <#> n.v) as similarity,
         row_number() over (partition by n.i order by x.embedding <#> n.v, x.entry_id) as rank
  from asked n cross join lateral (select x.entry_id, x.embedding {exact}) x
  where (x.embedding <#> n.v) <= -%(threshold)s::float8){BEST_OF_EACH}"""

    def in_segment(self, segment: Segment, most: int, *, with_tail: bool) -> str:
        """Return the text for the best of the HNSW and of the tail for each statement. One case of
        all conditions: else the planner would multiply its guesses of each, and shun the HNSW."""
        kind, rows, upto = segment.kind, segment.rows, segment.upto
        meets = self._meets(f"({ANY_OF_THEM})")
        tail = f"""
    union all
    (select x.entry_id, x.embedding <#> n.v as d from memories_vector x
     where {rows} and entry_id > {upto} {meets}
     order by x.embedding <#> n.v limit {most})"""
        return f"""
with asked as materialized ({STATEMENTS}),
near as materialized (
  select n.i, y.entry_id, -y.d as similarity,
         row_number() over (partition by n.i order by y.d, y.entry_id) as rank
  from asked n cross join lateral (
    (select x.entry_id, x.embedding::{kind} <#> n.v::{kind} as d from memories_vector x
     where {rows} and entry_id <= {upto} and case when true {meets} then true else false end
     order by x.embedding::{kind} <#> n.v::{kind} limit {most}){tail if with_tail else ""}) y
  where y.d <= -%(threshold)s::float8){BEST_OF_EACH}"""

    def tail(self, segment: Segment, code: int) -> str:
        return f"""select x.entry_id, x.embedding
  from memories_vector x
  where {segment.rows} and entry_id > {segment.upto} {self._meets(WHO[code])}"""

    def _exact(self, who: str) -> str:
        wide = "x.wide" if self.is_wide else "not x.wide"
        return f"""
  from memories_vector x
  where x.workspace = %(workspace)s and x.embedding_model_id = %(model)s
    and x.layer = %(layer)s and x.live and {wide} {self._meets(who)}"""

    def _meets(self, who: str) -> str:
        """Return the condition for the rows that a new statement of one visibility may meet."""
        subject = "x.subject is null" if self.of_nobody else "x.subject = %(subject)s"
        seen = f" and x.entry_id not in ({OUT_OF_REACH})" if self.in_spaces else ""
        return f"""
    and {subject} and x.part = 0 and x.scope = %(scope)s
    and x.place is not distinct from %(place)s::uuid and {who}{seen}"""


def _arrays(vectors: Sequence[np.ndarray | None], codes: Sequence[int]) -> dict[str, Any]:
    halves = [None if v is None else HalfVector(v) for v in vectors]
    return {"vectors": halves, "visible": list(codes)}
