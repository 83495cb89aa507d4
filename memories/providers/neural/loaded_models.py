"""Neural models in this process, by the library fastembed."""

import ctypes
import logging
import os
import threading
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from memories.errors import Misconfigured, ProviderError
from memories.providers import network
from memories.providers.embedder import Matrix
from memories.providers.neural.known_models import FIRST, MEAN, RERANKING, ModelSpec

LONGEST = 512  # tokens of a text: what a model does with them grows by their square
CHARACTERS_OF_A_TOKEN = 16  # at most, of words: what is further behind is cut before it is read
AT_ONCE = 16  # inputs that are computed together, each as long as the longest of them
CHARACTERS = 8_000  # of them, with what the shorter ones are filled up with
INSTALL = "install the extra `neural`: pip install 'memoryproject[neural]'"

Input = str | tuple[str, str]  # a text, or a question and a text that may answer it

log = logging.getLogger(__name__)
_libc = ctypes.CDLL(None) if hasattr(ctypes.CDLL(None), "malloc_trim") else None


def pieces_of(inputs: Sequence[Input]) -> Iterator[list[int]]:
    """Yield positions of inputs that are computed together: those of like length."""
    sizes = [size_of(one) for one in inputs]
    piece: list[int] = []
    for position in sorted(range(len(inputs)), key=sizes.__getitem__):
        if piece and (len(piece) == AT_ONCE or sizes[position] * (len(piece) + 1) > CHARACTERS):
            yield piece
            piece = []
        piece.append(position)
    if piece:
        yield piece


def size_of(one: Input) -> int:
    return len(one) if isinstance(one, str) else sum(map(len, one))


@dataclass(frozen=True)
class LoadedModel:
    """Safe to share by threads, each of which computes by itself."""

    spec: ModelSpec
    library: Any

    def rows(self, inputs: Sequence[Input]) -> Matrix:
        """Return a row for each input: its vector, or the one score of a pair, 0 to 1. Raises ProviderError."""
        try:
            if self.spec.purpose == RERANKING:
                found = np.array(list(self.library.rerank_pairs(list(inputs), batch_size=len(inputs))), np.float64)
                scores: Matrix = (1 / (1 + np.exp(-np.clip(found, -60, 60)))).astype(np.float32)
                return scores[:, None]
            return np.array(list(self.library.embed(list(inputs), batch_size=len(inputs))), np.float32)
        except Exception as error:  # the libraries' own, of no common class
            fault = f"the model {self.spec.name} cannot be run: {type(error).__name__}: {error}"
            raise ProviderError(fault[:400], permanent=True) from error


@dataclass
class LoadedModels:
    """Models by their spec, each loaded when it is first asked for. `threads` compute one piece together."""

    threads: int = 1
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _loaded: dict[ModelSpec, LoadedModel] = field(default_factory=dict)

    def get(self, spec: ModelSpec) -> LoadedModel | None:
        return self._loaded.get(spec)

    def load(self, spec: ModelSpec) -> LoadedModel:
        """Return the model, loaded by now: this may take seconds, and minutes where it is fetched. Raises
        ProviderError."""
        if (found := self.get(spec)) is not None:
            return found
        with self._lock:
            if spec not in self._loaded:
                self._loaded[spec] = _load(spec, self.threads)
            return self._loaded[spec]

    def forget(self, spec: ModelSpec) -> None:
        self._loaded.pop(spec, None)

    def rows(self, spec: ModelSpec, inputs: Sequence[Input]) -> Matrix:
        """Return a row for each input, computed in this process. Raises ProviderError."""
        model, found = self.load(spec), np.zeros((len(inputs), spec.dimensions), np.float32)
        for piece in pieces_of(inputs):
            rows = model.rows([inputs[position] for position in piece])
            found[piece] = checked(spec, rows)
        return found


def checked(spec: ModelSpec, rows: Matrix) -> Matrix:
    if rows.shape[1:] != (spec.dimensions,):
        raise Misconfigured(
            f"the model {spec.name} answered vectors of {rows.shape[-1]} dimensions where {spec.dimensions} are"
            " expected",
            permanent=True,
        )
    return rows


def _load(spec: ModelSpec, threads: int) -> LoadedModel:
    try:
        with _warned_in_the_log():
            library = _of_the_library(spec, threads)
    except ImportError as error:
        raise Misconfigured(f"fastembed is not installed: {INSTALL}", permanent=True) from error
    except Exception as error:  # the libraries' own, of no common class
        advice = "" if spec.folder else "; without a network, name the folder that has its files"
        fault = f"the model {spec.name} cannot be loaded: {type(error).__name__}: {error}"
        raise ProviderError(f"{fault[:400]}{advice}", permanent=bool(spec.folder)) from error
    tokenizer = library.model.tokenizer
    truncation = tokenizer.truncation or {}
    if truncation.get("max_length", LONGEST + 1) > LONGEST:
        tokenizer.enable_truncation(LONGEST, direction=truncation.get("direction", "right"))
    if _libc is not None:
        _libc.malloc_trim(0)  # loading takes up to a half more than what is loaded
    return LoadedModel(spec, library)


def _of_the_library(spec: ModelSpec, threads: int) -> Any:
    from fastembed import TextEmbedding
    from fastembed.rerank.cross_encoder import TextCrossEncoder

    kind: Any = TextCrossEncoder if spec.purpose == RERANKING else TextEmbedding
    # Memory for the longest texts is given back: the process would keep it for ever.
    options: dict[str, Any] = {"threads": threads, "enable_cpu_mem_arena": False}
    options |= {"specific_model_path": spec.folder} if spec.folder else {}
    options |= {"cache_dir": spec.cache} if spec.cache else {}
    options |= {} if network.ALLOW_NETWORK else {"local_files_only": True}
    if spec.folder or spec.pooling:
        return kind(_described(spec, kind), **options)
    return kind(spec.name, **options)


def _described(spec: ModelSpec, kind: Any) -> str:
    """Tell the library of a model that it does not list, or whose files lie elsewhere; return the name for it."""
    from fastembed.common.model_description import ModelSource, PoolingType

    name = f"{spec.name} of {spec.folder}/{spec.file}" if spec.folder else spec.name
    if name in [listed["model"] for listed in kind.list_supported_models()]:
        return name
    source, file = ModelSource(hf=spec.name), spec.file or "onnx/model.onnx"
    if spec.purpose == RERANKING:
        kind.add_custom_model(name, sources=source, model_file=file)
    else:
        pooling = {MEAN: PoolingType.MEAN, FIRST: PoolingType.CLS}[spec.pooling]
        kind.add_custom_model(
            name, pooling=pooling, normalization=True, sources=source, dim=spec.dimensions, model_file=file
        )
    return name


@contextmanager
def _warned_in_the_log() -> Iterator[None]:
    """Let what the library tells on its way stand in our log, as all else."""
    from loguru import logger

    logger.remove()
    logger.add(lambda message: log.warning("%s", message.record["message"]), level="WARNING")
    with warnings.catch_warnings(record=True) as told:
        yield
    for one in told:
        log.warning("%s", one.message)


here = LoadedModels(threads=os.cpu_count() or 1)
