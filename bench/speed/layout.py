"""The workspaces that a benchmark builds, and those that it asks."""

from collections.abc import Sequence
from dataclasses import dataclass

SMALL = 1_000  # live memories of each workspace where there are many
SUFFIXES = {"k": 1_000, "m": 1_000_000}
ALONE = " alone"  # ends the label of a workspace that was asked while there were no others
LAYOUTS = ("one", "many", "skewed")


@dataclass(frozen=True, slots=True)
class Plot:
    """A workspace to be built; `asked` under this label in the table, where it is not empty."""

    slug: str
    live: int
    asked: str = ""


def size_of(text: str) -> int:
    """`10k` is 10000, `1M` a million. Raises ValueError."""
    digits, factor = text.strip().lower(), 1
    if digits[-1:] in SUFFIXES:
        digits, factor = digits[:-1], SUFFIXES[digits[-1]]
    size = int(digits) * factor
    if size < 100:
        raise ValueError(f"{text}: from 100 memories on there is something to measure")
    return size


def label(size: int) -> str:
    for suffix, factor in (("M", 1_000_000), ("k", 1_000)):
        if size % factor == 0:
            return f"{size // factor}{suffix}"
    return str(size)


def plots(layout: str, size: int) -> list[Plot]:
    """The workspaces of one size: one of all rows, many small ones, or each half of the one
    before."""
    name, build = label(size), {"one": _one, "many": _many, "skewed": _skewed}[layout]
    return build(f"benchmark-{layout}-{name.lower()}", size)


def _one(slug: str, size: int) -> list[Plot]:
    return [Plot(slug, size, label(size))]


def _many(slug: str, size: int) -> list[Plot]:
    number = max(1, size // SMALL)
    live, middle = size // number, number // 2
    asked = f"{label(live)} of {label(size)}"
    return [Plot(f"{slug}-{i}", live, asked if i == middle else "") for i in range(number)]


def _skewed(slug: str, size: int) -> list[Plot]:
    lives, left = [], size
    while left >= 2 * SMALL:
        lives.append(left // 2)
        left -= left // 2
    lives.append(left)
    ends = {0, len(lives) - 1}
    return [
        Plot(f"{slug}-{i}", live, f"{label(live)} of {label(size)}" if i in ends else "")
        for i, live in enumerate(lives)
    ]


def alone(plots: Sequence[Plot]) -> list[Plot]:
    """The smallest that is asked, once more: to be asked while there are no others."""
    asked = [plot for plot in plots if plot.asked]
    if len(asked) == len(plots):
        return []
    least = min(asked, key=lambda plot: plot.live)
    return [Plot(f"{least.slug}-alone", least.live, f"{label(least.live)}{ALONE}")]
