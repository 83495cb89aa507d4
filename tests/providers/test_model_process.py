"""The process of models: a real one, asked by many over its socket, stopped, killed and begun anew."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
from pytest_django import Settings

from memories.errors import Misconfigured, ProviderError, TimedOut
from memories.index import due_vectors, workspace_index
from memories.meters import health_parts
from memories.models import DueVector
from memories.providers import Embedder, EmbedderConfig, ModelsConfig, embedder_from
from memories.providers.neural import model_client
from memories.providers.neural.known_models import EMBEDDING, RERANKING, ModelSpec
from memories.providers.neural.model_client import NotThere
from memories.providers.neural.model_server import INDEX, SCORE, SEARCH, AskedRows, WaitingPieces
from memories.providers.neural.neural_embedder import NeuralReranker
from memories.search import query_vectors
from memories.search.request import WORDS_ONLY
from memoryproject.server.front.wire import packed
from memoryproject.server.machine_health import State
from tests import onnx_models
from tests.live_server import ROOT, strangers_environment, wait_for
from tests.people import Person

TEXTS = ["the pond froze", "the heron waits", "bread rises slowly"]


class ModelProcess:
    """`manage.py models` over a folder, with the model below it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.model = folder / "own"
        if not self.model.exists():
            onnx_models.write(self.model)
        self.socket = folder / "data" / "models.sock"
        self.begin()

    def begin(self) -> None:
        env = {
            **strangers_environment(),
            "MEMORY_DATA_DIR": str(self.folder / "data"),
            "EMBEDDING_PROVIDER": "fastembed",
            "EMBEDDING_FOLDER": str(self.model),
        }
        with open(self.folder / "log", "a") as log:
            command = [sys.executable, "manage.py", "models"]
            self.process = subprocess.Popen(command, cwd=ROOT, env=env, stdout=log, stderr=log)

    def end(self, number: int = signal.SIGKILL) -> None:
        self.process.send_signal(number)
        self.process.wait(60)

    @contextmanager
    def stopped(self) -> Iterator[None]:
        pid = self.process.pid
        os.kill(pid, signal.SIGSTOP)
        assert wait_for(lambda: Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "T")
        try:
            yield
        finally:
            os.kill(pid, signal.SIGCONT)

    @property
    def config(self) -> ModelsConfig:
        return ModelsConfig(str(self.socket), alone=False)

    def embedder(self, timeout: float = 60.0, folder: Path | None = None) -> Embedder:
        path = str(folder or self.model)
        return embedder_from(EmbedderConfig("fastembed", folder=path, models=self.config, timeout=timeout))

    def answers(self) -> bool:
        try:
            return self.embedder().embed_one("pond") is not None
        except NotThere:
            return False


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ModelProcess]:
    process = ModelProcess(tmp_path_factory.mktemp("models"))
    yield process
    process.end()


@pytest.fixture
def models(running: ModelProcess) -> ModelProcess:
    assert wait_for(running.answers), (running.folder / "log").read_text()
    return running


def alone(models: ModelProcess) -> Embedder:
    return embedder_from(EmbedderConfig("fastembed", folder=str(models.model)))


def test_it_answers_what_the_model_answers_here(models: ModelProcess) -> None:
    texts = [*TEXTS, "", "heron " * 9] * 40
    for one, other in zip(models.embedder().embed(texts), alone(models).embed(texts), strict=True):
        assert (one is None) == (other is None)
        assert one is None or np.allclose(one, other, atol=1e-6)  # type: ignore[arg-type]


def test_what_many_ask_at_once_is_computed_together(models: ModelProcess) -> None:
    before = model_client.state_of(models.socket, 10)
    expected, found = alone(models).embed(TEXTS), {}

    def ask(number: int) -> None:
        own = models.embedder()
        found[number] = [own.embed_one(TEXTS[(number + turn) % 3], "document") for turn in range(40)]

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for number, vectors in found.items():
        for turn, vector in enumerate(vectors):
            assert np.allclose(vector, expected[(number + turn) % 3], atol=1e-6)  # type: ignore[arg-type]
    after = model_client.state_of(models.socket, 10)
    assert after["computed"] - before["computed"] == 12 * 40
    assert after["runs"] - before["runs"] < 12 * 40


def test_one_that_hangs_is_not_waited_for_longer_than_was_said(models: ModelProcess) -> None:
    with models.stopped(), pytest.raises(TimedOut, match="in time"):
        models.embedder(timeout=0.3).embed_one("pond")
    # What comes late is not taken for the answer to the next question.
    assert np.allclose(models.embedder().embed_one("heron"), alone(models).embed_one("heron"))  # type: ignore[arg-type]


def test_one_that_was_killed_is_told_at_once_and_asked_again_when_it_is_back(models: ModelProcess) -> None:
    models.end()
    began = time.monotonic()
    with pytest.raises(NotThere) as caught:
        models.embedder().embed_one("pond")
    assert (caught.value.permanent, time.monotonic() - began < 30) == (False, True)
    models.begin()
    assert wait_for(models.answers)


def test_a_second_one_waits_until_the_first_has_ended(models: ModelProcess) -> None:
    first = models.process
    models.begin()
    time.sleep(1.0)
    assert models.answers()
    first.kill()
    first.wait(60)
    assert wait_for(models.answers)


