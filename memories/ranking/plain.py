"""Rankings by one rule: the merge of cosine and keyword hits, and either side alone."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TypeVar

import numpy as np

from memories.ranking.columns import Array, Candidates, Columns
from memories.ranking.ranked import Ranked

BOTH_BONUS = 0.2
KEYWORD_ONLY = 0.3

Key = TypeVar("Key", int, str)


def linea(
    vector_hits: Sequence[tuple[Key, float]],
    keyword_ids: Sequence[Key],
    created: Mapping[Key, datetime] | None = None,
) -> list[tuple[Key, float]]:
    """Vector only: its cosine; both: cosine + 0.2; keyword only: 0.3. Best first.

    Ties: newest first by `created`, then by id. The caller has cut both lists to 20.
    """
    keyword = set(keyword_ids)
    scores = {key: cosine + BOTH_BONUS * (key in keyword) for key, cosine in vector_hits}
    scores |= {key: KEYWORD_ONLY for key in keyword_ids if key not in scores}
    born = created or {}
    by_id = sorted(scores.items())
    by_age = sorted(by_id, key=lambda hit: born[hit[0]].timestamp() if born else 0.0, reverse=True)
    return sorted(by_age, key=lambda hit: hit[1], reverse=True)


def by_vector(candidates: Candidates) -> list[Ranked]:
    """By cosine alone, scores cut to 0..1; what has no vector is left out."""
    columns = Columns.of(candidates)
    known = columns.taken(~np.isnan(columns.cosine))
    return _ranked(known, known.cosine.clip(0.0, 1.0), "vector")


def by_keyword(candidates: Candidates) -> list[Ranked]:
    """By BM25 alone, divided by the best of the layer; what holds no term of the query is left
    out."""
    columns = Columns.of(candidates)
    found = columns.taken(columns.bm25 > 0)
    return _ranked(found, found.keyword, "keyword")


def _ranked(found: Columns, scores: Array, part: str) -> list[Ranked]:
    order = np.lexsort((-found.ids, -scores))
    best = zip(found.names(order), scores[order].tolist(), strict=True)
    return [Ranked(*who, score, {part: score}) for who, score in best]
