"""The interface of embedders, the known models, and the two embedders that need no model. A text
without a vector is None: never zeros, never NaN."""

import re
import zlib
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
import numpy.typing as npt

from memories.errors import Misconfigured, ProviderError
from memories.providers.network import MAX_RETRIES, Endpoint

WORD = re.compile(r"\w+")


@dataclass(frozen=True)
class KnownModel:
    """`dimensions` 0: not known. `takes_dimensions`: the server accepts a wish for fewer."""

    dimensions: int = 0
    duplicate_threshold: float = 0.88
    search_floor: float = 0.2
    takes_dimensions: bool = False
    query_prefix: str = ""
    document_prefix: str = ""


# Only MiniLM's threshold was measured; the others are where people start.
KNOWN_MODELS = {
    "text-embedding-3-small": KnownModel(1536, takes_dimensions=True),
    "text-embedding-3-large": KnownModel(3072, takes_dimensions=True),
    "text-embedding-ada-002": KnownModel(1536, 0.95, 0.7),
    "gemini-embedding-001": KnownModel(3072, 0.92, 0.5, takes_dimensions=True),
    "nomic-embed-text": KnownModel(768, 0.92, 0.4, query_prefix="search_query: ", document_prefix="search_document: "),
    "all-minilm": KnownModel(384, 0.92),
    "mxbai-embed-large": KnownModel(
        1024,
        0.92,
        0.4,
        query_prefix="Represent this sentence for searching relevant passages: ",
    ),
    "bge-m3": KnownModel(1024, 0.92, 0.4),
}


def known_model(name: str) -> KnownModel:
    """Also under the names of those who serve it: `models/x` (Gemini), `x:tag` (Ollama)."""
    return KNOWN_MODELS.get(name.removeprefix("models/").partition(":")[0].lower(), KnownModel())


Side = Literal["query", "document"]
Vector = npt.NDArray[np.float32]
Matrix = npt.NDArray[np.float32]


@dataclass(frozen=True)
class ModelsConfig:
    """The way to neural models of this machine: `socket` is where their process is asked, `cache` the folder of what
    is fetched. `alone`: where nobody answers, a model is loaded in this process."""

    socket: str = ""
    cache: str = ""
    alone: bool = True


@dataclass(frozen=True)
class EmbedderConfig:
    """The choice of embedder. Empty `model` and 0 `dimensions` mean the provider's own default.

    `provider` is local, openai, fastembed, hash or none; `timeout` is in seconds, of a call with its
    `retries`; `folder`, or an installed package, holds the files of a neural model.
    """

    provider: str
    model: str = ""
    dimensions: int = 0
    api_key: str = field(default="", repr=False)
    base_url: str = ""
    timeout: float = 30.0
    retries: int = MAX_RETRIES
    folder: str = ""
    models: ModelsConfig = ModelsConfig()

    @property
    def endpoint(self) -> Endpoint:
        return Endpoint(self.api_key, self.base_url, self.timeout, self.retries)


class Embedder(ABC):
    """One embedding model. Vectors of two embedders must never be compared.

    `duplicate_threshold` is the cosine from which two statements say the same;
    `search_floor` the cosine below which a hit is no better than chance. `is_beside`: another process
    of this machine runs it, which may be away.
    """

    provider: str
    name: str
    dimensions: int
    duplicate_threshold: float = 0.88
    search_floor: float = 0.2
    is_remote: bool = False
    is_beside: bool = False

    max_texts: int = 256
    max_characters: int = 100_000

    @abstractmethod
    def make_vectors(self, texts: Sequence[str], side: Side) -> Matrix:
        """One row per text (none is blank), of any length; zeros where there is no vector."""

    def embed(self, texts: Sequence[str], side: Side = "document") -> list[Vector | None]:
        """Unit vectors of `dimensions` float32, one per text; None where a text has none.

        Works in bounded batches. Raises ProviderError; then nothing of `texts` is embedded.
        """
        vectors: list[Vector | None] = [None] * len(texts)
        cleaned = [embeddable(text) for text in texts]
        present = [index for index, text in enumerate(cleaned) if text]
        for batch in batches([len(cleaned[index]) for index in present], self):
            chosen = [present[position] for position in batch]
            matrix = self.make_vectors([cleaned[index] for index in chosen], side)
            self._check(matrix, len(chosen))
            lengths = np.linalg.norm(matrix, axis=1)
            divisors = np.where(lengths > 0, lengths, 1)[:, None]
            unit: Matrix = np.divide(matrix, divisors, dtype=np.float32)
            for index, row, length in zip(chosen, unit, lengths, strict=True):
                vectors[index] = row if length > 0 else None
        return vectors

    def embed_one(self, text: str, side: Side = "query") -> Vector | None:
        return self.embed([text], side)[0]

    def _check(self, matrix: Matrix, count: int) -> None:
        if matrix.shape != (count, self.dimensions):
            raise Misconfigured(
                f"{self.provider} model {self.name} answered vectors of {matrix.shape[-1]}"
                f" dimensions where {self.dimensions} are expected",
                permanent=True,
            )
        if not np.isfinite(matrix).all():
            raise ProviderError(
                f"{self.provider} model {self.name} answered a vector that holds no numbers",
                permanent=False,
            )


def embeddable(text: str) -> str:
    """`text` without blanks around it; half a surrogate pair, which no model reads, becomes '?'."""
    try:
        text.encode()
    except UnicodeEncodeError:
        text = text.encode("utf-8", "replace").decode()
    return text.strip()


def batches(lengths: Sequence[int], bounds: Embedder) -> Iterator[range]:
    """Runs of positions that keep within `bounds`; a text that is too long for one goes alone."""
    start = total = 0
    for position, length in enumerate(lengths):
        full = position - start == bounds.max_texts or total + length > bounds.max_characters
        if full and position > start:
            yield range(start, position)
            start, total = position, 0
        total += length
    if start < len(lengths):
        yield range(start, len(lengths))


class HashEmbedder(Embedder):
    """Signed feature hashing of words and their letter triples: alike is what is spelt alike."""

    provider = "hash"
    name = "hash-256"
    dimensions = 256
    duplicate_threshold = 0.9
    search_floor = 0.1

    def make_vectors(self, texts: Sequence[str], side: Side) -> Matrix:
        counts = np.zeros((len(texts), self.dimensions), np.float32)
        for own, text in zip(counts, texts, strict=True):
            for word in WORD.findall(text.casefold()):
                framed = f"^{word}$"
                for feature in (word, *(framed[at : at + 3] for at in range(len(word)))):
                    code = zlib.crc32(feature.encode())
                    own[code % self.dimensions] += 1.0 if code & 0x8000_0000 else -1.0
        return counts


class NoEmbedder(Embedder):
    provider = "none"
    name = "none"
    dimensions = 0

    def make_vectors(self, texts: Sequence[str], side: Side) -> Matrix:
        return np.zeros((len(texts), 0), np.float32)
