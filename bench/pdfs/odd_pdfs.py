"""Odd and broken PDFs, as many as are wanted, of every kind in turn."""

import random
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import TypeAlias

from bench.pdfs import broken, strange
from bench.pdfs.pdf_writer import plain

Make: TypeAlias = Callable[[random.Random], bytes]
WANTED = {"chance": random.Random, "return": bytes}


def _makers(module: ModuleType) -> dict[str, Make]:
    """Its functions of a chance alone, in the order in which they are written."""
    return {name: make for name, make in vars(module).items() if getattr(make, "__annotations__", None) == WANTED}


MAKING: dict[str, Make] = {"plain": plain, **_makers(broken), **_makers(strange)}


def odd_pdfs(number: int, seed: int) -> Iterator[tuple[str, bytes]]:
    """So many with their names, every kind in turn; the same seed, the same bytes."""
    for at in range(number):
        kind = list(MAKING)[at % len(MAKING)]
        chance = random.Random(f"{seed} {kind} {at // len(MAKING)}")
        yield f"{kind}-{at // len(MAKING) + 1}.pdf", MAKING[kind](chance)
