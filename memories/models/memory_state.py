"""The state of a memory, now and at an instant: the only place, for rows, querysets and SQL.

A *head* is what stands of its chain: neither superseded nor forgotten nor held for review. The
table has that as a column that the database keeps (`Memory.is_head`), for querysets and SQL; a row
in hand has its `state`. *Live* is a head whose `forget_after` has not come, which only a clock
tells: an expired memory stays a head until the sweep forgets it, and so stays in the index. Code
that leaves expiry out says why.

A memory is believed at K while one of its periods covers K. It is true at V between its
valid_from and valid_until; a version that was replaced stays the truth about the time before
its valid_until, unless the replacement was a correction, which leaves valid_until empty.
It had been said at S once the first of the words that it stands on were, or, where it stands on
none, when it was written down. What was said later counts for nothing then: a version that such
words replaced is believed again. What is forgotten stays forgotten.

What is live is *current*, or *questioned*: later words may end it, its day is over, or something that
it rests on has ended. All else is *past*.
"""

from dataclasses import dataclass
from datetime import datetime

from django.db import models
from django.db.models import Q
from django.utils import timezone

from memories.models.conversation import BELIEVED_AT

# Over `m`, a memory.
UNEXPIRED_SQL = "(m.forget_after is null or m.forget_after > now())"
LIVE_SQL = f"m.is_head and {UNEXPIRED_SQL}"
# Over `m`: something that it rests on has ended, and nobody said that this is no matter; or nothing
# carries it any more but a person's pin.
UNCERTAIN_SQL = f"""(exists (
    select 1 from memories_ground g join memories_memory o on o.id = g.on_id
    where g.memory_id = m.id and g.kept_at is null
      and not ({LIVE_SQL.replace("m.", "o.")}))
  or (m.source_count = 0 and exists (
    select 1 from memories_fact f where f.memory_id = m.id and f.withdrawn_at is not null)))"""
# Relations of a touch that question what it touches.
DOUBTS = ("unsure", "replaces", "ends")
# Over `t`, a touch of a memory: something said after it carries the memory.
CARRIED = f"""exists (
      select 1 from memories_fact f join memories_citation c on c.fact_id = f.id
      join memories_episode e on e.id = c.episode_id
      where f.memory_id = t.memory_id and {{fact}}
        and ({BELIEVED_AT}, e.id) > (t.said_at, t.episode_id))"""
CARRIED_LATER = CARRIED.format(fact="f.withdrawn_at is null")
# Over `m`: later words question it, and nothing said after these carries it.
DOUBT = f"""exists (
  select 1 from memories_touch t
  where t.memory_id = m.id and t.relation in {DOUBTS} {{touch}}
    and not {CARRIED})"""
DOUBTED_SQL = DOUBT.format(touch="", fact="f.withdrawn_at is null")
# Over `m`: a plan whose day is over, and nobody has said what became of it.
OVER_SQL = "(m.category = 'plan' and greatest(m.event_date, m.valid_until) < now() - interval '1 day')"
QUESTIONED_SQL = f"({DOUBTED_SQL} or {OVER_SQL} or {UNCERTAIN_SQL})"
STANDING_SQL = f"""(case when not ({LIVE_SQL}) then 'past'
  when {QUESTIONED_SQL} then 'questioned' else 'current' end)"""
KNOWN_AT = "%(known_at)s::timestamptz"
VALID_AT = "%(valid_at)s::timestamptz"
SAID_BEFORE = "%(said_before)s::timestamptz"
# Over `row`, a memory that was replaced: another version of its chain had taken its place by V,
# where one of the two was told late, and so stands beside it before a successor of both.
TAKEN_OVER = f"""exists (
  with recursive after (id) as (
    select row.superseded_by_id
    union
    select n.superseded_by_id from after join memories_memory n on n.id = after.id
    where n.superseded_by_id is not null)
  select 1 from after join memories_memory o on o.superseded_by_id = after.id
  where o.valid_from > row.valid_from and o.valid_from <= {VALID_AT} and o.valid_until > {VALID_AT}
    and o.created_at <= {KNOWN_AT} and (o.forgotten_at is null or o.forgotten_at > {KNOWN_AT})
    and exists (select 1 from memories_supersession s where s.old_id in (o.id, row.id)
                and s.new_id = o.superseded_by_id and s.state = 'applied' and s.rule = 'older'))"""
