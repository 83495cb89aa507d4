"""Events: read in the order in which they became visible, and shown to whoever may see the row that
they are about."""

import asyncio
import json
import logging
import re
import time
import uuid
from collections import defaultdict
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Any
from weakref import WeakValueDictionary

import msgspec
from django.db import DatabaseError, InterfaceError, connection
from django.db.models import Q, QuerySet
from django.utils import timezone

from memories.models import Case, ChangeEvent, Document, Memory, MemorySession
from memoryproject.postgres import visible
from memoryproject.postgres.connection import ServerSilent
from workspaces.auth import scopes_again
from workspaces.expired import delete_some
from workspaces.models import Capability
from workspaces.scope import Scope

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
            "workspaces": [*workspaces], "before": after.before, "most": most,
            "until": after.until or after.before, "last": after.last,
        }  # fmt: skip
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


# The data of an event: ids and states; and who may see it.

ROWS: Mapping[str, Any] = {
    "document": Document.objects,
    "session": MemorySession.objects,
    "case": Case.objects,
    "memory": Memory.objects,
}
# How long a client waits before it reconnects, in milliseconds.
RETRY = b"retry: 2000\n\n"
PING = b": ping\n\n"


@dataclass(frozen=True, slots=True)
class EventFilter:
    """The events to listen for; None: all. Rows are named by their ids."""

    item: uuid.UUID | None = None
    kinds: tuple[str, ...] = ()

    def takes(self, event: ChangeEvent) -> bool:
        if self.item is not None and event.item != self.item:
            return False
        # A name without its second half stands for all events of its kind.
        return not self.kinds or not {event.kind, event.subject}.isdisjoint(self.kinds)


def sees_all(scope: Scope) -> bool:
    return not scope.is_narrow


def visible_items(scope: Scope, events: Iterable[ChangeEvent]) -> set[uuid.UUID]:
    """The rows behind the events of one workspace that `scope` may see now."""
    events = [event for event in events if event.workspace_id == scope.workspace_id]
    if sees_all(scope):
        return {event.item for event in events}
    seen: set[uuid.UUID] = set()
    for subject, manager in ROWS.items():
        ids = {event.item for event in events if event.subject == subject}
        if ids:
            rows: QuerySet[Any] = manager.all().visible_to(scope).filter(pk__in=ids)
            seen.update(rows.values_list("pk", flat=True))
    return seen


def as_data(event: ChangeEvent) -> dict[str, Any]:
    """The data of an event for a stream or a webhook."""
    told = {
        "type": event.kind,
        f"{event.subject}Id": str(event.item),
        "state": event.state,
        "at": event.created_at.isoformat(),
    }
    if event.subject == "document":
        told["status"] = Document.STATUS[Document.State(event.state)]
        told["step"] = event.state
    return told


def as_message(event: ChangeEvent, cursor: EventCursor) -> bytes:
    """An event as a message of text/event-stream."""
    text = json.dumps(as_data(event), separators=(",", ":"))
    return f"id: {cursor}\nevent: {event.kind}\ndata: {text}\n\n".encode()


# Live events for all listeners of this process: one query for all of them, a few times a second,
# and none while nobody listens.

log = logging.getLogger(__name__)

LOOKED_EVERY = 0.25  # seconds
AFTER_AN_ERROR = 2.0
PINGED_EVERY = 15.0
CHECKED_EVERY = 0.5  # while nothing happens, between checks whether a listener may still listen
KIND = "events"

Run = Callable[..., Awaitable[Any]]
# Sends a part to the streams of these numbers.
Send = Callable[[Iterable[int], bytes], None]


def ticket_of(scope: Scope, only: EventFilter, after: EventCursor) -> dict[str, Any]:
    """The ticket that a listener needs, as plain values."""
    own = msgspec.to_builtins(replace(scope, beside=()))
    return {"kind": KIND, "scope": own, "only": msgspec.to_builtins(only), "after": str(after)}


@dataclass(slots=True, eq=False)
class Listener:
    """One reader. `cursor` is how far it has read by itself; until then new events wait. `is_over`:
    it may not listen any more."""

    number: int
    scope: Scope
    only: EventFilter
    cursor: EventCursor | None = None
    waiting: list[tuple[ChangeEvent, bytes]] = field(default_factory=list)
    has_joined: asyncio.Event = field(default_factory=asyncio.Event)
    is_over: asyncio.Event = field(default_factory=asyncio.Event)


