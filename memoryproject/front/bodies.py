"""Reading the body of a request: bounded in size, in time, and in what all of them hold together."""

import asyncio
from typing import Any

from memoryproject.front.answers import Refusal

SLOWEST = 100_000  # bytes a second that a long body may take beyond the time for any
MOST_DRAINED = 128 * 2**20
# Held by all requests that are read or wait; of it what askers without a known key may hold.
MOST_HELD, MOST_UNKNOWN = 512 * 2**20, 128 * 2**20


class Bodies:
    """What is held of bodies, counted as it comes: who only promises bytes holds none."""

    def __init__(self, largest: int, seconds: float) -> None:
        self.largest, self.seconds = largest, seconds
        self.held = 0
        self.unknown = 0
        self.reading = 0

    async def read(self, proto: Any, length: str, *, known: bool) -> bytes:
        """The whole body. Raises Refusal where it is too large, too slow, or too much to hold.

        The bytes stay counted: tell `release` once they are gone.
        """
        declared = int(length) if length.isdigit() else None
        patience = self.seconds + min(declared or self.largest, self.largest) / SLOWEST
        self.reading += 1
        try:
            async with asyncio.timeout(patience):
                if declared is not None and declared > self.largest:
                    await self._drain(proto)
                    raise self._too_large()
                return await self._read(proto, known=known)
        except TimeoutError:
            raise Refusal(
                408, f"The body did not come within {patience:.0f} seconds.", "too_slow"
            ) from None
        finally:
            self.reading -= 1

    async def _read(self, proto: Any, *, known: bool) -> bytes:
        body = bytearray()
        try:
            async for part in proto:
                body += part
                self._count(len(part), known=known)
                if len(body) > self.largest:
                    raise self._too_large()
                if self.held > MOST_HELD or self.unknown > MOST_UNKNOWN:
                    raise Refusal(503, "Too much is being sent at once.", "busy", wait=2)
        except BaseException:
            self.release(len(body), known=known)
            raise
        return bytes(body)

    def release(self, size: int, *, known: bool) -> None:
        self._count(-size, known=known)

    def _count(self, size: int, *, known: bool) -> None:
        self.held += size
        if not known:
            self.unknown += size

    def _too_large(self) -> Refusal:
        return Refusal(413, f"The body is larger than {self.largest} bytes.", "too_large")

    async def _drain(self, proto: Any) -> None:
        """A client that is writing would see its connection break, and not the answer."""
        drained = 0
        async for part in proto:
            drained += len(part)
            if drained > MOST_DRAINED:
                return
