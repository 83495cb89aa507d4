"""Counts of metrics.py from all processes, added up in the database: in total for `/metrics`, by
minute and hour for the plots. Also gauges that can be read from the rows at any time, and table
sizes."""

import logging
import uuid
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from typing import Any

from django.db import DatabaseError, connection
from django.db.models import Count, Min, Q, Sum
from django.utils import timezone

from memories import metrics
from memories.meters import costs, search_counts
from memories.metrics import BOUNDS
from memories.models import (
    Breaker,
    Case,
    DueVector,
    Episode,
    Fact,
    Feature,
    FeatureSet,
    Figure,
    LongJob,
    Memory,
    MemorySession,
    Miss,
    Supersession,
    WorkspaceIndex,
)
from memories.models.conversation import JUDGE_ATTEMPTS, WITHOUT_JUDGE
from memories.models.operations import EPOCH, add_figures, workspace_in
from memories.queue import outbox
from memoryproject.postgres import crossings
from workspaces import keys
from workspaces.models import Agent, ApiKey, Membership, Subject, Workspace, WorkspaceRemoval

SIZES = """
select c.relname as name,
       (case when c.reltuples < 0 then pg_stat_get_live_tuples(c.oid) else c.reltuples end)::int8
         as rows,
       pg_table_size(c.oid) as table_bytes, pg_indexes_size(c.oid) as index_bytes
from pg_class c
where c.relkind = 'r' and c.relnamespace = (
  select relnamespace from pg_class where oid = 'memories_workspaceindex'::regclass)
order by pg_total_relation_size(c.oid) desc, c.relname
"""
# The rows counted for a workspace, by the word shown for them.
ROWS: dict[str, tuple[type[Any], Q]] = {
    "memories": (Memory, Q()),
    "liveMemories": (Memory, Q(is_head=True)),
    "episodes": (Episode, Q()),
    "facts": (Fact, Q()),
    "features": (Feature, Q(ended_at=None)),
    "sessions": (MemorySession, Q()),
    "sessionsWaiting": (MemorySession, ~Q(state__in=MemorySession.FINAL)),
    "sessionsFailed": (MemorySession, Q(state__in=("failed", "dead"))),
    "casesOpen": (Case, Q(state__in=Case.UNDECIDED)),
    "misses": (Miss, Q(state=Miss.State.OPEN)),
    "subjects": (Subject, Q()),
    "agents": (Agent, Q(removed_at=None)),
    "keys": (ApiKey, Q(revoked_at=None)),
    "members": (Membership, Q()),
}


State = MemorySession.State
OPEN = (State.RECEIVED, State.EXTRACTING, State.RESOLVING)
KEPT = {Figure.Span.MINUTE: timedelta(days=2), Figure.Span.HOUR: timedelta(days=90)}
SERIES = """
select date_bin(make_interval(secs => %(step)s), f.at, 'epoch') as bin,
       coalesce(f.labels ->> %(label)s, '') as series, coalesce(t.place, 0) as place,
       sum(coalesce(t.held, f.count)) as held
from memories_figure f left join lateral unnest(f.buckets) with ordinality as t(held, place) on true
where f.span = %(span)s and f.name = %(name)s and f.at >= %(since)s
  and (%(workspaces)s::uuid[] is null or f.workspace = any(%(workspaces)s::uuid[]))
group by 1, 2, 3
order by 1, 2, 3
"""


@dataclass(frozen=True, slots=True)
class TableSize:
    """The size of a table. `rows` is the planner's estimate, or the number of rows written if it
    has not analysed the table yet; sizes are in bytes."""

    name: str
    rows: int
    table_bytes: int
    index_bytes: int

    @property
    def bytes(self) -> int:
        return self.table_bytes + self.index_bytes


def table_sizes() -> list[TableSize]:
    """The sizes of all tables, the largest first."""
    with connection.cursor() as cursor:
        cursor.execute(SIZES)
        return [TableSize(*row) for row in cursor.fetchall()]


def rows_of(workspace: Workspace) -> dict[str, int]:
    """Count the rows of each kind in a workspace."""
    return {
        word: model._default_manager.filter(where & Q(workspace=workspace)).count()
        for word, (model, where) in ROWS.items()
    }


log = logging.getLogger(__name__)


# ---- writing --------------------------------------------------------------------------------


def start() -> None:
    """Let this process and its forks add up their counts every few seconds."""
    metrics.ring(_flush_aside)


