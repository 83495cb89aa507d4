"""The tenant of a request, as far as the front can know: by what its credential last proved."""

import asyncio
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass

from memoryproject.server.front.callers import network_of
from memoryproject.server.front.fairness import NOBODY
from memoryproject.server.front.requests import Refusal, Request

MOST_KNOWN = 20_000
LEARNING = 2.0  # seconds
KNOWN_FOR = 600.0  # seconds; what was revoked meanwhile is refused by the process all the same
MOST_BUCKETS = 20_000


@dataclass(slots=True)
class Bucket:
    tokens: float
    filled_at: float


class Caps:
    """Limits on requests per minute, where the operator set them: buckets of a minute's worth,
    refilled evenly."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self.clock = clock
        self._buckets: OrderedDict[str, Bucket] = OrderedDict()

    def take(self, name: str, per_minute: int) -> float:
        """Take one request out of a bucket: 0, or the seconds until the next is available."""
        if not per_minute:
            return 0.0
        now, rate = self.clock(), per_minute / 60
        bucket = self._buckets.setdefault(name, Bucket(per_minute, now))
        self._buckets.move_to_end(name)
        if len(self._buckets) > MOST_BUCKETS:
            self._buckets.popitem(last=False)
        bucket.tokens = min(per_minute, bucket.tokens + (now - bucket.filled_at) * rate)
        bucket.filled_at = now
        if bucket.tokens < 1:
            return (1 - bucket.tokens) / rate
        bucket.tokens -= 1
        return 0.0


class Tenants:
    """Credentials by their digest, with the tenant that a process found for them."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self.clock = clock
        self.caps = Caps(clock)
        self._known: OrderedDict[str, tuple[str, float, int | None]] = OrderedDict()
        self._asking: dict[str, asyncio.Event] = {}
        self._positions: OrderedDict[str, int] = OrderedDict()
        self._newest = 0

    def name(self, request: Request) -> bool:
        """Set whose share the request takes; whether its credential is known.

        An unverified credential counts by its network: a made-up key takes nobody's turn, and many
        of them count as one.
        """
        known = self._known.get(request.credential)
        if known and self.clock() - known[1] < KNOWN_FOR:
            request.tenant, request.asker = known[0], request.credential[:16]
            return True
        request.tenant = request.asker = f"{NOBODY}{network_of(request.address)}"
        return False

    async def known(self, request: Request) -> bool:
        """Wait for `name`: of many requests with one new credential, the others wait a moment for
        the outcome of the first."""
        first = None if self.name(request) else self._asking.get(request.credential)
        if first is not None:
            with suppress(TimeoutError):
                async with asyncio.timeout(LEARNING):
                    await first.wait()
        return self.name(request)

    @contextmanager
    def asking(self, request: Request) -> Iterator[None]:
        """Mark a request under way whose credential is not verified yet."""
        if not request.credential or request.credential in self._asking:
            yield
            return
        done = self._asking[request.credential] = asyncio.Event()
        try:
            yield
        finally:
            del self._asking[request.credential]
            done.set()

    def learn(self, credential: str, tenant: str, cap: int | None = None) -> None:
        """Remember a credential. `cap`: requests a minute of this key, where it has its own."""
        if credential:
            self._known[credential] = tenant, self.clock(), cap
            self._known.move_to_end(credential)
            if len(self._known) > MOST_KNOWN:
                self._known.popitem(last=False)
            if credential in self._asking:
                self._asking[credential].set()

    def saw(self, tenant: str, position: int) -> None:
        """Note the position of the database's log when the tenant was answered."""
        self._positions[tenant] = max(position, self._positions.get(tenant, 0))
        self._positions.move_to_end(tenant)
        self._newest = max(position, self._newest)
        if len(self._positions) > MOST_KNOWN:
            self._positions.popitem(last=False)

    def position_of(self, tenant: str) -> int:
        """The log position that a tenant may have seen; for an unknown tenant the newest."""
        return self._positions.get(tenant, self._newest)

    def check_caps(self, request: Request, *, known: bool, key: int, workspace: int, anonymous: int) -> None:
        """Raise Refusal where the operator's limits are reached."""
        if known:
            *_, own = self._known[request.credential]
            key = min(filter(None, (own, key)), default=0)
            pause = self.caps.take(request.asker, key) or self.caps.take(request.tenant, workspace)
        else:
            pause = self.caps.take(request.tenant, anonymous)
        if pause:
            raise Refusal(429, "Too many requests in a minute.", "throttled", wait=pause)
