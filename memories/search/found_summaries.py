"""Summaries as hits: their lines as they may be told now, and the messages that each stands on."""

import uuid
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from memories.models import NAME_COLUMNS, name_joins

# What a line stands on: spans of episodes, or whole episodes where a model tells of a talk.
CITES = """coalesce(l.line -> 'cites',
    (select jsonb_agg(jsonb_build_object('episode', w.id))
     from jsonb_array_elements_text(l.line -> 'episodes') w (id)),
    jsonb_build_array(l.line))"""
# A summary's lines with what they stand on, without what stands on words of a forgotten memory.
SUMMARY_ROWS = f"""
select t.*, {NAME_COLUMNS}, told.lines as told
from memories_talksummary t
{name_joins("t")}
cross join lateral (
  select coalesce(json_agg(json_build_object(
           'place', l.place, 'text', l.line ->> 'text', 'episode_id', e.id,
           'external_id', e.external_id, 'occurred_at', e.occurred_at,
           'start', p.start, 'end', p.upto,
           'quote', substr(e.content, p.start + 1, p.upto - p.start)) order by l.place, o.place),
         '[]') as lines
  from jsonb_array_elements(t.lines) with ordinality l (line, place)
  cross join lateral jsonb_array_elements({CITES}) with ordinality o (cite, place)
  join memories_episode e on e.id = (o.cite ->> 'episode')::uuid
  cross join lateral (select coalesce((o.cite ->> 'start')::int, 0) as start,
                             coalesce((o.cite ->> 'end')::int, 0) as upto) p
  where not exists (
    select 1 from jsonb_array_elements({CITES}) beside (cite)
    join memories_citation c on c.episode_id = (beside.cite ->> 'episode')::uuid
    join memories_fact f on f.id = c.fact_id
    join memories_memory m on m.id = f.memory_id
    where m.forgotten_at is not null
      and (beside.cite -> 'end' is null
           or (c.start < (beside.cite ->> 'end')::int
               and c."end" > (beside.cite ->> 'start')::int)))) told
where t.id = any(%(ids)s::uuid[]) and t.workspace_id = %(workspace)s
  and (%(history)s or json_array_length(told.lines) > 0)
"""


@dataclass(frozen=True, slots=True)
class SummaryCitation:
    """What a line of a summary stands on; a model's line of a talk quotes nothing."""

    row_id: uuid.UUID
    episode_id: uuid.UUID
    external_id: str | None
    occurred_at: datetime
    start: int
    end: int
    quote: str
    fact_id: uuid.UUID | None = None


@dataclass(frozen=True, slots=True)
class FoundSummary:
    """A summary as it may be told: its lines, each under the other, and what they stand on."""

    id: uuid.UUID
    kind: str
    name: str
    content: str
    first_at: datetime
    last_at: datetime
    user_external: str | None
    agent_external: str | None
    thread_external: str | None
    created_at: datetime
    updated_at: datetime
    cited: tuple[SummaryCitation, ...]

    @classmethod
    def of(cls, row: Any) -> "FoundSummary":
        lines: dict[int, str] = {}
        for line in row.told:
            lines.setdefault(line["place"], line["text"] or line["quote"])
        cited = tuple(
            SummaryCitation(
                row.id, uuid.UUID(line["episode_id"]), line["external_id"],
                datetime.fromisoformat(line["occurred_at"]), line["start"], line["end"],
                line["quote"],
            )
            for line in row.told
        )  # fmt: skip
        return cls(
            row.id, row.kind, row.name, "\n".join(lines.values()), row.first_at, row.last_at,
            row.user_external, row.agent_external, row.thread_external,
            row.created_at, row.updated_at, cited,
        )  # fmt: skip
