"""The process's sender of webhooks: a few deliveries at once, fair between workspaces."""

import asyncio
import time
import uuid
from collections import Counter
from collections.abc import Awaitable, Callable
from typing import Any

from django.db import DatabaseError, InterfaceError

from memories.events.deliver_webhooks import deliver_due, due, log
from memoryproject.postgres.connection import ServerSilent

MOST_AT_ONCE = 8  # addresses
MOST_OF_WORKSPACE = 2  # at most; a workspace whose addresses hang must not delay the others
# And of all workspaces whose addresses did not answer the last time: however many hang, the other
# places are for those that do.
MOST_UNHEARD = 4
REST = 10.0  # seconds of rest for an address that did not answer, with all that waits for it
MOST_REMEMBERED = 10_000
LOOKED_EVERY = 1.0  # seconds
AFTER_AN_ERROR = 5.0

Run = Callable[..., Awaitable[Any]]


class WebhookSender:
    """Sends webhooks. `run` calls a blocking function in one of MOST_AT_ONCE + 1 threads."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self.busy: dict[uuid.UUID, uuid.UUID] = {}  # hooks, with their workspaces
        self.unheard: set[uuid.UUID] = set()  # workspaces
        self.resting: dict[uuid.UUID, float] = {}  # hooks, until when

    async def run(self) -> None:
        """Run until cancelled."""
        while True:
            try:
                now = time.monotonic()
                self.resting = {hook: end for hook, end in self.resting.items() if end > now}
                self.begin(await self._run(due, {*self.resting, *self.busy}))
                await asyncio.sleep(LOOKED_EVERY)
            except (DatabaseError, InterfaceError, ServerSilent) as error:
                log.warning("webhooks could not be looked at: %s", error)  # what is due stays so
                await asyncio.sleep(AFTER_AN_ERROR)

    def begin(self, due: list[tuple[uuid.UUID, uuid.UUID]]) -> None:
        """Take up webhooks as far as there is room."""
        of_workspace = Counter(self.busy.values())
        for hook, workspace in due:
            if len(self.busy) >= MOST_AT_ONCE:
                return
            unheard = sum(of_workspace[each] for each in self.unheard & of_workspace.keys())
            if workspace in self.unheard and unheard >= MOST_UNHEARD:
                continue
            if hook not in self.busy and of_workspace[workspace] < MOST_OF_WORKSPACE:
                of_workspace[workspace] += 1
                self.busy[hook] = workspace
                asyncio.ensure_future(self._deliver(hook, workspace))

    async def _deliver(self, hook: uuid.UUID, workspace: uuid.UUID) -> None:
        is_heard = False
        try:
            is_heard = (await self._run(deliver_due, hook, workspace)).is_heard
        except Exception:  # it is due again when its lease has run out
            log.exception("workspace %s: webhook %s was not told", workspace, hook)
        finally:
            del self.busy[hook]
            if is_heard:
                self.unheard.discard(workspace)
            elif len(self.unheard) < MOST_REMEMBERED:
                self.unheard.add(workspace)
            if not is_heard and len(self.resting) < MOST_REMEMBERED:
                self.resting[hook] = time.monotonic() + REST
