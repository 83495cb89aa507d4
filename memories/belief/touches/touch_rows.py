"""Rows of touches as they are written: one statement for all of an ingest."""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.utils import timezone

from memories.index import prepared_sql
from memories.models import Touch
from memoryproject.postgres.prepared import Asked

# What was decided takes the place of what nobody has decided; a person's decision stays.
WRITE = """
insert into memories_touch as t (workspace_id, memory_id, episode_id, start, "end", said_at, relation, probability,
  by, model, until, attempts, made_at, decided_at, decided_by)
select %(workspace)s::uuid, n.memory, n.episode, n.start, n."end", n.said_at, n.relation, n.probability,
  n.by, n.model, n.until, 0, %(now)s::timestamptz, case when n.is_sure then %(now)s::timestamptz end, ''
from unnest(%(memory)s::uuid[], %(episode)s::uuid[], %(start)s::int4[], %(end)s::int4[], %(said_at)s::timestamptz[],
  %(relation)s::text[], %(probability)s::float8[], %(by)s::text[], %(model)s::text[],
  %(until)s::timestamptz[], %(is_sure)s::bool[])
  n (memory, episode, start, "end", said_at, relation, probability, by, model, until, is_sure)
on conflict (memory_id, episode_id) do update set start = excluded.start, "end" = excluded."end",
  relation = excluded.relation, probability = excluded.probability, by = excluded.by, model = excluded.model,
  until = excluded.until,  decided_at = excluded.decided_at
where t.by <> 'person' and excluded.decided_at is not null
"""


@dataclass(frozen=True, slots=True)
class NewTouch:
    """A touch to be written. What is not `is_sure` waits for the judge, and gives way to what is."""

    memory_id: uuid.UUID
    episode_id: uuid.UUID
    start: int
    end: int
    said_at: datetime
    relation: str
    probability: float
    by: str = Touch.By.RULE
    model: str = ""
    until: datetime | None = None
    is_sure: bool = False


def writing(workspace_id: uuid.UUID, touches: Sequence[NewTouch]) -> list[Asked]:
    """Return the statement that writes them, for the caller to send; none where there are none."""
    once = list({(one.memory_id, one.episode_id): one for one in touches}.values())
    if not once:
        return []
    values: dict[str, object] = {
        "workspace": workspace_id,
        "now": timezone.now(),
        "memory": [one.memory_id for one in once],
        "episode": [one.episode_id for one in once],
        "start": [one.start for one in once],
        "end": [one.end for one in once],
        "said_at": [one.said_at for one in once],
        "relation": [str(one.relation) for one in once],
        "probability": [one.probability for one in once],
        "by": [str(one.by) for one in once],
        "model": [one.model for one in once],
        "until": [one.until for one in once],
        "is_sure": [one.is_sure for one in once],
    }
    return [(WRITE, values)]


def write_touches(workspace_id: uuid.UUID, touches: Sequence[NewTouch]) -> None:
    for statement, values in writing(workspace_id, touches):
        prepared_sql.execute(statement, values)
