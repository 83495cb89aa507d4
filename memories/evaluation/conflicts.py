"""Evaluation of the resolver's judgement of two statements against labels by people. Needs no
database."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from memories.evaluation.story_files import read_lines, share
from memories.language.english import statements
from memories.providers import Embedder

LABELS = {"same": "same", "duplicate": "same", "update": "update", "different": "different"}
JUDGEMENTS = ("same", "update", "unsure", "different")


@dataclass(frozen=True, slots=True)
class LabelledPair:
    """`new` was said after `old`; `label` is same, update or different."""

    old: str
    new: str
    label: str


@dataclass(slots=True)
class Judged:
    """Counts of pairs by label and judgement, with the pairs that were judged wrongly."""

    counts: dict[tuple[str, str], int] = field(default_factory=dict)
    wrong: list[dict[str, str]] = field(default_factory=list)

    def of(self, label: str, *judgements: str) -> float:
        """The share of the pairs with `label` that got one of these judgements."""
        total = sum(n for (told, _), n in self.counts.items() if told == label)
        return share(sum(self.counts.get((label, one), 0) for one in judgements), total)

    def measured(self) -> dict[str, float]:
        return {
            "pairs": sum(self.counts.values()),
            "duplicates merged": self.of("same", "same"),
            "updates superseded": self.of("update", "update"),
            "different merged or superseded": self.of("different", "same", "update"),
            "left to a person": share(
                sum(n for (_, judged), n in self.counts.items() if judged == "unsure"),
                sum(self.counts.values()),
            ),
        }


def pairs(path: Path, half: str = "") -> list[LabelledPair]:
    """JSONL of {old, new, label, half?}; label is same (or duplicate), update or different. With
    `half`, those of this half alone.

    Raises Unreadable with the number of the line that is none.
    """

    def pair(row: dict[str, Any]) -> LabelledPair:
        return LabelledPair(row["old"], row["new"], LABELS[row["label"]])

    return read_lines(path, pair, "{old, new, label}", half)


def evaluate(labelled: Sequence[LabelledPair], embedder: Embedder, advance: Callable[[int], object]) -> Judged:
    """Judge each pair with the embedder's own threshold. Raises ProviderError."""
    found = Judged()
    for pair in labelled:
        old, new = embedder.embed([pair.old, pair.new])
        cosine = None if old is None or new is None else float(np.dot(old, new))
        judged = statements.relation(
            statements.read(pair.old),
            statements.read(pair.new),
            cosine=cosine,
            threshold=embedder.duplicate_threshold,
        )
        key = (pair.label, judged.kind)
        found.counts[key] = found.counts.get(key, 0) + 1
        if pair.label != judged.kind:
            told = {"old": pair.old, "new": pair.new, "label": pair.label}
            found.wrong.append({**told, "judged": judged.kind, "rule": judged.rule})
        advance(1)
    return found
