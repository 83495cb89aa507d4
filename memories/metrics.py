"""Counts and durations of this process; stored_metrics.py adds up those of all processes. Nothing
here leaves the machine."""

import os
import threading
import time
from bisect import bisect_left
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, Generic, TypeVar

Key = TypeVar("Key")
Amount = TypeVar("Amount")
Labels = tuple[tuple[str, str], ...]

# Upper bounds in seconds; one more bucket holds longer durations.
BOUNDS = (
    0.001,
    0.0015,
    0.002,
    0.003,
    0.004,
    0.006,
    0.008,
    0.012,
    0.016,
    0.025,
    0.04,
    0.06,
    0.1,
    0.16,
    0.25,
    0.4,
    0.6,
    1.0,
    2.5,
    5.0,
    10.0,
    30.0,
)
# All that is counted, in the words of `/metrics`.
COUNTS = {
    "requests": "HTTP requests by route, method and status.",
    "logins": "Tries of passwords, codes and links, by kind and outcome.",
    "searches": "Searches by ranking.",
    "sessions_finished": "Ingest sessions that ended, by outcome.",
    "query_vectors": "Vectors of queries: kept from before (hit), or made.",
    "provider_calls": "Calls of models and other services, by outcome.",
    "searches_degraded": "Searches that went without a model that does not answer, by what is missing.",
    "breaker_failures": "Calls that count against a model's breaker, by purpose and kind.",
    "breakers_opened": "How often a breaker opened, by purpose.",
    "search_results": "Hits of all searches together.",
    "searches_empty": "Searches without any hit.",
    "model_calls": "Calls of models that are paid, by purpose and outcome.",
    "model_tokens": "Tokens of models, by purpose and direction.",
    "model_cost_micros": "Millionths of the operator's currency that models cost, by purpose.",
    "model_budgets_spent": "Calls that were not made because a workspace's budget is spent.",
    "reranks": "Searches put in order by the reranker, by outcome.",
    "documents_finished": "Documents that were read or failed, by type and outcome.",
    "connections_synced": "Runs of connections, by provider and outcome.",
    "golden_runs": "Runs of golden questions, by outcome.",
    "webhook_deliveries": "Calls of webhooks, by outcome.",
    "tool_calls": "Calls of MCP tools, by tool.",
    "web_fetches": "Pages and files that were fetched.",
    "judge_second_opinions": "Changes that the judge was not sure of and a language model was asked about, by outcome:"
    " agreed, differed, or none.",
    "set_fold": "Updates of feature sets from what was said.",
    "set_consolidation": "Consolidations of feature sets.",
}
PAUSE = 5.0  # seconds between the first count and the bell


class Sums(Generic[Key, Amount]):
    """Sums of this process by key, until they are written down; `add_to` adds to the first of two.
    A forked process begins with none: they are its parent's."""

    def __init__(self, add_to: Callable[[Amount, Amount], object]) -> None:
        self.held: dict[Key, Amount] = {}
        self.lock = threading.Lock()
        self._add_to = add_to
        _all_sums.append(self)

    def add(self, key: Key, amount: Amount) -> None:
        with self.lock:
            if key in self.held:
                self._add_to(self.held[key], amount)
            else:
                self.held[key] = amount

    @contextmanager
    def taken(self) -> Iterator[dict[Key, Amount]]:
        """Take the sums to write them down in the block; where it fails they are kept."""
        with self.lock:
            taken, self.held = self.held, {}
        try:
            yield taken
        except BaseException:
            for key, amount in taken.items():
                self.add(key, amount)
            raise


_all_sums: list[Sums[Any, Any]] = []


@dataclass(slots=True)
class Measure:
    """The count of an event under `labels`, and its duration in seconds in total.

    `buckets` count durations by BOUNDS; they are empty where nothing was timed.
    """

    name: str
    labels: Labels
    count: int = 0
    seconds: float = 0.0
    buckets: list[int] = field(default_factory=list)

    def add(self, other: "Measure") -> None:
        self.count += other.count
        self.seconds += other.seconds
        if other.buckets:
            before = self.buckets or [0] * len(other.buckets)
            self.buckets = [a + b for a, b in zip(before, other.buckets, strict=True)]


measures: Sums[tuple[str, Labels], Measure] = Sums(Measure.add)
_bell: Callable[[], None] | None = None
_is_rung = False


def count(name: str, seconds: float = 0.0, **labels: str) -> None:
    """Count one `name`. The label `workspace`, an id, is kept apart, hidden from other
    workspaces."""
    _add(name, 1, seconds, labels)


def add(name: str, amount: int, **labels: str) -> None:
    """Count `amount` at once, like `count`; zero writes nothing."""
    if amount:
        _add(name, amount, 0.0, labels)


def _add(name: str, amount: int, seconds: float, labels: dict[str, str]) -> None:
    global _is_rung
    key = (name, tuple(sorted(labels.items())))
    with measures.lock:
        found = measures.held.get(key) or measures.held.setdefault(key, Measure(*key))
        found.count += amount
        if seconds:
            found.seconds += seconds
            found.buckets = found.buckets or [0] * (len(BOUNDS) + 1)
            found.buckets[bisect_left(BOUNDS, seconds)] += 1
    if _bell is not None and not _is_rung:
        _is_rung = True
        timer = threading.Timer(PAUSE, _call)
        timer.daemon = True
        timer.start()


@contextmanager
def timer(name: str, **labels: str) -> Iterator[None]:
    """Count the block under `name`, labelled with its outcome (ok or failed)."""
    started = time.perf_counter()
    outcome = "failed"
    try:
        yield
        outcome = "ok"
    finally:
        count(name, time.perf_counter() - started, outcome=outcome, **labels)


def snapshot() -> list[Measure]:
    with measures.lock:
        return [replace(measures.held[key]) for key in sorted(measures.held)]


def clear() -> None:
    """Drop all sums of this process."""
    for sums in _all_sums:
        sums.lock, sums.held = threading.Lock(), {}


# ---- the bell -------------------------------------------------------------------------------


def ring(bell: Callable[[], None]) -> None:
    """From now on call `bell` in a separate thread, PAUSE seconds after something is counted.

    An idle process has no such thread, so that it can fork.
    """
    global _bell
    _bell = bell


def _call() -> None:
    global _is_rung
    _is_rung = False
    if _bell is not None:
        _bell()


def _begin_anew() -> None:
    """Drop the sums in a forked process: they are the parent's, as is the thread."""
    global _is_rung
    _is_rung = False
    clear()


os.register_at_fork(after_in_child=_begin_anew)
