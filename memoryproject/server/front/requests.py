"""One request as the front holds it: its body, bounded in size and time, its caller, and the
answers of the front itself: RFC 9457 problems."""

import asyncio
import hashlib
import heapq
import json
import os
import random
import re
import socket
import tempfile
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

from memoryproject.server.front.callers import network_of
from memoryproject.server.front.fairness import take_off
from memoryproject.server.front.lanes import Lane, lane_of
from memoryproject.server.front.presented import is_keyed, presented_key, presented_session
from memoryproject.server.front.wire import BODY_FILE, packed

ACCEPTED_ID = re.compile(r"[A-Za-z0-9._:-]{1,64}\Z")
KEY_PREFIX = re.compile(r"(mp_[0-9a-z]{1,16})_")
UPLOADS = "/documents"
# Headers that we read ourselves, or that belong to the connection.
OWN = frozenset({"content-type", "content-length", "transfer-encoding", "connection", "expect"})


PROBLEM = "application/problem+json"
FILES = "/dev/fd"
SLOWEST = 100_000  # bytes a second that a body must bring beyond the time for any
SMALL = 2**16  # bytes of a body that is refused for nobody's sake
MOST_HELD = 512 * 2**20  # bytes of all requests that are read or wait
MOST_OF_ONE = {True: 256 * 2**20, False: 64 * 2**20}  # of a known tenant; of an address
MOST_UPLOADS = 64  # of one that still come
# Bytes of one tenant on the disk at once, uploads and long answers; one file may be larger.
MOST_ON_DISK = 2 * 2**30
MOST_READING = {True: 512, False: 256}  # bodies of one that still come


@dataclass(slots=True, eq=False)
class Request:
    """`tenant` and `asker` say whose share it takes; an unverified credential counts by its
    address. The body of an upload is `spooled`: the path of its file, and its size."""

    method: str
    path: str
    environ: dict[str, Any]
    address: str
    credential: str
    lane: Lane
    body: bytes = b""
    spooled: tuple[str, int] | None = None
    tenant: str = ""
    asker: str = ""

    @property
    def request_id(self) -> str:
        return str(self.environ["HTTP_X_REQUEST_ID"])

    @property
    def key_prefix(self) -> str:
        """The prefix of its key, for log lines."""
        found = KEY_PREFIX.match(presented_key(self.environ) or "")
        return found[1] if found else ""

    def frame(self) -> bytes:
        more = {"CONTENT_LENGTH": str(len(self.body))}
        if self.spooled is not None:
            more = {BODY_FILE: self.spooled[0], "CONTENT_LENGTH": str(self.spooled[1])}
        return packed({"environ": self.environ | more}, self.body)

    @property
    def is_upload(self) -> bool:
        kind = self.environ["CONTENT_TYPE"].lower()
        is_form = self.method == "POST" and kind.startswith("multipart/form-data")
        return is_form and self.path.startswith("/api/v1/") and self.path.endswith(UPLOADS)


def request_of(scope: Any, *, behind_proxy: bool) -> Request:
    """Make a request from an RSGI scope, without its body."""
    headers: dict[str, str] = {}
    for name, value in scope.headers.items():
        joint = "; " if name == "cookie" else ","
        headers[name] = f"{headers[name]}{joint}{value}" if name in headers else value
    client, _, port = scope.client.rpartition(":")
    host, _, server_port = (scope.authority or headers.get("host", "")).rpartition(":")
    environ: dict[str, Any] = {
        "REQUEST_METHOD": scope.method,
        "SCRIPT_NAME": "",
        # As in WSGI: each byte of the path becomes one character.
        "PATH_INFO": scope.path.encode(errors="replace").decode("latin-1"),
        "QUERY_STRING": scope.query_string,
        "REMOTE_ADDR": client.strip("[]"),
        "REMOTE_PORT": port,
        "SERVER_NAME": host or "localhost",
        "SERVER_PORT": server_port if server_port.isdigit() else "80",
        "SERVER_PROTOCOL": f"HTTP/{scope.http_version}",
        "CONTENT_TYPE": headers.get("content-type", ""),
    }
    # A name with an underscore would pass for one with a hyphen.
    environ |= {
        f"HTTP_{name.upper().replace('-', '_')}": value
        for name, value in headers.items()
        if name not in OWN and "_" not in name
    }
    if not ACCEPTED_ID.match(environ.get("HTTP_X_REQUEST_ID", "")):
        environ["HTTP_X_REQUEST_ID"] = f"{random.getrandbits(128):032x}"
    return Request(
        method=scope.method,
        path=scope.path,
        environ=environ,
        address=address_of(environ, behind_proxy),
        credential=credential_of(environ, scope.path, behind_proxy=behind_proxy),
        lane=lane_of(scope.method, scope.path),
    )