# Over `row`, a memory; what was known of valid_until at K is only what had been decided by then.
BELIEVED = f"""(
  (exists (select 1 from memories_memoryperiod l where l.memory_id = row.id
           and l.from_at <= {KNOWN_AT} and (l.until_at is null or l.until_at > {KNOWN_AT}))
   and (row.forget_after is null or row.forget_after > {KNOWN_AT})
   and ({VALID_AT} is null
        or ((row.valid_from is null or row.valid_from <= {VALID_AT})
            and (row.valid_until is null or row.valid_until > {VALID_AT}
                 or row.superseded_at > {KNOWN_AT} or row.valid_until_at > {KNOWN_AT}))))
  or ({VALID_AT} is not null and row.superseded_at <= {KNOWN_AT}
      and (row.forgotten_at is null or row.forgotten_at > {KNOWN_AT})
      and row.valid_from <= {VALID_AT} and row.valid_until > {VALID_AT} and not {TAKEN_OVER}))"""
# Over `row`, a memory: that it had been said by S; and that one of its successors had.
WAS_SAID = f"""coalesce(
  (select min(coalesce(e.occurred_at, r.published_at, d.created_at))
   from memories_fact f join memories_citation ci on ci.fact_id = f.id
   left join memories_episode e on e.id = ci.episode_id
   left join memories_revision r on r.id = ci.revision_id
   left join memories_document d on d.id = r.document_id
   where f.memory_id = row.id and f.created_at <= {KNOWN_AT}
     and (f.withdrawn_at is null or f.withdrawn_at > {KNOWN_AT})),
  row.created_at) <= {SAID_BEFORE}"""
WAS_REPLACED = f"""exists (
  with recursive after (id) as (
    select row.superseded_by_id
    union
    select n.superseded_by_id from after join memories_memory n on n.id = after.id
    where n.superseded_by_id is not null)
  select 1 from after join memories_memory o on o.id = after.id
  where o.created_at <= {KNOWN_AT} and {WAS_SAID.replace("row.", "o.")})"""
# Over `row`: an end that was told after S is not known.
ENDED_LATER = f"(row.valid_until_at is not null and row.valid_until > {SAID_BEFORE})"
BELIEVED_OF_SAID = f"""(
  row.created_at <= {KNOWN_AT} and (row.forgotten_at is null or row.forgotten_at > {KNOWN_AT})
  and (row.held_at is null or row.held_at > {KNOWN_AT})
  and (row.forget_after is null or row.forget_after > {KNOWN_AT}) and {WAS_SAID}
  and case when {WAS_REPLACED}
    then {VALID_AT} is not null and row.valid_from <= {VALID_AT} and row.valid_until > {VALID_AT}
    else {VALID_AT} is null
      or ((row.valid_from is null or row.valid_from <= {VALID_AT})
          and (row.valid_until is null or row.valid_until > {VALID_AT}
               or row.superseded_by_id is not null or {ENDED_LATER})) end)"""
