"""The last step of a search, where a reranker is configured and asked for.

It only puts in order what was found; a search never fails because of it.
"""

import logging
from collections.abc import Sequence

from django.conf import settings

from memories import breakers, metrics
from memories.errors import ProviderError, Unasked
from memories.providers.http_reranker import HttpReranker, RerankerConfig

MOST = 50  # so many of the best are put in order anew

log = logging.getLogger(__name__)


def is_configured() -> bool:
    return bool(settings.RERANK_BASE_URL)


def scores(query: str, texts: Sequence[str]) -> list[float | None] | None:
    """How well each text answers, 0 to 1, None of what it left out; None in all where the
    reranker failed, which is counted."""
    config = RerankerConfig(
        base_url=settings.RERANK_BASE_URL,
        model=settings.RERANK_MODEL,
        api_key=settings.RERANK_API_KEY,
        timeout=settings.RERANK_TIMEOUT,
    )
    url, key, seconds = config.endpoint.base_url, config.api_key, config.timeout
    line = breakers.ProviderLine("rerank", config.model, url, key, seconds)
    if not texts:
        return []
    try:
        found = breakers.call(line, lambda: HttpReranker(config).scores(query, texts))
    except ProviderError as error:
        if not isinstance(error, Unasked):  # what is not asked was told when it failed
            log.warning("Search goes on without its reranker: %s", error)
        metrics.count("reranks", outcome="failed")
        return None
    metrics.count("reranks", outcome="ok")
    return [None if score is None else min(1.0, max(0.0, score)) for score in found]