class LiveEvents:
    """Live events of a process. `run` calls a function that waits for the database, to look for new
    events for all; `catch_up` does the same, to read earlier events for one listener."""

    def __init__(self, send: Send, run: Run, catch_up: Run) -> None:
        self.send, self.run, self.catch_up = send, run, catch_up
        # However many streams there are: one at a time for each caller, and one batch for each
        # workspace, so that each workspace has its turn.
        self._turns: WeakValueDictionary[object, asyncio.Lock] = WeakValueDictionary()
        self.listeners: dict[int, Listener] = {}
        self._looking: asyncio.Task[None] | None = None

    async def serve(self, number: int, ticket: dict[str, Any]) -> None:
        """Send the events after the ticket's cursor until its key may no longer listen."""
        scope = msgspec.convert(ticket["scope"], Scope)
        only = msgspec.convert(ticket["only"], EventFilter)
        listener = self.listeners[number] = Listener(number, scope, only)
        if self._looking is None or self._looking.done():
            self._looking = asyncio.create_task(self._look())
        try:
            # From here on it gets all new events; it reads the earlier ones by itself.
            await listener.has_joined.wait()
            async with self.turn(scope):
                await self._catch_up(listener, ticket["after"])
            await listener.is_over.wait()
        finally:
            self.listeners.pop(number, None)

    def turn(self, of: object) -> asyncio.Lock:
        return self._turns.setdefault(of, asyncio.Lock())

    async def _hearing(self, listeners: Collection[Listener], run: Run) -> list[Listener]:
        """The listeners that may still listen, each with its current scope; the others are over.
        Called after the events were read: a listener refused before an event does not get it."""
        now = await run(scopes_again, {each.scope for each in listeners})
        staying = []
        for each in listeners:
            scope = now.get(each.scope)
            if scope is None or not scope.may(Capability.READ):
                self.listeners.pop(each.number, None)
                each.is_over.set()
            else:
                each.scope = scope
                staying.append(each)
        return staying

    async def _catch_up(self, listener: Listener, after: str) -> None:
        cursor, is_whole = cursor_of(after), False
        assert cursor is not None
        while not is_whole:
            workspace = listener.scope.workspace_id
            async with self.turn(workspace):
                batch = await self.catch_up(_read, {workspace}, cursor)
                if batch.events and not await self._hearing([listener], self.catch_up):
                    return
                shown = await self._shown(batch, listener.scope, self.catch_up)
            for event, message in shown:
                if listener.only.takes(event):
                    self.send([listener.number], message)
            cursor, is_whole = batch.cursor, batch.is_whole
        listener.cursor = cursor
        for event, message in listener.waiting:
            if not was_seen(event, cursor):
                self.send([listener.number], message)
        listener.waiting.clear()

    async def _look(self) -> None:
        cursor, pinged, checked = None, time.monotonic(), time.monotonic()
        while self.listeners:
            try:
                cursor = cursor or await self.run(newest)
                listeners = list(self.listeners.values())
                for listener in listeners:
                    listener.has_joined.set()
                workspaces = {listener.scope.workspace_id for listener in listeners}
                batch = await self.run(_read, workspaces, cursor)
                if batch.events or time.monotonic() - checked > CHECKED_EVERY:
                    listeners, checked = await self._hearing(listeners, self.run), time.monotonic()
                if batch.events:
                    await self._tell(batch, listeners)
                cursor = batch.cursor
                await asyncio.sleep(LOOKED_EVERY)
            except (DatabaseError, InterfaceError, ServerSilent) as error:
                log.warning("events could not be read: %s", error)  # they are read later
                await asyncio.sleep(AFTER_AN_ERROR)
            if time.monotonic() - pinged > PINGED_EVERY:
                pinged = time.monotonic()
                self.send(self.listeners, PING)

    async def _tell(self, batch: EventBatch, listeners: Collection[Listener]) -> None:
        groups: dict[Scope, list[Listener]] = defaultdict(list)
        for listener in listeners:
            groups[listener.scope].append(listener)
        # All of it is read before any is sent: if that fails, it is read again.
        shown = {scope: await self._shown(batch, scope, self.run) for scope in groups}
        for scope, group in groups.items():
            for event, message in shown[scope]:
                ready = []
                for listener in group:
                    if not listener.only.takes(event):
                        continue
                    if listener.cursor is None:
                        listener.waiting.append((event, message))
                    elif not was_seen(event, listener.cursor):
                        ready.append(listener.number)
                self.send(ready, message)

    async def _shown(
        self, batch: EventBatch, scope: Scope, run: Run
    ) -> list[tuple[ChangeEvent, bytes]]:
        """The messages of a batch that `scope` may see."""
        pairs = [each for each in batch.events if each[0].workspace_id == scope.workspace_id]
        if not pairs:
            return []
        seen = await run(_visible_to, scope, [event for event, _ in pairs])
        return [(event, as_message(event, to)) for event, to in pairs if event.item in seen]


def _read(workspaces: Collection[uuid.UUID], after: EventCursor) -> EventBatch:
    with visible.only(*workspaces):
        return read(workspaces, after)


def _visible_to(scope: Scope, events: list[ChangeEvent]) -> set[uuid.UUID]:
    with visible.only(scope.workspace_id):
        return visible_items(scope, events)
