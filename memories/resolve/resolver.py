"""Decides a batch of statements one after the other, each seeing what the ones before did."""

import uuid
from collections.abc import Iterable, Sequence
from datetime import datetime

import numpy as np

from memories.index.nearest import Pair
from memories.resolve.decide import Belief, Decision, Judge, Met

TOGETHER = 128  # statements whose cosines are made at once
Close = dict[int, list[tuple[int, float]]]
MOST = 12  # of one batch, that a statement is compared with beside what was known before


class Resolver:
    """What is live while a batch is decided. `vectors`: one per statement, or none at all."""

    def __init__(
        self,
        judge: Judge,
        known: Iterable[Belief],
        pairs: Iterable[Pair],
        *,
        vectors: Sequence[np.ndarray | None],
        floor: float,
    ) -> None:
        self.judge, self.floor = judge, floor
        self.live: dict[uuid.UUID, Belief] = {}
        self.texts: dict[bytes, list[uuid.UUID]] = {}
        self.slots: dict[int, list[uuid.UUID]] = {}
        self.near: dict[int, dict[uuid.UUID, float | None]] = {}
        self.vectors, self.matrix = vectors, _matrix(vectors)
        self.block: tuple[int, Close] | None = None
        self.places: dict[int, uuid.UUID] = {}
        self.indexes: dict[uuid.UUID, int] = {}
        for belief in known:
            self.add(belief)
        for pair in pairs:
            self.near.setdefault(pair.index, {}).setdefault(pair.memory_id, pair.similarity)

    def decide(self, index: int, new: Belief, said_at: datetime) -> Decision:
        return self.judge.decide(new, said_at, self._met(index, new))

    def _met(self, index: int, new: Belief) -> list[Met]:
        found = dict(self.near.get(index, {}))
        found |= self._within_batch(index)
        for same in self.texts.get(new.fingerprint, ()):
            found.setdefault(same, None)
        for key in new.slots:
            for owner in self.slots.get(key, ()):
                found.setdefault(owner, None)
        met = [
            Met(self.live[each], similarity)
            for each, similarity in found.items()
            if each in self.live and self.live[each].group == new.group
        ]
        return sorted(met, key=lambda m: -1.0 if m.similarity is None else m.similarity)[::-1]

    def _within_batch(self, index: int) -> dict[uuid.UUID, float]:
        if self.matrix is None:
            return {}
        start = index - index % TOGETHER
        if self.block is None or self.block[0] != start:
            self.block = (start, _close(self.matrix, start, self.floor))
        close = [each for each in self.block[1].get(index, ()) if each[0] in self.places]
        close.sort(key=lambda each: -each[1])
        return {self.places[i]: similarity for i, similarity in close[:MOST]}

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

    def add(self, belief: Belief, index: int | None = None) -> None:
        """It is live from now on; `index` is its place in the batch, where it came with it."""
        self.live[belief.id] = belief
        self.texts.setdefault(belief.fingerprint, []).append(belief.id)
        for key in belief.slots:
            self.slots.setdefault(key, []).append(belief.id)
        if index is not None:
            self.places[index] = belief.id
            self.indexes[belief.id] = index

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
