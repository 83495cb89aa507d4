"""The only way out of the machine: embedders and extractors behind one small face each."""

import functools
import importlib
from typing import Any

from memories.errors import ProviderError
from memories.providers.chat_model import ChatModel
from memories.providers.embedder import Embedder, EmbedderConfig, ModelsConfig, Side, Vector, embeddable
from memories.providers.extractor import (
    ExtractedFact,
    ExtractedQuote,
    ExtractionAnswer,
    Extractor,
    ExtractorConfig,
    ModelQuestion,
    ModelReply,
)
from memories.providers.prompts import ExtractionRequest, PromptMessage

# Providers by name. Their modules are imported at first use: the SDKs take a second or two.

EMBEDDERS = {
    "local": "memories.providers.local_embedder.LocalEmbedder",
    "openai": "memories.providers.openai_provider.OpenAIEmbedder",
    "fastembed": "memories.providers.neural.neural_embedder.NeuralEmbedder",
    "hash": "memories.providers.embedder.HashEmbedder",
    "none": "memories.providers.embedder.NoEmbedder",
}
EXTRACTORS = {
    "anthropic": "memories.providers.anthropic_provider.AnthropicExtractor",
    "azure": "memories.providers.cloud_models.AzureExtractor",
    "bedrock": "memories.providers.cloud_models.BedrockExtractor",
    "openai": "memories.providers.openai_provider.OpenAIExtractor",
    "vertex": "memories.providers.cloud_models.VertexExtractor",
    "none": "memories.providers.extractor.NoExtractor",
}
CHAT_MODELS = {
    "anthropic": "memories.providers.anthropic_provider.AnthropicChat",
    "azure": "memories.providers.cloud_models.AzureChat",
    "bedrock": "memories.providers.cloud_models.BedrockChat",
    "openai": "memories.providers.openai_provider.OpenAIChat",
    "vertex": "memories.providers.cloud_models.VertexChat",
}


@functools.lru_cache(maxsize=32)
def chat_model_from(config: ExtractorConfig) -> ChatModel:
    """The one that talks in this process for `config`. Raises ProviderError for an unknown one."""
    found: ChatModel = _class_of(config.provider, CHAT_MODELS, "chat")(config)
    return found


@functools.lru_cache(maxsize=32)
def embedder_from(config: EmbedderConfig) -> Embedder:
    """The one embedder of this process for `config`. Raises ProviderError for an unknown one."""
    found = _class_of(config.provider, EMBEDDERS, "embedding")
    embedder: Embedder = found(config) if config.provider in ("openai", "fastembed") else found()
    return embedder


@functools.lru_cache(maxsize=32)
def extractor_from(config: ExtractorConfig) -> Extractor:
    """The one extractor of this process for `config`. Raises ProviderError for an unknown one."""
    found = _class_of(config.provider, EXTRACTORS, "extraction")
    extractor: Extractor = found() if config.provider == "none" else found(config)
    return extractor


def _class_of(provider: str, known: dict[str, str], kind: str) -> Any:
    if provider not in known:
        raise ProviderError(
            f"there is no {kind} provider {provider!r}: choose one of {', '.join(known)}",
            permanent=True,
        )
    module, _, name = known[provider].rpartition(".")
    return getattr(importlib.import_module(module), name)


__all__ = [
    "Embedder",
    "EmbedderConfig",
    "ExtractedFact",
    "ExtractionAnswer",
    "ExtractionRequest",
    "Extractor",
    "ExtractorConfig",
    "ModelsConfig",
    "PromptMessage",
    "ModelQuestion",
    "ExtractedQuote",
    "ModelReply",
    "Side",
    "Vector",
    "embeddable",
    "embedder_from",
    "extractor_from",
]
