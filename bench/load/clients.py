"""Clients of every kind, who think between two requests."""

import asyncio
import random
import time
from collections import Counter, defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from bench import sentences
from bench.async_http import Caller, request

# How often each kind of request is made, of a hundred.
KINDS = {
    "search": 40,
    "context": 10,
    "profile": 8,
    "list": 8,
    "sync": 18,
    "async": 14,
    "large": 2,
}
USERS = 20
LARGE = 100  # messages
EXPECTED = {"sync": (201, 202), "large": (201, 202), "async": (202,)}
TIMEOUT = 120.0  # seconds
BUSY = 429


@dataclass(slots=True)
class Heard:
    """Times by kind: seconds of each answer, and how often which status came that was not expected."""

    seconds: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    failed: dict[str, Counter[int]] = field(default_factory=lambda: defaultdict(Counter))
    refused: Counter[str] = field(default_factory=Counter)

    def note(self, kind: str, status: int, seconds: float) -> None:
        if status == BUSY:
            self.refused[kind] += 1
        elif status in EXPECTED.get(kind, (200,)):
            self.seconds[kind].append(seconds)
        else:
            self.failed[kind][status] += 1

    @property
    def errors(self) -> int:
        return sum(counts.total() for counts in self.failed.values())


@dataclass(frozen=True, slots=True)
class Load:
    """`thinking`: seconds between two requests of a client, on average."""

    url: str
    path: str
    key: str
    clients: int
    thinking: float
    seed: int


async def go_on(load: Load, heard: Heard, seconds: float, tick: Callable[[], object]) -> None:
    """All clients for so long; `tick` is called every minute (of a short time six times), in a
    thread beside them."""
    end = time.monotonic() + seconds
    async with asyncio.TaskGroup() as group:
        group.create_task(_ticking(end, min(60.0, seconds / 6), tick))
        for number in range(load.clients):
            group.create_task(_client(load, number, heard, end))


async def _ticking(end: float, pause: float, tick: Callable[[], object]) -> None:
    while time.monotonic() < end:
        await asyncio.sleep(min(pause, max(0.0, end - time.monotonic())))
        await asyncio.to_thread(tick)


async def _client(load: Load, number: int, heard: Heard, end: float) -> None:
    chance = random.Random(f"{load.seed} client {number}")
    address = urlsplit(load.url)
    caller = Caller(address.hostname or "127.0.0.1", address.port or 80, TIMEOUT)
    await asyncio.sleep(chance.uniform(0, load.thinking))  # not all at once
    sent = 0
    while time.monotonic() < end:
        kind, sent = chance.choices(list(KINDS), list(KINDS.values()))[0], sent + 1
        asked = _request(load, kind, f"{number}n{sent}", chance)
        answer, _ = await caller.send(asked)
        heard.note(kind, answer.status, answer.seconds)
        pause = chance.expovariate(1 / load.thinking) if load.thinking else 0.0
        await asyncio.sleep(min(pause, max(0.0, end - time.monotonic())))
    caller.close()


def _request(load: Load, kind: str, mark: str, chance: random.Random) -> bytes:
    user = f"user-{chance.randrange(USERS)}"
    asked = {"query": sentences.query(load.seed, str(chance.randrange(500))), "userId": user}
    memories = f"{load.path}/memories"
    if kind in ("search", "context"):
        return request("POST", f"{memories}/{kind}", load.key, asked)
    if kind == "profile":
        return request("GET", f"{memories}/profile?userId={user}", load.key)
    if kind == "list":
        what = chance.choice(("memories", "sessions", "episodes", "conversations", "facts"))
        return request("GET", f"{load.path}/{what}?limit=20", load.key)
    number = LARGE if kind == "large" else chance.randint(1, 3)
    body: dict[str, Any] = {
        "messages": [_message(load.seed, f"{mark}x{at}", at) for at in range(number)],
        "userId": user,
        "threadId": f"thread-{chance.randrange(200)}",
        "mode": "async" if kind == "async" else "sync",
    }
    return request("POST", f"{memories}/ingest", load.key, body)


def _message(seed: int, mark: str, at: int) -> dict[str, str]:
    said = sentences.claim(seed, mark) if at % 2 == 0 else sentences.sentence(seed, mark)
    return {"role": "user", "content": said}
