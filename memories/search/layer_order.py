"""One order for the hits of all layers."""

import uuid
from collections import Counter
from collections.abc import Sequence
from math import inf

from memories.search.request import Scored


def by_place(found: Sequence[Scored], enough: float | None = None) -> list[Scored]:
    """Order by taking the best of each layer, then the second of each, and so on; equal places by
    their scores.

    Scores of short statements and long messages do not compare, so a score is raised to the best
    of those that come after it: it falls along the list. Scores below `enough` come last.
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
        raised.append(one._replace(score=best, behind=behind))
    return raised[::-1]


def by_turns(rankings: Sequence[Sequence[Scored]]) -> list[Scored]:
    """Order by taking the best of each ranking, then the second of each, and so on, each thing
    once, in the form that the last ranking gives it: what leads there, with what shares its place.
    Scores fall along the list, as in `by_place`."""
    shown: dict[uuid.UUID, Scored] = {}
    for ranking in rankings:
        for one in ranking:
            shown |= dict.fromkeys([echo.item for echo in one.echoes], one) | {one.item: one}
    seen: set[uuid.UUID] = set()
    ordered = []
    for place in range(max(map(len, rankings))):
        for ranking in rankings:
            if place >= len(ranking) or ranking[place].item in seen:
                continue
            one = shown[ranking[place].item]
            one = ranking[place] if one.item in seen else one
            echoes = tuple(echo for echo in one.echoes if echo.item not in seen)
            seen |= {one.item, *(echo.item for echo in echoes)}
            ordered.append(one._replace(score=ranking[place].score, echoes=echoes))
    best = -inf
    raised = []
    for behind, one in reversed(list(enumerate(ordered))):
        best = max(best, one.score)
        raised.append(one._replace(score=best, behind=behind))
    return raised[::-1]
