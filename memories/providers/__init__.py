"""The only way out of the machine: embedders and extractors behind one small face each."""

from memories.prompts import ExtractionRequest, PromptMessage
from memories.providers.embedder import Embedder, EmbedderConfig, Side, Vector, embeddable
from memories.providers.extractor import (
    ExtractedFact,
    ExtractedQuote,
    ExtractionAnswer,
    Extractor,
    ExtractorConfig,
    ModelQuestion,
    ModelReply,
)
from memories.providers.registry import embedder_from, extractor_from

__all__ = [
    "Embedder", "EmbedderConfig", "ExtractedFact", "ExtractionAnswer", "ExtractionRequest",
    "Extractor", "ExtractorConfig", "PromptMessage", "ModelQuestion", "ExtractedQuote",
    "ModelReply", "Side", "Vector", "embeddable", "embedder_from", "extractor_from",
]  # fmt: skip
