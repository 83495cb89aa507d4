"""Event streams and chat: a process sends parts, the front passes them on to their readers.

A web process answers the request first: the ticket of its answer says who asks and what they may
hear. One of the processes with an event loop, which connect to a second socket, then sends parts as
they come: {"streams": numbers} with a body, and {"ended": number}. It receives {"open": number,
"ticket"} and {"close": number}. A reader that is too slow is dropped: an event stream resumes where
it stopped.
"""

import asyncio
import logging
import os
import socket
import struct
from collections import Counter, deque
from contextlib import suppress
from itertools import count
from typing import Any, cast

from granian.rsgi import ProtocolClosed  # type: ignore[attr-defined]

from memoryproject.server.front.fairness import take_off
from memoryproject.server.front.pools import PoolReply
from memoryproject.server.front.requests import FILES, Refusal, Request
from memoryproject.server.front.wire import Frames, packed

log = logging.getLogger("memoryproject.server.front")

MOST_OF_TENANT = 2_000
LARGEST_WAITING = 2**20  # bytes that wait for one reader
MOST_WAITING_OF_TENANT = 64 * 2**20  # bytes that wait for all readers of one tenant
LOOKED_AGAIN = 0.1  # seconds, when so many bytes are on their way to the reader
# In the kernel's tcp_info: bytes that the other side has confirmed.
CONFIRMED = struct.Struct("=Q")
CONFIRMED_AT = 120
CHUNK = 8  # bytes beside those of a part, at least


def streams_socket(front: str) -> str:
    """The socket of processes that send streams, beside that of the others at `front`."""
    return f"{front}.streams"


class ClientConnection:
    """The connection of the client at this address and port: how much of the written data it has
    received. The HTTP server below us accepts all that it is given."""

    def __init__(self, address: str, port: str) -> None:
        self.peer = address, port
        self.file = next((file for file in map(int, os.listdir(FILES)) if self._is(file)), -1)

    def _is(self, file: int) -> bool:
        try:
            seen = socket.socket(fileno=file)
        except (OSError, ValueError):  # it is gone, or was never found
            return False
        try:
            if seen.family not in (socket.AF_INET, socket.AF_INET6):
                return False
            host, port = seen.getpeername()[:2]
            return (str(host), str(port)) == self.peer
        except OSError:
            return False
        finally:
            seen.detach()  # it is not ours

    def confirmed(self) -> int | None:
        """The bytes that the client has received so far; None where that is unknown."""
        with suppress(OSError, AttributeError, struct.error), self._own() as own:
            info = own.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 192)
            return int(CONFIRMED.unpack_from(info, CONFIRMED_AT)[0])
        return None

    def close(self) -> None:
        """Shut it down; its owner reads that it has ended."""
        with suppress(OSError), self._own() as own:
            own.shutdown(socket.SHUT_RDWR)

    def _own(self) -> socket.socket:
        """Duplicate the socket. Raises OSError where it is gone, or its number is another's."""
        if not self._is(self.file):
            raise OSError("gone")
        return socket.socket(fileno=os.dup(self.file))


class Stream:
    """The parts that wait for one reader, counted for its tenant, and whether its process will send
    more."""

    def __init__(self, tenant: str, waiting: Counter[str]) -> None:
        self.tenant, self.waiting = tenant, waiting
        self.parts: deque[bytes] = deque()
        self.size = 0
        self.has_ended = self.is_slow = False
        self._changed = asyncio.Event()

    def put(self, part: bytes) -> None:
        if self.has_ended:
            return
        # Of many readers of one tenant those go that have not taken what they were sent before.
        is_much = self.waiting[self.tenant] + len(part) > MOST_WAITING_OF_TENANT
        if self.size + len(part) > LARGEST_WAITING or (is_much and self.size):
            self.is_slow = True
            self.clear()
            self.end()
            return
        self.parts.append(part)
        self.size += len(part)
        self.waiting[self.tenant] += len(part)
        self._changed.set()

    def clear(self) -> None:
        take_off(self.waiting, self.tenant, self.size)
        self.parts.clear()
        self.size = 0

    def end(self) -> None:
        self.has_ended = True
        self._changed.set()

    async def next_part(self) -> bytes:
        """Return everything that waits; empty at the end."""
        while not self.parts and not self.has_ended:
            self._changed.clear()
            await self._changed.wait()
        whole = b"".join(self.parts)
        self.clear()
        return whole


