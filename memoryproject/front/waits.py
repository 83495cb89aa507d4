"""Waiting for ingests that a worker does, without a process that stands by: their rows are looked
at, all of them in one question."""

import asyncio
from functools import partial

from memoryproject.front.pools import Gone, Pool, Queued
from memoryproject.front.wire import packed

FIRST_LOOK, SLOWEST_LOOK = 0.03, 0.25  # seconds between two looks


class Waits:
    def __init__(self, pool: Pool) -> None:
        self.pool = pool
        self.awaited: dict[str, list[asyncio.Event]] = {}
        self.looking: asyncio.Task[None] | None = None

    async def until_settled(self, session: str, seconds: float) -> bool:
        """Whether the session was settled within `seconds`."""
        event = asyncio.Event()
        self.awaited.setdefault(session, []).append(event)
        if self.looking is None or self.looking.done():
            self.looking = asyncio.ensure_future(self._look())
        try:
            async with asyncio.timeout(seconds):
                await event.wait()
        except TimeoutError:
            return False
        finally:
            self.awaited[session].remove(event)
            if not self.awaited[session]:
                del self.awaited[session]
        return True

    async def _look(self) -> None:
        pause = FIRST_LOOK
        while self.awaited:
            await asyncio.sleep(pause)
            pause = min(pause * 1.5, SLOWEST_LOOK)
            try:
                reply = await self.pool.reply_to(
                    partial(packed, {"sessions": list(self.awaited)}),
                    tenant="front", asker="front", name="a look at waiting ingests",
                )  # fmt: skip
            except (Queued, Gone):
                continue  # whoever waits has a deadline of his own
            for session in reply.head["settled"]:
                for event in self.awaited.get(session, ()):
                    event.set()
                    pause = FIRST_LOOK
