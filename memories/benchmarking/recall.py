"""How many of the ten truly nearest memories the vector side of a search finds."""

import numpy as np

from memories.benchmarking.corpus import Corpus, Matrix
from memories.benchmarking.loading import Place
from memories.indexing import candidates
from memories.indexing.shape import Asked
from memories.models import Layer

QUERIES = 20
DEPTH = 10
HALF_PRECISION = 5e-4  # what storing half-precision vectors may change a cosine by


def recall(place: Place, corpus: Corpus) -> float:
    """recall@10 by query vectors near the corpus, before any ingest; 1.0 is exact.

    A memory counts as found where its cosine is as high as the tenth of a full comparison.
    """
    number, size = place.blocks[0]
    asked = corpus.near(corpus.block(place.number, number, size).vectors, QUERIES)
    best = _tenth_best(place, corpus, asked)
    found = [
        sum(cosine >= floor - HALF_PRECISION for cosine in _found(place, vector))
        for vector, floor in zip(asked, best, strict=True)
    ]
    return round(sum(found) / (DEPTH * QUERIES), 3)


def _tenth_best(place: Place, corpus: Corpus, asked: Matrix) -> list[float]:
    """The tenth highest cosine of each vector with all live ones, block by block."""
    top = np.full((len(asked), DEPTH), -1.0, np.float32)
    for number, size in place.blocks:
        cosines = asked @ corpus.block(place.number, number, size).vectors.T
        joined = np.concatenate([top, cosines], axis=1)
        top = -np.partition(-joined, DEPTH - 1, axis=1)[:, :DEPTH]
    return [float(row.min()) for row in top]


def _found(place: Place, vector: Matrix) -> list[float]:
    asked = Asked(place.scope, Layer.MEMORIES, "", vector)
    rows = candidates.linea(place.space, asked, by_words=False)
    cosines = [row.cosine for row in rows if row.cosine is not None]
    return sorted(cosines, reverse=True)[:DEPTH]
