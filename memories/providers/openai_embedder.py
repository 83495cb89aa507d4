"""Embeddings over OpenAI's wire: OpenAI, Ollama, Gemini's compatible endpoint and others."""

from collections.abc import Iterator, Sequence

import numpy as np
import openai

from memories.errors import ProviderError
from memories.providers import network
from memories.providers.embedder import Embedder, EmbedderConfig, Matrix, Side, batches
from memories.providers.embedding_models import known_model
from memories.providers.openai_client import client_for, named

DEFAULT_MODEL = "text-embedding-3-small"
# OpenAI takes 8,191 tokens per text, and a token is never less than a byte. What is longer goes
# in pieces, and the text's vector is their mean, weighted by length.
PIECE_BYTES = 8_000


class OpenAIEmbedder(Embedder):
    provider = "openai"
    is_remote = True

    def __init__(self, config: EmbedderConfig) -> None:
        self.name = config.model or DEFAULT_MODEL
        self._endpoint = config.endpoint
        self._known = known_model(self.name)
        self.dimensions = config.dimensions or self._known.dimensions
        self.duplicate_threshold = self._known.duplicate_threshold
        self.search_floor = self._known.search_floor
        if not self.dimensions:
            raise ProviderError(
                f"how many dimensions {self.name} has is not known: set EMBEDDING_DIMENSIONS",
                permanent=True,
            )

    def _vectors(self, texts: Sequence[str], side: Side) -> Matrix:
        known = self._known
        prefix = known.query_prefix if side == "query" else known.document_prefix
        owned = [(owner, piece) for owner, text in enumerate(texts) for piece in pieces(text)]
        sizes = [len(piece) for _, piece in owned]
        sums = np.zeros((len(texts), self.dimensions), np.float32)
        for batch in batches(sizes, self):
            vectors = self._ask([prefix + owned[position][1] for position in batch])
            weights = np.array([sizes[position] for position in batch], np.float32)
            owners = [owned[position][0] for position in batch]
            np.add.at(sums, owners, vectors * weights[:, None])
        return sums

    def _ask(self, pieces: list[str]) -> Matrix:
        wish = self.dimensions if self._known.takes_dimensions else openai.omit
        client = client_for(self._endpoint)

        def call() -> Matrix:
            answer = client.embeddings.create(model=self.name, input=pieces, dimensions=wish)
            rows = sorted(answer.data, key=lambda row: row.index)
            vectors = np.array([row.embedding for row in rows], np.float32)
            if len(vectors) != len(pieces):
                raise ValueError(f"{len(vectors)} vectors for {len(pieces)} texts")
            return vectors

        who = named(self.name, self._endpoint)
        vectors = network.ask(openai, who, self._endpoint.timeout, call)
        self._check(vectors, len(pieces))
        return vectors


def pieces(text: str) -> Iterator[str]:
    """`text` cut into at most PIECE_BYTES of UTF-8 each, between characters."""
    data = text.encode()
    start = 0
    while start < len(data):
        end = start + PIECE_BYTES
        while end < len(data) and data[end] & 0xC0 == 0x80:
            end -= 1
        yield data[start:end].decode()
        start = end
