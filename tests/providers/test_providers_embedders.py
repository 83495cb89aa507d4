"""The embedders that need no network."""

import threading
from collections.abc import Sequence

import numpy as np
import pytest

from memories.errors import ProviderError
from memories.providers import Embedder, EmbedderConfig, Vector, embedder_from, local_embedder
from memories.providers.embedder import Matrix, Side

OFFLINE = ["local", "hash"]
TEXTS = ["I moved to Berlin last spring.", "The deploy is on Friday", "好的，谢谢", "naïve café 🙂"]


def embedder(provider: str) -> Embedder:
    return embedder_from(EmbedderConfig(provider))


def cosine(one: Vector | None, other: Vector | None) -> float:
    assert one is not None
    assert other is not None
    return float(one @ other)


@pytest.mark.parametrize("provider", OFFLINE)
def test_every_text_gets_a_unit_vector_of_the_promised_dimensions(provider: str) -> None:
    for vector in embedder(provider).embed(TEXTS):
        assert vector is not None
        assert vector.shape == (embedder(provider).dimensions,)
        assert vector.dtype == np.float32
        assert cosine(vector, vector) == pytest.approx(1.0, abs=1e-5)


@pytest.mark.parametrize("provider", [*OFFLINE, "none"])
@pytest.mark.parametrize("blank", ["", "   ", "\n\t"])
def test_blank_text_has_no_vector(provider: str, blank: str) -> None:
    assert embedder(provider).embed([blank]) == [None]
    assert embedder(provider).embed_one(blank) is None


def test_blank_texts_do_not_shift_their_neighbours() -> None:
    local = embedder("local")
    mixed = local.embed(["", TEXTS[0], " ", TEXTS[1]])
    alone = local.embed([TEXTS[0], TEXTS[1]])
    assert mixed[0] is None
    assert mixed[2] is None
    assert cosine(mixed[1], alone[0]) == pytest.approx(1.0)
    assert cosine(mixed[3], alone[1]) == pytest.approx(1.0)


@pytest.mark.parametrize("provider", OFFLINE)
def test_one_text_gets_the_same_vector_as_in_a_batch(provider: str) -> None:
    batch = embedder(provider).embed(TEXTS * 200)
    for text, vector in zip(TEXTS, batch, strict=False):
        assert cosine(embedder(provider).embed_one(text), vector) == pytest.approx(1.0, abs=1e-5)


@pytest.mark.parametrize("provider", OFFLINE)
def test_half_a_surrogate_pair_is_no_accident(provider: str) -> None:
    assert embedder(provider).embed_one("broken \ud83d emoji") is not None


def test_local_puts_like_nearer_than_unlike() -> None:
    question, answer, other = embedder("local").embed(
        ["Which city do you live in?", "I moved to the city of Berlin", "My cat sleeps all day"]
    )
    assert cosine(question, answer) > cosine(question, other)


def test_local_reads_very_long_texts() -> None:
    long, short = embedder("local").embed(["the same words again " * 20_000, "the same words again"])
    assert cosine(long, short) > 0.99


def test_local_gives_all_threads_the_same_vector() -> None:
    vectors: list[Vector | None] = []
    threads = [threading.Thread(target=lambda: vectors.append(embedder("local").embed_one(TEXTS[0]))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({vector.tobytes() for vector in vectors if vector is not None}) == 1


def test_local_without_its_files_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local_embedder, "_loaded", None)
    monkeypatch.setattr(local_embedder, "TOKENIZER", "no/such/file.json")
    with pytest.raises(ProviderError, match="EMBEDDING_PROVIDER") as caught:
        local_embedder.LocalEmbedder().embed_one("hello")
    assert caught.value.permanent
    assert not local_embedder.is_available()


def test_hash_knows_the_same_word_in_another_form() -> None:
    one, other, third = embedder("hash").embed(["prefers dark mode", "prefer dark modes", "coffee"])
    assert cosine(one, other) > 0.5 > abs(cosine(one, third))


def test_hash_is_the_same_on_every_machine() -> None:
    vector = embedder("hash").embed_one("dark mode")
    assert vector is not None
    assert np.flatnonzero(vector).tolist() == [24, 72, 123, 139, 145, 161, 171, 197, 221, 251]


def test_punctuation_alone_has_no_vector_under_hash() -> None:
    assert embedder("hash").embed(["!!! ..."]) == [None]


def test_the_same_config_gives_the_same_embedder() -> None:
    assert embedder("local") is embedder("local")


def test_an_unknown_provider_is_refused_with_the_known_ones() -> None:
    with pytest.raises(ProviderError, match="local, openai, fastembed, hash, none"):
        embedder("locl")


class Recording(Embedder):
    provider, name, dimensions = "test", "test", 2
    max_texts, max_characters = 3, 10

    def __init__(self) -> None:
        self.batches: list[list[str]] = []

    def make_vectors(self, texts: Sequence[str], side: Side) -> Matrix:
        self.batches.append(list(texts))
        return np.ones((len(texts), 2), np.float32)


def test_batches_are_bounded_by_texts_and_by_characters() -> None:
    recording = Recording()
    recording.embed(["a", "b", "c", "d", "e" * 50, "f" * 6, "g" * 6])
    assert [len(batch) for batch in recording.batches] == [3, 1, 1, 1, 1]


def test_a_vector_that_is_not_a_number_is_an_error() -> None:
    class Broken(Recording):
        def make_vectors(self, texts: Sequence[str], side: Side) -> Matrix:
            return np.full((len(texts), 2), np.nan, np.float32)

    with pytest.raises(ProviderError, match="no numbers"):
        Broken().embed(["text"])
