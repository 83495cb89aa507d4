"""Web processes as the front sees them: real sockets, real processes that work, end, or are
stuck."""

import asyncio
import os
import signal
import socket
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from memoryproject.server.front.lanes import Lane
from memoryproject.server.front.pools import Gone, Pool, PoolConnection, Queued, Waits
from memoryproject.server.front.wire import packed
from memoryproject.server.processes import Pulse
from tests.live_server import wait_for

# A process that answers each frame with its body, and does first what the frame says.
ECHO = """
import os, signal, socket, sys, time
from memoryproject.server.front.wire import packed, read_frame
with socket.socket(socket.AF_UNIX) as s, s.makefile("rb") as stream:
    s.connect(sys.argv[1])
    s.sendall(packed({"lane": "read", "pid": os.getpid()}))
    while frame := read_frame(stream):
        head, body = frame
        if head.get("do") == "stop":
            os.kill(os.getpid(), signal.SIGSTOP)
        if head.get("do") == "end":
            os._exit(1)
        if head.get("do") == "loop":
            while True: pass
        if "sessions" in head:
            s.sendall(packed({"settled": [one for one in head["sessions"] if one != "busy"]}))
            continue
        for _ in range(head.get("parts", 0)):
            s.sendall(packed({"status": 200, "headers": [], "more": True}, body))
        s.sendall(packed({"status": 200, "headers": [], "more": False}, body))
"""
ROOT = Path(__file__).parents[2]
PATIENCE = 120.0


@dataclass
class Bench:
    pool: Pool
    path: Path
    processes: list[subprocess.Popen[bytes]]

    async def start(self, count: int = 1) -> None:
        for _ in range(count):
            command = [sys.executable, "-c", ECHO, str(self.path)]
            self.processes.append(subprocess.Popen(command, cwd=ROOT))
        wanted = len(self.pool.connections) + count
        await until(lambda: len(self.pool.connections) == wanted)

    async def ask(self, body: bytes = b"", tenant: str = "a", **head: Any) -> bytes:
        reply = await self.pool.reply_to(lambda: packed(head, body), tenant=tenant, asker="key", name="a test")
        return reply.body + b"".join([part async for part in reply.rest()])


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(PATIENCE):
        while not condition():
            await asyncio.sleep(0.01)


@asynccontextmanager
async def bench(folder: Path, lane: Lane) -> AsyncIterator[Bench]:
    pool, path = Pool(lane), folder / "s"
    server = await asyncio.get_running_loop().create_unix_server(lambda: PoolConnection({lane.name: pool}), path)
    place = Bench(pool, path, [])
    try:
        yield place
    finally:
        server.close()
        for process in place.processes:
            process.kill()
            process.wait()


def run(folder: Path, act: Callable[[Bench], Coroutine[Any, Any, None]], **limits: float) -> None:
    async def main() -> None:
        lane = Lane("read", **{"queue": PATIENCE, "work": PATIENCE, **limits})
        async with bench(folder, lane) as place:
            await act(place)

    # In a thread of its own: the browser of other tests leaves a loop in this one.
    with ThreadPoolExecutor(1) as aside:
        aside.submit(asyncio.run, main()).result()


def test_who_asks_is_answered_and_the_process_is_free_again(tmp_path: Path) -> None:
    async def act(place: Bench) -> None:
        await place.start()
        for text in (b"one", b"two"):
            assert await place.ask(text) == text
        assert len(place.pool.idle) == 1

    run(tmp_path, act)


def test_what_comes_before_a_process_is_there_waits_for_it(tmp_path: Path) -> None:
    async def act(place: Bench) -> None:
        asked = asyncio.ensure_future(place.ask(b"early"))
        await place.start()
        assert await asked == b"early"

    run(tmp_path, act)


def test_a_long_answer_comes_in_parts_however_slowly_it_is_read(tmp_path: Path) -> None:
    async def act(place: Bench) -> None:
        await place.start()
        part = b"x" * 100_000
        assert len(await place.ask(part, parts=300)) == 301 * len(part)
        assert await place.ask(b"next") == b"next"

    run(tmp_path, act)


def test_who_gets_no_turn_in_time_is_told(tmp_path: Path) -> None:
    async def act(place: Bench) -> None:
        with pytest.raises(Queued):
            await place.ask()

    run(tmp_path, act, queue=0.05)


def test_a_process_that_ends_with_a_request_says_so_at_once(tmp_path: Path) -> None:
    async def act(place: Bench) -> None:
        await place.start(2)
        with pytest.raises(Gone) as gone:
            await place.ask(do="end")
        assert not gone.value.stuck
        assert await place.ask(b"other") == b"other"

    run(tmp_path, act)


@pytest.mark.parametrize("way", ["stop", "loop"])
def test_a_stuck_process_is_killed(tmp_path: Path, way: str) -> None:
    async def act(place: Bench) -> None:
        await place.start()
        with pytest.raises(Gone) as gone:
            await place.ask(do=way)
        assert gone.value.stuck
        process = place.processes[0]
        await until(lambda: process.poll() is not None)
        assert process.returncode == -signal.SIGKILL
        assert place.pool.killed == 1
        await until(lambda: not place.pool.connections)

    run(tmp_path, act, work=1.0)


def test_whose_client_went_takes_no_turn(tmp_path: Path) -> None:
    async def act(place: Bench) -> None:
        gone = asyncio.ensure_future(place.ask(b"gone", do="end"))
        await asyncio.sleep(0)
        gone.cancel()
        await asyncio.wait([gone])
        await place.start()
        assert await place.ask(b"here") == b"here"

    run(tmp_path, act)


def test_a_frozen_process_is_in_nobodys_way(tmp_path: Path) -> None:
    async def act(place: Bench) -> None:
        await place.start(2)
        frozen = asyncio.ensure_future(place.ask(tenant="flood", do="stop"))
        for number in range(20):
            assert await place.ask(b"%d" % number, tenant="victim") == b"%d" % number
        while not frozen.done():  # it may not have stopped yet
            for process in place.processes:
                os.kill(process.pid, signal.SIGCONT)
            await asyncio.sleep(0.01)
        assert await frozen == b""

    run(tmp_path, act)


def test_two_who_wait_for_one_session_are_both_told(tmp_path: Path) -> None:
    async def act(place: Bench) -> None:
        waits = Waits(place.pool)
        both = asyncio.gather(*(waits.until_settled("one", PATIENCE) for _ in range(2)))
        assert not await waits.until_settled("busy", 0.2)
        await place.start()
        assert await both == [True, True]
        assert waits.awaited == {}

    run(tmp_path, act)


def test_a_front_that_answers_has_a_pulse(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("memoryproject.server.processes.PULSE", 0.0)
    silences: list[float] = []

    async def act(place: Bench) -> None:
        pulse = Pulse(place.path, lambda: silences.append(1.0))
        began = pulse.answered_at
        async with asyncio.timeout(PATIENCE):
            while pulse.answered_at == began:
                await asyncio.to_thread(pulse)

    run(tmp_path, act)
    assert not silences


def test_a_front_that_takes_connections_and_says_nothing_has_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memoryproject.server.processes.PULSE", 0.0)
    monkeypatch.setattr("memoryproject.server.processes.SILENCE", 0.3)
    silences: list[float] = []
    with socket.socket(socket.AF_UNIX) as stuck:
        stuck.bind(str(tmp_path / "s"))
        stuck.listen()
        pulse = Pulse(tmp_path / "s", lambda: silences.append(1.0))

        def is_silent() -> bool:
            pulse()
            return bool(silences)

        assert wait_for(is_silent)
