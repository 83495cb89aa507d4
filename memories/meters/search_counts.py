"""Searches, counted by workspace, day, user and caller: how many, how many hits, how often none;
and how often each memory was served to whom, which lifts the cases about it.

A search only adds to sums in its process; the timer of metrics.py has them written soon.
"""

import uuid
from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any, NamedTuple

from django.db import connection, transaction
from django.db.models import Count, Q, Sum
from django.utils import timezone

from memories import metrics
from memories.models import MemoryUse, SearchUse, add_served
from memoryproject.postgres import visible
from workspaces.models import Subject, Workspace

KEPT = timedelta(days=35)

ADD = """
insert into memories_searchuse as u (workspace_id, day, subject_id, actor, searches, results, empty)
values (%s, %s, %s, %s, %s, %s, %s)
on conflict (workspace_id, day, subject_id, actor) do update
set searches = u.searches + excluded.searches, results = u.results + excluded.results,
    empty = u.empty + excluded.empty
"""

# Memories erased meanwhile are left out.
ADD_SERVED = """
insert into memories_memoryuse as u (workspace_id, day, memory_id, actor, times)
select m.workspace_id, s.day, m.id, s.actor, s.times
from unnest(%s::uuid[], %s::date[], %s::uuid[], %s::text[], %s::bigint[])
     s(workspace_id, day, memory_id, actor, times)
join memories_memory m on m.id = s.memory_id and m.workspace_id = s.workspace_id
order by m.id, s.day, s.actor
on conflict (memory_id, day, actor) do update set times = u.times + excluded.times
"""
MOST_SERVED = 100_000  # memories, days and askers that wait to be written; more are not counted


class SearchOf(NamedTuple):
    """The key of a search count: its subject, if any, its day (UTC), and the caller."""

    workspace_id: uuid.UUID
    day: date
    subject_id: uuid.UUID | None
    actor: str


class ServedTo(NamedTuple):
    """The caller that memories were served to, and the day (UTC)."""

    workspace_id: uuid.UUID
    day: date
    actor: str


@dataclass(slots=True)
class SearchSum:
    searches: int = 0
    results: int = 0
    empty: int = 0

    def add(self, other: "SearchSum") -> None:
        self.searches += other.searches
        self.results += other.results
        self.empty += other.empty


@dataclass(frozen=True, slots=True)
class SearchDay:
    """One day's searches. `searches_of_users` are about a subject; `users` counts these
    subjects."""

    day: date
    searches: int
    results: int
    empty: int
    users: int
    searches_of_users: int

    @property
    def results_per_search(self) -> float:
        return self.results / self.searches if self.searches else 0.0

    @property
    def searches_per_user(self) -> float:
        return self.searches_of_users / self.users if self.users else 0.0


_sums: metrics.Sums[SearchOf, SearchSum] = metrics.Sums(SearchSum.add)
_served: metrics.Sums[ServedTo, Counter[uuid.UUID]] = metrics.Sums(Counter.update)


def count(
    workspace_id: uuid.UUID,
    subject_id: uuid.UUID | None,
    results: int,
    actor: str = "",
    *,
    served: Iterable[uuid.UUID] = (),
) -> None:
    """Count one search, with the memories it served, without any SQL. An unknown subject counts as
    none."""
    day = timezone.now().date()
    _sums.add(SearchOf(workspace_id, day, subject_id, actor), SearchSum(1, results, int(not results)))
    if sum(map(len, tuple(_served.held.values()))) < MOST_SERVED:
        _served.add(ServedTo(workspace_id, day, actor), Counter(served))
    own = str(workspace_id)
    metrics.add("search_results", results, workspace=own)
    if not results:
        metrics.count("searches_empty", workspace=own)


def flush() -> None:
    """Write the counts of this process; counts that cannot be written are kept."""
    with _sums.taken() as taken, _served.taken() as served:
        own = {place.workspace_id for place in taken} | {whom.workspace_id for whom in served}
        if own:
            with visible.only(*own):
                _write(taken, served)


def _write(taken: dict[SearchOf, SearchSum], served: dict[ServedTo, Counter[uuid.UUID]]) -> None:
    workspaces = {place.workspace_id for place in taken}
    there = set(Workspace.objects.filter(pk__in=workspaces).values_list("pk", flat=True))
    named = {place.subject_id for place in taken if place.subject_id}
    known = set(Subject.objects.filter(pk__in=named).values_list("pk", flat=True))
    rows: dict[SearchOf, SearchSum] = {}
    for place, amount in taken.items():
        if place.workspace_id in there:
            subject = place.subject_id if place.subject_id in known else None
            rows.setdefault(place._replace(subject_id=subject), SearchSum()).add(amount)
    # Sorted, so that two processes never wait for each other in a circle.
    ordered = sorted(rows.items(), key=lambda each: tuple(map(str, each[0])))
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.executemany(ADD, [(*place, each.searches, each.results, each.empty) for place, each in ordered])
        counted = [
            (whom.workspace_id, whom.day, memory, whom.actor, number)
            for whom, times in served.items()
            for memory, number in times.items()
        ]
        if counted:
            columns = zip(*counted, strict=True)
            cursor.execute(ADD_SERVED, [list(column) for column in columns])
            add_served(sum(served.values(), Counter()))


def prune() -> int:
    """Delete counts older than five weeks; the number of rows."""
    until = timezone.now().date() - KEPT
    kinds: tuple[Any, ...] = (SearchUse, MemoryUse)
    return sum(int(kind.objects.filter(day__lt=until).delete()[0]) for kind in kinds)


def search_days(workspaces: Collection[uuid.UUID] | None, since: date, until: date) -> list[SearchDay]:
    """Days from `since` on and before `until`, the oldest first; None: all workspaces."""
    rows = SearchUse.objects.filter(day__gte=since, day__lt=until)
    if workspaces is not None:
        rows = rows.filter(workspace__in=workspaces)
    has_user = Q(subject__isnull=False)
    sums: Any = (
        rows.order_by("day")
        .values("day")
        .annotate(
            all_searches=Sum("searches"),
            all_results=Sum("results"),
            all_empty=Sum("empty"),
            users=Count("subject", distinct=True),
            of_users=Sum("searches", filter=has_user),
        )
    )
    return [
        SearchDay(
            row["day"],
            row["all_searches"],
            row["all_results"],
            row["all_empty"],
            row["users"],
            row["of_users"] or 0,
        )
        for row in sums
    ]
