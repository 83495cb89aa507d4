"""No vectors at all: search then works by keywords."""

from collections.abc import Sequence

import numpy as np

from memories.providers.embedder import Embedder, Matrix, Side


class NoEmbedder(Embedder):
    provider = "none"
    name = "none"
    dimensions = 0

    def _vectors(self, texts: Sequence[str], side: Side) -> Matrix:
        return np.zeros((len(texts), 0), np.float32)
