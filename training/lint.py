"""Check the examples: known labels, no doubles, nothing held back that is trained on; and count them.

python -m training.lint
"""

import re
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from training.corpus import rows_of

HERE = Path(__file__).parent / "examples"
LABELS = {
    "change": {"replaces", "ends", "restates", "compatible", "exception"},
    "worth": {"fact", "moment", "chatter", "question", "others", "fiction", "order"},
    "order": {"none", "forget", "correct", "retract", "remember", "never"},
}
# The text of an example that must not stand twice, by task.
TEXT = {"change": ("belief", "before", "message"), "worth": ("before", "sentence"), "order": ("before", "message")}
SHORTEST_LEAK = 5  # words: shorter messages ("44", "yes, still") may well be the same by chance
MOST_OF_A_FRAME = 0.02  # share of examples that begin with the same three words

_word = re.compile(r"\w+")


def examples(task: str) -> Iterator[tuple[Path, int, dict[str, str]]]:
    """Each example of a task with its file and line."""
    kinds = (task, "lives") if task == "change" else (task,)
    for path in sorted(path for kind in kinds for path in HERE.rglob(f"*.{kind}.jsonl")):
        for number, row in enumerate(rows_of(path), 1):
            yield path, number, row


def words_of(text: str) -> tuple[str, ...]:
    """The words of a text without case and signs, by which doubles are found."""
    return tuple(_word.findall(text.casefold()))


def faults(task: str) -> list[str]:
    """Return what is wrong with the examples of a task, a line each."""
    found = []
    seen: dict[tuple[str, ...], str] = {}
    sides: dict[tuple[str, ...], set[bool]] = {}
    frames: Counter[tuple[str, ...]] = Counter()
    number_of = 0
    for path, number, row in examples(task):
        number_of += 1
        place = f"{path.relative_to(HERE)}:{number}"
        if row["label"] not in LABELS[task]:
            found.append(f"{place}: no label of {task}: {row['label']}")
        key = tuple(word for name in TEXT[task] for word in (*words_of(row[name]), "|"))
        if key in seen:
            found.append(f"{place}: the same as {seen[key]}")
        seen[key] = place
        said = words_of(row[TEXT[task][-1]])
        frames[said[:3]] += 1
        if len(said) >= SHORTEST_LEAK:
            sides.setdefault(said, set()).add("held" in path.parts)
    found += [f"held back and trained on: {' '.join(words)}" for words, both in sides.items() if len(both) > 1]
    most = max(20, number_of * MOST_OF_A_FRAME)
    found += [f"{times} begin with {' '.join(frame)!r}" for frame, times in frames.items() if times > most]
    return found


def counts(task: str) -> Counter[tuple[str, str]]:
    """Count the examples, by side (train, held, real) and label."""
    return Counter((path.relative_to(HERE).parts[0], row["label"]) for path, _, row in examples(task))


def main() -> int:
    """Print the counts and what is wrong; return 1 where something is."""
    wrong = []
    for task in LABELS:
        wrong += faults(task)
        for (side, label), number in sorted(counts(task).items()):
            sys.stdout.write(f"{task:7} {side:6} {label:11} {number:6,}\n")
    sys.stdout.writelines(f"{line}\n" for line in wrong)
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
