"""Home: what needs a person now, the state of the memory, and what came last. Each number is a
link."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from typing import Any

from django.db import connection
from django.db.models import Model, QuerySet, Sum
from django.http import HttpRequest
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext
from psycopg import sql

from memories.admin.conversations.session_admin import outcome
from memories.admin.decisions.supersession_admin import NO_CONTRADICTION
from memories.admin.home.unread_note import note_on
from memories.admin.memories.memory_list import said_twice
from memories.admin.memory_rows import ingest_hint
from memories.admin.navigation import MOST_WAITING, waiting
from memories.meters import stored_metrics
from memories.models import (
    Conversation,
    DueVector,
    Fact,
    FeatureSet,
    Memory,
    MemorySession,
    Miss,
    Supersession,
    WorkspaceIndex,
)
from workspaces.adminbase.access import Access, access_of
from workspaces.adminbase.charts import Chart, ChartLine, Frame, bar_chart
from workspaces.adminbase.list_admin import bounded_counts, count_text
from workspaces.models import Capability, Subject
from workspaces.models.workspace import first_uuid7
from workspaces.time_zones import begin_of

# One count for each day, instead of one over all: each walks along a part of an index.
BY_DAY = """
select (select count(*) from {table} where {where} and id >= d.low and id < d.high)
from unnest(%(low)s::uuid[], %(high)s::uuid[]) with ordinality as d(low, high, place)
order by place
"""

NEWEST = 8
DAYS = 30
MOST_COUNTED = 1_000_000


def last_days(number: int) -> list[date]:
    today = timezone.localdate()
    return [today - timedelta(days=back) for back in reversed(range(number))]


def by_day(model: type[Model], access: Access, days: Sequence[date], where: str = "true") -> list[int]:
    """Count the rows of the person's workspaces made on each day. `where` must be a constant."""
    conditions = [sql.SQL(where)]
    if not access.everywhere:
        conditions.append(sql.SQL("workspace_id = any(%(workspaces)s)"))
    statement = sql.SQL(BY_DAY).format(
        table=sql.Identifier(model._meta.db_table), where=sql.SQL(" and ").join(conditions)
    )
    values: dict[str, Any] = {
        "low": [first_uuid7(begin_of(day)) for day in days],
        "high": [first_uuid7(begin_of(day + timedelta(days=1))) for day in days],
        "workspaces": list(access.roles),
    }
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        return [row[0] for row in cursor.fetchall()]


@dataclass(frozen=True, slots=True)
class Tile:
    label: str
    number: str
    url: str
    waits: bool = False


def fill(request: HttpRequest, context: dict[str, Any]) -> dict[str, Any]:
    """Unfold's dashboard callback: the context of the home page."""
    access = access_of(request)
    memories = access.limit(Memory.objects.all(), "workspace")
    sessions = access.limit(MemorySession.objects.all(), "workspace")
    latest = list(memories.live().select_related("subject").order_by("-id")[:NEWEST])
    recent = list(sessions.select_related("subject").order_by("-id")[:NEWEST])
    days = Days(access)
    return context | {
        "title": gettext("Home"),
        "needs": needs(request, access),
        "unread": note_on(request),
        "doing": doing(access, days, waiting(request).decisions),
        "charts": charts(days),
        "latest": latest,
        "recent": [(session, outcome(session)) for session in recent],
        "empty": None if recent or latest else ingest_hint(request, gettext("Nothing is remembered yet")),
        "of_many": access.is_of_many,
        "may_issue": access.may_somewhere(Capability.ADMIN),
    }


def needs(request: HttpRequest, access: Access) -> list[Tile]:
    """Return a tile for each kind of waiting work; an empty list is a good sign."""
    now = waiting(request)
    quarantined, misses, failing = bounded_counts(
        access.limit(Fact.objects.filter(quarantined_at__isnull=False), "workspace"),
        access.limit(Miss.objects.filter(state=Miss.State.OPEN), "workspace"),
        access.limit(FeatureSet.objects.exclude(error=""), "workspace"),
        most=MOST_WAITING,
    )
    tiles = [
        replace(
            _waiting(gettext("decisions to take"), now.decisions, "memories_supersession"),
            url=reverse("admin:memories_inbox"),
        ),
        _waiting(gettext("intakes failed"), now.stuck, "memories_memorysession", "?state=stuck"),
        _waiting(gettext("facts in quarantine"), quarantined, "memories_fact", "?state=quarantined"),
        _waiting(gettext("texts not understood"), misses, "memories_miss"),
        _waiting(gettext("profiles that fail"), failing, "memories_featureset", "?state=failing"),
    ]
    return [tile for tile in tiles if tile.waits]


def doing(access: Access, days: "Days", open_ones: int) -> list[Tile]:
    """Return tiles on the state of the memory. Live rows have running counts; the rest is counted
    up to a limit."""
    indexes = access.limit(WorkspaceIndex.objects.all(), "workspace")
    live = indexes.aggregate(memories=Sum("live_memories"), episodes=Sum("live_episodes"))
    # For the whole server: a provider serves all workspaces.
    since = timezone.now() - timedelta(days=1)
    calls = stored_metrics.series("provider_calls", since, timedelta(hours=1), label=gettext("outcome"))
    failed = sum(point.count for point in calls.get("failed", []))
    return [
        *_memory_tiles(access, live["memories"] or 0),
        _tile(
            gettext("contradictions settled in 7 days"),
            f"{sum(days.settled):,}",
            "memories_supersession",
            "?state=settled",
        ),
        Tile(
            gettext("contradictions open"),
            count_text(open_ones, MOST_WAITING),
            reverse("admin:memories_inbox"),
        ),
        _tile(gettext("messages"), f"{live['episodes'] or 0:,}", "memories_episode"),
        *_work_tiles(access, DueVector.objects.filter(workspace__in=indexes.values("pk"))),
        Tile(
            gettext("failed calls of models in 24 hours"),
            f"{failed:,}",
            f"{reverse('admin:memories_plots')}?reach=day",
        ),
    ]


