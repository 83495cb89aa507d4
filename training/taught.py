"""Try what a head gains: `python -m training.taught`.

Each writer who is held back stands for a workspace. A head learns from pairs of one half of a writer's stories, mostly
such as the judge asks about, and is tried on the other half.
"""

import sys
from pathlib import Path
from random import Random

import numpy as np

from memories.judge.fit_head import Lesson, fit, weights_of
from memories.judge.judge import SHIPPED, JudgedPair, SeenPairs, TrainedJudge
from memories.judge.taught import Head, features_of, over_of
from training.corpus import EXAMPLES, Example, read
from training.scores import OVER

NUMBERS = (50, 150)
TIMES = 5  # that each number is drawn
SAMPLED = 0.15  # share of pairs that the judge does not ask about
PEOPLE = 3


def half(examples: list[Example], random: Random) -> np.ndarray:
    """Which examples are of one half of the stories."""
    stories = sorted({one.talk for one in examples})
    chosen = set(random.sample(stories, len(stories) // 2))
    return np.array([one.talk in chosen for one in examples])


def taken(seen: SeenPairs, rows: np.ndarray) -> SeenPairs:
    return SeenPairs(seen.changes[rows], None if seen.vectors is None else seen.vectors[rows])


def tried(judge: TrainedJudge, examples: list[Example], seen: SeenPairs, number: int, random: Random) -> np.ndarray:
    """The measures of one half of the stories before and after a head learned from so many pairs of the other half."""
    assert judge.thresholds is not None
    ask, own = judge.thresholds.ask, half(examples, random)
    is_over, asked = np.array([one.label in OVER for one in examples]), over_of(seen) >= ask
    sampled = int(SAMPLED * number)
    rows = []
    for where, most in ((own & asked, number - sampled), (own & ~asked, sampled)):
        places = np.flatnonzero(where).tolist()
        rows += random.sample(places, min(most, len(places)))
    lessons = [
        Lesson(bool(is_over[at]), str(order % PEOPLE), examples[at].talk, not asked[at])
        for order, at in enumerate(rows)
    ]
    learned = taken(seen, np.array(rows))
    weights = fit(over_of(learned), features_of(learned), is_over[rows], weights_of(lessons))
    others = taken(seen, np.flatnonzero(~own))
    after = Head(str(judge.name), weights.astype(np.float32)).over(others)
    return np.array([measured(each, is_over[~own], ask) for each in (over_of(others), after)])


def measured(over: np.ndarray, is_over: np.ndarray, ask: float) -> list[float]:
    """The mean log loss, and the shares of pairs called wrong at one half and at the threshold for asking."""
    loss = -np.log(np.where(is_over, over, 1 - over)).mean()
    return [loss, *(((over >= least) != is_over).mean() for least in (0.5, ask))]


def main(folder: Path) -> None:
    judge = TrainedJudge(folder)
    found: dict[int, list[np.ndarray]] = {number: [] for number in NUMBERS}
    changes = [one for one in read(EXAMPLES / "held") if one.task == "change"]
    for writer in sorted({one.folder for one in changes}):
        examples = [one for one in changes if one.folder == writer]
        seen = judge.see([JudgedPair(one.belief, one.said, one.before, one.text) for one in examples])
        if seen is None:
            raise SystemExit("The judge does not answer.")
        for number in NUMBERS:
            both = np.mean([tried(judge, examples, seen, number, Random(time)) for time in range(TIMES)], axis=0)
            found[number].append(both)
            tell(writer, number, both)
    for number, own in found.items():
        tell("all", number, np.mean(own, axis=0))


def tell(writer: str, number: int, both: np.ndarray) -> None:
    names = ("loss", "wrong at .5", "wrong at the threshold")
    told = (f"{name} {before:.3f} -> {after:.3f}" for name, before, after in zip(names, *both, strict=True))
    sys.stdout.write(f"{writer}, {number} pairs: {', '.join(told)}\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else SHIPPED)
