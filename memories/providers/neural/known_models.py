"""Neural models by the names that people know them by, with what must be known of one before it is loaded.

The library that runs them takes a second and many megabytes to import: only the process of models does that.
"""

from dataclasses import dataclass
from typing import NamedTuple

from memories.providers.embedder import KnownModel

EMBEDDING, RERANKING = "embedding", "reranking"
FOR_BGE = "Represent this sentence for searching relevant passages: "
MEAN, FIRST = "mean", "cls"  # ways to make a text's vector of those of its tokens


@dataclass(frozen=True, slots=True)
class ModelSpec:
    """A model as its process has to load it. `folder` has its files, `file` is the one with its weights; without
    a folder the library finds or fetches them in `cache`. `pooling` is empty for what the library itself describes."""

    purpose: str
    name: str
    dimensions: int = 1
    folder: str = ""
    file: str = ""
    pooling: str = ""
    cache: str = ""


class NeuralModel(NamedTuple):
    """`also`: shorter names. `is_listed`: the library knows where its files are; else they are fetched by its name."""

    name: str
    also: str
    known: KnownModel
    pooling: str = MEAN
    is_listed: bool = True


# Thresholds are where people start: `calibrate` measures them on a workspace's own memories.
EMBEDDERS = (
    NeuralModel("sentence-transformers/all-MiniLM-L6-v2", "minilm all-minilm", KnownModel(384, 0.92)),
    NeuralModel("BAAI/bge-small-en-v1.5", "bge-small", KnownModel(384, 0.92, 0.5, query_prefix=FOR_BGE), FIRST),
    NeuralModel("BAAI/bge-base-en-v1.5", "bge-base", KnownModel(768, 0.92, 0.5, query_prefix=FOR_BGE), FIRST),
    NeuralModel("BAAI/bge-large-en-v1.5", "bge-large", KnownModel(1024, 0.92, 0.5, query_prefix=FOR_BGE), FIRST),
    NeuralModel(
        "intfloat/multilingual-e5-small",
        "e5 e5-small multilingual-e5",
        KnownModel(384, 0.95, 0.78, query_prefix="query: ", document_prefix="passage: "),
        is_listed=False,
    ),
    NeuralModel(
        "intfloat/multilingual-e5-base",
        "e5-base",
        KnownModel(768, 0.95, 0.78, query_prefix="query: ", document_prefix="passage: "),
        is_listed=False,
    ),
    NeuralModel(
        "intfloat/multilingual-e5-large",
        "e5-large",
        KnownModel(1024, 0.95, 0.78, query_prefix="query: ", document_prefix="passage: "),
    ),
    NeuralModel(
        "nomic-ai/nomic-embed-text-v1.5",
        "nomic nomic-embed-text",
        KnownModel(768, 0.92, 0.4, query_prefix="search_query: ", document_prefix="search_document: "),
    ),
    NeuralModel("jinaai/jina-embeddings-v2-small-en", "jina jina-small", KnownModel(512, 0.92, 0.4)),
    NeuralModel("jinaai/jina-embeddings-v2-base-en", "jina-base", KnownModel(768, 0.92, 0.4)),
    NeuralModel("jinaai/jina-embeddings-v2-base-de", "jina-de", KnownModel(768, 0.92, 0.4)),
    NeuralModel("jinaai/jina-embeddings-v2-base-zh", "jina-zh", KnownModel(768, 0.92, 0.4)),
    NeuralModel(
        "sentence-transformers/paraphrase-multilingual-MiniLM-L12-v2", "multilingual-minilm", KnownModel(384, 0.92, 0.3)
    ),
    NeuralModel(
        "mixedbread-ai/mxbai-embed-large-v1",
        "mxbai mxbai-embed-large",
        KnownModel(1024, 0.92, 0.4, query_prefix=FOR_BGE),
        FIRST,
    ),
    NeuralModel("thenlper/gte-base", "gte", KnownModel(768, 0.95, 0.75)),
)
# All of them English, but for the last one.
RERANKERS = {
    "ms-marco-minilm": "Xenova/ms-marco-MiniLM-L-6-v2",
    "jina-reranker-tiny": "jinaai/jina-reranker-v1-tiny-en",
    "jina-reranker-turbo": "jinaai/jina-reranker-v1-turbo-en",
    "bge-reranker": "BAAI/bge-reranker-base",
    "bge-reranker-m3": "BAAI/bge-reranker-v2-m3-int8",
}
DEFAULT_EMBEDDER, DEFAULT_RERANKER = "BAAI/bge-small-en-v1.5", "Xenova/ms-marco-MiniLM-L-6-v2"


def known_embedder(name: str) -> NeuralModel | None:
    """Return the embedder that is called so, with or without its publisher; None where it is not known."""
    wanted = name.lower()
    for model in EMBEDDERS:
        own = model.name.lower()
        if wanted in (own, own.partition("/")[2], *model.also.split()):
            return model
    return None


def reranker_name(name: str) -> str:
    """Return the library's name of the reranker that is called so."""
    wanted = name.lower()
    for short, own in RERANKERS.items():
        if wanted in (short, own.lower(), own.lower().partition("/")[2]):
            return own
    return name or DEFAULT_RERANKER
