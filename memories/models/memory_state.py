"""What state a memory is in, now and at an instant: the one place, for rows, querysets and SQL.

A *head* is what stands of its chain: neither superseded nor forgotten nor held for review. The
table has that as a column that the database keeps (`Memory.is_head`), for querysets and SQL; a row
in hand is asked for its `state`. *Live* is a head whose `forget_after` has not come, which only a
clock tells: what has expired stays a head until the sweep forgets it, and so stays in the index.
Whoever leaves expiry out says why.

A memory is believed at K while one of its periods covers K. It is true at V between its
valid_from and valid_until; a version that was replaced stays the truth about the time before
its valid_until, unless the replacement was a correction, which leaves valid_until empty.
"""

from dataclasses import dataclass
from datetime import datetime

from django.db import models
from django.db.models import Q
from django.utils import timezone


class MemoryState(models.TextChoices):
    LIVE = "live"
    SUPERSEDED = "superseded"
    FORGOTTEN = "forgotten"
    HELD = "held", "Held for review"
    EXPIRED = "expired"

    @property
    def is_head(self) -> bool:
        return self in (MemoryState.LIVE, MemoryState.EXPIRED)


IS_HEAD = Q(superseded_by=None, forgotten_at=None, held_at=None)  # what the column is kept as
# Over `m`, a memory.
UNEXPIRED_SQL = "(m.forget_after is null or m.forget_after > now())"
LIVE_SQL = f"m.is_head and {UNEXPIRED_SQL}"
# Over `m`: something that it rests on has ended, and nobody said that this is no matter.
UNCERTAIN_SQL = """exists (
    select 1 from memories_ground g join memories_memory o on o.id = g.on_id
    where g.memory_id = m.id and g.kept_at is null
      and not (o.is_head and (o.forget_after is null or o.forget_after > now())))"""


@dataclass(frozen=True, slots=True)
class AsOf:
    """The two axes of time: when it was true, and when we believed it. None: now."""

    valid_at: datetime | None = None
    known_at: datetime | None = None

    @property
    def is_now(self) -> bool:
        return self.valid_at is None and self.known_at is None

    @property
    def values(self) -> dict[str, datetime | None]:
        """The parameters of BELIEVED and SAID; by this machine's clock, as the rows are."""
        return {"valid_at": self.valid_at, "known_at": self.known_at or timezone.now()}


NOW = AsOf()

_K = "%(known_at)s::timestamptz"
_V = "%(valid_at)s::timestamptz"
# Over `row`, a memory; what was known of valid_until at K is only what had been decided by then.
BELIEVED = f"""(
  (exists (select 1 from memories_memoryperiod l where l.memory_id = row.id
           and l.from_at <= {_K} and (l.until_at is null or l.until_at > {_K}))
   and (row.forget_after is null or row.forget_after > {_K})
   and ({_V} is null
        or ((row.valid_from is null or row.valid_from <= {_V})
            and (row.valid_until is null or row.valid_until > {_V}
                 or row.superseded_at > {_K}))))
  or ({_V} is not null and row.superseded_at <= {_K}
      and (row.forgotten_at is null or row.forgotten_at > {_K})
      and row.valid_from <= {_V} and row.valid_until > {_V}))"""
# Over `row`, an episode: what had been said, and what had reached us.
SAID = f"(row.created_at <= {_K} and ({_V} is null or row.occurred_at <= {_V}))"
# Over `row`, a memory: its columns as they were known at K. Support that is inherited has no facts
# here, so what came later is taken off; of changes, those whose time is kept.
AS_KNOWN = {
    "valid_until": f"case when row.superseded_at > {_K} then null else row.valid_until end",
    "source_count": f"""greatest(0, row.source_count - (select count(*) from memories_fact f
      where f.memory_id = row.id and f.created_at > {_K}))::int4""",
    "updated_at": f"""case when row.updated_at <= {_K} then row.updated_at
      else greatest(row.created_at,
        (select max(f.created_at) from memories_fact f
         where f.memory_id = row.id and f.created_at <= {_K}),
        (select max(t.at)
         from memories_memoryperiod l, lateral (values (l.from_at), (l.until_at)) t (at)
         where l.memory_id = row.id and t.at <= {_K})) end""",
}
BELIEVED_IDS = f"""
select row.id from memories_memory row
where row.workspace_id = %(workspace)s::uuid and {BELIEVED}
"""
