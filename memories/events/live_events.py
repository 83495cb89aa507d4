"""Events as they come, to all who listen in this process: one look at the database for all of
them, a few times a second, and none where nobody listens."""

import asyncio
import logging
import time
import uuid
from collections import defaultdict
from collections.abc import Awaitable, Callable, Collection, Iterable
from dataclasses import dataclass, field, replace
from typing import Any

import msgspec
from django.db import DatabaseError, InterfaceError

from memories.events import event_log
from memories.events.event_log import EventBatch, EventCursor, cursor_of, was_seen
from memories.events.shown_events import PING, EventFilter, as_message, visible_items
from memories.models import ChangeEvent
from memoryproject.postgres import visible
from memoryproject.postgres.connection import ServerSilent
from workspaces.auth import scope_again
from workspaces.models import Capability
from workspaces.scope import Scope

log = logging.getLogger(__name__)

LOOKED_EVERY = 0.25  # seconds
AFTER_AN_ERROR = 2.0
PINGED_EVERY = 15.0
CHECKED_EVERY = 60.0  # whether a key may still hear
KIND = "events"

Run = Callable[..., Awaitable[Any]]
# Sends a part to the streams of these numbers.
Send = Callable[[Iterable[int], bytes], None]


def ticket_of(scope: Scope, only: EventFilter, after: EventCursor) -> dict[str, Any]:
    """What a listener has to know, as plain values."""
    own = msgspec.to_builtins(replace(scope, beside=()))
    return {"kind": KIND, "scope": own, "only": msgspec.to_builtins(only), "after": str(after)}


@dataclass(slots=True, eq=False)
class Listener:
    """`cursor` is how far it has read by itself; until it has, what comes waits."""

    number: int
    scope: Scope
    only: EventFilter
    cursor: EventCursor | None = None
    waiting: list[tuple[ChangeEvent, bytes]] = field(default_factory=list)
    has_joined: asyncio.Event = field(default_factory=asyncio.Event)


class LiveEvents:
    """`run` is how a function is called that waits for the database."""

    def __init__(self, send: Send, run: Run) -> None:
        self.send, self.run = send, run
        self.listeners: dict[int, Listener] = {}
        self._looking: asyncio.Task[None] | None = None

    async def serve(self, number: int, ticket: dict[str, Any]) -> None:
        """Tell what comes after the ticket's cursor, until its key may not hear any more."""
        scope = msgspec.convert(ticket["scope"], Scope)
        only = msgspec.convert(ticket["only"], EventFilter)
        listener = self.listeners[number] = Listener(number, scope, only)
        if self._looking is None or self._looking.done():
            self._looking = asyncio.create_task(self._look())
        try:
            # From here on all that is read is for it as well: what came before, it reads by itself.
            await listener.has_joined.wait()
            await self._catch_up(listener, ticket["after"])
            while True:
                await asyncio.sleep(CHECKED_EVERY)
                now = await self.run(scope_again, listener.scope)
                if now is None or not now.may(Capability.READ):
                    return
                listener.scope = now
        finally:
            del self.listeners[number]

    async def _catch_up(self, listener: Listener, after: str) -> None:
        cursor, is_whole = cursor_of(after), False
        assert cursor is not None
        while not is_whole:
            batch = await self.run(_read, {listener.scope.workspace_id}, cursor)
            for event, message in await self._shown(batch, listener.scope):
                if listener.only.takes(event):
                    self.send([listener.number], message)
            cursor, is_whole = batch.cursor, batch.is_whole
        listener.cursor = cursor
        for event, message in listener.waiting:
            if not was_seen(event, cursor):
                self.send([listener.number], message)
        listener.waiting.clear()

    async def _look(self) -> None:
        cursor, pinged = None, time.monotonic()
        while self.listeners:
            try:
                cursor = cursor or await self.run(event_log.newest)
                listeners = list(self.listeners.values())
                for listener in listeners:
                    listener.has_joined.set()
                workspaces = {listener.scope.workspace_id for listener in listeners}
                batch = await self.run(_read, workspaces, cursor)
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
        # All of it is read before any is sent: where that fails, it is read again.
        shown = {scope: await self._shown(batch, scope) for scope in groups}
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

    async def _shown(self, batch: EventBatch, scope: Scope) -> list[tuple[ChangeEvent, bytes]]:
        """The messages of a batch that `scope` may hear."""
        pairs = [each for each in batch.events if each[0].workspace_id == scope.workspace_id]
        if not pairs:
            return []
        seen = await self.run(_visible_to, scope, [event for event, _ in pairs])
        return [(event, as_message(event, to)) for event, to in pairs if event.item in seen]


def _read(workspaces: Collection[uuid.UUID], after: EventCursor) -> EventBatch:
    with visible.only(*workspaces):
        return event_log.read(workspaces, after)


def _visible_to(scope: Scope, events: list[ChangeEvent]) -> set[uuid.UUID]:
    with visible.only(scope.workspace_id):
        return visible_items(scope, events)
