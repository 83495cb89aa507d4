"""A model in ONNX out of a folder that the operator names, run in this process. Nothing is
fetched."""

import functools
import os
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from memories.errors import ProviderError
from memories.providers.embedder import Embedder, EmbedderConfig, Matrix, Side
from memories.providers.onnx_folder import TOKENIZER, ModelFolder, read_folder

if TYPE_CHECKING:
    from tokenizers import Tokenizer

CHARACTERS_OF_A_TOKEN = 16  # at most, of words: what is further behind is cut before it is read
TEXTS_AT_ONCE = 16  # of the longest: some 200 MB in a model of twelve heads


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
                " for: name that one's folder, or make them anew by manage.py reembed --all",
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
            "input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids),
        }  # fmt: skip
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
            "EMBEDDING_PROVIDER=onnx needs onnxruntime, which is not installed:"
            " pip install onnxruntime (the extra `onnx`)",
            permanent=True,
        ) from error
    from tokenizers import Tokenizer

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = os.cpu_count() or 1
    options.inter_op_num_threads = 1
    # Several processes share the cores: who waits must not do so by turning round and round.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    # What the longest texts took is given back: each process would keep it for ever.
    options.enable_cpu_mem_arena = options.enable_mem_pattern = False
    options.log_severity_level = 4  # what fails is raised as well
    try:
        tokenizer: Tokenizer = Tokenizer.from_file(str(folder.path / TOKENIZER))
        tokenizer.no_padding()
        tokenizer.enable_truncation(folder.longest)
        session = onnxruntime.InferenceSession(
            str(folder.model), options, providers=["CPUExecutionProvider"]
        )
        names = [output.name for output in session.get_outputs()]
        output = "sentence_embedding" if "sentence_embedding" in names else names[0]
        return _Model(folder, session, tokenizer, output)
    except Exception as error:  # both libraries' own, of no common class
        raise ProviderError(
            f"the model in {folder.path} cannot be loaded: {type(error).__name__}: {error}"[:400],
            permanent=True,
        ) from error
