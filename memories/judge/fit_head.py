"""Fits a head to pairs that people decided: a logistic regression that starts at the judge and is pulled back to it.

Few decisions move it little, and one person's count as OF_ONE_PERSON at most, however many they are.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from memories.judge.judge import SeenPairs
from memories.judge.taught import Numbers, features_of, over_of, probabilities

PULL = 12.0  # towards the judge as it is: of a weight that is off by one, in the loss of so many pairs
OF_ONE_PERSON = 50.0  # pairs that one person's decisions count as, at most
OF_A_SAMPLE = 3.0  # pairs that one counts as which was drawn from below the threshold: it stands for many others
PARTS = 5  # of the pairs, each judged by a head that learned from the others
STEPS, CLOSE = 40, 1e-6

Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Lesson:
    """A decision of a person on a pair: whether the belief `is_over`. Pairs of one `about` are judged together;
    `is_sampled`: nobody would have been asked about it, were it not drawn."""

    is_over: bool
    person: str
    about: str
    is_sampled: bool = False


@dataclass(frozen=True, slots=True)
class TriedHead:
    """Weights, and what heads without a pair said of it: the probabilities `before` and `after`."""

    weights: npt.NDArray[np.float32]
    before: Numbers
    after: Numbers
    is_over: Flags

    def right(self, probabilities: Numbers, least: float) -> int:
        """Count the pairs that these probabilities call right, at a threshold."""
        return int(((probabilities >= least) == self.is_over).sum())

    def acted_wrongly(self, probabilities: Numbers, least: float) -> int:
        """Count the pairs that reach a threshold though their belief holds."""
        return int(((probabilities >= least) & ~self.is_over).sum())

    def loss(self, probabilities: Numbers) -> float:
        return float(-np.log(np.where(self.is_over, probabilities, 1 - probabilities)).mean())


def try_head(seen: SeenPairs, lessons: Sequence[Lesson]) -> TriedHead:
    """Fit a head to all lessons, and to each part without the others, by which it is measured."""
    over, features = over_of(seen), features_of(seen)
    is_over = np.array([one.is_over for one in lessons])
    weight = weights_of(lessons)
    parts = _parts(lessons)
    after = over.copy()
    for part in range(PARTS):
        own, others = parts == part, parts != part
        if own.any() and others.any():
            fitted = fit(over[others], features[others], is_over[others], weight[others])
            after[own] = probabilities(over[own], features[own], fitted)
    return TriedHead(fit(over, features, is_over, weight).astype(np.float32), over, after, is_over)


def weights_of(lessons: Sequence[Lesson]) -> Numbers:
    """Return as how many pairs each lesson counts."""
    weight = np.array([OF_A_SAMPLE if one.is_sampled else 1.0 for one in lessons])
    persons = np.array([one.person for one in lessons])
    for person in set(persons):
        own = persons == person
        weight[own] *= min(1.0, OF_ONE_PERSON / weight[own].sum())
    return weight


def fit(over: Numbers, features: Numbers, is_over: Flags, weight: Numbers) -> Numbers:
    """Return the weights that fit best, by Newton's method: a step that overshoots is halved."""
    start = np.log(over / (1 - over))
    weights = np.zeros(features.shape[1])
    loss = _loss(start, features, is_over, weight, weights)
    for _ in range(STEPS):
        share = 1 / (1 + np.exp(-(start + features @ weights)))
        slope = features.T @ (weight * (share - is_over)) + PULL * weights
        bend = (features * (weight * share * (1 - share))[:, None]).T @ features + PULL * np.eye(len(weights))
        step = np.linalg.solve(bend, slope)
        while (new := _loss(start, features, is_over, weight, weights - step)) > loss and np.abs(step).max() > CLOSE:
            step /= 2
        weights, loss = weights - step, new
        if np.abs(step).max() <= CLOSE:
            break
    return weights


def _loss(start: Numbers, features: Numbers, is_over: Flags, weight: Numbers, weights: Numbers) -> float:
    logits = start + features @ weights
    told = np.logaddexp(0, np.where(is_over, -logits, logits))
    return float((weight * told).sum() + PULL / 2 * (weights**2).sum())


def _parts(lessons: Sequence[Lesson]) -> npt.NDArray[np.int64]:
    """Return the part of each lesson; the largest groups are dealt out first, so that parts are of like size."""
    counts = Counter(one.about for one in lessons)
    sizes = [0] * PARTS
    chosen = {}
    for about, count in sorted(counts.items(), key=lambda pair: (-pair[1], pair[0])):
        part = sizes.index(min(sizes))
        chosen[about] = part
        sizes[part] += count
    return np.array([chosen[one.about] for one in lessons])