class StreamConnection(asyncio.Protocol):
    """A process that sends streams."""

    def __init__(self, owner: "Streams") -> None:
        self.owner = owner
        self.frames = Frames()
        self.streams: dict[int, Stream] = {}

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast(asyncio.Transport, transport)  # uvloop's own is none by its class
        self.owner.connections.append(self)

    def data_received(self, data: bytes) -> None:
        for head, body in self.frames.feed(data):
            for number in head.get("streams", ()):
                if number in self.streams:  # its reader may have gone meanwhile
                    self.streams[number].put(body)
            if (ended := self.streams.get(head.get("ended", 0))) is not None:
                ended.end()

    def connection_lost(self, error: Exception | None) -> None:
        self.owner.connections.remove(self)
        for stream in self.streams.values():
            stream.end()


class Streams:
    def __init__(self) -> None:
        self.connections: list[StreamConnection] = []
        self.of_tenant: Counter[str] = Counter()
        self.waiting: Counter[str] = Counter()  # bytes, by tenant
        self.dropped = 0
        self._numbers = count(1)

    @property
    def open(self) -> int:
        return sum(len(each.streams) for each in self.connections)

    async def pass_on(self, request: Request, reply: PoolReply, proto: Any) -> None:
        """Pass parts on until the process or the reader ends it. Raises Refusal where there is no
        process, or the tenant has too many."""
        if not self.connections:
            raise Refusal(503, "The process for streams does not answer.", "busy", wait=2)
        if self.of_tenant[request.tenant] >= MOST_OF_TENANT:
            raise Refusal(429, "Too many streams are open.", "share", wait=15)
        connection = min(self.connections, key=lambda each: len(each.streams))
        number, stream = next(self._numbers), Stream(request.tenant, self.waiting)
        connection.streams[number] = stream
        self.of_tenant[request.tenant] += 1
        ticket = {**reply.head["stream"], "requestId": request.request_id}
        connection.transport.write(packed({"open": number, "ticket": ticket}))
        watcher = asyncio.ensure_future(proto.client_disconnect())
        watcher.add_done_callback(lambda _: stream.end())
        try:
            await self._copy(request, reply, stream, proto)
        finally:
            watcher.cancel()
            stream.clear()
            del connection.streams[number]
            self.of_tenant[request.tenant] -= 1
            connection.transport.write(packed({"close": number}))

    async def _copy(self, request: Request, reply: PoolReply, stream: Stream, proto: Any) -> None:
        peer = request.environ["REMOTE_ADDR"], request.environ["REMOTE_PORT"]
        client, before, sent = None, None, 0
        headers = [(name.lower(), value) for name, value in reply.head["headers"]]
        kept = [header for header in headers if header[0] != "content-length"]
        out = proto.response_stream(reply.head["status"], kept)
        part = reply.body
        try:
            while part or not stream.has_ended:
                if part:
                    await out.send_bytes(part)
                    sent += len(part) + CHUNK
                # Only here: it is searched for among all open files, and most streams send little.
                if client is None and sent > LARGEST_WAITING:
                    client = ClientConnection(*peer)
                    before, sent = client.confirmed(), 0
                # Data given to the server below us waits there, however much it is.
                while client and before is not None and not stream.has_ended:
                    taken = (client.confirmed() or before + sent) - before
                    if sent - taken < LARGEST_WAITING:
                        sent = max(sent, taken)
                        break
                    await asyncio.sleep(LOOKED_AGAIN)
                part = await stream.next_part()
        except ProtocolClosed:
            log.debug("the reader of a stream went")
        if stream.is_slow:
            self.dropped += 1
            (client or ClientConnection(*peer)).close()
