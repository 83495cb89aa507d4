"""Synthetic memories: vectors in topics and subtopics, texts of made-up words. The same seed, the
same data.

Cosines of random pairs lie near 0.1, of next neighbours near 0.7, as those of real sentences do;
words are as unequally frequent as real ones (Zipf).
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

import numpy as np
import numpy.typing as npt

Matrix = npt.NDArray[np.float32]
TOPICS, SUBTOPICS, DIRECTIONS = 400, 10, 48
COMMON, OF_TOPIC, OF_SUBTOPIC, OF_TEXT, OF_REPEAT = 0.38, 0.65, 0.65, 0.6, 0.25
VOCABULARY = 40_000
SHORTEST, LONGEST = 8, 24  # words of a text
EVERY_OLD = 10  # one text in ten has replaced an older version
CONSONANTS, VOWELS = "bdfgklmnprstvz", "aeiou"


@dataclass(frozen=True, slots=True)
class Block:
    """Texts with their unit vectors; `old_*` are former versions of texts 0, 10, 20 and on."""

    texts: list[str]
    vectors: Matrix
    old_texts: list[str]
    old_vectors: Matrix


class Corpus:
    """Blocks of texts by place and number; every process that has the seed sees the same ones."""

    def __init__(self, dimensions: int, seed: int = 1) -> None:
        self.dimensions, self.seed = dimensions, seed
        chance = np.random.default_rng(seed)
        self.common = _unit(chance.standard_normal((1, dimensions)))
        self.topics = _unit(chance.standard_normal((TOPICS, dimensions)))
        self.subtopics = _unit(chance.standard_normal((TOPICS * SUBTOPICS, dimensions)))
        self.directions = _unit(chance.standard_normal((DIRECTIONS, dimensions)))
        self.words = _words(chance)
        weights = 1.0 / (np.arange(VOCABULARY) + 2.7)
        self.shares = np.cumsum(weights / weights.sum())

    def block(self, place: int, number: int, size: int) -> Block:
        chance = np.random.default_rng([self.seed, place, number])
        texts, vectors = self._texts(chance, size), self._vectors(chance, size)
        noise = self._noise(chance, len(vectors[::EVERY_OLD]))
        old_vectors = _unit(vectors[::EVERY_OLD] + OF_REPEAT * noise)
        old_texts = [f"{text[:-1]} {self._word(chance)}." for text in texts[::EVERY_OLD]]
        return Block(texts, vectors, old_texts, old_vectors)

    def queries(self, texts: list[str], count: int) -> list[str]:
        """Every second one is two neighbouring words of a text, the others are five words of
        one."""
        chance = np.random.default_rng([self.seed, 1])
        return [_piece(chance, texts[int(chance.integers(len(texts)))], in_order=bool(i % 2)) for i in range(count)]

    def near(self, vectors: Matrix, count: int) -> Matrix:
        """Query vectors: members of `vectors`, somewhat moved."""
        chance = np.random.default_rng([self.seed, 2])
        chosen = vectors[chance.integers(len(vectors), size=count)]
        return _unit(chosen + OF_TEXT * self._noise(chance, count))

    def messages(self, place: int, told: int) -> Iterator[str]:
        """Short sentences as people say them, each new; every third one is a claim."""
        chance = np.random.default_rng([self.seed, 3, place, told])
        while True:
            yield self.claim(chance)
            yield self._texts(chance, 1)[0]
            yield f"What do you think of {self._word(chance)}?"

    def claims(self, place: int, told: int) -> Iterator[str]:
        chance = np.random.default_rng([self.seed, 4, place, told])
        while True:
            yield self.claim(chance)

    def claim(self, chance: np.random.Generator) -> str:
        return f"I prefer {self._word(chance)} over {self._word(chance)}."

    def _word(self, chance: np.random.Generator) -> str:
        return self.words[int(chance.integers(VOCABULARY))]

    def _texts(self, chance: np.random.Generator, size: int) -> list[str]:
        lengths = chance.integers(SHORTEST, LONGEST + 1, size)
        drawn = np.searchsorted(self.shares, chance.random(int(lengths.sum())))
        words = iter([self.words[min(place, VOCABULARY - 1)] for place in drawn.tolist()])
        return [f"{' '.join(next(words) for _ in range(length)).capitalize()}." for length in lengths.tolist()]

    def _vectors(self, chance: np.random.Generator, size: int) -> Matrix:
        # Some topics are talked about more than others.
        topic = np.minimum(chance.zipf(1.3, size) - 1, 10**6) % TOPICS
        subtopic = topic * SUBTOPICS + chance.integers(SUBTOPICS, size=size)
        whole = COMMON * self.common + OF_TOPIC * self.topics[topic]
        whole = whole + OF_SUBTOPIC * self.subtopics[subtopic]
        return _unit(whole + OF_TEXT * self._noise(chance, size))

    def _noise(self, chance: np.random.Generator, size: int) -> Matrix:
        mixed = chance.standard_normal((size, DIRECTIONS)) @ self.directions
        return _unit(mixed)


def _unit(rows: npt.NDArray[np.floating]) -> Matrix:
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return (rows / np.maximum(lengths, 1e-12)).astype(np.float32)


def _words(chance: np.random.Generator) -> list[str]:
    syllables = ["".join(pair) for pair in product(CONSONANTS, VOWELS)]
    made = ["".join(three) for three in product(syllables, repeat=3)]
    return [made[place] for place in chance.permutation(len(made))[:VOCABULARY].tolist()]


def _piece(chance: np.random.Generator, text: str, *, in_order: bool) -> str:
    words = text.rstrip(".").lower().split()
    if in_order:
        start = int(chance.integers(len(words) - 1))
        return " ".join(words[start : start + 2])
    return " ".join(words[place] for place in chance.permutation(len(words))[:5].tolist())
