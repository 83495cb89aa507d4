"""The figures of the model that is shipped, as tables for the model card: `python -m training.report`.

They are of the examples of writers held back, lives among them, of real talk held back, and of controls: messages
beside another belief, and pairs of one person's real talk about two subjects.
"""

import json
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from random import Random
from typing import Any

from memories.judge.judge import Effect, Line, Thresholds, TrainedJudge, shipped
from memories.judge.labels import CHANGE, HEADS
from training.corpus import EXAMPLES, HELD_TALKS, Example, apart, beside_another, read, sides, strangers
from training.lives import is_session
from training.scores import OVER, asked, calibration_error, marks_of, precision

CONTROLS = 500


def main() -> None:
    """Print the tables."""
    written, talk = [*read(EXAMPLES / "held")], sides().held_talk
    everything = [one for one in [*read(EXAMPLES / "train"), *read(EXAMPLES / "real")] if one.task == "change"]
    held = [one for one in written if one.task == "change"]
    real = [one for one in talk if one.task == "change"]
    controls = {
        "a message beside another belief (held writers)": beside_another(held, 1.0, Random(1))[:CONTROLS],
        "two subjects of one person's real talk (held back)": [
            one for one in strangers(everything, 40 * CONTROLS, Random(1)) if one.talk in HELD_TALKS
        ][:CONTROLS],
        "a message beside any belief of the same writer (held writers)": apart(held, 1, Random(1)),
    }
    thresholds = shipped.thresholds
    if thresholds is None:
        raise SystemExit("there is no model")
    _say(f"Model {shipped.name}: acts from {thresholds.act}, asks from {thresholds.ask};")
    _say(f"where belief and message share no word, from {thresholds.far}; keeps from {thresholds.keep}.\n")
    for title, examples in {"Writers held back": held, "Real talk held back": real}.items():
        found = asked(shipped, examples)
        _say(f"\n{title}: {len(examples)} pairs\n")
        _bands(_kinds(examples), examples, found, thresholds)
        _measures(examples, found, thresholds)
        _confusion([one.label for one in examples], [_likeliest(one) for one in found], CHANGE)
    lives = [json.loads(line) for path in sorted((EXAMPLES / "held").glob("*.lives.jsonl")) for line in path.open()]
    _lives("Lives held back", [life for life in lives if not is_session(life)])
    _lives("Working sessions held back", [life for life in lives if is_session(life)])
    asked_about = [json.loads(line) for path in EXAMPLES.glob("real/*/*.lives.jsonl") for line in path.open()]
    _lives("Pieces of real talk held back", [life for life in asked_about if life["person"] in HELD_TALKS])
    _say("\nControls: nothing is over\n")
    for name, examples in controls.items():
        _bands([(name, lambda _: True)], examples, asked(shipped, examples), thresholds)
    for title, examples in {"Writers held back": written, "Real talk held back": talk}.items():
        for task in ("worth", "order"):
            of_task = [one for one in examples if one.task == task]
            _say(f"\n{title}: {task}, {len(of_task)}\n")
            _confusion([one.label for one in of_task], _lines(shipped, task, of_task), HEADS[task])


def _lives(title: str, lives: Sequence[dict[str, Any]]) -> None:
    """Print how often the right belief is marked if, as in the server, a message marks the likeliest one alone."""
    marks = marks_of(shipped, lives)
    changes = sum(one.changes for one in marks)
    _say(f"\n{title}: {len(marks)} messages, {changes} of which change something\n")
    _say("| marked from | of changes, the right one | of changes, another | of the rest |\n|---|---|---|---|")
    steps = (shipped.thresholds.far_among(8), shipped.thresholds.act) if shipped.thresholds else ()
    for least in (*steps, 0.3, 0.5, 0.7, 0.9):
        marked = [one for one in marks if one.over >= least]
        right = sum(one.is_right for one in marked)
        other = sum(one.changes and not one.is_right for one in marked)
        _say(f"| {least:.2f} | {right} | {other} | {sum(not one.changes for one in marked)} |")


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")


Kind = tuple[str, Callable[[Example], bool]]


def _kinds(examples: Iterable[Example]) -> list[Kind]:
    """By label, by what is hard, by why nothing changed."""

    def kind(name: str, value: str) -> Kind:
        return f"{value} ({name})" if name != "label" else value, lambda one: getattr(one, name) == value

    seen = Counter((name, getattr(one, name)) for one in examples for name in ("label", "special", "kind", "part"))
    return [kind(name, value) for name, value in sorted(seen) if value]


def _bands(kinds: list[Kind], examples: Sequence[Example], found: Sequence[Effect], thresholds: Thresholds) -> None:
    _say("| pairs | n | over | acted, of those over | acted, of the rest | asked, of those over | asked, of the rest |")
    _say("|---|---|---|---|---|---|---|")
    for name, belongs in kinds:
        cells: Counter[tuple[str, bool]] = Counter()
        for one, said in zip(examples, found, strict=True):
            if belongs(one):
                band = "act" if said.over >= thresholds.act else "ask" if said.over >= thresholds.ask else ""
                cells[band, one.label in OVER] += 1
        over = sum(cells[band, True] for band in ("act", "ask", ""))
        numbers = (cells["act", True], cells["act", False], cells["ask", True], cells["ask", False])
        _say(f"| {name} | {cells.total()} | {over} | {' | '.join(map(str, numbers))} |")


def _measures(examples: Sequence[Example], found: Sequence[Effect], thresholds: Thresholds) -> None:
    over, true = [one.over for one in found], [one.label in OVER for one in examples]
    _say(f"\nPrecision of what is acted on {precision(over, true, thresholds.act):.3f}; calibration error:")
    errors = {
        label: calibration_error([getattr(one, label) for one in found], [one.label == label for one in examples])
        for label in CHANGE
    } | {"over": calibration_error(over, true)}
    _say(", ".join(f"{label} {error:.3f}" for label, error in errors.items()) + "\n")


def _likeliest(one: Effect) -> str:
    return max(CHANGE, key=lambda label: getattr(one, label))


def _lines(judge: TrainedJudge, task: str, examples: Sequence[Example]) -> list[str]:
    lines = [Line(one.before, one.text) for one in examples]
    found = judge.worth(lines) if task == "worth" else judge.orders(lines)
    return [max(HEADS[task], key=lambda label: getattr(one, label)) for one in found or []]


def _confusion(true: Sequence[str], found: Sequence[str], labels: Sequence[str]) -> None:
    cells = Counter(zip(true, found, strict=True))
    right = sum(cells[label, label] for label in labels)
    _say(f"Accuracy {right / max(1, len(true)):.3f}. Rows are what is so, columns what is said:\n")
    _say(f"| | {' | '.join(labels)} |")
    _say("|---" * (len(labels) + 1) + "|")
    for label in labels:
        if any(cells[label, other] for other in labels):
            _say(f"| {label} | {' | '.join(str(cells[label, other]) for other in labels)} |")


if __name__ == "__main__":
    main()
