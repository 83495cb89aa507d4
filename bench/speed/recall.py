"""The recall of the vector side of a search: how many of the ten truly nearest it finds."""

from collections.abc import Sequence

import numpy as np

from bench.speed.corpus import Corpus, Matrix
from bench.speed.loading import Place, category_of
from memories.models import Category, Layer
from memories.search import candidates
from memories.search.conditions import LayerQuery, RowCondition

QUERIES = 40
DEPTH = 10
HALF_PRECISION = 5e-4  # what storing half-precision vectors may change a cosine by


# What a cell is called, and the category that its filter asks for.
FILTERS: dict[str, Category | None] = {
    "": None,
    ", filter 10 %": Category.PLAN,
    ", filter 1 %": Category.DECISION,
}


def recall(place: Place, corpus: Corpus) -> dict[str, float]:
    """recall@10 of each cell by query vectors near the corpus, before any ingest; 1.0 is exact.

    A memory counts as found where its cosine is as high as the tenth of a full comparison.
    """
    number, size = place.blocks[0]
    asked = corpus.near(corpus.block(place.number, number, size).vectors, QUERIES)
    best = _tenth_best(place, corpus, asked)
    return {
        f"{place.plot.asked}{name}": _share(place, asked, category, best[name]) for name, category in FILTERS.items()
    }


def _share(place: Place, asked: Matrix, category: Category | None, best: Sequence[float]) -> float:
    """Return how many of the ten that are to be found are."""
    found = [
        sum(cosine >= floor - HALF_PRECISION for cosine in _found(place, vector, category))
        for vector, floor in zip(asked, best, strict=True)
    ]
    there = sum(len(_chosen(size, category)) for _, size in place.blocks)
    return round(sum(found) / (min(DEPTH, there) * QUERIES), 3) if there else 1.0


def _chosen(size: int, category: Category | None) -> list[int]:
    """Return the texts of a block that the filter wants."""
    return [at for at in range(size) if category in (None, category_of(at))]


def _tenth_best(place: Place, corpus: Corpus, asked: Matrix) -> dict[str, list[float]]:
    """Return by cell the tenth highest cosine of each vector with all that is wanted, block by block."""
    tops = {name: np.full((len(asked), DEPTH), -1.0, np.float32) for name in FILTERS}
    for number, size in place.blocks:
        cosines = asked @ corpus.block(place.number, number, size).vectors.T
        for name, category in FILTERS.items():
            joined = np.concatenate([tops[name], cosines[:, _chosen(size, category)]], axis=1)
            tops[name] = -np.partition(-joined, DEPTH - 1, axis=1)[:, :DEPTH]
    return {name: [float(row.min()) for row in top] for name, top in tops.items()}


def _found(place: Place, vector: Matrix, category: Category | None) -> list[float]:
    wanted = RowCondition("row.category = %(category)s" if category else "")
    values = {"category": str(category)} if category else {}
    asked = LayerQuery(place.space, place.scope, Layer.MEMORIES, "", vector, wanted=wanted, wanted_values=values)
    rows = candidates.linea(asked, by_words=False)
    cosines = [row.cosine for row in rows if row.cosine is not None]
    return sorted(cosines, reverse=True)[:DEPTH]
