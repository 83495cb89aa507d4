"""Live events: one thread looks for what is new and sends it to all listeners of the process."""

import asyncio
import time
import uuid
from collections import defaultdict
from collections.abc import Awaitable, Callable, Collection, Iterable
from dataclasses import dataclass, field, replace
from typing import Any
from weakref import WeakValueDictionary

import msgspec
from django.db import DatabaseError, InterfaceError

from memories.events.read_events import EventBatch, EventCursor, cursor_of, newest, read, was_seen
from memories.events.shown_events import EventFilter, as_message, log, visible_items
from memories.models import ChangeEvent
from memoryproject.postgres import visible
from memoryproject.postgres.connection import ServerSilent
from workspaces.auth import scopes_again
from workspaces.models import Capability
from workspaces.scope import Scope

PING = b": ping\n\n"

LOOKED_EVERY = 0.25  # seconds
AFTER_AN_ERROR = 2.0
PINGED_EVERY = 15.0
MOST_WAITING = 1_000  # new events that are held for a listener that still reads earlier ones
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
    """One reader. `cursor` is how far it has read by itself; until then new events wait.
    `is_behind`: more came than wait for anybody, so that it has to read again. `is_over`: it may
    not listen any more."""

    number: int
    scope: Scope
    only: EventFilter
    cursor: EventCursor | None = None
    waiting: list[tuple[ChangeEvent, bytes]] = field(default_factory=list)
    is_behind: bool = False
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
                listener.is_behind = False
                batch = await self.catch_up(_read, {workspace}, cursor)
                if batch.events and not await self._hearing([listener], self.catch_up):
                    return
                shown = await self._shown(batch, listener.scope, self.catch_up)
            for event, message in shown:
                if listener.only.takes(event):
                    self.send([listener.number], message)
            cursor, is_whole = batch.cursor, batch.is_whole and not listener.is_behind
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
                        self._hold(listener, event, message)
                    elif not was_seen(event, listener.cursor):
                        ready.append(listener.number)
                self.send(ready, message)

    @staticmethod
    def _hold(listener: Listener, event: ChangeEvent, message: bytes) -> None:
        """Keep an event until the listener has read the earlier ones; where too many came, it reads
        all of them from the rows."""
        if len(listener.waiting) < MOST_WAITING:
            listener.waiting.append((event, message))
        else:
            listener.waiting.clear()
            listener.is_behind = True

    async def _shown(self, batch: EventBatch, scope: Scope, run: Run) -> list[tuple[ChangeEvent, bytes]]:
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
