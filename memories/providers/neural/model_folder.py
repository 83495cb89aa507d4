"""The folder of a model in ONNX, as those of sentence-transformers are published."""

import hashlib
import importlib.util
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from memories.errors import ProviderError
from memories.providers.neural.known_models import FIRST, MEAN

WEIGHTS = (
    "model.onnx",
    "onnx/model.onnx",
    "model_optimized.onnx",
    "model_quantized.onnx",
    "onnx/model_quantized.onnx",
)
TOKENIZER, TOKENIZER_SETTINGS, POOLING = "tokenizer.json", "tokenizer_config.json", "1_Pooling/config.json"
WAY = "pooling_mode_"
WAYS = {f"{WAY}cls_token": FIRST, "cls": FIRST, f"{WAY}mean_tokens": MEAN, "mean": MEAN}
MARKED = 1_000_000  # bytes


@dataclass(frozen=True)
class ModelFolder:
    """`file` has the weights; `mark` is of what the files hold."""

    path: Path
    file: str
    mark: str
    dimensions: int
    pooling: str
    query_prefix: str
    document_prefix: str

    @property
    def name(self) -> str:
        """With the mark: another model in the same folder is another model."""
        return f"{self.path.name[:100]}@{self.mark}"


def read_folder(named: str) -> ModelFolder:
    """Read the settings beside the weights of a folder, or of an installed package that carries them.

    Raises ProviderError, with what to do.
    """
    path = _place_of(named)
    found = [name for name in WEIGHTS if (path / name).is_file()]
    missing = [name for name in (TOKENIZER, TOKENIZER_SETTINGS) if not (path / name).is_file()]
    if not found or missing:
        lacks = missing[0] if found else " or ".join(WEIGHTS[:2])
        raise _unusable(f"{named} has no {lacks}")
    try:
        about = _settings(path / "config.json")
        prompts = _settings(path / "config_sentence_transformers.json").get("prompts") or {}
        sizes = (about.get(name) for name in ("hidden_size", "dim", "d_model"))
        return ModelFolder(
            path=path,
            file=found[0],
            mark=_mark([path / found[0], path / TOKENIZER]),
            dimensions=next((int(size) for size in sizes if size), 0),
            pooling=_pooling(path),
            query_prefix=str(prompts.get("query", "")),
            document_prefix=str(prompts.get("document", prompts.get("passage", ""))),
        )
    except (OSError, ValueError, TypeError, AttributeError) as error:
        raise _unusable(f"{named} cannot be read: {error}") from error


def _place_of(named: str) -> Path:
    folder = Path(named).expanduser()
    if folder.is_dir():
        return folder.absolute()
    package = importlib.util.find_spec(named) if named.isidentifier() else None
    places = list(package.submodule_search_locations or []) if package else []
    if not places:
        raise _unusable(f"{named} is neither a folder nor an installed package")
    return Path(places[0])


def _pooling(path: Path) -> str:
    told = _settings(path / POOLING)
    # Older folders name each way with true or false, newer ones the one that is used.
    ways = [name for name, is_used in told.items() if name.startswith(WAY) and is_used is True]
    way = str(told.get("pooling_mode") or "+".join(ways) or MEAN)
    way = "a dense layer" if (path / "2_Dense").is_dir() else way
    if way not in WAYS:
        raise ValueError(f"it makes a text's vector by {way}, which is not known here")
    return WAYS[way]


def _unusable(fault: str) -> ProviderError:
    return ProviderError(
        f"{fault}: give the folder of a model with {WEIGHTS[0]}, {TOKENIZER} and {TOKENIZER_SETTINGS}, as models"
        " of sentence-transformers are published",
        permanent=True,
    )


def _settings(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(path.read_text()) if path.is_file() else {}
    return found


def _mark(files: Sequence[Path]) -> str:
    """Return a digest of their lengths and of three places in each: to read all of a large model takes seconds, and
    training it anew changes it everywhere."""
    digest = hashlib.sha256()
    for path in files:
        size = path.stat().st_size
        digest.update(size.to_bytes(8))
        with path.open("rb") as file:
            for place in (0, size // 2, max(size - MARKED, 0)):
                file.seek(place)
                digest.update(file.read(MARKED))
    return digest.hexdigest()[:8]
