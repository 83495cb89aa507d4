"""Candidates as columns, and what can be seen only among them: conversations, neighbours."""

from collections.abc import Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from memories.ranking.values import Candidate

Array = NDArray[np.float64]

_spread = 0.02  # of cosines: below it, a few alike candidates would be told apart by noise
_reach = 5  # standard deviations that count as a full point
_lowest = -0.4
_positions = 1 << 32  # more than a conversation has


class Columns:
    """The candidates' columns as arrays of one length, in the candidates' order."""

    def __init__(self, candidates: Sequence[Candidate]) -> None:
        self.candidates = candidates
        self.size = len(candidates)

    @cached_property
    def keyword(self) -> Array:
        """BM25 divided by the best."""
        bm25 = np.array([c.bm25 for c in self.candidates], float)
        return bm25 / (bm25.max() or 1.0)

    @cached_property
    def vector(self) -> Array:
        """Cosine against the other candidates' cosines: 0 is average, 1 far above."""
        cosine = np.array([c.cosine for c in self.candidates], float)  # None becomes nan
        known = cosine[~np.isnan(cosine)]
        if not known.size:
            return np.zeros(self.size)
        score = (cosine - known.mean()) / (_reach * max(float(known.std()), _spread))
        return np.clip(np.nan_to_num(score), _lowest, 1.0)

    @cached_property
    def conversation(self) -> NDArray[np.intp]:
        """Dense numbers of the conversations; what belongs to none stands alone."""
        own = [
            -1 - i if c.conversation is None else c.conversation
            for i, c in enumerate(self.candidates)
        ]
        return np.unique(own, return_inverse=True)[1].reshape(-1)

    @cached_property
    def time(self) -> Array:
        """Seconds; what has no time is as old as the oldest."""
        times = [c.occurred_at.timestamp() if c.occurred_at else np.nan for c in self.candidates]
        known = np.array(times, float)
        return np.nan_to_num(known, nan=0.0 if np.isnan(known).all() else np.nanmin(known))

    @cached_property
    def conversations_since(self) -> Array:
        """How many of the conversations are younger than this one."""
        newest = np.full(self.conversation.max() + 1, -np.inf)
        np.maximum.at(newest, self.conversation, self.time)
        rank = np.empty(newest.size)
        rank[np.argsort(-newest, kind="stable")] = np.arange(newest.size)
        return rank[self.conversation]

    def best_of_conversation(self, column: Array, count: int) -> Array:
        """The sum of the conversation's `count` best, divided by `count`."""
        order = np.lexsort((-column, self.conversation))
        starts = np.searchsorted(self.conversation[order], self.conversation[order])
        top = order[np.arange(self.size) - starts < count]
        return (np.bincount(self.conversation[top], column[top]) / count)[self.conversation]

    def of_neighbour(self, column: Array, step: int) -> Array:
        """The column's value of the message `step` further on; 0 where that is no candidate."""
        place = np.array([-1 if c.position is None else c.position for c in self.candidates])
        key = self.conversation * _positions + place
        order = np.argsort(key, kind="stable")
        at = np.minimum(np.searchsorted(key[order], key + step), self.size - 1)
        found = (key[order][at] == key + step) & (place >= 0) & (place + step >= 0)
        return np.where(found, column[order][at], 0.0)

    def marked(self, mark: int) -> Array:
        """1 where the message carries the mark."""
        return np.array([bool(c.marks & mark) for c in self.candidates], float)
