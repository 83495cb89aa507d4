"""What is counted: how far up the right messages stand, how much two texts share."""

import math
from collections import Counter
from collections.abc import Collection, Mapping, Sequence

from memories.english import lexical

DEPTHS = (5, 10, 20)
COLUMNS = (*(f"recall@{depth}" for depth in DEPTHS), "mrr", "ndcg@10")


def ranking(found: Sequence[str], gold: Collection[str]) -> dict[str, float]:
    """COLUMNS for one question; `found` best first, of repeats the first counts."""
    hits = [name in gold for name in dict.fromkeys(found)]
    measured = {f"recall@{depth}": sum(hits[:depth]) / len(gold) for depth in DEPTHS}
    measured["mrr"] = next((1 / place for place, hit in enumerate(hits, 1) if hit), 0.0)
    ideal = sum(_gain(place) for place in range(min(10, len(gold))))
    measured["ndcg@10"] = sum(_gain(p) for p, hit in enumerate(hits[:10]) if hit) / ideal
    return measured


def _gain(place: int) -> float:
    return 1 / math.log2(place + 2)


def mean(rows: Sequence[Mapping[str, float]], column: str) -> float:
    return sum(row[column] for row in rows) / len(rows)


def share(part: float, whole: float) -> float:
    """0 of nothing."""
    return part / whole if whole else 0.0


def overlap(one: Sequence[str], other: Sequence[str]) -> float:
    """F1 of two texts' index terms, with repeats: 0 to 1."""
    common = (Counter(one) & Counter(other)).total()
    return share(2 * common, len(one) + len(other))


def terms(text: str) -> list[str]:
    return lexical.stems(text)