def address_of(environ: dict[str, Any], behind_proxy: bool) -> str:
    """The client's address; behind a proxy the one that it saw, which it adds last."""
    seen = environ.get("HTTP_X_FORWARDED_FOR", "") if behind_proxy else ""
    return seen.rpartition(",")[2].strip() or str(environ["REMOTE_ADDR"])


def credential_of(environ: dict[str, Any], path: str, *, behind_proxy: bool) -> str:
    """A digest of the request's credential; empty where it presents none."""
    shown = presented_key(environ) if is_keyed(path, environ) else None
    if shown is None:
        shown = presented_session(environ, behind_proxy=behind_proxy)
    return hashlib.sha256(shown.encode(errors="replace")).hexdigest() if shown else ""


class ClientGone(Exception):
    """Nobody waits for the answer any more."""


class Refusal(Exception):
    """An error answer; `wait` in seconds, for Retry-After."""

    def __init__(self, status: int, detail: str, code: str, *, wait: float = 0) -> None:
        super().__init__(detail)
        self.status, self.detail, self.code, self.wait = status, detail, code, wait

    def headers(self, request_id: str) -> list[tuple[str, str]]:
        headers = [("content-type", PROBLEM), ("x-request-id", request_id)]
        if self.wait:
            headers.append(("retry-after", str(max(1, round(self.wait)))))
        return headers

    def body(self, request_id: str) -> str:
        return json.dumps(
            {
                "type": "about:blank",
                "title": HTTPStatus(self.status).phrase,
                "status": self.status,
                "detail": self.detail,
                "code": self.code,
                "errors": [],
                "requestId": request_id,
            }
        )


# Reading the body of a request: limited in size, in time, and in the amount that one tenant and all
# hold; and the connections of clients, some of which are closed if there are too many.


def close_excess(most: int) -> int:
    """Close connections if there are more than `most`: always the newest of the network with most,
    until a quarter of the room is free; how many were closed."""
    files = os.listdir(FILES)
    if len(files) <= most:
        return 0
    by_network: dict[str, list[tuple[int, str]]] = {}
    for file in sorted(map(int, files)):  # the oldest first
        with suppress(OSError):  # closed meanwhile, or no connection
            seen = socket.socket(fileno=file)
            try:
                if seen.family in (socket.AF_INET, socket.AF_INET6):
                    address = str(seen.getpeername()[0])
                    by_network.setdefault(network_of(address), []).append((file, address))
            finally:
                seen.detach()  # it is not ours
    largest = [(-len(own), network) for network, own in by_network.items()]
    heapq.heapify(largest)
    closed = 0
    while largest and closed < len(files) - most * 3 // 4:
        _, network = heapq.heappop(largest)
        own = by_network[network]
        file, address = own.pop()
        # Only if it is still the connection of this address; its owner reads that it has ended.
        with suppress(OSError), socket.socket(fileno=os.dup(file)) as excess:
            if excess.getpeername()[0] == address:
                excess.shutdown(socket.SHUT_RDWR)
                closed += 1
        if own:
            heapq.heappush(largest, (-len(own), network))
    return closed


# Seconds and bytes up to which a refused body is read and thrown away.
DRAINED_FOR, DRAINED_MOST = 3.0, 16 * 2**20


class Disk:
    """Disk space for data in transit: uploads until they are answered, and long answers. So much of
    the disk stays free, and a tenant has its share of the rest."""

    def __init__(self, least_free: int) -> None:
        self.least_free = least_free
        self.held_by: Counter[str] = Counter()

    def take(self, tenant: str, size: int, before: int = 0) -> None:
        """Count bytes before they are written, after `before` bytes of the same. Raises Refusal
        where there is no room for them."""
        disk = os.statvfs(tempfile.gettempdir())
        if self.least_free and disk.f_bavail * disk.f_frsize < self.least_free + size:
            raise no_room()
        held = self.held_by[tenant]
        if held > before and held + size > MOST_ON_DISK:
            detail = "Too much of yours is on its way: let what was asked for come to its end."
            raise Refusal(429, detail, "share", wait=15)
        self.held_by[tenant] += size

    def give_back(self, tenant: str, size: int) -> None:
        take_off(self.held_by, tenant, size)


def no_room() -> Refusal:
    return Refusal(507, "The server's disk has too little room for this.", "no_room", wait=60)


def _too_large(largest: int) -> Refusal:
    return Refusal(413, f"The body is larger than {largest} bytes.", "too_large")


