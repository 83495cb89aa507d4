"""The embedded embedder: WordLlama's 256 dimensions out of its wheel, with no network.

The files are found and read, the package is never imported: importing it sets up logging for
the whole process, and its loader looks for the tokenizer where the wheel has none and then
downloads it.
"""

import importlib.util
import json
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from memories.errors import ProviderError
from memories.providers.embedder import Embedder, Matrix, Side, Vector, embeddable

if TYPE_CHECKING:
    from tokenizers import Tokenizer

WEIGHTS = "weights/l2_supercat_256.safetensors"
TOKENIZER = "tokenizers/l2_supercat_tokenizer_config.json"
TENSOR = "embedding.weight"
# A longer text is tokenised and summed in parts: a megabyte at once would take 100 MB.
CHARACTERS_AT_ONCE = 8_000


@dataclass(frozen=True)
class _Weights:
    table: npt.NDArray[np.float16]
    tokenizer: "Tokenizer"


class LocalEmbedder(Embedder):
    """A text's vector is the mean of its tokens' vectors. English; safe to share by threads."""

    provider = "local"
    name = "wordllama-l2-supercat-256"
    dimensions = 256
    duplicate_threshold = 0.88
    # 95 of 100 pairs of a question and a random message lie below (measured: 0.23).
    search_floor = 0.23

    def make_vectors(self, texts: Sequence[str], side: Side) -> Matrix:
        weights = _weights()
        return np.stack([_sum(weights, text) for text in texts])

    def embed_one(self, text: str, side: Side = "query") -> Vector | None:
        """Embed one text like `embed`, without the work of a batch: searches wait for this."""
        cleaned = embeddable(text)
        if not cleaned:
            return None
        vector = _sum(_weights(), cleaned)
        square = float(vector.dot(vector))
        return vector / np.float32(square**0.5) if square > 0 else None


def is_available() -> bool:
    """Tell whether the wheel with the weights is installed; reads nothing of it."""
    root = _root()
    return root is not None and (root / WEIGHTS).is_file() and (root / TOKENIZER).is_file()


def vocabulary() -> "Tokenizer | None":
    """The model's 32,000 pieces; None where its wheel is not installed. Safe to share by threads.

    Raises ProviderError.
    """
    return _weights().tokenizer if is_available() else None


def _sum(weights: _Weights, text: str) -> Vector:
    if len(text) > CHARACTERS_AT_ONCE:
        starts = range(0, len(text), CHARACTERS_AT_ONCE)
        parts = (_sum(weights, text[start : start + CHARACTERS_AT_ONCE]) for start in starts)
        return sum(parts, start=np.zeros(LocalEmbedder.dimensions, np.float32))
    ids = weights.tokenizer.encode(text, add_special_tokens=False).ids
    if not ids:
        return np.zeros(LocalEmbedder.dimensions, np.float32)
    total: Vector = weights.table.take(ids, axis=0).astype(np.float32).sum(axis=0)
    return total


_lock = threading.Lock()
_loaded: _Weights | None = None


def _weights() -> _Weights:
    global _loaded
    if _loaded is None:
        with _lock:
            if _loaded is None:
                _loaded = _load()
    return _loaded


def _load() -> _Weights:
    root = _root()
    if root is None or not is_available():
        raise ProviderError(
            "the local embedder's files are missing: install the wordllama package,"
            " or set EMBEDDING_PROVIDER to hash, openai or none",
            permanent=True,
        )
    from tokenizers import Tokenizer

    try:
        tokenizer: Tokenizer = Tokenizer.from_file(str(root / TOKENIZER))
        tokenizer.no_padding()
        tokenizer.no_truncation()
        return _Weights(_table(root / WEIGHTS), tokenizer)
    except (OSError, ValueError, LookupError) as error:
        raise ProviderError(f"the local embedder's files cannot be read: {error}", permanent=True) from error


def _root() -> Path | None:
    found = importlib.util.find_spec("wordllama")
    places = list(found.submodule_search_locations or []) if found else []
    return Path(places[0]) if places else None


def _table(path: Path) -> npt.NDArray[np.float16]:
    """The rows stay in the file, mapped: all processes of the machine share one copy of them.

    A safetensors file is the length of its header, the header (JSON), and the rows.
    """
    with path.open("rb") as file:
        size = int.from_bytes(file.read(8), "little")
        about = json.loads(file.read(size))[TENSOR]
    if about["dtype"] != "F16" or about["shape"][1] != LocalEmbedder.dimensions:
        raise ValueError(f"{path.name} holds {about['dtype']} {about['shape']}")
    offset = 8 + size + about["data_offsets"][0]
    rows = np.memmap(path, np.float16, mode="r", offset=offset, shape=tuple(about["shape"]))
    return rows.view(np.ndarray)
