"""A candidate after ranking."""

import uuid
from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Scored:
    """`behind` (a place among equals), then `entry` break ties; `echoes` are what says the same
    and has no place of its own."""

    layer: str
    entry: int
    item: uuid.UUID
    score: float
    scores: Mapping[str, float]
    behind: int = 0
    echoes: "tuple[Scored, ...]" = ()

    @property
    def order(self) -> tuple[float, int, int]:
        """Smallest first."""
        return -self.score, self.behind, -self.entry
