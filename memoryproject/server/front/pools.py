"""The web processes as the front sees them: connections that come, take a request, and answer; and
requests that wait for ingests."""

import asyncio
import logging
import os
import signal
from collections import Counter, deque
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any, cast

from memoryproject.server.front.fairness import FairQueue
from memoryproject.server.front.lanes import Lane
from memoryproject.server.front.wire import Frames, packed

log = logging.getLogger(__name__)

AVERAGED = 0.1  # weight of the newest request in the time that one takes


class Gone(Exception):
    """The process that had the request ended; `stuck`: because it took too long."""

    def __init__(self, *, stuck: bool = False) -> None:
        super().__init__()
        self.stuck = stuck


class Queued(Exception):
    """The request's turn did not come in time."""


@dataclass(slots=True, eq=False)
class Job:
    """A request for a process of a lane: it makes a frame and awaits its reply. `name` is for the
    log."""

    frame: Callable[[], bytes]
    tenant: str
    asker: str
    name: str
    reply: "asyncio.Future[PoolReply]"
    is_begun: bool = False

    def fail(self, error: Exception) -> None:
        if not self.reply.done():
            self.reply.set_exception(error)

    def expire(self) -> None:
        """Fail if the turn did not come in time."""
        if not self.is_begun:
            self.fail(Queued())


@dataclass(slots=True)
class PoolReply:
    """The reply of a process: see wire.py. Further parts of a long body come one by one."""

    head: dict[str, Any]
    body: bytes
    parts: "asyncio.Queue[bytes | Gone | None] | None" = None

    async def rest(self) -> AsyncIterator[bytes]:
        """The parts after the first. Raises Gone where the process ended before the last."""
        while self.parts is not None and (part := await self.parts.get()) is not None:
            if isinstance(part, Gone):
                raise part
            yield part


class Pool:
    """One lane at work: its free processes, and the requests that wait."""

    def __init__(self, lane: Lane) -> None:
        self.lane = lane
        self.queue: FairQueue[Job] = FairQueue()
        self.idle: deque[PoolConnection] = deque()
        self.connections: set[PoolConnection] = set()
        self.stuck: Counter[int] = Counter()  # connections that were given up, by process
        self.killed = 0
        self.seconds = 0.01  # that a job takes, on average

    async def reply_to(self, frame: Callable[[], bytes], *, tenant: str, asker: str, name: str) -> PoolReply:
        """Wait for a turn and for the reply. Raises Queued and Gone."""
        loop = asyncio.get_running_loop()
        job = Job(frame, tenant, asker, name, loop.create_future())
        self.queue.put(tenant, asker, job)
        self.hand_out()
        if job.is_begun:
            return await job.reply
        timer = loop.call_later(self.lane.queue, job.expire)
        try:
            return await job.reply
        finally:
            timer.cancel()
            if not job.is_begun:  # its time is up, or its client went
                self.queue.remove(tenant, asker, job)

    def hand_out(self) -> None:
        """Give every free process its next job."""
        while self.idle and (taken := self.queue.take(len(self.connections))):
            tenant, job = taken
            if job.reply.done():  # its time is just up
                self.queue.done(tenant)
            else:
                self.idle.pop().begin(job)

    def pause(self, tenant: str) -> float:
        """Seconds after which one more request of this tenant may get its turn."""
        waiting = self.queue.length_of(tenant) + 1
        return max(1.0, waiting * self.seconds / max(1, len(self.connections)))


