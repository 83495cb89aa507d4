"""The event loop's side of `server/front/streams.py`: streams that are opened by tickets, each a task, and
the parts they send."""

import asyncio
import contextvars
import logging
import os
from collections.abc import Awaitable, Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any

from django.db import close_old_connections

from memoryproject import log_lines
from memoryproject.server.front.wire import next_frame, packed

log = logging.getLogger(__name__)

MOST_UNSENT = 64 * 2**20  # bytes that wait for a front that does not read
SOON = 0.1  # seconds until it looks again for a front that was not there

# Serves the stream of a number and a ticket, until it is over or cancelled.
Serve = Callable[[int, dict[str, Any]], Awaitable[None]]


class Threads:
    """Threads for functions that wait for the database: a fixed number, each with its own
    connection."""

    def __init__(self, most: int, name: str) -> None:
        self._pool = ThreadPoolExecutor(most, thread_name_prefix=name)

    async def run(self, act: Callable[..., Any], *given: Any) -> Any:
        context = contextvars.copy_context()

        def work() -> Any:
            close_old_connections()
            return context.run(act, *given)

        return await asyncio.get_running_loop().run_in_executor(self._pool, work)


class StreamProcess:
    """`kinds` says who serves the streams of each kind of ticket."""

    def __init__(self, front: str) -> None:
        self.front = front
        self.kinds: dict[str, Serve] = {}
        self.tasks: dict[int, asyncio.Task[None]] = {}
        self._writer: asyncio.StreamWriter | None = None

    def send(self, numbers: Iterable[int], part: bytes) -> None:
        """Send a part to streams. Where the front reads nothing for long, all of them end, instead
        of growing here: their readers come again, and go on behind what they have."""
        if self._writer is None or not (listed := list(numbers)):
            return
        if self._writer.transport.get_write_buffer_size() > MOST_UNSENT:
            log.warning("the front takes no more: its streams end")
            self._writer.transport.abort()
            self._writer = None
            return
        self._writer.write(packed({"streams": listed}, part))

    async def run(self) -> None:
        """Run until cancelled; returns when the front restarts."""
        while True:
            try:
                reader, self._writer = await asyncio.open_unix_connection(self.front)
                try:
                    await self._serve(reader)
                finally:
                    if self._writer is not None:
                        self._writer.close()
                        self._writer = None
                    for task in self.tasks.values():
                        task.cancel()
            except OSError as error:
                log.debug("no front at %s: %s", self.front, error)
            await asyncio.sleep(SOON)

    async def _serve(self, reader: asyncio.StreamReader) -> None:
        assert self._writer is not None
        self._writer.write(packed({"pid": os.getpid()}))
        while frame := await next_frame(reader):
            head, _ = frame
            if "open" in head:
                number = head["open"]
                self.tasks[number] = asyncio.create_task(self._stream(number, head["ticket"]))
            elif task := self.tasks.get(head["close"]):
                task.cancel()

    async def _stream(self, number: int, ticket: dict[str, Any]) -> None:
        log_lines.request_id.set(ticket["requestId"])
        with suppress(asyncio.CancelledError):
            try:
                await self.kinds[ticket["kind"]](number, ticket)
            except Exception:
                log.exception("a stream broke off")  # its reader sees that it ends
        del self.tasks[number]
        if self._writer is not None:
            self._writer.write(packed({"ended": number}))
