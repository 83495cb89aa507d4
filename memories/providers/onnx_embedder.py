"""A model in ONNX out of a folder that the operator names, as those of sentence-transformers are
published, run in this process. Nothing is fetched."""

import functools
import hashlib
import json
import os
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from memories.errors import ProviderError
from memories.providers.embedder import Embedder, EmbedderConfig, Matrix, Side

MODELS = ("model.onnx", "onnx/model.onnx")
TOKENIZER, POOLING = "tokenizer.json", "1_Pooling/config.json"
WAY = "pooling_mode_"
WAYS = {f"{WAY}cls_token": "cls", f"{WAY}mean_tokens": "mean"}
LONGEST = 512  # tokens of a text: what a model does with them grows by their square
MARKED = 1_000_000  # bytes


CHARACTERS_OF_A_TOKEN = 16  # at most, of words: what is further behind is cut before it is read
TEXTS_AT_ONCE = 16  # of the longest: some 200 MB in a model of twelve heads


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
    """Read the settings beside the weights. Raises ProviderError, with what to do."""
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
    """Return a digest of their lengths and of three places in each: to read all of a large model
    takes seconds, and training it anew changes it everywhere."""
    digest = hashlib.sha256()
    for path in files:
        size = path.stat().st_size
        digest.update(size.to_bytes(8))
        with path.open("rb") as file:
            for place in (0, size // 2, max(size - MARKED, 0)):
                file.seek(place)
                digest.update(file.read(MARKED))
    return digest.hexdigest()[:8]


if TYPE_CHECKING:
    from tokenizers import Tokenizer


class OnnxEmbedder(Embedder):
    """Safe to share by threads. Its thresholds are nobody's in particular: `calibrate` them."""

    provider = "onnx"

    def __init__(self, config: EmbedderConfig) -> None:
        """The model itself is loaded when it is first asked: the threads that it then has would
        not come along into the processes which are forked from this one."""
        self._path = config.folder
        self.name = config.model or self._folder.name
        self.dimensions = config.dimensions or self._folder.dimensions
        if not self.dimensions:
            raise ProviderError(
                f"how many dimensions {self.name} has is not known: set EMBEDDING_DIMENSIONS",
                permanent=True,
            )

    @functools.cached_property
    def _folder(self) -> ModelFolder:
        return read_folder(self._path)

    def make_vectors(self, texts: Sequence[str], side: Side) -> Matrix:
        folder = self._folder
        if folder.mark != self.name.rpartition("@")[2]:
            raise ProviderError(
                f"EMBEDDING_FOLDER holds {folder.name} now, and vectors of {self.name} are asked"
                " for: name that one's folder, or make them anew by the command reembed --all",
                permanent=True,
            )
        prefix = folder.query_prefix if side == "query" else folder.document_prefix
        # The process's own: a session of the one it was forked from has lost its threads.
        key = os.getpid(), folder
        with _lock:
            if key not in _models:
                _models[key] = _load(folder)
            model = _models[key]
        most = folder.longest * CHARACTERS_OF_A_TOKEN
        tokens = [model.tokenizer.encode(prefix + text[:most]).ids for text in texts]
        vectors = np.zeros((len(texts), self.dimensions), np.float32)
        # Those of like length together: each is computed as long as the longest beside it.
        order = sorted((at for at, own in enumerate(tokens) if own), key=lambda at: len(tokens[at]))
        for start in range(0, len(order), TEXTS_AT_ONCE):
            chosen = order[start : start + TEXTS_AT_ONCE]
            found = model.vectors([tokens[at] for at in chosen])
            self._check(found, len(chosen))
            vectors[chosen] = found
        return vectors


@dataclass(frozen=True)
class _Model:
    folder: ModelFolder
    session: Any
    tokenizer: "Tokenizer"
    output: str

    def vectors(self, tokens: Sequence[Sequence[int]]) -> Matrix:
        """One row for each text's tokens, of any length. Raises ProviderError."""
        ids = np.full((len(tokens), max(map(len, tokens))), self.folder.pad, np.int64)
        mask = np.zeros_like(ids)
        for row, own in enumerate(tokens):
            ids[row, : len(own)] = own
            mask[row, : len(own)] = 1
        known = {
            "input_ids": ids,
            "attention_mask": mask,
            "token_type_ids": np.zeros_like(ids),
        }
        wanted = [asked.name for asked in self.session.get_inputs()]
        try:
            [found] = self.session.run([self.output], {name: known[name] for name in wanted})
            # The only other shape is a vector per token.
            pooled = found if found.ndim == 2 else self._pooled(found, mask[:, :, None])
            return np.asarray(pooled, np.float32)
        except ProviderError:
            raise
        except Exception as error:  # the library's own, of no common class
            raise ProviderError(
                f"{self.folder.model} cannot be run: {type(error).__name__}: {error}"[:400],
                permanent=True,
            ) from error

    def _pooled(self, found: Matrix, mask: Any) -> Matrix:
        if self.folder.pooling == "cls":
            return found[:, 0]
        if self.folder.pooling == "mean":
            summed: Matrix = (found * mask).sum(axis=1) / mask.sum(axis=1)
            return summed
        raise ProviderError(
            f"{self.folder.name} makes a text's vector by {self.folder.pooling}, which is not known"
            " here: give a model.onnx that has it in itself, as its output sentence_embedding",
            permanent=True,
        )


_lock = threading.Lock()
_models: dict[tuple[int, ModelFolder], _Model] = {}


def _load(folder: ModelFolder) -> _Model:
    try:
        import onnxruntime
    except ImportError as error:
        raise ProviderError(
            "EMBEDDING_PROVIDER=onnx needs onnxruntime, which is not installed: pip install onnxruntime",
            permanent=True,
        ) from error
    from tokenizers import Tokenizer

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = os.cpu_count() or 1
    options.inter_op_num_threads = 1
    # Several processes share the cores: who waits must not do so by turning round and round.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    # Memory for the longest texts is given back: each process would keep it for ever.
    options.enable_cpu_mem_arena = options.enable_mem_pattern = False
    options.log_severity_level = 4  # what fails is raised as well
    try:
        tokenizer: Tokenizer = Tokenizer.from_file(str(folder.path / TOKENIZER))
        tokenizer.no_padding()
        tokenizer.enable_truncation(folder.longest)
        session = onnxruntime.InferenceSession(str(folder.model), options, providers=["CPUExecutionProvider"])
        names = [output.name for output in session.get_outputs()]
        output = "sentence_embedding" if "sentence_embedding" in names else names[0]
        return _Model(folder, session, tokenizer, output)
    except Exception as error:  # both libraries' own, of no common class
        raise ProviderError(
            f"the model in {folder.path} cannot be loaded: {type(error).__name__}: {error}"[:400],
            permanent=True,
        ) from error
