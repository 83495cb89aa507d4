"""Which live memories say nearly the same as new statements: the conflict check."""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from pgvector import HalfVector

from memories.indexing import statements
from memories.models import (
    SCOPE_CODE,
    VISIBILITY_CODE,
    WIDEST_COVERED,
    Layer,
    WorkspaceIndex,
    place_of,
)

# The best pairs at or over a cosine in one scan of the subject's rows, index-only.
PAIRS = """
with asked as materialized (
  select v, visible, i - 1 as i from unnest(%(vectors)s::halfvec[], %(visible)s::int2[])
  with ordinality n(v, visible, i) where v is not null),
near as materialized (
  select n.i, x.entry_id, -(x.embedding <#> n.v) as similarity,
         row_number() over (partition by n.i order by x.embedding <#> n.v, x.entry_id) as rank
  from memories_vector x cross join asked n
  where x.workspace = %(workspace)s and x.embedding_model_id = %(model)s
    and x.layer = %(layer)s and {subject} and x.live and {wide}x.wide
    and x.part = 0 and x.scope = %(scope)s and x.place is not distinct from %(place)s::uuid
    and x.visibility = n.visible
    and (n.visible = 2
         or (n.visible = 1 and (x.agent = any(%(team)s::uuid[])
                                or (x.agent is null and %(default_team)s)))
         or (n.visible = 0 and x.agent is not distinct from %(agent)s::uuid))
    and (x.embedding <#> n.v) <= -%(threshold)s::float8)
select near.i, near.similarity, e.item from near join memories_entry e on e.id = near.entry_id
where near.rank <= %(most)s
order by near.i, near.similarity desc, near.entry_id
"""


# The same for one statement: without the join, a third faster.
ONE = """
select 0 as i, near.similarity, e.item from (
  select x.entry_id, -(x.embedding <#> %(vector)s::halfvec) as similarity
  from memories_vector x
  where x.workspace = %(workspace)s and x.embedding_model_id = %(model)s
    and x.layer = %(layer)s and {subject} and x.live and {wide}x.wide
    and (x.embedding <#> %(vector)s::halfvec) <= -%(threshold)s::float8
    and x.part = 0 and x.scope = %(scope)s and x.place is not distinct from %(place)s::uuid
    and x.visibility = {visible} {who}
  order by similarity desc, x.entry_id limit %(most)s) near
join memories_entry e on e.id = near.entry_id
order by near.similarity desc, near.entry_id
"""
WHO = {
    VISIBILITY_CODE["global"]: "",
    VISIBILITY_CODE["team"]: "and (x.agent = any(%(team)s::uuid[])"
    " or (x.agent is null and %(default_team)s))",
    VISIBILITY_CODE["private"]: "and x.agent is not distinct from %(agent)s::uuid",
}


@dataclass(frozen=True, slots=True)
class Placement:
    """Where a writer's memories go: what they are about, who wrote them, in which scope.

    `team` are the agents of the writer's team; what no agent wrote is the default team's.
    """

    workspace_id: uuid.UUID
    subject_id: uuid.UUID | None
    agent_id: uuid.UUID | None
    team: tuple[uuid.UUID, ...]
    in_default_team: bool
    scope: str
    conversation_id: uuid.UUID | None
    workflow: str

    @property
    def place(self) -> uuid.UUID | None:
        return place_of(self.scope, self.conversation_id, self.workflow)


@dataclass(frozen=True, slots=True)
class Reach:
    """How near a memory must be (a cosine), and how many at most are asked for per statement."""

    floor: float
    most: int


@dataclass(frozen=True, slots=True)
class Pair:
    """Statement number `index` and a live memory, with their cosine where it was taken."""

    index: int
    memory_id: uuid.UUID
    similarity: float | None


def nearest(
    space: WorkspaceIndex,
    placement: Placement,
    vectors: Sequence[np.ndarray | None],
    visibilities: Sequence[str],
    reach: Reach,
) -> list[Pair]:
    """The pairs within reach, the nearest first per statement."""
    model = space.embedding_model
    if model is None or all(vector is None for vector in vectors):
        return []
    pieces = {
        "subject": "x.subject is null"
        if placement.subject_id is None
        else "x.subject = %(subject)s",
        "wide": "" if model.dimensions > WIDEST_COVERED else "not ",
    }
    codes = [VISIBILITY_CODE[visibility] for visibility in visibilities]
    values: dict[str, Any] = {
        "workspace": space.number,
        "model": model.pk,
        "layer": int(Layer.MEMORIES),
        "subject": placement.subject_id,
        "scope": SCOPE_CODE[placement.scope],
        "place": placement.place,
        "agent": placement.agent_id,
        "team": list(placement.team),
        "default_team": placement.in_default_team,
        "threshold": reach.floor,
        "most": reach.most,
    }
    if len(vectors) == 1 and vectors[0] is not None:
        text = ONE.format(**pieces, visible=codes[0], who=WHO[codes[0]])
        values["vector"] = HalfVector(vectors[0])
    else:
        text = PAIRS.format(**pieces)
        values["vectors"] = [None if v is None else HalfVector(v) for v in vectors]
        values["visible"] = codes
    return [Pair(row.i, row.item, row.similarity) for row in statements.rows(text, values)]
