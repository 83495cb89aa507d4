"""The confidence of answers, fitted to questions whose answers are known."""

import zlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass

import numpy as np
import numpy.typing as npt

from memories.errors import ProviderError
from memories.index import workspace_index
from memories.models import EmbeddingModel
from memories.quality.calibrate_thresholds import store_of
from memories.search import SearchRequest, search
from memories.search.confidence import FLOOR, LEAST_ANSWERED, ConfidenceSigns, ConfidenceWeights, signs_of
from memories.search.context import PACKED
from workspaces.scope import Scope

# The weights of `confidence` under an embedding model, fitted on questions that are labelled by
# whether the workspace can answer them.
#
# One half of the questions is fitted on, the other one judges: weights that are no better there are
# discarded. The fit starts at the current weights and is pulled back to them: few questions move
# them little. Answered and unanswered questions weigh the same, however many there are.

FEWEST = 20  # questions of each kind
FOUND = 50  # hits, as a context is packed of
PULL = 1.0  # towards the weights that hold: of one question, for a weight that is off by one
STEPS, RATE = 3_000, 0.5
COST = 0.02  # share of answered questions that may lose their context

Numbers = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class JudgedQuestion:
    """`is_answered`: the workspace's knowledge of that subject answers it."""

    query: str
    user_id: str
    is_answered: bool


@dataclass(frozen=True, slots=True)
class SeenQuestion:
    """A question with the signs of its hits; None where it had none."""

    signs: ConfidenceSigns | None
    is_answered: bool


@dataclass(frozen=True, slots=True)
class Judgement:
    """Quality on one half: the share of pairs in which the answered question scores above the other
    (AUROC); the mean log loss; and the shares of both kinds below the floor of a context."""

    auroc: float
    loss: float
    answered_empty: float
    others_empty: float


@dataclass(frozen=True, slots=True)
class ConfidenceFit:
    """The measurements on the half not fitted on. `is_better`: the weights are worth keeping."""

    model: str
    fitted_on: int
    judged_on: int
    before: Judgement
    after: Judgement
    weights: ConfidenceWeights
    is_better: bool


def see(
    scope: Scope, questions: Iterable[JudgedQuestion], advance: Callable[[int], object]
) -> tuple[list[SeenQuestion], list[SeenQuestion]]:
    """Search for the questions and split them into two halves; both kinds are in both, and repeats
    in one. Raises ProviderError where a search had to do without the model that is measured."""
    index = workspace_index.index_of(scope.workspace_id)
    halves: tuple[list[SeenQuestion], list[SeenQuestion]] = ([], [])
    order = {each: zlib.crc32(f"{each.query}\n{each.user_id}".encode()) for each in questions}
    by_kind = sorted(order, key=lambda each: (each.is_answered, order[each]))
    for place, each in enumerate(by_kind):
        asked = SearchRequest(each.query, limit=FOUND, user_id=each.user_id, layers=PACKED)
        answer = search(scope, asked, index)
        if answer.notes:
            raise ProviderError(f"{each.query!r} was searched for with less: {answer.notes[0]}", permanent=False)
        signs = signs_of(each.query, answer.hits) if answer.hits else None
        halves[place % 2].append(SeenQuestion(signs, each.is_answered))
        advance(1)
    return halves


def fit(model: EmbeddingModel, learned: Sequence[SeenQuestion], judged: Sequence[SeenQuestion]) -> ConfidenceFit:
    """Fit weights on the first half and judge them by the second. Nothing is written."""
    held = ConfidenceWeights.of(model)
    weights = _fitted(held, learned)
    before, after = judgement(held, judged), judgement(weights, judged)
    is_better = (
        after.auroc > before.auroc
        and after.loss <= before.loss
        and after.answered_empty <= before.answered_empty + COST
    )
    return ConfidenceFit(str(model), len(learned), len(judged), before, after, weights, is_better)


def store_fit(found: ConfidenceFit, model: EmbeddingModel, actor: str) -> bool:
    """Store the weights if they are better, audited as a threshold is."""
    if not found.is_better:
        return False
    store_of(model, actor, "confidence", model.confidence, asdict(found.weights))
    return True


def judgement(weights: ConfidenceWeights, seen: Sequence[SeenQuestion]) -> Judgement:
    sure = np.array([weights.chance(one.signs) if one.signs else 0.0 for one in seen])
    is_answered = np.array([one.is_answered for one in seen])
    own, others = sure[is_answered], sure[~is_answered]
    above = (own[:, None] > others[None, :]).mean() + (own[:, None] == others[None, :]).mean() / 2
    bent = np.clip(sure, 1e-6, 1 - 1e-6)
    loss = -(np.log(bent[is_answered]).mean() + np.log(1 - bent[~is_answered]).mean()) / 2
    shares = (above, loss, (own < FLOOR).mean(), (others < FLOOR).mean())
    return Judgement(*(round(float(share), 4) for share in shares))


def _fitted(held: ConfidenceWeights, seen: Sequence[SeenQuestion]) -> ConfidenceWeights:
    """Fit weights by gradient descent from `held`, on mean log loss and a pull towards `held`."""
    told = [(one.signs, one.is_answered) for one in seen if one.signs]
    if len({own for _, own in told}) < 2:  # no hits for one of the two kinds
        return held
    spoken = np.array([[1.0, *(s.spoken_of[n] for n in held.spoken_of)] for s, _ in told])
    answered = np.array([[1.0, *(s.answered[n] for n in held.answered)] for s, _ in told])
    is_answered = np.array([own for _, own in told])
    weight = np.where(is_answered, 0.5 / is_answered.sum(), 0.5 / (~is_answered).sum())
    start = (
        np.array([held.spoken_start, *held.spoken_of.values()]),
        np.array([held.answered_start, *held.answered.values()]),
    )
    first, second = start[0].copy(), start[1].copy()
    for _ in range(STEPS):
        a, b = _bent(spoken @ first), _bent(answered @ second)
        rest = LEAST_ANSWERED + (1 - LEAST_ANSWERED) * b
        chance = np.clip(a * rest, 1e-6, 1 - 1e-6)
        slope = weight * np.where(is_answered, -1 / chance, 1 / (1 - chance))
        pull = PULL / len(told)
        down = spoken.T @ (slope * rest * a * (1 - a)) + pull * (first - start[0])
        other = answered.T @ (slope * a * (1 - LEAST_ANSWERED) * b * (1 - b))
        first = first - RATE * down
        second = second - RATE * (other + pull * (second - start[1]))
    return ConfidenceWeights(
        round(float(first[0]), 3),
        _named(held.spoken_of, first),
        round(float(second[0]), 3),
        _named(held.answered, second),
    )


def _bent(value: Numbers) -> Numbers:
    bent: Numbers = 1 / (1 + np.exp(-np.clip(value, -40, 40)))
    return bent


def _named(names: Iterable[str], values: Numbers) -> dict[str, float]:
    return {name: round(float(value), 3) for name, value in zip(names, values[1:], strict=True)}