def test_a_model_that_cannot_be_loaded_says_why(models: ModelProcess, tmp_path: Path) -> None:
    own = models.embedder(folder=onnx_models.write(tmp_path / "broken", b"no model"))
    faults = []

    def is_told() -> bool:
        try:
            own.embed_one("pond")
        except NotThere:
            return False
        except ProviderError as error:
            faults.append(error)
        return True

    assert wait_for(is_told)
    assert (faults[0].permanent, "cannot be loaded" in faults[0].message) == (True, True)
    assert "cannot be loaded" in str(model_client.state_of(models.socket, 10)["faults"])
    assert models.answers()  # the others go on


def test_a_model_of_other_dimensions_is_told_as_such(models: ModelProcess, tmp_path: Path) -> None:
    folder = onnx_models.write(tmp_path / "four", onnx_models.model(onnx_models.table(4)))
    own = models.embedder(folder=folder)

    def is_told() -> bool:
        try:
            own.embed_one("pond")
        except NotThere:
            return False
        except Misconfigured as error:
            return "4 dimensions where 8" in error.message
        return False

    assert wait_for(is_told)


def test_what_is_no_question_is_refused(models: ModelProcess) -> None:
    for question in (packed({"nonsense": 1}), packed({"spec": {"purpose": "embedding"}, "seconds": 1}, b"[1]")):
        answer, _ = model_client._exchange(models.socket, question, 10)
        assert (answer["permanent"], "no question for a model" in answer["fault"]) == (True, True)


def test_a_reranker_is_asked_there_too(models: ModelProcess, tmp_path: Path) -> None:
    weights = np.arange(len(onnx_models.WORDS), dtype=np.float32)[:, None] / 4
    folder = onnx_models.write(tmp_path / "cross", onnx_models.cross_encoder(weights))
    own = NeuralReranker(models.config, folder=str(folder), timeout=60)
    scores: list[list[float | None]] = []

    def is_there() -> bool:
        try:
            scores.append(own.scores("pond", TEXTS * 10))
        except NotThere:
            return False
        return True

    assert wait_for(is_there)
    assert scores[0] == NeuralReranker(ModelsConfig(), folder=str(folder)).scores("pond", TEXTS * 10)
    with models.stopped(), pytest.raises(TimedOut):
        NeuralReranker(models.config, folder=str(folder), timeout=0.2).scores("pond", TEXTS)


def test_health_tells_whether_it_runs_and_what_it_cannot_load(models: ModelProcess, settings: Settings) -> None:
    assert health_parts.models_here() == []
    settings.EMBEDDING_PROVIDER, settings.MODELS_SOCKET = "fastembed", models.socket
    [part] = health_parts.models_here()
    broken = "cannot be loaded" in part.detail  # another test's model, within the last half minute
    assert (part.name, part.state) == ("models: this machine", State.DEGRADED if broken else State.OK)
    settings.MODELS_SOCKET = models.folder / "nowhere.sock"
    [part] = health_parts.models_here()
    assert (part.state, "does not run" in part.detail) == (State.DEGRADED, True)


# ---- turns ----------------------------------------------------------------------------------


def asked(rank: int, *texts: str, name: str = "a", seconds: float = 60.0) -> AskedRows:
    spec = ModelSpec(RERANKING if rank == SCORE else EMBEDDING, name)
    return AskedRows.of(spec, rank, texts, seconds)


def test_a_search_goes_before_a_score_and_a_score_before_what_is_indexed() -> None:
    waiting = WaitingPieces()
    for one in (asked(INDEX, "i"), asked(SCORE, "r"), asked(SEARCH, "s"), asked(SEARCH, "t")):
        waiting.add(one)
    turns = [[piece.inputs for piece in waiting.take(but_index=False)] for _ in range(3)]
    assert turns == [[["s"], ["t"]], [["r"]], [["i"]]]


def test_who_asks_for_much_takes_turns_with_the_others() -> None:
    waiting, long = WaitingPieces(), "w" * 5_000
    waiting.add(asked(INDEX, *[long] * 3))
    waiting.add(asked(INDEX, "short", name="b"))
    turns = [waiting.take(but_index=False) for _ in range(4)]
    assert [turn[0].asked.spec.name for turn in turns] == ["a", "b", "a", "a"]


def test_what_nobody_waits_for_any_more_is_not_computed() -> None:
    waiting = WaitingPieces()
    late, given_up, own = asked(SEARCH, "late", seconds=-1.0), asked(SEARCH, "gone"), asked(SEARCH, "own")
    given_up.answer.cancel()
    for one in (late, given_up, own):
        waiting.add(one)
    assert [piece.asked for piece in waiting.take(but_index=True)] == [own]
    assert isinstance(late.answer.exception(), TimedOut)


# ---- a server whose process of models is away -----------------------------------------------


@pytest.mark.django_db(transaction=True)
def test_without_the_process_words_find_and_vectors_are_due(tmp_path: Path, settings: Settings, alice: Person) -> None:
    settings.EMBEDDING_PROVIDER, settings.EMBEDDING_FOLDER = "fastembed", str(onnx_models.write(tmp_path / "own"))
    settings.MODELS_SOCKET, settings.PROCESS_KIND = tmp_path / "models.sock", "web"
    alice.tell("The heron waits at the pond", user_id="u")
    assert DueVector.objects.count() > 0
    notes: list[str] = []
    index = workspace_index.index_of(alice.workspace.pk)
    assert query_vectors.query_vector(index, "pond", notes) is None
    assert (notes, alice.finds("pond")) == ([WORDS_ONLY], ["The heron waits at the pond"])
    settings.PROCESS_KIND = "command"  # which does without
    due_vectors.fill_entries(index, list(DueVector.objects.values_list("entry_id", flat=True)))
    assert DueVector.objects.count() == 0
    assert alice.finds("pond", ranking="vector") == ["The heron waits at the pond"]
