"""Neural models as the rest of the server knows them: an embedder and a reranker.

The process of models is asked. A command, beside which none need run, loads a model itself where none answers.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from memories.errors import ProviderError
from memories.providers import network
from memories.providers.embedder import (
    Embedder,
    EmbedderConfig,
    KnownModel,
    Matrix,
    ModelsConfig,
    Side,
    embeddable,
)
from memories.providers.neural import loaded_models, model_client
from memories.providers.neural.known_models import (
    DEFAULT_EMBEDDER,
    EMBEDDING,
    RERANKING,
    ModelSpec,
    known_embedder,
    reranker_name,
)
from memories.providers.neural.loaded_models import CHARACTERS_OF_A_TOKEN, LONGEST, Input
from memories.providers.neural.model_client import NotThere
from memories.providers.neural.model_folder import ModelFolder, read_folder

MOST = LONGEST * CHARACTERS_OF_A_TOKEN  # characters of a text that are sent


def rows(config: ModelsConfig, spec: ModelSpec, inputs: Sequence[Input], seconds: float, *, is_query: bool) -> Matrix:
    """Return a row for each input. Raises ProviderError."""
    try:
        if config.socket:
            return model_client.ask(Path(config.socket), spec, inputs, seconds, is_query=is_query)
    except NotThere:
        if not config.alone:
            raise
    return loaded_models.here.rows(spec, inputs)


class NeuralEmbedder(Embedder):
    """A model by name, or out of a folder. Its thresholds are nobody's in particular: `calibrate` them."""

    provider = "fastembed"
    is_beside = True
    # One question to the process of models: others get their turn in between.
    max_texts = 64
    max_characters = 32_000

    def __init__(self, config: EmbedderConfig) -> None:
        """Nothing is loaded: the process that starts others does this, too. Raises ProviderError."""
        self._config = config
        known = known_embedder(config.model or ("" if config.folder else DEFAULT_EMBEDDER))
        self._known = known and known.known
        self._pooling = "" if known is None else known.pooling
        self._is_listed = known is None or known.is_listed
        # A folder's own model is called as what it holds, whatever name it was given.
        is_of_folder = bool(config.folder) and "@" not in config.model
        self.name = known.name if known else self._folder.name if is_of_folder else config.model
        self.dimensions = config.dimensions or self._told.dimensions
        self.duplicate_threshold = self._told.duplicate_threshold
        self.search_floor = self._told.search_floor
        if not self.dimensions:
            told = f"how many dimensions {self.name} has is not known: set EMBEDDING_DIMENSIONS"
            raise ProviderError(told, permanent=True)

    def make_vectors(self, texts: Sequence[str], side: Side) -> Matrix:
        prefix = self._told.query_prefix if side == "query" else self._told.document_prefix
        inputs = [f"{prefix}{text[:MOST]}" for text in texts]
        config = self._config
        return rows(config.models, self.spec, inputs, config.timeout, is_query=side == "query")

    @cached_property
    def _folder(self) -> ModelFolder:
        return read_folder(self._config.folder)

    @cached_property
    def _told(self) -> KnownModel:
        """Return what is known of the model, or its folder says."""
        if self._known is not None:
            return self._known
        if not self._config.folder:
            return KnownModel()
        folder = self._folder
        return KnownModel(folder.dimensions, query_prefix=folder.query_prefix, document_prefix=folder.document_prefix)

    @cached_property
    def spec(self) -> ModelSpec:
        """Raises ProviderError where the folder's model is another one by now."""
        spec = ModelSpec(EMBEDDING, self.name, self.dimensions, cache=self._config.models.cache)
        if not self._config.folder:
            return spec if self._is_listed else replace(spec, pooling=self._pooling)
        folder = self._folder
        if self._known is None and folder.mark != self.name.rpartition("@")[2]:
            raise ProviderError(
                f"EMBEDDING_FOLDER holds {folder.name} now, and vectors of {self.name} are asked for: name that"
                " one's folder, or make them anew by the command reembed --all",
                permanent=True,
            )
        return replace(spec, folder=str(folder.path), file=folder.file, pooling=self._pooling or folder.pooling)


@dataclass(frozen=True)
class NeuralReranker:
    """A cross-encoder by name, or out of a folder."""

    models: ModelsConfig
    model: str = ""
    folder: str = ""
    timeout: float = 5.0

    @property
    def name(self) -> str:
        return reranker_name(self.model) if self.model or not self.folder else read_folder(self.folder).name

    def scores(self, query: str, documents: Sequence[str]) -> list[float | None]:
        """Score how well each document answers, 0 to 1, in the documents' order; None for one without words.

        Raises ProviderError. One attempt only: a search waits for it.
        """
        network.check_may_wait(self.name)  # this takes ten times as long as the search itself
        asked = embeddable(query)[:MOST]
        cleaned = [embeddable(document)[:MOST] for document in documents]
        pairs = [(asked, text) for text in cleaned if text]
        if not pairs:
            return [None] * len(documents)
        found = iter(rows(self.models, self.spec, pairs, self.timeout, is_query=True))
        return [float(next(found)[0]) if text else None for text in cleaned]

    @property
    def spec(self) -> ModelSpec:
        spec = ModelSpec(RERANKING, self.name, cache=self.models.cache)
        if not self.folder:
            return spec
        folder = read_folder(self.folder)
        return replace(spec, folder=str(folder.path), file=folder.file)
