"""Reordering of the first hits by a reranker, where one is configured."""

import logging
import uuid
from collections.abc import Sequence

from django.conf import settings

from memories import metrics
from memories.errors import ProviderError, Unasked
from memories.index.configured_embedder import models_config
from memories.meters import breakers
from memories.providers.http_reranker import HttpReranker, RerankerConfig
from memories.providers.neural.neural_embedder import NeuralReranker

RERANKED = 50  # so many of the best are put in order anew

log = logging.getLogger(__name__)


def is_reranker_configured() -> bool:
    return is_reranker_here() or bool(settings.RERANK_BASE_URL)


def is_reranker_here() -> bool:
    """Tell whether the reranker runs on this machine."""
    return bool(settings.RERANK_PROVIDER == "fastembed")


def reranker_here() -> NeuralReranker:
    return NeuralReranker(models_config(), settings.RERANK_MODEL, settings.RERANK_FOLDER, settings.RERANK_TIMEOUT)


def reranker_scores(workspace_id: uuid.UUID, query: str, texts: Sequence[str]) -> list[float | None] | None:
    """Return how well each text answers, 0 to 1, with None for texts that the reranker left out;
    None alone where it failed, which is counted."""
    if not texts:
        return []
    try:
        found = _by_this_machine(query, texts) if is_reranker_here() else _by_a_server(workspace_id, query, texts)
    except ProviderError as error:
        if not isinstance(error, Unasked):  # one not asked was logged when it failed
            log.warning("Search goes on without its reranker: %s", error)
        metrics.count("reranks", outcome="failed")
        return None
    metrics.count("reranks", outcome="ok")
    return [None if score is None else min(1.0, max(0.0, score)) for score in found]


def _by_this_machine(query: str, texts: Sequence[str]) -> list[float | None]:
    reranker = reranker_here()
    line = breakers.ProviderLine("rerank", reranker.name, seconds=reranker.timeout)
    return breakers.call(line, lambda: reranker.scores(query, texts))


def _by_a_server(workspace_id: uuid.UUID, query: str, texts: Sequence[str]) -> list[float | None]:
    config = RerankerConfig(
        base_url=settings.RERANK_BASE_URL,
        model=settings.RERANK_MODEL,
        api_key=settings.RERANK_API_KEY,
        timeout=settings.RERANK_TIMEOUT,
        wire=settings.RERANK_WIRE,
    )
    url, key, seconds = config.endpoint.base_url, config.api_key, config.timeout
    line = breakers.ProviderLine("rerank", config.model, url, key, seconds, workspace_id)
    return breakers.call(line, lambda: HttpReranker(config).scores(query, texts))
