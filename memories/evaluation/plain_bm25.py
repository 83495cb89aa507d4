"""Okapi's BM25 over messages, each by itself: what any search engine finds, for comparison."""

import math
from collections import Counter
from collections.abc import Sequence

from memories.language.english import lexical

K1, B = 1.5, 0.75


class PlainBM25:
    def __init__(self, texts: Sequence[str]) -> None:
        self._counts = [Counter(lexical.stems(text)) for text in texts]
        self._lengths = [counts.total() for counts in self._counts]
        self._mean = sum(self._lengths) / max(1, len(texts)) or 1.0
        self._spread = Counter(stem for counts in self._counts for stem in counts)

    def best(self, query: str) -> list[int]:
        """Return the places of all texts that share a word with the query, best first."""
        stems, count = set(lexical.stems(query)), len(self._counts)
        rarity = {stem: math.log(1 + (count - self._spread[stem] + 0.5) / (self._spread[stem] + 0.5)) for stem in stems}
        scores = []
        for counts, length in zip(self._counts, self._lengths, strict=True):
            norm = K1 * (1 - B + B * length / self._mean)
            shared = stems & counts.keys()
            scores.append(sum(rarity[stem] * counts[stem] * (K1 + 1) / (counts[stem] + norm) for stem in shared))
        return sorted((at for at, score in enumerate(scores) if score), key=lambda at: (-scores[at], at))