def _memory_tiles(access: Access, live: int) -> list[Tile]:
    mine = access.limit(Memory.objects.all(), "workspace")
    [every] = bounded_counts(mine, most=MOST_COUNTED)
    [twice] = bounded_counts(said_twice(mine))
    return [
        _tile(gettext("live memories"), f"{live:,}", "memories_memory"),
        _tile(
            gettext("of all versions live"),
            (f"{min(100, round(100 * live / every))}%" if every else "-"),
            "memories_memory",
            "?state=all",
        ),
        _tile(
            gettext("live with the same text twice"),
            count_text(twice),
            "memories_memory",
            "?state=twice",
        ),
    ]


def _work_tiles(access: Access, due: QuerySet[DueVector]) -> list[Tile]:
    """Return tiles on conversations, people and unfinished work."""
    rows = (
        Conversation.objects.all(),
        Subject.objects.all(),
        MemorySession.objects.filter(state__in=stored_metrics.OPEN),
        FeatureSet.objects.filter(waiting__gt=0),
    )
    mine = [access.limit(each, "workspace") for each in rows]
    labels = (
        ("conversation", "conversations", "memories_conversation", ""),
        (gettext("person"), gettext("people"), "workspaces_subject", ""),
        ("session at work or waiting", "sessions at work or waiting", "memories_memorysession", "?state=working"),
        (
            gettext("profile with news to take in"),
            gettext("profiles with news to take in"),
            "memories_featureset",
            "?state=waiting",
        ),
        ("vector still to make", "vectors still to make", "memories_memory", "?state=unembedded"),
    )
    counts = bounded_counts(*mine, due)
    return [
        _tile(one if count == 1 else many, count_text(count), model, query)
        for (one, many, model, query), count in zip(labels, counts, strict=True)
    ]


class Days:
    """The last thirty days in the person's workspaces, counted by day."""

    def __init__(self, access: Access) -> None:
        self.access = access
        self.days = last_days(DAYS)
        self.learned = by_day(Memory, access, self.days)
        self.replaced = by_day(Supersession, access, self.days, "state = 'applied'")
        self.settled = by_day(
            Supersession,
            access,
            self.days[-7:],
            f"state = 'applied' and rule not in {NO_CONTRADICTION}",
        )
        self.sessions = by_day(MemorySession, access, self.days)
        self.stuck = by_day(MemorySession, access, self.days, "state in ('failed', 'dead')")

    def frame(self, title: str, page: str, query: str = "") -> Frame:
        url = reverse(f"admin:{page}_changelist")
        return Frame(
            title,
            [f"{day:%d %b}" for day in self.days],
            url=f"{url}?{query}",
            urls=[f"{url}?{query}&day={day.isoformat()}" for day in self.days],
            empty=f"Nothing in the last {DAYS} days",
        )

    def searches(self) -> list[float]:
        mine = None if self.access.everywhere else list(self.access.roles)
        step, since = timedelta(days=1), begin_of(self.days[0])
        points = stored_metrics.series("searches", since, step, workspaces=mine).get("", [])
        # Steps of a day shift by an hour at the change to or from summer time.
        noon = timedelta(hours=12)
        counts = {timezone.localdate(point.at + noon): point.count for point in points}
        return [float(counts.get(day, 0)) for day in self.days]


def charts(days: Days) -> list[Chart]:
    """Return charts by day of what came in and what was asked; a column links to the rows of its
    day, except for searches."""
    done = [every - stuck for every, stuck in zip(days.sessions, days.stuck, strict=True)]
    return [
        bar_chart(
            days.frame(gettext("Memories learned"), "memories_memory", "state=all"),
            [ChartLine("learned", days.learned, 1)],
        ),
        bar_chart(
            days.frame(gettext("Memories replaced"), "memories_supersession", "state=applied"),
            [ChartLine("replaced", days.replaced, 5)],
        ),
        bar_chart(
            days.frame(gettext("Sessions"), "memories_memorysession"),
            [
                ChartLine(gettext("went well, or at work"), done, 3),
                ChartLine("failed", days.stuck, 4),
            ],
        ),
        bar_chart(
            replace(
                days.frame(gettext("Searches"), "memories_memory"),
                urls=(),
                url=f"{reverse('admin:memories_plots')}?reach=quarter",
            ),
            [ChartLine("searches", days.searches(), 2)],
        ),
    ]


def _waiting(label: str, number: int, model: str, query: str = "") -> Tile:
    tile = _tile(label, count_text(number, MOST_WAITING), model, query)
    return replace(tile, waits=number > 0)


def _tile(label: str, number: str, model: str, query: str = "") -> Tile:
    return Tile(label, number, reverse(f"admin:{model}_changelist") + query)