def _flush_aside() -> None:
    """Flush in a separate thread, with a short-lived database connection."""
    try:
        flush_or_keep()
    finally:
        connection.close()


def flush_or_keep() -> None:
    """Flush; if the database refuses writes, keep the counts instead of failing."""
    try:
        flush()
        keys.write()
    except DatabaseError as error:
        log.warning("Counts are kept until the database takes them: %s", error)


def flush() -> None:
    """Add the counts since the last time; counts that cannot be written are kept."""
    costs.flush()
    search_counts.flush()
    with metrics.measures.taken() as taken:
        if not taken:
            return
        now = timezone.now()
        hour = now.replace(minute=0, second=0, microsecond=0)
        minute = now.replace(second=0, microsecond=0)
        spans = {Figure.Span.MINUTE: minute, Figure.Span.HOUR: hour, Figure.Span.EVER: EPOCH}
        rows: dict[tuple[object, ...], Figure] = {}
        for one in taken.values():
            labels = dict(one.labels)
            workspace = workspace_in(labels)
            for span, at in spans.items():
                # In the totals, all workspaces count as one: /metrics names none of them.
                owner = None if span == Figure.Span.EVER else workspace
                new = Figure(span=span, name=one.name, at=at, workspace=owner, labels=labels)
                rows.setdefault((span, one.name, owner, *labels.items()), new).add(one)
        with crossings.everywhere():
            # Nobody asks about a workspace that is gone without a trace.
            known = {None, *crossings.all_workspaces()}
            add_figures([figure for figure in rows.values() if figure.workspace in known])


def prune() -> int:
    """Delete figures by minute after two days and by hour after ninety, and those counted for a
    workspace while it was removed; the number of rows."""
    now = timezone.now()
    removed = WorkspaceRemoval.objects.filter(finished_at__isnull=False)
    old = Q(workspace__in=removed.values("workspace_id"))
    for span, kept in KEPT.items():
        old |= Q(span=span, at__lt=now - kept)
    return Figure.objects.filter(old).delete()[0]


# ---- reading --------------------------------------------------------------------------------


@dataclass(slots=True)
class Point:
    """One step of a series; `buckets` by metrics.BOUNDS, or empty."""

    at: datetime
    count: int = 0
    buckets: list[int] = field(default_factory=list)

    def quantile(self, share: float) -> float | None:
        """Estimate the seconds within which `share` of them ended, interpolated in a bucket."""
        return quantile(self.buckets, share)


def quantile(buckets: Sequence[int], share: float) -> float | None:
    """Estimate a quantile; None without durations, at most the last bound."""
    wanted, seen = share * sum(buckets), 0
    if not wanted:
        return None
    for low, high, held in zip((0.0, *BOUNDS), BOUNDS, buckets, strict=False):
        if held and seen + held >= wanted:
            return low + (high - low) * (wanted - seen) / held
        seen += held
    return BOUNDS[-1]


def series(
    name: str,
    since: datetime,
    step: timedelta,
    *,
    workspaces: Sequence[uuid.UUID] | None = None,
    label: str = "",
) -> dict[str, list[Point]]:
    """Points since then, oldest first, by the value of a label ("" without one).

    `workspaces` None: all, and counts of none. Steps under an hour go back two days at most.
    """
    span = Figure.Span.MINUTE if step < timedelta(hours=1) else Figure.Span.HOUR
    values: dict[str, Any] = {
        "name": name,
        "since": since,
        "span": span.value,
        "step": step.total_seconds(),
        "label": label,
        "workspaces": None if workspaces is None else list(workspaces),
    }
    with connection.cursor() as cursor:
        cursor.execute(SERIES, values)
        rows = cursor.fetchall()
    found: dict[str, list[Point]] = {}
    for at, value, place, held in rows:
        points = found.setdefault(value, [])
        if not points or points[-1].at != at:
            points.append(Point(at))
        points[-1].count += int(held)
        if place:
            points[-1].buckets.append(int(held))
    return found


def counts_by_label(name: str, label: str, workspaces: Sequence[uuid.UUID], since: date, until: date) -> dict[str, int]:
    """Counts by the value of a label, on whole days (UTC) of the last ninety."""
    begin, end = (datetime.combine(day, datetime.min.time(), UTC) for day in (since, until))
    rows = Figure.objects.filter(span=Figure.Span.HOUR, name=name, at__gte=begin, at__lt=end, workspace__in=workspaces)
    sums = rows.order_by().values_list(f"labels__{label}").annotate(number=Sum("count"))
    return {str(value): number for value, number in sums}


