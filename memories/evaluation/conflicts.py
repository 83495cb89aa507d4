"""Whether the resolver's judgement of two statements is what people said. Needs no database."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from memories.english import statements as conflicts
from memories.evaluation.measures import share
from memories.providers import Embedder
from memories.transcripts import Unreadable

LABELS = {"same": "same", "duplicate": "same", "update": "update", "different": "different"}
JUDGEMENTS = ("same", "update", "unsure", "different")


@dataclass(frozen=True, slots=True)
class StatementPair:
    """`new` was said after `old`; `label` is same, update or different."""

    old: str
    new: str
    label: str


@dataclass(slots=True)
class Judgements:
    """How many pairs of each label got which judgement, and the pairs that were judged wrongly."""

    counts: dict[tuple[str, str], int] = field(default_factory=dict)
    wrong: list[dict[str, str]] = field(default_factory=list)

    def of(self, label: str, *judgements: str) -> float:
        """The share of the pairs with `label` that got one of these judgements."""
        total = sum(n for (own, _), n in self.counts.items() if own == label)
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


def pairs(path: Path) -> list[StatementPair]:
    """JSONL of {old, new, label}; label is same (or duplicate), update or different.

    Raises Unreadable with the number of the line that is none.
    """
    result = []
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if line.strip():
            try:
                row: dict[str, Any] = json.loads(line)
                result.append(StatementPair(row["old"], row["new"], LABELS[row["label"]]))
            except (KeyError, TypeError, ValueError) as error:
                raise Unreadable(f"line {number} is no {{old, new, label}}: {error}") from error
    return result


def evaluate(
    labelled: Sequence[StatementPair], embedder: Embedder, advance: Callable[[int], object]
) -> Judgements:
    """Judge each pair with the embedder's own threshold. Raises ProviderError."""
    result = Judgements()
    for pair in labelled:
        old, new = embedder.embed([pair.old, pair.new])
        relation = conflicts.relation(
            conflicts.read(pair.old),
            conflicts.read(pair.new),
            cosine=None if old is None or new is None else float(np.dot(old, new)),
            threshold=embedder.duplicate_threshold,
        )
        key = (pair.label, relation.kind)
        result.counts[key] = result.counts.get(key, 0) + 1
        if pair.label != relation.kind:
            wrong = {"old": pair.old, "new": pair.new, "label": pair.label}
            result.wrong.append({**wrong, "judged": relation.kind, "rule": relation.rule})
        advance(1)
    return result
