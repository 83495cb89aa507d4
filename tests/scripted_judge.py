"""A judge that answers what a test wants."""

from collections.abc import Sequence

from memories.judge.judge import Effect, JudgedPair, Line, Thresholds, TrainedJudge, Worth


class Judge(TrainedJudge):
    """A judge that says the same of every pair and of every sentence, and keeps what it was asked."""

    thresholds = Thresholds(act=0.9, ask=0.2, far=0.5, keep=0.8, drop=0.9)

    def __init__(
        self,
        answer: Effect | None = None,
        *,
        fact: float = 0.0,
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
        worth = Worth(self.fact, 1 - self.fact - self.fiction, 0.0, 0.0, 0.0, self.fiction, 0.0, "possession")
        return [worth] * len(lines)


def change(**told: float) -> Effect:
    return Effect(**{**dict.fromkeys(Effect._fields, 0.0), **told})
