"""The times that a caller of another workspace sees, and what the health routes say meanwhile."""

import threading
import time
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from bench import sentences
from bench.bounds import percentile
from bench.http_client import Client
from bench.server import ServerFailed

EVERY = 0.25  # seconds between two looks at a health route
LONGEST = 30.0  # seconds that a search may take before it counts as not answered
LIVE, READY = "/health/live", "/health/ready"
LIVE_LONGEST = 10.0
PER_CONNECTION = 20  # searches


@dataclass(slots=True)
class Felt:
    """Seconds of each search, and of each look at a health route; `statuses` of the searches."""

    searches: list[float] = field(default_factory=list)
    statuses: Counter[int] = field(default_factory=Counter)
    health: dict[str, list[float]] = field(default_factory=lambda: {LIVE: [], READY: []})
    health_statuses: dict[str, Counter[int]] = field(default_factory=lambda: {LIVE: Counter(), READY: Counter()})

    @property
    def errors(self) -> int:
        return self.statuses.total() - self.statuses[200]

    def p(self, share: float) -> float:
        return percentile(self.searches, share)

    def worst(self, path: str) -> float:
        return max(self.health[path], default=0.0)

    def as_json(self) -> dict[str, Any]:
        return {
            "searches": len(self.searches),
            "errors": self.errors,
            "statuses": dict(self.statuses),
            "p50": self.p(0.5),
            "p99": self.p(0.99),
            "worstLive": self.worst(LIVE),
            "worstReady": self.worst(READY),
            "ready": dict(self.health_statuses[READY]),
        }


class Victim:
    """A caller who asks one thing after the other, on a connection that is made anew from time to
    time: where connections stay with one of several processes, each of them is met."""

    def __init__(self, url: str, path: str, key: str, memories: int, seed: int = 1) -> None:
        self.url, self.path, self.key, self.memories = url, path, key, memories
        self.seed, self.asked = seed, 0

    def feel(self, seconds: float, before: float = 0.0) -> Felt:
        """Search for so long; the health routes are looked at `before` that, too."""
        felt, stopping = Felt(), threading.Event()
        looks = [
            threading.Thread(target=self._look, args=(path, felt, stopping), daemon=True) for path in (LIVE, READY)
        ]
        for look in looks:
            look.start()
        time.sleep(before)
        end = time.monotonic() + seconds
        with Client(self.url, self.key, LONGEST) as client:
            while time.monotonic() < end:
                answer = client.ask("POST", f"{self.path}/memories/search", self._question())
                felt.searches.append(answer.seconds)
                felt.statuses[answer.status] += 1
                if not answer.is_success:
                    time.sleep(0.1)
                if not self.asked % PER_CONNECTION:
                    client.close()
        stopping.set()
        for look in looks:
            look.join(LIVE_LONGEST + 1.0)
        return felt

    def fill(self) -> None:
        """Its memories, a hundred a call. Raises ServerFailed where they are not kept."""
        with Client(self.url, self.key, 120.0) as client:
            for first in range(0, self.memories, 100):
                marks = range(first, min(first + 100, self.memories))
                texts = [sentences.sentence(self.seed, str(mark)) for mark in marks]
                messages = [{"role": "user", "content": text} for text in texts]
                body = {"messages": messages, "userId": "victim", "extract": "none"}
                answer = client.ask("POST", f"{self.path}/memories/ingest", body)
                if answer.status not in (201, 202):
                    raise ServerFailed(f"Not kept: {answer.status} {answer.body[:300]!r}")

    def _question(self) -> dict[str, Any]:
        self.asked += 1
        return {
            "query": sentences.query(self.seed, str(self.asked * 7 % self.memories)),
            "limit": 10,
        }

    def _look(self, path: str, felt: Felt, stopping: threading.Event) -> None:
        while not stopping.is_set():
            with Client(self.url, "", LIVE_LONGEST) as client:
                answer = client.ask("GET", path)
            felt.health[path].append(answer.seconds)
            felt.health_statuses[path][answer.status] += 1
            stopping.wait(EVERY)
