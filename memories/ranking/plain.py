"""Rankings by one rule: the merge of cosine and keyword hits, and either side alone."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TypeVar

from memories.ranking.values import Candidate, Ranked

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


def by_vector(candidates: Sequence[Candidate]) -> list[Ranked]:
    """By cosine alone, scores cut to 0..1; what has no vector is left out."""
    hits = [(max(0.0, min(1.0, c.cosine)), c) for c in candidates if c.cosine is not None]
    return _ranked(hits, "vector")


def by_keyword(candidates: Sequence[Candidate]) -> list[Ranked]:
    """By BM25 alone, divided by the best; what holds no term of the query is left out."""
    best = max((c.bm25 for c in candidates), default=0.0)
    return _ranked([(c.bm25 / best, c) for c in candidates if c.bm25 > 0], "keyword")


def _ranked(hits: list[tuple[float, Candidate]], part: str) -> list[Ranked]:
    ordered = sorted(hits, key=lambda hit: (-hit[0], -hit[1].id))
    return [Ranked(c.id, c.layer, score, {part: score}) for score, c in ordered]
