"""For machines where the local embedder cannot run, and for tests: no model, no files."""

import re
import zlib
from collections.abc import Iterator, Sequence

import numpy as np

from memories.providers.embedder import Embedder, Matrix, Side, Vector

WORD = re.compile(r"\w+")


class HashEmbedder(Embedder):
    """Signed feature hashing of words and their letter triples: alike is what is spelt alike."""

    provider = "hash"
    name = "hash-256"
    dimensions = 256
    duplicate_threshold = 0.9
    search_floor = 0.1

    def _vectors(self, texts: Sequence[str], side: Side) -> Matrix:
        return np.stack([self._counts(text) for text in texts])

    def _counts(self, text: str) -> Vector:
        counts = np.zeros(self.dimensions, np.float32)
        for feature in _features(text):
            code = zlib.crc32(feature.encode())
            counts[code % self.dimensions] += 1.0 if code & 0x8000_0000 else -1.0
        return counts


def _features(text: str) -> Iterator[str]:
    for word in WORD.findall(text.casefold()):
        yield word
        framed = f"^{word}$"
        yield from (framed[start : start + 3] for start in range(len(word)))