class PoolConnection(asyncio.Protocol):
    """One thread of a web process: free, at a job, or sending the rest of its reply."""

    def __init__(self, pools: dict[str, Pool]) -> None:
        self.pools = pools
        self.frames = Frames()
        self.pool: Pool | None = None
        self.pid = 0
        self.job: Job | None = None
        self.parts: asyncio.Queue[bytes | Gone | None] | None = None
        self.timer: asyncio.TimerHandle | None = None
        self.began = 0.0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast(asyncio.Transport, transport)  # uvloop's own is none by its class

    def data_received(self, data: bytes) -> None:
        for head, body in self.frames.feed(data):
            if "pulse" in head:
                self.transport.write(packed({"alive": True}))
            elif self.pool is None:
                self.pid, self.pool = head["pid"], self.pools[head["lane"]]
                self.pool.connections.add(self)
                self._rest()
            elif self.parts is None:
                self._replied(head, body)
            else:
                # Parts are accepted as fast as they come, even if nobody waits for them any more.
                assert self.job is not None
                if self.job.reply.cancelled():
                    self.parts = asyncio.Queue()
                if body:
                    self.parts.put_nowait(body)
                if not head["more"]:
                    self.parts.put_nowait(None)
                    self.parts = None
                    self._let_go()
                    self._rest()

    def connection_lost(self, error: Exception | None) -> None:
        if self.pool is None:
            return
        self.pool.connections.discard(self)
        with suppress(ValueError):
            self.pool.idle.remove(self)
        if self.parts is not None:
            self.parts.put_nowait(Gone())
        if self.job is not None:
            self._let_go(Gone())

    def begin(self, job: Job) -> None:
        loop = asyncio.get_running_loop()
        assert self.pool is not None
        job.is_begun = True
        self.job, self.began = job, loop.time()
        self.timer = loop.call_later(self.pool.lane.work, self._is_stuck)
        self.transport.write(job.frame())

    def _replied(self, head: dict[str, Any], body: bytes) -> None:
        if self.job is None or self.pool is None:
            return
        taken = asyncio.get_running_loop().time() - self.began
        self.pool.seconds += AVERAGED * (taken - self.pool.seconds)
        reply = PoolReply(head, body)
        if head.get("more"):
            self.parts = reply.parts = asyncio.Queue()
        if not self.job.reply.done():
            self.job.reply.set_result(reply)
        if self.parts is None:
            self._let_go()
            self._rest()

    def _rest(self) -> None:
        assert self.pool is not None
        self.pool.idle.append(self)
        self.pool.hand_out()

    def _let_go(self, error: Exception | None = None) -> None:
        assert self.pool is not None
        assert self.job is not None
        if self.timer:
            self.timer.cancel()
        if error:
            self.job.fail(error)
        self.pool.queue.done(self.job.tenant)
        self.job = None

    def _is_stuck(self) -> None:
        """Drop a stuck connection. Nothing inside a process can end a loop of its own: once half of
        its threads are stuck it is killed, and its parent starts it again."""
        assert self.pool is not None
        assert self.job is not None
        pool, lane = self.pool, self.pool.lane
        log.error(
            "web process %s (%s) is stuck for %.0f s in %s",
            self.pid,
            lane.name,
            lane.work,
            self.job.name,
        )
        self._let_go(Gone(stuck=True))
        pool.stuck[self.pid] += 1
        self.transport.abort()
        if pool.stuck[self.pid] * 2 >= lane.threads:
            del pool.stuck[self.pid]
            pool.killed += 1
            with suppress(ProcessLookupError, PermissionError):
                os.kill(self.pid, signal.SIGKILL)


# Waiting for ingests that a worker does, without a process that stands by: all their rows are
# checked in one query.

FIRST_LOOK, SLOWEST_LOOK = 0.03, 0.25  # seconds between two looks


class Waits:
    def __init__(self, pool: Pool) -> None:
        self.pool = pool
        self.awaited: dict[str, list[asyncio.Event]] = {}
        self.looking: asyncio.Task[None] | None = None

    async def until_settled(self, session: str, seconds: float) -> bool:
        """Wait up to `seconds` for the session to be settled; False if it is not."""
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
                    tenant="front",
                    asker="front",
                    name="a look at waiting ingests",
                )
            except (Queued, Gone):
                continue  # each waiting request has its own deadline
            for session in reply.head["settled"]:
                for event in self.awaited.get(session, ()):
                    event.set()
                    pause = FIRST_LOOK
