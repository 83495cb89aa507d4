"""The protocol between front and web processes: a head as JSON and a body of bytes, each frame led
by the lengths of both.

A web process connects and sends {"lane", "pid"}. Then, one at a time: the front sends {"environ"}
and the request's body, or {"sessions"}; the process answers {"status", "headers", "more"} and a
part of the body, further parts as {"more"}; or {"elsewhere": lane}, or {"settled": sessions}. To
{"pulse"} the front answers {"alive"}.
"""

import asyncio
import struct
from typing import Any, BinaryIO

import msgspec

# Keys in the environ of a request: whether the front can wait for it; its tenant; the session to
# wait for, and how many seconds; and afterwards, the session that was waited for.
FRONT, TENANT = "memoryproject.server.front", "memoryproject.tenant"
BODY_FILE = "memoryproject.body_file"  # where the body lies, which is too long for a frame
CAP = "memoryproject.cap"  # requests a minute of the key that asked, where it has a cap of its own
WAIT, SESSION = "memoryproject.wait", "memoryproject.session"
STREAM = "memoryproject.stream"  # the ticket of what follows the answer (see streams.py)
# For that answer: no proxy keeps it, or holds it back until it is complete.
STREAM_HEADERS = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}

# The position of the database's log at the tenant's last request, in bytes; and after this one.
POSITION = "memoryproject.position"

LENGTHS = struct.Struct("!II")
Frame = tuple[dict[str, Any], bytes]


def packed(head: dict[str, Any], body: bytes = b"") -> bytes:
    text = msgspec.json.encode(head)
    return LENGTHS.pack(len(text), len(body)) + text + body


def read_frame(stream: BinaryIO) -> Frame | None:
    """The next frame of a blocking stream; None at its end."""
    lengths = stream.read(LENGTHS.size)
    if len(lengths) < LENGTHS.size:
        return None
    size = sum(LENGTHS.unpack(lengths))
    data = stream.read(size)
    return unpacked(lengths, data) if len(data) == size else None


def unpacked(lengths: bytes, data: bytes) -> Frame:
    """The frame with these lengths and the data after them."""
    head, _ = LENGTHS.unpack(lengths)
    return msgspec.json.decode(data[:head]), data[head:]


async def next_frame(reader: asyncio.StreamReader) -> Frame | None:
    """The next frame of an event loop's stream; None at its end."""
    try:
        lengths = await reader.readexactly(LENGTHS.size)
        return unpacked(lengths, await reader.readexactly(sum(LENGTHS.unpack(lengths))))
    except asyncio.IncompleteReadError:
        return None


class Frames:
    """Frames from the pieces that a socket delivers."""

    def __init__(self) -> None:
        self._buffer = bytearray()

    def feed(self, data: bytes) -> list[Frame]:
        """Add a piece and return the frames that are complete."""
        self._buffer += data
        whole: list[Frame] = []
        while len(self._buffer) >= LENGTHS.size:
            head, body = LENGTHS.unpack_from(self._buffer)
            end = LENGTHS.size + head + body
            if len(self._buffer) < end:
                break
            text = bytes(self._buffer[LENGTHS.size : LENGTHS.size + head])
            body_of_it = bytes(self._buffer[LENGTHS.size + head : end])
            whole.append((msgspec.json.decode(text), body_of_it))
            del self._buffer[:end]
        return whole
