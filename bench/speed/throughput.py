"""The number of searches a second, with several clients at once: processes of their own, over HTTP or
SQL.

Free of Django, because the clients are new processes.
"""

import multiprocessing
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from multiprocessing.synchronize import Barrier
from typing import Any

from bench.speed.floor import Floor, Question
from bench.speed.http_client import Client
from bench.speed.timing import percentile

SECONDS = 4.0
WARM_UP = 30


@dataclass(frozen=True, slots=True)
class Rate:
    name: str
    place: str
    connections: int
    per_second: float
    p50: float
    p95: float


@dataclass(frozen=True, slots=True)
class OverHttp:
    url: str
    requests: Sequence[bytes]

    def connect(self) -> Callable[[int], object]:
        client = Client(self.url)
        return lambda n: client.send(self.requests[n % len(self.requests)]).expect(200)


@dataclass(frozen=True, slots=True)
class OverSql:
    conninfo: str
    questions: Sequence[Question]

    def connect(self) -> Callable[[int], object]:
        floor = Floor(self.conninfo)
        return lambda n: floor.ask(self.questions[n % len(self.questions)])


def measure(name: str, place: str, target: OverHttp | OverSql, connections: int, seconds: float = SECONDS) -> Rate:
    """All clients start together and ask as fast as they are answered."""
    spawn = multiprocessing.get_context("spawn")
    barrier = spawn.Barrier(connections)
    with spawn.Manager() as manager:
        results: Any = manager.list()
        clients = [
            spawn.Process(target=_client, args=(target, number, barrier, seconds, results))
            for number in range(connections)
        ]
        for client in clients:
            client.start()
        for client in clients:
            client.join()
        counted = list(results)
    if len(counted) < connections:
        raise RuntimeError("A client of the throughput measurement failed; see above.")
    taken = sorted(taken for times, _ in counted for taken in times)
    rate = sum(len(times) / lasted for times, lasted in counted)
    low, high = percentile(taken, 0.5) * 1e3, percentile(taken, 0.95) * 1e3
    return Rate(name, place, connections, round(rate, 1), round(low, 3), round(high, 3))


def _client(target: OverHttp | OverSql, number: int, barrier: Barrier, seconds: float, results: Any) -> None:
    ask = target.connect()
    at = number * 7  # clients ask different questions at a time
    for n in range(WARM_UP):
        ask(at + n)
    barrier.wait(60)
    times: list[float] = []
    started = now = time.perf_counter()
    while now - started < seconds:
        ask(at + len(times))
        before, now = now, time.perf_counter()
        times.append(now - before)
    results.append((times, now - started))
