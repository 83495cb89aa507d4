"""The neural models of this machine, as the settings name them."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec

from django.conf import settings

from memories.errors import ProviderError
from memories.index import configured_embedder
from memories.providers import embedder_from
from memories.providers.neural.known_models import ModelSpec
from memories.providers.neural.model_server import served_beside
from memories.providers.neural.neural_embedder import NeuralEmbedder
from memories.search import reranking

SHARE = 0.5  # of the cores at most compute what is to be indexed, beside all else that the machine does


@contextmanager
def served() -> Iterator[None]:
    """Serve neural models to all processes of this machine, where their library is installed."""
    if find_spec("fastembed") is None:
        yield
        return
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    with served_beside(settings.MODELS_SOCKET, configured(), max(2, int(SHARE * cores) + 1)):
        yield


def configured() -> list[ModelSpec]:
    """Return the models that the settings name; one that they name wrongly is told by the checks."""
    found = []
    try:
        embedder = embedder_from(configured_embedder.configured_config())
        found += [embedder.spec] if isinstance(embedder, NeuralEmbedder) else []
        found += [reranking.reranker_here().spec] if reranking.is_reranker_here() else []
    except ProviderError:
        return found
    return found
