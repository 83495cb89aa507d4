"""Many callers in one thread: raw sockets, kept alive, with next to no work of their own."""

import asyncio
import json
import time
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from bench.http_client import Answer

LIMIT = 1 << 20


class Caller:
    """One kept-alive connection. Whatever fails is an answer of status 0."""

    def __init__(self, host: str, port: int, timeout: float = 60.0) -> None:
        self.host, self.port, self.timeout = host, port, timeout
        self.reader: asyncio.StreamReader | None = None
        self.writer: asyncio.StreamWriter | None = None

    async def send(self, request: bytes) -> tuple[Answer, bytes]:
        """The answer, and its head."""
        began = time.perf_counter()
        try:
            async with asyncio.timeout(self.timeout):
                head, body = await self._exchange(request)
            return Answer(int(head[9:12]), body, time.perf_counter() - began), head
        except (OSError, TimeoutError, ValueError, asyncio.IncompleteReadError):
            self.close()
            return Answer(0, b"", time.perf_counter() - began), b""

    async def _exchange(self, request: bytes) -> tuple[bytes, bytes]:
        if self.writer is None or self.reader is None or self.reader.at_eof():
            self.close()
            self.reader, self.writer = await asyncio.open_connection(self.host, self.port, limit=LIMIT)
        reader, writer = self.reader, self.writer
        writer.write(request)
        await writer.drain()
        head = await reader.readuntil(b"\r\n\r\n")
        length = header(head, "content-length")
        if length:
            body = await reader.readexactly(int(length))
        elif b"chunked" in header(head, "transfer-encoding").encode():
            body = await _chunks(reader)
        else:
            body = b""
        if header(head, "connection").lower() == "close":
            self.close()
        return head, body

    def close(self) -> None:
        if self.writer is not None:
            with suppress(RuntimeError):  # the loop has ended
                self.writer.close()
        self.reader = self.writer = None


async def _chunks(reader: asyncio.StreamReader) -> bytes:
    pieces = []
    while size := int((await reader.readline()).split(b";")[0], 16):
        pieces.append((await reader.readexactly(size + 2))[:-2])
    await reader.readline()
    return b"".join(pieces)


def header(head: bytes, name: str) -> str:
    """The first header of that name; empty where there is none."""
    at = head.lower().find(f"\r\n{name}:".encode())
    return head[at:].split(b"\r\n", 2)[1].split(b":", 1)[1].strip().decode() if at >= 0 else ""


def request(
    method: str,
    path: str,
    key: str = "",
    body: Mapping[str, Any] | bytes | None = None,
    **more: str,
) -> bytes:
    """A whole request; `more` are headers, with _ for -. A body of bytes is sent as it is."""
    headers = {"Host": "127.0.0.1", **{name.replace("_", "-"): told for name, told in more.items()}}
    if key:
        headers["Authorization"] = f"Bearer {key}"
    data = b""
    if body is not None:
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        headers |= {"Content-Length": str(len(data))}
        headers.setdefault("Content-Type", "application/json")
    lines = [f"{method} {path} HTTP/1.1", *(f"{name}: {told}" for name, told in headers.items())]
    return "\r\n".join([*lines, "", ""]).encode() + data
