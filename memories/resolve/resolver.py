"""Decides a batch of statements one after the other, each seeing what the ones before did."""

import uuid
from collections.abc import Iterable, Sequence
from datetime import datetime

import numpy as np

from memories.index.nearest import Pair
from memories.resolve.decide import Decision, Judge, KnownMemory, Neighbour

TOGETHER = 128  # statements whose cosines are made at once
Close = dict[int, list[tuple[int, float]]]
MOST = 12  # of one batch, that a statement is compared with beside what was known before


class Resolver:
    """What is live while a batch is decided. `vectors`: one per statement, or none at all."""

    def __init__(
        self,
        judge: Judge,
        known: Iterable[KnownMemory],
        pairs: Iterable[Pair],
        *,
        vectors: Sequence[np.ndarray | None],
        floor: float,
    ) -> None:
        self.judge, self.floor = judge, floor
        self.live: dict[uuid.UUID, KnownMemory] = {}
        self.texts: dict[bytes, list[uuid.UUID]] = {}
        self.slots: dict[int, list[uuid.UUID]] = {}
        self.near: dict[int, dict[uuid.UUID, float | None]] = {}
        self.vectors, self.matrix = vectors, _matrix(vectors)
        self.block: tuple[int, Close] | None = None
        self.places: dict[int, uuid.UUID] = {}
        self.indexes: dict[uuid.UUID, int] = {}
        for memory in known:
            self.add(memory)
        for pair in pairs:
            self.near.setdefault(pair.index, {}).setdefault(pair.memory_id, pair.similarity)

    def decide(self, index: int, new: KnownMemory, said_at: datetime) -> Decision:
        """What becomes of statement number `index`, after what the ones before it did."""
        similarities = dict(self.near.get(index, {}))
        if self.matrix is not None:
            start = index - index % TOGETHER
            if self.block is None or self.block[0] != start:
                self.block = (start, _close(self.matrix, start, self.floor))
            close = [each for each in self.block[1].get(index, ()) if each[0] in self.places]
            close.sort(key=lambda each: -each[1])
            similarities |= {self.places[i]: cosine for i, cosine in close[:MOST]}
        for same in self.texts.get(new.fingerprint, ()):
            similarities.setdefault(same, None)
        for owner in (owner for key in new.slots for owner in self.slots.get(key, ())):
            similarities.setdefault(owner, None)
        neighbours = [
            Neighbour(self.live[each], similarity)
            for each, similarity in similarities.items()
            if each in self.live and self.live[each].group == new.group
        ]
        neighbours.sort(key=lambda n: -1.0 if n.similarity is None else n.similarity)
        return self.judge.decide(new, said_at, neighbours[::-1])

    def vector(self, index: int) -> np.ndarray | None:
        """What statement number `index` is compared by, None while it is still to be made."""
        return self.vectors[index] if self.vectors else None

    def similarities(self, index: int, memories: Sequence[uuid.UUID]) -> dict[uuid.UUID, float]:
        """The cosines with those of `memories` that came with this batch."""
        if self.matrix is None:
            return {}
        similar, wanted = self.matrix @ self.matrix[index], set(memories)
        places = {i: each for i, each in self.places.items() if each in wanted}
        return {each: float(similar[i]) for i, each in places.items() if self.vector(i) is not None}

    def add(self, memory: KnownMemory, index: int | None = None) -> None:
        """It is live from now on; `index` is its place in the batch, where it came with it."""
        self.live[memory.id] = memory
        self.texts.setdefault(memory.fingerprint, []).append(memory.id)
        for key in memory.slots:
            self.slots.setdefault(key, []).append(memory.id)
        if index is not None:
            self.places[index] = memory.id
            self.indexes[memory.id] = index

    def end(self, memory_id: uuid.UUID) -> None:
        """It is live no more, and takes no place from what is, as in the index."""
        del self.live[memory_id]
        self.places.pop(self.indexes.get(memory_id, -1), None)


def _close(matrix: np.ndarray, start: int, floor: float) -> Close:
    """Of each of the next statements those before it that are near, with their cosines."""
    rows = matrix[start : start + TOGETHER]
    cosines = rows @ matrix[: start + len(rows)].T
    found: Close = {}
    near = np.nonzero(np.tril(cosines >= floor, start - 1))
    for row, before, cosine in zip(*near, cosines[near], strict=True):
        found.setdefault(start + int(row), []).append((int(before), float(cosine)))
    return found


def _matrix(vectors: Sequence[np.ndarray | None]) -> np.ndarray | None:
    """The vectors as rows; of a statement without one, zeros."""
    dimensions = next((len(vector) for vector in vectors if vector is not None), 0)
    if len(vectors) < 2 or not dimensions:
        return None
    empty = np.zeros(dimensions, dtype=np.float32)
    return np.array([empty if vector is None else vector for vector in vectors])
