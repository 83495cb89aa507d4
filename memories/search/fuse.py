"""Hits of several layers in one order: by the place that each has in its own layer."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from math import inf

from memories.search.scored import Scored


def by_place(found: Sequence[Scored], enough: float | None = None) -> list[Scored]:
    """The best of each layer, then the second of each, and so on; equal places by their scores.

    Scores of short statements and long messages do not compare, so a score is raised to the best
    of those that come after it: it falls along the list. What has not `enough` comes last.
    """
    if len({one.layer for one in found}) < 2:
        return list(found)
    places: Counter[str] = Counter()
    placed = []
    for one in sorted(found, key=lambda one: one.order):
        places[one.layer] += 1
        placed.append((enough is not None and one.score < enough, places[one.layer], one))
    placed.sort(key=lambda each: (*each[:2], each[2].order))
    best = -inf
    raised = []
    for behind, (_, _, one) in reversed(list(enumerate(placed))):
        best = max(best, one.score)
        raised.append(replace(one, score=best, behind=behind))
    return raised[::-1]
