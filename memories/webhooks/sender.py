"""Who delivers: a task of an event loop that looks what is due, and threads that wait for nobody
but their own address."""

import asyncio
import logging
import uuid
from collections import Counter
from collections.abc import Awaitable, Callable
from typing import Any

from django.db import DatabaseError, InterfaceError

from memories.webhooks import deliver
from memoryproject.postgres.connection import ServerSilent

log = logging.getLogger(__name__)

MOST_AT_ONCE = 8  # addresses
MOST_OF_WORKSPACE = 2  # of these: another workspace's addresses that hang are no matter of ours
LOOKED_EVERY = 1.0  # seconds
AFTER_AN_ERROR = 5.0

Run = Callable[..., Awaitable[Any]]


class WebhookSender:
    """`run` is how a function is called that waits; it has MOST_AT_ONCE threads and one more."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self.busy: dict[uuid.UUID, uuid.UUID] = {}  # hooks, with their workspaces

    async def run(self) -> None:
        """Until it is cancelled."""
        while True:
            try:
                self.begin(await self._run(deliver.due))
                await asyncio.sleep(LOOKED_EVERY)
            except (DatabaseError, InterfaceError, ServerSilent) as error:
                log.warning("webhooks could not be looked at: %s", error)  # what is due stays so
                await asyncio.sleep(AFTER_AN_ERROR)

    def begin(self, due: list[tuple[uuid.UUID, uuid.UUID]]) -> None:
        """Take up hooks as far as there is room."""
        of_workspace = Counter(self.busy.values())
        for hook, workspace in due:
            if len(self.busy) >= MOST_AT_ONCE:
                return
            if hook not in self.busy and of_workspace[workspace] < MOST_OF_WORKSPACE:
                of_workspace[workspace] += 1
                self.busy[hook] = workspace
                asyncio.ensure_future(self._deliver(hook, workspace))

    async def _deliver(self, hook: uuid.UUID, workspace: uuid.UUID) -> None:
        try:
            await self._run(deliver.deliver_due, hook, workspace)
        except Exception:  # it is due again when its lease has run out
            log.exception("webhook %s was not told", hook)
        finally:
            del self.busy[hook]
