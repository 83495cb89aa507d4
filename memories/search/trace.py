"""What a search did on its way to the hits, kept where somebody asks how they came about."""

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from memories.models import Layer

# How the vectors of a layer were compared, each later one tells more than those before it.
PATHS = ("exact", "hnsw", "hnsw_then_exact")


class Placed(Protocol):
    """A candidate that a ranking has put in its place."""

    @property
    def layer(self) -> str: ...
    @property
    def item(self) -> uuid.UUID: ...
    @property
    def score(self) -> float: ...
    @property
    def scores(self) -> Mapping[str, float]: ...
    @property
    def order(self) -> tuple[float, int, int]: ...
    @property
    def echoes(self) -> Sequence["Placed"]: ...


@dataclass(slots=True)
class Trace:
    """`ranks`: of each candidate its place on the sides that brought it, from 1. `stages`: what
    was left after each step, by the step's name, in the order of the steps."""

    paths: dict[Layer, str] = field(default_factory=dict)
    ranks: dict[uuid.UUID, dict[str, int]] = field(default_factory=dict)
    stages: dict[str, Sequence[Placed]] = field(default_factory=dict)

    def compared(self, layer: Layer, path: str) -> None:
        """A layer of several models is compared several times."""
        self.paths[layer] = max(path, self.paths.get(layer, path), key=PATHS.index)
