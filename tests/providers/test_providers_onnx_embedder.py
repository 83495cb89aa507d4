"""A model in ONNX out of a folder: the real library, and models that are computed by hand."""

import sys
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from django.core.management import call_command
from pytest_django import Settings

from memories.errors import ProviderError
from memories.index import configured_embedder
from memories.models import EmbeddingModel, Vector
from memories.providers import Embedder, EmbedderConfig, embedder_from
from tests import onnx_models
from tests.onnx_models import WORDS, table
from tests.people import Person

ALL_INPUTS = ("input_ids", "attention_mask", "token_type_ids")


def embedder(folder: Path, model: str = "", dimensions: int = 0) -> Embedder:
    return embedder_from(EmbedderConfig("onnx", model, dimensions, folder=str(folder)))


def rows(text: str) -> npt.NDArray[np.float32]:
    return table()[[WORDS.index(word) for word in text.lower().split()]]


def unit(vector: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    made: npt.NDArray[np.float32] = vector / np.linalg.norm(vector)
    return made


def agrees(found: object, expected: npt.NDArray[np.float32]) -> bool:
    return found is not None and bool(np.allclose(found, unit(expected), atol=1e-5))  # type: ignore[call-overload]


def test_the_mean_of_a_texts_tokens_is_its_vector_whatever_is_beside_it(tmp_path: Path) -> None:
    texts = ["the pond froze", "", "The heron", "bread rises slowly the pond froze"] * 12
    own = embedder(onnx_models.write(tmp_path))
    for text, vector in zip(texts, own.embed(texts), strict=True):
        assert agrees(vector, rows(text).mean(axis=0)) if text else vector is None
    assert (own.dimensions, own.is_remote) == (8, False)


@pytest.mark.parametrize(
    "told",
    [{"pooling_mode_cls_token": True, "pooling_mode_mean_tokens": False}, {"pooling_mode": "cls"}],
)
def test_a_folder_may_name_the_first_token(tmp_path: Path, told: dict[str, object]) -> None:
    onnx_models.write(tmp_path)
    onnx_models.write_json(tmp_path, "1_Pooling/config.json", told)
    assert agrees(embedder(tmp_path).embed_one("heron waits"), rows("heron"))


def test_a_vector_that_the_model_makes_of_a_text_is_taken(tmp_path: Path) -> None:
    onnx_models.write(tmp_path, onnx_models.model(table(), pools=True))
    assert agrees(embedder(tmp_path).embed_one("heron waits"), rows("heron waits").max(axis=0))


@pytest.mark.parametrize("inputs", [ALL_INPUTS[:1], ALL_INPUTS[:2], ALL_INPUTS])
def test_a_model_is_given_what_it_asks_for(tmp_path: Path, inputs: tuple[str, ...]) -> None:
    onnx_models.write(tmp_path, onnx_models.model(table(), inputs))
    assert agrees(embedder(tmp_path).embed_one("pond"), rows("pond"))


def test_the_model_may_stand_in_a_folder_named_onnx(tmp_path: Path) -> None:
    onnx_models.write(tmp_path)
    (tmp_path / "onnx").mkdir()
    (tmp_path / "model.onnx").rename(tmp_path / "onnx" / "model.onnx")
    assert agrees(embedder(tmp_path).embed_one("pond"), rows("pond"))


def test_a_text_is_read_as_far_as_the_model_can(tmp_path: Path) -> None:
    onnx_models.write(tmp_path, max_position_embeddings=2)
    long = "heron waits " + "bread " * 100_000
    assert agrees(embedder(tmp_path).embed_one(long), rows("heron waits").mean(axis=0))


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
        ("config.json", "set EMBEDDING_DIMENSIONS"),
    ],
)
def test_what_a_folder_lacks_is_told(tmp_path: Path, missing: str, told: str) -> None:
    (onnx_models.write(tmp_path) / missing).unlink()
    with pytest.raises(ProviderError, match=told) as caught:
        embedder(tmp_path)
    assert caught.value.permanent


@pytest.mark.parametrize(
    ("name", "content", "told"),
    [
        ("model.onnx", b"no model", "cannot be loaded"),
        ("model.onnx", onnx_models.model(table(), ("input_ids", "pixels")), "pixels"),
        ("model.onnx", onnx_models.model(table(4)), "4 dimensions where 8"),
        ("tokenizer.json", b"{}", "cannot be loaded"),
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
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    with pytest.raises(ProviderError, match="pip install onnxruntime"):
        embedder(onnx_models.write(tmp_path)).embed(["pond"])


@pytest.mark.django_db(transaction=True)
def test_what_is_told_is_found_by_the_folders_model(tmp_path: Path, settings: Settings, alice: Person) -> None:
    meant = table()
    meant[WORDS.index("froze")] = rows("bread rises").mean(axis=0)  # no word of it is asked for
    settings.EMBEDDING_PROVIDER = "onnx"
    settings.EMBEDDING_FOLDER = str(onnx_models.write(tmp_path / "own", onnx_models.model(meant)))
    call_command("reembed", all=True, verbosity=0)
    alice.tell("The heron waits at the pond", user_id="u")
    alice.tell("The bread rises slowly", user_id="u")
    assert alice.finds("froze")[0] == "The bread rises slowly"
    model = EmbeddingModel.objects.get(provider="onnx")
    assert (model.name, model.dimensions) == (embedder(tmp_path / "own").name, 8)
    assert Vector.objects.filter(embedding_model_id=model.pk).count() == Vector.objects.count() > 0
    assert configured_embedder.embedder_for(model).embed_one("pond") is not None
    call_command("checkindex", verbosity=0)