class Bodies:
    """The request bodies in memory, counted as they arrive: promised bytes do not count."""

    def __init__(self, largest: int, seconds: float, disk: Disk) -> None:
        self.largest, self.seconds, self.disk = largest, seconds, disk
        self.held = 0
        self.held_by: Counter[str] = Counter()
        self.reading: Counter[str] = Counter()

    async def read(self, proto: Any, length: str, tenant: str, *, known: bool) -> bytes:
        """Read the whole body. Raises Refusal where it is too large, too slow, breaks off, or is
        more than this tenant's share of the memory.

        The bytes stay counted: call `release` once they are gone.
        """
        if self.reading[tenant] >= MOST_READING[known]:
            raise Refusal(429, "Too many bodies of yours are still coming.", "share", wait=5)
        self.reading[tenant] += 1
        try:
            await self._check(proto, length, self.largest)
            if int(length) > SMALL:
                body = await self._read(proto, tenant, known=known)
            else:  # in one piece, which wakes us once: its length bounds it
                try:
                    async with asyncio.timeout(self.seconds):
                        body = await proto()
                except TimeoutError:
                    raise self._too_slow() from None
                self.held += len(body)
                self.held_by[tenant] += len(body)
        finally:
            take_off(self.reading, tenant)
        if len(body) != int(length):
            self.release(len(body), tenant)
            raise Refusal(400, "The body broke off before its end.", "broken_off")
        return body

    async def spool(self, proto: Any, length: str, tenant: str, largest: int) -> tuple[str, int]:
        """Write an upload's body to a file: its path and size. Raises as `read` does; the caller
        removes the file, and gives its room back."""
        if self.reading[tenant] >= MOST_UPLOADS:
            raise Refusal(429, "Too many uploads of yours are still coming.", "share", wait=5)
        await self._check(proto, length, largest)
        try:
            self.disk.take(tenant, int(length))
        except Refusal:
            await self.drain(proto)
            raise
        self.reading[tenant] += 1
        size, began = 0, asyncio.get_running_loop().time()
        with tempfile.NamedTemporaryFile(prefix="memoryproject-", delete=False) as file:
            try:
                async with asyncio.timeout(self.seconds) as patience:
                    async for part in proto:
                        size += len(part)
                        file.write(part)
                        patience.reschedule(began + self.seconds + size / SLOWEST)
                if size != int(length):
                    raise Refusal(400, "The body broke off before its end.", "broken_off")
            except BaseException as error:
                os.unlink(file.name)
                self.disk.give_back(tenant, int(length))
                if isinstance(error, TimeoutError):
                    raise self._too_slow() from None
                if isinstance(error, OSError):
                    raise no_room() from error
                raise
            finally:
                take_off(self.reading, tenant)
        return file.name, size

    async def _check(self, proto: Any, length: str, largest: int) -> None:
        """Raise Refusal for a body whose length is not told, or too large."""
        if length.isdigit() and int(length) <= largest:
            return
        await self.drain(proto)
        if length.isdigit():
            raise _too_large(largest)
        # In chunks, one that breaks off would look complete.
        raise Refusal(411, "Send the body with a Content-Length.", "length_required")

    async def _read(self, proto: Any, tenant: str, *, known: bool) -> bytes:
        body, began = bytearray(), asyncio.get_running_loop().time()
        try:
            async with asyncio.timeout(self.seconds) as patience:
                async for part in proto:
                    body += part
                    self.held += len(part)
                    self.held_by[tenant] += len(part)
                    if len(body) > self.largest:
                        raise _too_large(self.largest)
                    is_much = self.held > MOST_HELD or self.held_by[tenant] > MOST_OF_ONE[known]
                    if is_much and len(body) > SMALL:
                        raise Refusal(503, "Too much is being sent at once.", "busy", wait=2)
                    patience.reschedule(began + self.seconds + len(body) / SLOWEST)
        except BaseException as error:
            self.release(len(body), tenant)
            if isinstance(error, TimeoutError):
                raise self._too_slow() from None
            raise
        return bytes(body)

    def release(self, size: int, tenant: str) -> None:
        self.held -= size
        take_off(self.held_by, tenant, size)

    @staticmethod
    def _too_slow() -> Refusal:
        return Refusal(408, "The body did not come in time.", "too_slow")

    async def drain(self, proto: Any) -> None:
        """Read the rest of a body: a client still writing would see a broken connection instead of
        the answer. One that does not finish has to."""
        taken = 0
        try:
            async with asyncio.timeout(DRAINED_FOR):
                async for part in proto:
                    taken += len(part)
                    if taken > DRAINED_MOST:
                        return
        except TimeoutError:
            return
