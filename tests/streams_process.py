"""A process behind a front that answers every request with a ticket, and then serves the stream:
`python -m tests.streams_process SOCKET FOLDER`. The query string says how."""

import asyncio
import os
import sys
from pathlib import Path
from typing import Any

from memoryproject.server.front.streams import streams_socket
from memoryproject.server.front.wire import next_frame, packed
from memoryproject.server.stream_process import StreamProcess

SOCKET, FOLDER = sys.argv[1], Path(sys.argv[2])
streams = StreamProcess(streams_socket(SOCKET))


async def once(number: int, ticket: dict[str, Any]) -> None:
    streams.send([number], b"data: hello\n\n")


async def ever(number: int, ticket: dict[str, Any]) -> None:
    streams.send([number], b"data: hello\n\n")
    try:
        await asyncio.sleep(3600)
    finally:
        (FOLDER / "closed").touch()


async def flood(number: int, ticket: dict[str, Any]) -> None:
    try:
        while True:
            streams.send([number], b"x" * 10_000)
            await asyncio.sleep(0.001)
    finally:
        (FOLDER / "dropped").touch()


async def broken(number: int, ticket: dict[str, Any]) -> None:
    raise ValueError("This one breaks.")


async def answer() -> None:
    reader, writer = await asyncio.open_unix_connection(SOCKET)
    writer.write(packed({"lane": "read", "pid": os.getpid()}))
    while frame := await next_frame(reader):
        ticket = {"kind": frame[0]["environ"]["QUERY_STRING"]}
        headers = [["content-type", "text/event-stream"], ["content-length", "6"]]
        head = {"status": 200, "headers": headers, "stream": ticket, "tenant": "t", "more": False}
        writer.write(packed(head, b"first;"))


async def main() -> None:
    streams.kinds.update(once=once, ever=ever, flood=flood, broken=broken)
    if "--answers-only" not in sys.argv:
        asyncio.create_task(streams.run())
    await answer()


asyncio.run(main())
