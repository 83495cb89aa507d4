"""Candidates as columns, and what can be seen only among them: conversations, neighbours."""

from collections.abc import Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from memories.lexical import LAYERS
from memories.ranking.values import Candidate

Array = NDArray[np.float64]
Integers = NDArray[np.int64]

_spread = 0.02  # of cosines: below it, a few alike candidates would be told apart by noise
_reach = 5  # standard deviations that count as a full point
_lowest = -0.4
_pause = 8 * 3600.0  # seconds of silence that end a sitting
_positions = 1 << 32  # more than a conversation has


class Columns:
    """The candidates' columns as arrays of one length, in the candidates' order.

    A sitting is a conversation, or a stretch of it without a pause of eight hours.
    """

    def __init__(self, candidates: Sequence[Candidate]) -> None:
        # fmt: off
        (ids, layers, cosine, bm25, self._conversations, self._positions, at, assistant,
         self.authors, length, marks, _) = zip(*candidates, strict=True)
        # fmt: on
        self.size = len(candidates)
        self.ids: Integers = np.array(ids, np.int64)
        self.layers: Integers = np.array(layers, np.int64)
        self.cosine: Array = np.array(cosine, float)  # None becomes nan
        self.bm25: Array = np.array(bm25, float)
        self.at: Array = np.array(at, float)
        self.assistant: Array = np.array(assistant, float)  # nan: no message
        self.length: Array = np.array(length, float)
        self.marks: Integers = np.array(marks, np.int64)

    @property
    def is_message(self) -> NDArray[np.bool_]:
        return ~np.isnan(self.assistant)

    @cached_property
    def keyword(self) -> Array:
        """BM25 divided by the best of the layer: short statements and long turns do not compare."""
        best = np.zeros(LAYERS)
        np.maximum.at(best, self.layers, self.bm25)
        share: Array = self.bm25 / np.where(best > 0, best, 1.0)[self.layers]
        return share

    @cached_property
    def vector(self) -> Array:
        """Cosine against the other candidates' cosines: 0 is average, 1 far above."""
        known = self.cosine[~np.isnan(self.cosine)]
        if not known.size:
            return np.zeros(self.size)
        score = (self.cosine - known.mean()) / (_reach * max(float(known.std()), _spread))
        clipped: Array = score.clip(_lowest, 1.0)
        return np.where(np.isnan(clipped), 0.0, clipped)

    @cached_property
    def time(self) -> Array:
        """Seconds; what has no time is as old as the oldest."""
        unknown = np.isnan(self.at)
        if unknown.all():
            return np.zeros(self.size)
        return np.where(unknown, np.nanmin(self.at), self.at) if unknown.any() else self.at

    @cached_property
    def _in_time(self) -> tuple[NDArray[np.intp], NDArray[np.bool_]]:
        """The candidates by conversation and time, and where another conversation begins.

        What belongs to none stands alone.
        """
        own = np.array([-1 - i if c is None else c for i, c in enumerate(self._conversations)])
        order = np.lexsort((self.time, own))
        return order, np.diff(own[order]) != 0

    @cached_property
    def conversation(self) -> Integers:
        """Dense numbers of the conversations."""
        order, other = self._in_time
        return self._numbered(order, other)

    @cached_property
    def sitting(self) -> Integers:
        """Dense numbers of the sittings."""
        order, other = self._in_time
        return self._numbered(order, other | (np.diff(self.time[order]) > _pause))

    def _numbered(self, order: NDArray[np.intp], begins: NDArray[np.bool_]) -> Integers:
        number = np.zeros(self.size, np.int64)
        number[order[1:]] = np.cumsum(begins)
        return number

    @cached_property
    def sittings_since(self) -> Array:
        """How many of the sittings are younger than the candidate's."""
        newest = np.full(self.sitting.max() + 1, -np.inf)
        np.maximum.at(newest, self.sitting, self.time)
        rank = np.empty(newest.size)
        rank[np.argsort(-newest, kind="stable")] = np.arange(newest.size)
        return rank[self.sitting]

    @cached_property
    def _by_sitting(self) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """The candidates by sitting, and where each sitting begins among them."""
        order = np.argsort(self.sitting, kind="stable")
        return order, np.flatnonzero(np.diff(self.sitting[order], prepend=-1))

    def best_of_sitting(self, column: Array) -> Array:
        order, starts = self._by_sitting
        each: Array = np.maximum.reduceat(column[order], starts)[self.sitting]
        return each

    def three_best_of_sitting(self, column: Array) -> Array:
        """The sum of the sitting's three best, divided by three."""
        order, starts = self._by_sitting
        best_first = np.lexsort((-column, self.sitting))
        place = np.arange(self.size) - starts[self.sitting[order]]
        top = best_first[place < 3]
        each: Array = (np.bincount(self.sitting[top], column[top]) / 3)[self.sitting]
        return each

    def of_neighbour(self, column: Array, step: int) -> Array:
        """The column's value of the message `step` further on; 0 where that is no candidate."""
        key, order, place = self._places
        at = np.searchsorted(key[order], key + step).clip(max=self.size - 1)
        found = (key[order][at] == key + step) & (place >= 0) & (place + step >= 0)
        return np.where(found, column[order][at], 0.0)

    @cached_property
    def _places(self) -> tuple[Integers, NDArray[np.intp], Integers]:
        place = np.array([-2 if p is None else p for p in self._positions], np.int64)
        key = (self.conversation * LAYERS + self.layers) * _positions + place
        return key, np.argsort(key, kind="stable"), place

    def marked(self, mark: int) -> Array:
        """1 where the message carries the mark."""
        carried: Array = ((self.marks & mark) != 0).astype(float)
        return carried
