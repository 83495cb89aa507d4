"""A process behind the front that serves MCP: an event loop, with as many requests at once as its
lane has places."""

import asyncio
import logging
import os
import signal
from collections.abc import Awaitable, Callable
from typing import Any

from memoryproject.postgres import replica
from memoryproject.server.front.lanes import Lane
from memoryproject.server.front.wire import FRONT, POSITION, next_frame, packed
from memoryproject.server.web_processes import GRACE, SOON, WAITED_FOR, notes_of

log = logging.getLogger(__name__)

Respond = Callable[[dict[str, Any], bytes], Awaitable[tuple[dict[str, Any], bytes]]]


class McpProcess:
    """`respond` returns status, headers and body for an environ and a body."""

    def __init__(self, lane: Lane, front: str, respond: Respond) -> None:
        self.lane, self.front, self.respond = lane, front, respond
        self.busy = 0

    async def run(self) -> None:
        """Run until SIGTERM; then requests under way get GRACE seconds."""
        loop, asked_to_end = asyncio.get_running_loop(), asyncio.Event()
        loop.add_signal_handler(signal.SIGTERM, asked_to_end.set)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, WAITED_FOR)  # the parent waits for them
        places = [asyncio.create_task(self._place()) for _ in range(self.lane.threads)]
        await asked_to_end.wait()
        end = loop.time() + GRACE
        while self.busy and loop.time() < end:
            await asyncio.sleep(0.02)
        for place in places:
            place.cancel()
        await asyncio.gather(*places, return_exceptions=True)

    async def _place(self) -> None:
        """Serve one place; reconnect when the front restarts."""
        while True:
            try:
                reader, writer = await asyncio.open_unix_connection(self.front)
                try:
                    await self._serve(reader, writer)
                finally:
                    writer.close()
            except OSError as error:
                log.debug("no front at %s: %s", self.front, error)
            await asyncio.sleep(SOON)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(packed({"lane": self.lane.name, "pid": os.getpid()}))
        while frame := await next_frame(reader):
            self.busy += 1
            try:
                environ = {**frame[0]["environ"], FRONT: True}
                head, body = await self.respond(environ, frame[1])
                if replica.is_used():
                    environ[POSITION] = await asyncio.to_thread(replica.written)
                writer.write(packed({**head, **notes_of(environ), "more": False}, body))
                await writer.drain()
            finally:
                self.busy -= 1
