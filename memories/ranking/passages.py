"""The ranking of a document's passages: their words and their meaning, each beside the best."""

import numpy as np

from memories.ranking.columns import Array, Candidates, Columns, Ranked
from memories.ranking.hybrid import RecencyBoost

KEYWORD, VECTOR = 0.7, 0.3
# Of the better of its two neighbours: an answer is longer than a passage, or its words stand before
# it. Over six sets more of the evidence is served in all, .01 to .04; from .5 on less again.
BESIDE = 0.3


def by_passage(candidates: Candidates, recency: RecencyBoost | None = None) -> list[Ranked]:
    """Best first, with scores from 0 to 1; ties by id, newest first.

    What stands near to the question only as most do has no meaning in common with it: a cosine
    counts from the mean of the candidates on. The first of a text has nothing before it, and
    stands for that itself: a text of one passage loses nothing by it.
    """
    columns = Columns.of(candidates)
    if not columns.size:
        return []
    parts = {"keyword": KEYWORD * columns.keyword, "vector": VECTOR * _scaled(columns.cosine)}
    own: Array = sum(parts.values(), np.zeros(columns.size))
    before = np.where(columns.positions <= 0, own, columns.of_neighbour(own, -1))
    parts["neighbours"] = BESIDE * np.maximum(before, columns.of_neighbour(own, 1))
    ceiling = (KEYWORD + VECTOR) * (1 + BESIDE)
    if recency:
        parts["recency"] = recency.of(columns.time)
        ceiling += recency.weight
    total: Array = sum(parts.values(), np.zeros(columns.size)) / ceiling
    order = np.lexsort((-columns.ids, -total))
    shown = np.array([part[order] for part in parts.values()]) / ceiling
    cosines = [None if np.isnan(one) else float(one) for one in columns.cosine[order]]
    rows = zip(columns.names(order), total[order].tolist(), shown.T.tolist(), cosines, strict=True)
    return [
        Ranked(*who, min(1.0, score), {n: v for n, v in zip(parts, own, strict=True) if v}, cosine)
        for who, score, own, cosine in rows
    ]


def _scaled(cosines: Array) -> Array:
    """0 at the candidates' mean (or at no cosine at all), 1 at their best."""
    known = cosines[~np.isnan(cosines)]
    if not known.size:
        return np.zeros(cosines.size)
    low = max(float(known.mean()), 0.0)
    reach = max(float(known.max()) - low, 1e-9)
    scaled: Array = np.nan_to_num((cosines - low) / reach).clip(0.0, 1.0)
    return scaled
