"""Times acts in turn, so that noise hits all alike, and says what came out."""

import math
import random
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

WARM_UP = 20  # prepared statements, caches, the embedder's weights


@dataclass(frozen=True, slots=True)
class Act:
    """Something to be timed: `run(n)` does it for the n-th time, at a workspace of `size`
    memories."""

    name: str
    place: str
    size: int
    run: Callable[[int], object]


@dataclass(frozen=True, slots=True)
class Timing:
    """Milliseconds. `p05` is what it takes when nothing else wants the machine."""

    name: str
    place: str
    size: int
    count: int
    p05: float
    p50: float
    p95: float


def in_turn(acts: Sequence[Act], rounds: int, advance: Callable[[int], object], warm_up: int = WARM_UP) -> list[Timing]:
    """Each act once per round, in another order each time; the first rounds do not count."""
    order = list(range(len(acts)))
    chance = random.Random(1)
    seconds: list[list[float]] = [[] for _ in acts]
    for number in range(warm_up + rounds):
        chance.shuffle(order)
        for place in order:
            started = time.perf_counter()
            acts[place].run(number)
            taken = time.perf_counter() - started
            if number >= warm_up:
                seconds[place].append(taken)
        advance(1)
    return [_timing(act, taken) for act, taken in zip(acts, seconds, strict=True)]


def _timing(act: Act, seconds: list[float]) -> Timing:
    ordered = sorted(seconds)
    return Timing(
        act.name,
        act.place,
        act.size,
        len(ordered),
        p05=round(percentile(ordered, 0.05) * 1e3, 4),
        p50=round(percentile(ordered, 0.5) * 1e3, 4),
        p95=round(percentile(ordered, 0.95) * 1e3, 4),
    )


def percentile(ordered: Sequence[float], share: float) -> float:
    """The value below which `share` of the sorted values lie, between two of them by distance."""
    at = share * (len(ordered) - 1)
    low, high = math.floor(at), math.ceil(at)
    return ordered[low] + (ordered[high] - ordered[low]) * (at - low)


def growth(sizes: Sequence[int], milliseconds: Sequence[float]) -> float | None:
    """The exponent by which time grows with size, fitted over all; None of fewer than two sizes."""
    points = [(math.log(s), math.log(t)) for s, t in zip(sizes, milliseconds, strict=True) if t > 0]
    if len({x for x, _ in points}) < 2:
        return None
    middle_x = sum(x for x, _ in points) / len(points)
    middle_y = sum(y for _, y in points) / len(points)
    slope = sum((x - middle_x) * (y - middle_y) for x, y in points)
    return round(slope / sum((x - middle_x) ** 2 for x, _ in points), 3)
