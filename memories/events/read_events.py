"""Events in the order in which they became visible, read after a cursor."""

import re
import uuid
from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Any

from django.db import connection
from django.db.models import Q
from django.utils import timezone

from memories.models import ChangeEvent
from workspaces.expired import delete_some

# Reading change events from a cursor on, without missing or repeating any.
#
# Numbers alone cannot do this: two transactions may commit in a different order than that in which
# they took their numbers. So a cursor holds a snapshot of the database, which says what was
# visible: all else comes after it. It needs no LISTEN on a connection of its own, and so it works
# behind a pooler.

KEPT = timedelta(days=1)
MOST = 2_000  # events that are read at once
LONGEST_CURSOR = 4_000
SNAPSHOT = r"[0-9]{1,18}:[0-9]{1,18}:[0-9,]*"
CURSOR = re.compile(rf"({SNAPSHOT})(?:;({SNAPSHOT});([0-9]{{1,18}}))?")
READ = """
select e.id, e.workspace_id, e.xid, e.kind, e.item, e.state, e.created_at,
       pg_current_snapshot()::text as snapshot
from memories_changeevent e
where e.workspace_id = any(%(workspaces)s::uuid[])
  and e.xid >= pg_snapshot_xmin(%(before)s::pg_snapshot)::text::bigint
  and not pg_visible_in_snapshot(e.xid::text::xid8, %(before)s::pg_snapshot)
  and not (e.id <= %(last)s and pg_visible_in_snapshot(e.xid::text::xid8, %(until)s::pg_snapshot))
order by e.id
limit %(most)s
"""
IS_SNAPSHOT = "select pg_current_snapshot()::text, pg_snapshot_xmax(pg_current_snapshot())::text"


@dataclass(frozen=True, slots=True)
class EventCursor:
    """A position: all events visible in the snapshot `before` have been read; of those between it
    and the snapshot `until`, the ones with an id up to `last`."""

    before: str
    until: str = ""
    last: int = 0

    def __str__(self) -> str:
        return f"{self.before};{self.until};{self.last}" if self.last else self.before


@dataclass(frozen=True, slots=True)
class EventBatch:
    """Events with the cursor after each, and the one after all; `is_whole`: there were no more."""

    events: list[tuple[ChangeEvent, EventCursor]]
    cursor: EventCursor
    is_whole: bool


def cursor_of(text: str) -> EventCursor | None:
    """Parse the `str` of a cursor; None for anything else."""
    parts = CURSOR.fullmatch(text) if len(text) <= LONGEST_CURSOR else None
    if parts is None or not all(_is_snapshot(each) for each in parts.groups()[:2] if each):
        return None
    return EventCursor(parts[1], parts[2] or "", int(parts[3] or 0))


def _is_snapshot(text: str) -> bool:
    """Tell whether PostgreSQL would accept it: ascending numbers between the first two."""
    low, high, rest = text.split(":")
    under_way = rest.split(",") if rest else []
    if not all(under_way):
        return False
    numbers = [int(low), *map(int, under_way)]
    return 0 < int(low) <= int(high) and numbers == sorted(numbers) and numbers[-1] <= int(high)


def newest() -> EventCursor:
    """The cursor after all events there are."""
    with connection.cursor() as cursor:
        cursor.execute(IS_SNAPSHOT)
        return EventCursor(cursor.fetchone()[0])


def clock() -> datetime:
    """The time of the database, by which events are dated."""
    with connection.cursor() as cursor:
        cursor.execute("select clock_timestamp()")
        now: datetime = cursor.fetchone()[0]
        return now


def read(workspaces: Collection[uuid.UUID], after: EventCursor, most: int = MOST) -> EventBatch:
    """The events of these workspaces after a cursor, as far as the database shows them."""
    with connection.cursor() as cursor:
        values: dict[str, Any] = {
            "workspaces": [*workspaces],
            "before": after.before,
            "most": most,
            "until": after.until or after.before,
            "last": after.last,
        }
        cursor.execute(READ, values)
        rows = cursor.fetchall()
    if not rows:
        return EventBatch([], after, is_whole=True)
    names = ("id", "workspace_id", "xid", "kind", "item", "state", "created_at")
    snapshot = rows[0][-1]
    is_whole = len(rows) < most
    events = []
    for row in rows:
        event = ChangeEvent(**dict(zip(names, row, strict=False)))
        events.append((event, EventCursor(after.before, snapshot, max(event.id, after.last))))
    if is_whole:
        events[-1] = (events[-1][0], EventCursor(snapshot))
    return EventBatch(events, events[-1][1], is_whole)


def was_seen(event: ChangeEvent, cursor: EventCursor) -> bool:
    """Tell whether an event, visible by now, was already read at this cursor."""
    if _is_in(event.xid, cursor.before):
        return True
    return event.id <= cursor.last and _is_in(event.xid, cursor.until)


def _is_in(xid: int, snapshot: str) -> bool:
    low, high, under_way = _numbers(snapshot)
    return xid < low or (xid < high and xid not in under_way)


@lru_cache(maxsize=1_000)
def _numbers(snapshot: str) -> tuple[int, int, frozenset[int]]:
    low, high, rest = snapshot.split(":")
    return int(low), int(high), frozenset(map(int, rest.split(","))) if rest else frozenset()


def prune() -> int:
    """Delete events older than a day, and events of another server of which this database is a
    copy: its transactions have not happened here yet. The number of rows."""
    with connection.cursor() as cursor:
        cursor.execute(IS_SNAPSHOT)
        next_one = int(cursor.fetchone()[1])
    over = Q(created_at__lt=timezone.now() - KEPT) | Q(xid__gte=next_one)
    oldest = ChangeEvent.objects.order_by("id")[:MOST].values("pk")
    return delete_some(ChangeEvent.objects.filter(over, pk__in=oldest))
