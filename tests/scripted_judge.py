"""A judge that answers what a test wants."""

from collections.abc import Sequence

import numpy as np

from memories.judge.fixed_pairs import NOT_OVER, OVER
from memories.judge.judge import Effect, JudgedPair, Line, SeenPairs, Thresholds, TrainedJudge, Worth, effects_of


class Judge(TrainedJudge):
    """A judge that says the same of every pair and of every sentence, and keeps what it was asked."""

    thresholds = Thresholds(act=0.9, ask=0.2, far=0.5, keep=0.8, drop=0.9)

    def __init__(
        self,
        answer: Effect | None = None,
        *,
        fact: float = 0.1,
        fiction: float = 0.0,
        name: str | None = "judge-1",
    ) -> None:
        self.answer, self.fact, self.fiction, self._name = answer, fact, fiction, name
        self.asked: list[JudgedPair] = []
        self.read: list[Line] = []

    @property
    def name(self) -> str | None:
        return self._name

    def changes(self, pairs: Sequence[JudgedPair]) -> list[Effect] | None:
        self.asked += pairs
        return self.answer and [self.answer] * len(pairs)

    def worth(self, lines: Sequence[Line]) -> list[Worth] | None:
        self.read += lines
        worth = Worth(self.fact, max(0.0, 1 - self.fact - self.fiction), 0.0, 0.0, 0.0, self.fiction, 0.0, "possession")
        return [worth] * len(lines)


def change(**told: float) -> Effect:
    return Effect(**{**dict.fromkeys(Effect._fields, 0.0), **told})


class HesitantJudge(Judge):
    """A judge that is right about the fixed pairs, and takes all others for over: what is said "for now" as any. It
    has nothing but its logits to be told apart by."""

    thresholds = Thresholds(act=0.9, ask=0.5, far=0.9, keep=0.8, drop=0.9)

    def __init__(self, share: float = 0.6, sure: float = 0.97, name: str = "judge-1") -> None:
        super().__init__(name=name)
        self.share, self.sure = share, sure

    def see(self, pairs: Sequence[JudgedPair]) -> SeenPairs:
        return SeenPairs(np.array([self._row(pair) for pair in pairs], np.float32).reshape(-1, 5), None)

    def changes(self, pairs: Sequence[JudgedPair]) -> list[Effect]:
        return effects_of(self.see(pairs).changes)

    def _row(self, pair: JudgedPair) -> Effect:
        if pair in OVER:
            return change(ends=self.sure, compatible=1 - self.sure)
        if pair in NOT_OVER:
            return change(ends=0.03, compatible=0.97)
        other = "exception" if "for now" in pair.message else "compatible"
        return change(ends=self.share, **{other: 1 - self.share})