# Over `row`, an episode: what had been said, and what had reached us.
SAID = f"(row.created_at <= {KNOWN_AT} and ({VALID_AT} is null or row.occurred_at <= {VALID_AT}))"
# Over `row`, a memory: its columns as they were known at K. Support that is inherited has no facts
# here, so what came later is taken off; of changes, those whose time is kept.
KNOWN_DOUBT = DOUBT.format(
    touch=f"and t.made_at <= {KNOWN_AT}",
    fact=f"f.created_at <= {KNOWN_AT} and (f.withdrawn_at is null or f.withdrawn_at > {KNOWN_AT})",
).replace("m.id", "row.id")
AS_KNOWN = {
    "standing": f"""case when least(row.superseded_at, row.forgotten_at, row.forget_after) <= {KNOWN_AT} then 'past'
      when {KNOWN_DOUBT} then 'questioned' else 'current' end""",
    "valid_until": f"""case when row.superseded_at > {KNOWN_AT} or row.valid_until_at > {KNOWN_AT}
      then null else row.valid_until end""",
    "source_count": f"""greatest(0, row.source_count - (
      select count(*) filter (where f.withdrawn_at is null and f.created_at > {KNOWN_AT})
           - count(*) filter (where f.withdrawn_at > {KNOWN_AT} and f.created_at <= {KNOWN_AT})
      from memories_fact f where f.memory_id = row.id))::int4""",
    "updated_at": f"""case when row.updated_at <= {KNOWN_AT} then row.updated_at
      else greatest(row.created_at,
        (select max(f.created_at) from memories_fact f
         where f.memory_id = row.id and f.created_at <= {KNOWN_AT}),
        (select max(t.at)
         from memories_memoryperiod l, lateral (values (l.from_at), (l.until_at)) t (at)
         where l.memory_id = row.id and t.at <= {KNOWN_AT})) end""",
}
# The same as they were known from what had been said by S.
SAID_DOUBT = DOUBT.format(
    touch=f"and t.made_at <= {KNOWN_AT} and t.said_at <= {SAID_BEFORE}",
    fact=f"f.created_at <= {KNOWN_AT} and (f.withdrawn_at is null or f.withdrawn_at > {KNOWN_AT})"
    f" and e.occurred_at <= {SAID_BEFORE}",
).replace("m.id", "row.id")
AS_SAID = AS_KNOWN | {
    "standing": f"""case when row.superseded_by_id is not null and {WAS_REPLACED} then 'past'
      when {SAID_DOUBT} then 'questioned' else 'current' end""",
    "valid_until": f"""case when {ENDED_LATER} or (row.superseded_by_id is not null and not {WAS_REPLACED})
      then null else {AS_KNOWN["valid_until"]} end""",
    "source_count": f"""greatest(0, {AS_KNOWN["source_count"].removesuffix("::int4")} - (
      select count(*) from memories_fact f
      where f.memory_id = row.id and f.withdrawn_at is null and f.created_at <= {KNOWN_AT}
        and not exists (
          select 1 from memories_citation ci left join memories_episode e on e.id = ci.episode_id
          where ci.fact_id = f.id and (e.id is null or e.occurred_at <= {SAID_BEFORE}))))::int4""",
    "superseded": f"(row.superseded_by_id is not null and {WAS_REPLACED})",
}
BELIEVED_IDS = """
select row.id from memories_memory row
where row.workspace_id = %(workspace)s::uuid and {believed}
"""


class MemoryState(models.TextChoices):
    LIVE = "live"
    SUPERSEDED = "superseded"
    FORGOTTEN = "forgotten"
    HELD = "held", "Held for review"
    EXPIRED = "expired"

    @property
    def is_head(self) -> bool:
        return self in (MemoryState.LIVE, MemoryState.EXPIRED)


class Standing(models.TextChoices):
    CURRENT = "current"
    QUESTIONED = "questioned"
    PAST = "past"


IS_HEAD = Q(superseded_by=None, forgotten_at=None, held_at=None)  # what the column is kept as


def expired_memories(memory: str = "") -> Q:
    """Return the condition for memories whose time is over; `memory` is the path to them,
    `on__`."""
    return Q(**{f"{memory}forget_after__lte": timezone.now()})


def held_memories(memory: str = "") -> Q:
    """Return the condition for memories that wait until a person says whether they may become
    live."""
    ends = {f"{memory}{name}": None for name in ("superseded_by", "forgotten_at")}
    return Q(**{f"{memory}held_at__isnull": False}, **ends)


def unexpired_memories() -> Q:
    return Q(forget_after=None) | Q(forget_after__gt=timezone.now())


def has_expired(forget_after: datetime | None) -> bool:
    return forget_after is not None and forget_after <= timezone.now()


@dataclass(frozen=True, slots=True)
class AsOf:
    """The axes of time: when a memory was true, when we believed it, and by when the words had
    been said that count. None: now."""

    valid_at: datetime | None = None
    known_at: datetime | None = None
    said_before: datetime | None = None

    @property
    def is_now(self) -> bool:
        return self.valid_at is None and self.known_at is None and self.said_before is None

    @property
    def believed(self) -> str:
        """The condition, over `row`, a memory, that it was believed."""
        return BELIEVED if self.said_before is None else BELIEVED_OF_SAID

    @property
    def was_said(self) -> str:
        """The condition, over `row`, an episode, that it had been said and had reached us."""
        return SAID if self.said_before is None else f"({SAID} and row.occurred_at <= {SAID_BEFORE})"

    @property
    def columns(self) -> dict[str, str]:
        """The columns, over `row`, a memory, that say what was known of it; none for now and for
        what is known now of another time."""
        if self.said_before is not None:
            return AS_SAID
        return {} if self.known_at is None else AS_KNOWN

    @property
    def values(self) -> dict[str, datetime | None]:
        """The parameters of these conditions; by this machine's clock, as the rows are."""
        return {
            "valid_at": self.valid_at,
            "known_at": self.known_at or timezone.now(),
            "said_before": self.said_before,
        }


NOW = AsOf()