def totals() -> list[Figure]:
    """All counts since the beginning, of all workspaces and processes."""
    return list(Figure.objects.filter(span=Figure.Span.EVER).order_by("name", "id"))


@dataclass(frozen=True, slots=True)
class Gauge:
    """A value read from the rows now, for all workspaces together."""

    name: str
    told: str
    value: float
    labels: dict[str, str] = field(default_factory=dict)


@crossings.everywhere()
def gauges() -> list[Gauge]:
    pending = Supersession.objects.filter(state=Supersession.State.PENDING)
    waiting = Episode.objects.filter(judge_attempts__lt=JUDGE_ATTEMPTS).exclude(WITHOUT_JUDGE)
    quarantined = Fact.objects.filter(quarantined_at__isnull=False)
    sums = WorkspaceIndex.objects.aggregate(
        memories=Sum("live_memories"),
        episodes=Sum("live_episodes"),
        features=Sum("live_features"),
    )
    live = "Live rows of the index, by layer."
    # By purpose alone: an address can be a workspace's own.
    broken = "Models that are not waited for since they failed, by purpose."
    purposes = Breaker.objects.order_by().values_list("purpose")
    open_ones = purposes.annotate(number=Count("pk", filter=Q(state=Breaker.State.OPEN)))
    # Sessions that are not done: those that are done are counted when they finish.
    told = "Ingest sessions that are not done, by state."
    found: dict[str, int] = {}
    for states in (OPEN, MemorySession.STUCK):  # each has a partial index of its own
        rows = MemorySession.objects.filter(state__in=states).order_by()
        found |= dict.fromkeys(states, 0)
        found |= dict(rows.values_list("state").annotate(number=Count("pk")))
    sessions = [Gauge("sessions", told, number, {"state": str(s)}) for s, number in found.items()]
    return [
        *sessions,
        Gauge("queue_tasks", "Tasks in the queue.", outbox.length()),
        Gauge("vectors_due", "Entries without a vector yet.", DueVector.objects.count()),
        Gauge("messages_to_judge", "Messages that wait for the judge.", waiting.count()),
        Gauge("supersessions_pending", "Decisions that wait for a person.", pending.count()),
        Gauge("facts_quarantined", "Facts in quarantine.", quarantined.count()),
        *(Gauge("live_rows", live, value or 0, {"layer": name}) for name, value in sums.items()),
        *_sets(),
        *_searches(),
        *_backup(),
        *(Gauge("breakers_open", broken, number, {"purpose": name}) for name, number in open_ones),
    ]


def _backup() -> list[Gauge]:
    """The age of the newest backup; empty after ninety days, when its record is deleted."""
    done = LongJob.objects.filter(kind=LongJob.Kind.BACKUP, state=LongJob.State.DONE)
    taken = done.order_by("-id").values_list("created_at", flat=True).first()
    age = (timezone.now() - taken).total_seconds() if taken else 0.0
    told = "How long ago the newest backup was begun."
    return [Gauge("backup_age_seconds", told, age)] if taken else []


def _searches() -> list[Gauge]:
    """The searches of the day so far, in UTC."""
    today = timezone.now().date()
    days = search_counts.search_days(None, today, today + timedelta(days=1))
    users, each = (days[0].users, days[0].searches_per_user) if days else (0, 0.0)
    return [
        Gauge("search_users_today", "Users about whom something was asked today.", users),
        Gauge("searches_per_user_today", "Searches for each of them.", each),
    ]


def _sets() -> list[Gauge]:
    """The episodes that wait for feature sets."""
    rows = FeatureSet.objects.filter(waiting__gt=0)
    found = rows.aggregate(number=Count("pk"), episodes=Sum("waiting"), since=Min("waiting_since"))
    age = (timezone.now() - found["since"]).total_seconds() if found["since"] else 0.0
    failing = FeatureSet.objects.exclude(error="").count()
    return [
        Gauge("sets_waiting", "Feature sets into which something waits.", found["number"]),
        Gauge("sets_failing", "Feature sets that failed and wait longer.", failing),
        Gauge("set_episodes_waiting", "Episodes that wait for a set.", found["episodes"] or 0),
        Gauge("set_oldest_seconds", "How long the oldest of them has waited.", age),
    ]
