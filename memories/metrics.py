"""Counts and durations of this process; stored_metrics.py adds up those of all processes. Nothing
here leaves the machine."""

import os
import threading
import time
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

Labels = tuple[tuple[str, str], ...]

# Upper bounds in seconds; one more bucket holds longer durations.
BOUNDS = (
    0.001, 0.0015, 0.002, 0.003, 0.004, 0.006, 0.008, 0.012, 0.016, 0.025, 0.04, 0.06, 0.1, 0.16,
    0.25, 0.4, 0.6, 1.0, 2.5, 5.0, 10.0, 30.0,
)  # fmt: skip
SERVED = "memory_served"  # by memory: it goes to the cases about it, and to no page of counts
PAUSE = 5.0  # seconds between the first count and the bell


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

    def add(self, count: int, seconds: float, buckets: list[int]) -> None:
        self.count += count
        self.seconds += seconds
        if buckets:
            before = self.buckets or [0] * len(buckets)
            self.buckets = [a + b for a, b in zip(before, buckets, strict=True)]


_lock = threading.Lock()
_measures: dict[tuple[str, Labels], Measure] = {}
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
    with _lock:
        found = _measures.get(key) or _measures.setdefault(key, Measure(*key))
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


def count_each(name: str, label: str, values: Iterable[str]) -> None:
    """Count one `name` for each value of a label. This does not start the timer of `ring`: other
    counts made along with it do."""
    with _lock:
        for value in values:
            key = (name, ((label, value),))
            found = _measures.get(key) or _measures.setdefault(key, Measure(*key))
            found.count += 1


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
    with _lock:
        return [replace(_measures[key]) for key in sorted(_measures)]


def drain() -> list[Measure]:
    """Remove and return the counts since the last time."""
    with _lock:
        taken = [_measures[key] for key in sorted(_measures)]
        _measures.clear()
    return taken


def put_back(measures: Iterable[Measure]) -> None:
    """Put back drained counts that could not be stored."""
    with _lock:
        for one in measures:
            known = _measures.setdefault((one.name, one.labels), Measure(one.name, one.labels))
            known.add(one.count, one.seconds, one.buckets)


def clear() -> None:
    with _lock:
        _measures.clear()


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
    """Drop the counts in a forked process: they are the parent's, as is the thread."""
    global _lock, _is_rung
    _lock, _is_rung = threading.Lock(), False
    _measures.clear()


os.register_at_fork(after_in_child=_begin_anew)
