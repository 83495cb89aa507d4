"""What is known of embedding models: dimensions, thresholds, and the words they want in front."""

from dataclasses import dataclass


@dataclass(frozen=True)
class KnownModel:
    """`dimensions` 0: not known. `takes_dimensions`: the server accepts a wish for fewer."""

    dimensions: int = 0
    duplicate_threshold: float = 0.88
    search_floor: float = 0.2
    takes_dimensions: bool = False
    query_prefix: str = ""
    document_prefix: str = ""


# Of the thresholds only MiniLM's was measured; the others are where people start.
KNOWN = {
    "text-embedding-3-small": KnownModel(1536, takes_dimensions=True),
    "text-embedding-3-large": KnownModel(3072, takes_dimensions=True),
    "text-embedding-ada-002": KnownModel(1536, 0.95, 0.7),
    "gemini-embedding-001": KnownModel(3072, 0.92, 0.5, takes_dimensions=True),
    "nomic-embed-text": KnownModel(
        768, 0.92, 0.4, query_prefix="search_query: ", document_prefix="search_document: "
    ),
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
    return KNOWN.get(name.removeprefix("models/").partition(":")[0].lower(), KnownModel())
