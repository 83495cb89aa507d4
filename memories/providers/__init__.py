"""The only way out of the machine: embedders and extractors behind one small face each."""

from memories.prompts import ExtractionRequest, Message
from memories.providers.embedder import Embedder, EmbedderConfig, Side, Vector, embeddable
from memories.providers.extractor import (
    ExtractedFact,
    ExtractionAnswer,
    Extractor,
    ExtractorConfig,
    Question,
    Quote,
    Reply,
)
from memories.providers.registry import embedder_from, extractor_from

__all__ = [
    "Embedder",
    "EmbedderConfig",
    "ExtractedFact",
    "ExtractionAnswer",
    "ExtractionRequest",
    "Extractor",
    "ExtractorConfig",
    "Message",
    "Question",
    "Quote",
    "Reply",
    "Side",
    "Vector",
    "embeddable",
    "embedder_from",
    "extractor_from",
]
