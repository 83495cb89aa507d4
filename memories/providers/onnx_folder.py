"""The folder of a model in ONNX, as those of sentence-transformers are published: `model.onnx` and
`tokenizer.json`; beside them may stand how long a text may be, how its tokens become one vector,
and what a model wants in front of a question."""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from memories.errors import ProviderError

MODELS = ("model.onnx", "onnx/model.onnx")
TOKENIZER, POOLING = "tokenizer.json", "1_Pooling/config.json"
WAY = "pooling_mode_"
WAYS = {f"{WAY}cls_token": "cls", f"{WAY}mean_tokens": "mean"}
LONGEST = 512  # tokens of a text: what a model does with them grows by their square
MARKED = 1_000_000  # bytes


@dataclass(frozen=True)
class ModelFolder:
    """`mark` is of what the files hold; `pooling` is cls, mean, or what we cannot do; `pad` a token
    that counts for nothing."""

    path: Path
    model: Path
    mark: str
    dimensions: int
    longest: int
    pad: int
    pooling: str
    query_prefix: str
    document_prefix: str

    @property
    def name(self) -> str:
        """With the mark: another model in the same folder is another model."""
        return f"{self.path.name[:100]}@{self.mark}"


def read_folder(path: str) -> ModelFolder:
    """What stands in it beside the weights. Raises ProviderError, with what to do."""
    if not path:
        raise _unusable("EMBEDDING_FOLDER names no folder")
    folder = Path(path).absolute()
    models = [folder / name for name in MODELS if (folder / name).is_file()]
    if not models or not (folder / TOKENIZER).is_file():
        missing = TOKENIZER if models else " or ".join(MODELS)
        raise _unusable(f"EMBEDDING_FOLDER={path} has no {missing}")
    try:
        about = _settings(folder / "config.json")
        sentences = _settings(folder / "sentence_bert_config.json")
        prompts = _settings(folder / "config_sentence_transformers.json").get("prompts") or {}
        sizes = (about.get(name) for name in ("hidden_size", "dim", "d_model"))
        lengths = (sentences.get("max_seq_length"), about.get("max_position_embeddings"))
        # Older folders name each way with true or false, newer ones the one that is used.
        told = _settings(folder / POOLING)
        ways = [name for name, is_used in told.items() if name.startswith(WAY) and is_used is True]
        way = str(told.get("pooling_mode") or "+".join(ways) or "mean")
        way = "a dense layer" if (folder / "2_Dense").is_dir() else WAYS.get(way, way)
        return ModelFolder(
            path=folder,
            model=models[0],
            mark=_mark([models[0], folder / TOKENIZER]),
            dimensions=next((int(size) for size in sizes if size), 0),
            longest=min([LONGEST, *(int(length) for length in lengths if length)]),
            pad=int(about.get("pad_token_id") or 0),
            pooling=way,
            query_prefix=str(prompts.get("query", "")),
            document_prefix=str(prompts.get("document", "")),
        )
    except (OSError, ValueError, TypeError, AttributeError) as error:
        raise _unusable(f"EMBEDDING_FOLDER={path} cannot be read: {error}") from error


def _unusable(fault: str) -> ProviderError:
    return ProviderError(
        f"{fault}: give the folder of a model with {MODELS[0]} and {TOKENIZER}, as models of"
        " sentence-transformers are published",
        permanent=True,
    )


def _settings(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(path.read_text()) if path.is_file() else {}
    return found


def _mark(files: Sequence[Path]) -> str:
    """Of their lengths and of what stands at three places: all of a large model takes seconds, and
    whoever trains one anew changes it everywhere."""
    digest = hashlib.sha256()
    for path in files:
        size = path.stat().st_size
        digest.update(size.to_bytes(8))
        with path.open("rb") as file:
            for place in (0, size // 2, max(size - MARKED, 0)):
                file.seek(place)
                digest.update(file.read(MARKED))
    return digest.hexdigest()[:8]
