"""Counts and durations of this process, for doors to render. Nothing leaves the machine here."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

Labels = tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Measure:
    """How often something happened under `labels`, and how many seconds it took in all."""

    name: str
    labels: Labels
    count: int
    seconds: float


_lock = threading.Lock()
_measures: dict[tuple[str, Labels], tuple[int, float]] = {}


def count(name: str, seconds: float = 0.0, **labels: str) -> None:
    key = (name, tuple(sorted(labels.items())))
    with _lock:
        times, total = _measures.get(key, (0, 0.0))
        _measures[key] = (times + 1, total + seconds)


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
        items = sorted(_measures.items())
    return [Measure(name, labels, *values) for (name, labels), values in items]


def clear() -> None:
    with _lock:
        _measures.clear()
