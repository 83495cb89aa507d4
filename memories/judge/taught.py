"""The judge as a workspace taught it: the shipped model's answers about changes, corrected by a head.

A head is a vector of weights, learned from what people decided about pairs: it says how much likelier or unlikelier a
change is than the model takes it for. Worth and orders are answered as before.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from memories.judge.judge import Effect, JudgedPair, LoadedJudge, Rows, SeenPairs, TrainedJudge, effects_of

Numbers = npt.NDArray[np.float64]

FARTHEST = 2.0  # that a head moves an answer, in logits: a half becomes .88 or .12 at most
OVER = 2  # columns of a table of changes whose sum is the probability that a belief holds no longer
LENGTH = 3.0  # of an encoder's vector as a feature
SMOOTH = 0.25  # of the logits as features, where the model gives no vector
LEAST = 1e-4  # probability, of which a logarithm is taken


@dataclass(frozen=True, slots=True, eq=False)
class Head:
    """The weights of a correction of one judge, whose name is `base`."""

    base: str
    weights: Rows

    @classmethod
    def of_bytes(cls, base: str, weights: bytes) -> "Head":
        return cls(base, np.frombuffer(weights, np.float32))

    @property
    def version(self) -> str:
        return hashlib.sha256(self.weights.tobytes()).hexdigest()[:8]

    @property
    def name(self) -> str:
        """The name that stands on a decision: the judge's, and the version."""
        return f"{self.base}+{self.version}"

    def over(self, seen: SeenPairs) -> Numbers:
        """Return the probability of each pair that its belief holds no longer, as the head sees it."""
        return probabilities(over_of(seen), features_of(seen), self.weights.astype(np.float64))

    def corrected(self, seen: SeenPairs) -> Rows:
        """Return the probabilities of changes as the head sees them."""
        over, moved = over_of(seen), self.over(seen)
        rest = ((1 - moved) / (1 - over))[:, None]
        scales = np.where(np.arange(seen.changes.shape[1]) < OVER, (moved / over)[:, None], rest)
        corrected = seen.changes.clip(LEAST) * scales
        return (corrected / corrected.sum(1, keepdims=True)).astype(np.float32)


class TaughtJudge(TrainedJudge):
    """A judge whose answers about changes a head corrects."""

    def __init__(self, base: TrainedJudge, head: Head) -> None:
        self._base, self._head = base, head

    @property
    def name(self) -> str:
        return self._head.name

    def _model(self) -> LoadedJudge | None:
        return self._base._model()

    def changes(self, pairs: Sequence[JudgedPair]) -> list[Effect] | None:
        seen = self._base.see(pairs)
        return None if seen is None else effects_of(self._head.corrected(seen))


def over_of(seen: SeenPairs) -> Numbers:
    """Return the probability of each pair that its belief holds no longer."""
    return seen.changes[:, :OVER].sum(1).astype(np.float64).clip(LEAST, 1 - LEAST)


def features_of(seen: SeenPairs) -> Numbers:
    """Return what a head weighs of each pair: one, and the encoder's vector; the logits where there is none."""
    if seen.vectors is None:
        logits = np.log(seen.changes.astype(np.float64).clip(LEAST))
        read = SMOOTH * (logits - logits.mean(1, keepdims=True))
    else:
        vectors = seen.vectors.astype(np.float64)
        read = LENGTH * vectors / np.linalg.norm(vectors, axis=1, keepdims=True).clip(LEAST)
    return np.hstack([np.ones((len(read), 1)), read])


def probabilities(over: Numbers, features: Numbers, weights: Numbers) -> Numbers:
    """Return the corrected probabilities that beliefs hold no longer."""
    shift = (features @ weights).clip(-FARTHEST, FARTHEST)
    moved: Numbers = 1 / (1 + np.exp(-np.log(over / (1 - over)) - shift))
    return moved
