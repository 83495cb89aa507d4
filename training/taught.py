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


def wrong(judge: TrainedJudge, examples: list[Example], seen: SeenPairs, number: int, random: Random) -> np.ndarray:
    """The shares of pairs that are called wrong before and after a head learned from so many others."""
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
    head = Head(str(judge.name), weights.astype(np.float32))
    after = over_of(SeenPairs(head.corrected(others), None))
    return np.array([((each >= ask) != is_over[~own]).mean() for each in (over_of(others), after)])


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
            shares = np.mean([wrong(judge, examples, seen, number, Random(time)) for time in range(TIMES)], axis=0)
            found[number].append(shares)
            sys.stdout.write(f"{writer}, {number} pairs: {shares[0]:.3f} wrong before, {shares[1]:.3f} after\n")
    for number, own in found.items():
        before, after = np.mean(own, axis=0)
        sys.stdout.write(f"all, {number} pairs: {before:.3f} wrong before, {after:.3f} after\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else SHIPPED)
