"""Measures of the judge: what it acts on and asks about, rightly or not, and how far it is as sure as right."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from memories.judge.judge import FEW, Effect, JudgedPair, Thresholds, TrainedJudge
from training.corpus import Example
from training.lives import over_in, pieces

OVER = ("replaces", "ends")
PRECISION = 0.95  # of what is acted on, at least
ACTED_WRONGLY, ASKED_WRONGLY = 0.005, 0.03  # shares of pairs without a change, at most
HARD_WRONGLY = 0.12  # share of those that were written to be taken for one, at most
KEPT_PRECISION = 0.85  # of sentences that are kept, at least
DROPPED_WRONGLY = 0.005  # share of facts that are taken for fiction, at most
LEAST_DROPPED = 0.8  # probability of fiction: what is forgotten wrongly is worse than what is kept
MARKED_WRONGLY = 0.05  # share of messages of sessions and real talk that change nothing and mark something, at most
REPLACED_WRONGLY = 0.005  # and of those that replace something
BINS = 10


def asked(judge: TrainedJudge, changes: Sequence[Example]) -> list[Effect]:
    """Return what the judge says of each pair. Raises RuntimeError where it says nothing."""
    found = judge.changes([JudgedPair(one.belief, one.said, one.before, one.text) for one in changes])
    if found is None:
        raise RuntimeError("the judge does not answer")
    return found


class Mark(NamedTuple):
    """The likeliest change that a message is taken for, among so many beliefs; `changes`: it is one of something."""

    over: float
    beliefs: int
    is_right: bool
    changes: bool


def marks_of(judge: TrainedJudge, lives: Sequence[dict[str, Any]]) -> list[Mark]:
    """Return what each message of some lives would mark where, as in the server, it marks the likeliest one alone."""
    beside = [(life["beliefs"], message, pieces(message)) for life in lives for message in life["messages"]]
    pairs = [
        JudgedPair(belief["belief"], belief["said"], message["before"], piece.text)
        for beliefs, message, own in beside
        for piece in own
        for belief in beliefs
    ]
    found = iter(judge.changes(pairs) or [])
    marks = []
    for beliefs, message, own in beside:
        over = [(next(found).over, at) for _ in own for at in range(len(beliefs))]
        most, at = max(over, default=(0.0, -1))
        true = over_in(message)
        marks.append(Mark(most, len(beliefs), at in true, bool(true)))
    return marks


def raised(thresholds: Thresholds, marks: Sequence[Mark]) -> Thresholds:
    """Return the thresholds, raised until few enough messages that change nothing mark or replace something."""
    idle = [one for one in marks if not one.changes]

    def wrongly(chosen: Thresholds) -> float:
        return sum(one.over >= chosen.far_among(one.beliefs) for one in idle) / max(1, len(idle))

    while wrongly(thresholds) > MARKED_WRONGLY and thresholds.far < 0.99:
        far = round(thresholds.far + 0.01, 2)
        thresholds = thresholds._replace(far=far, ask=min(far, max(thresholds.ask, round(FEW * far, 2))))
    while share([one.over for one in idle], thresholds.act) > REPLACED_WRONGLY and thresholds.act < 0.99:
        thresholds = thresholds._replace(act=round(thresholds.act + 0.01, 2))
    return thresholds


def thresholds_of(
    changes: Sequence[Example],
    found: Sequence[Effect],
    controls: Sequence[Effect],
    keep: float,
    drop: float,
    least: float = 0.5,
) -> Thresholds:
    """Return the lowest thresholds that keep to the limits above. Pairs without a change are `controls`, and real
    talk's. `far` is what `ask` is: see `raised`. `keep`: see `kept_from`, `drop`: see `dropped_from`."""
    over = [one.over for one in found]
    true = [one.label in OVER for one in changes]
    unchanged = [one.over for one in controls]
    unchanged += [value for value, one in zip(over, changes, strict=True) if one.part and one.label not in OVER]
    steps = [step / 100 for step in range(99)]
    act = next(
        step
        for step in [*(step for step in steps if step >= least), 0.99]
        if step == 0.99  # surer is none
        or (share(unchanged, step) <= ACTED_WRONGLY and precision(over, true, step) >= PRECISION)
    )
    # The hard ones by themselves: most of the others are far from any change, as a life's other beliefs are.
    hard = [value for value, one in zip(over, changes, strict=True) if one.label not in OVER and one.kind != "else"]
    ask = next(
        step
        for step in [*steps[5:], act]
        if step == act or (share(unchanged, step) <= ASKED_WRONGLY and share(hard, step) <= HARD_WRONGLY)
    )
    ask = min(ask, act)
    return Thresholds(act, ask, ask, keep, drop)


def kept_from(facts: Sequence[float], true: Sequence[bool]) -> float:
    """Return the lowest probability of a fact from which enough sentences are facts."""
    steps = [step / 100 for step in range(50, 99)]
    return next((step for step in steps if precision(facts, true, step) >= KEPT_PRECISION), 0.99)


def dropped_from(fiction: Sequence[float]) -> float:
    """Return the lowest threshold, LEAST_DROPPED or more, that at most DROPPED_WRONGLY of these sentences, all of them
    meant, reach."""
    steps = [step / 100 for step in range(round(100 * LEAST_DROPPED), 99)]
    return next((step for step in steps if share(fiction, step) <= DROPPED_WRONGLY), 0.99)


def share(values: Sequence[float], least: float) -> float:
    """Return the share of the values that reach it."""
    return sum(value >= least for value in values) / max(1, len(values))


def precision(values: Sequence[float], true: Sequence[bool], least: float) -> float:
    """Return the share of those that reach it that are true."""
    chosen = [right for value, right in zip(values, true, strict=True) if value >= least]
    return sum(chosen) / len(chosen) if chosen else 1.0


def calibration_error(values: Sequence[float], true: Sequence[bool]) -> float:
    """Expected calibration error: how far probabilities are from what came true, in bins, by their size."""
    bins: list[list[tuple[float, bool]]] = [[] for _ in range(BINS)]
    for value, right in zip(values, true, strict=True):
        bins[min(BINS - 1, int(value * BINS))].append((value, right))
    gaps = (abs(sum(value for value, _ in own) - sum(right for _, right in own)) for own in bins)
    return sum(gaps) / max(1, len(values))
