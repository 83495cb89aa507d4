"""Embeddings over OpenAI's wire: the real SDK against a real socket."""

import time

import numpy as np
import pytest
from pytest_httpserver import HTTPServer

from memories.errors import ProviderError
from memories.providers import Embedder, EmbedderConfig, embedder_from
from tests.wire_servers import failing, openai_error, serve_embeddings, serve_in_turn

PATH = "/v1/embeddings"


def embedder(server: HTTPServer, model: str = "text-embedding-3-small", dimensions: int = 0) -> Embedder:
    config = EmbedderConfig("openai", model, dimensions, "key", server.url_for("/v1"), 60.0)
    return embedder_from(config)


@pytest.mark.parametrize("status", [429, 500, 503])
def test_a_busy_server_is_asked_again(httpserver: HTTPServer, status: int) -> None:
    busy = failing(status, openai_error("busy"), retry_after="0.01")
    bodies = serve_in_turn(httpserver, PATH, busy, {"data": []})
    with pytest.raises(ProviderError):
        embedder(httpserver).embed(["a"])
    assert len(bodies) == 2


def test_retry_after_is_waited_for(httpserver: HTTPServer) -> None:
    busy = failing(429, openai_error("slow down"), retry_after="1")
    serve_in_turn(httpserver, PATH, busy, {"data": []})
    started = time.monotonic()
    with pytest.raises(ProviderError):
        embedder(httpserver).embed(["a"])
    assert time.monotonic() - started >= 1.0


@pytest.mark.parametrize("as_text", [True, False])
def test_vectors_come_back_in_order_and_of_unit_length(httpserver: HTTPServer, as_text: bool) -> None:
    serve_embeddings(httpserver, 1536, as_text)
    short, blank, longer = embedder(httpserver).embed(["a", "", "abcdefgh"])
    assert blank is None
    assert short is not None
    assert longer is not None
    assert short[:2] == pytest.approx([0.7071, 0.7071], abs=1e-3)
    assert longer[0] > longer[1]
    assert np.linalg.norm(longer) == pytest.approx(1.0, abs=1e-5)


def test_the_wish_for_dimensions_is_sent_where_the_model_takes_it(httpserver: HTTPServer) -> None:
    bodies = serve_embeddings(httpserver, 512)
    assert embedder(httpserver, dimensions=512).embed_one("hello") is not None
    assert bodies[0]["dimensions"] == 512


def test_a_model_of_ollama_is_sent_no_dimensions_and_its_own_prefixes(
    httpserver: HTTPServer,
) -> None:
    bodies = serve_embeddings(httpserver, 768)
    ollama = embedder(httpserver, "nomic-embed-text:latest")
    ollama.embed(["hello"], "document")
    ollama.embed_one("hello")
    assert [body["input"] for body in bodies] == [
        ["search_document: hello"],
        ["search_query: hello"],
    ]
    assert "dimensions" not in bodies[0]


def test_other_dimensions_than_expected_are_a_permanent_error(httpserver: HTTPServer) -> None:
    serve_embeddings(httpserver, 384)
    with pytest.raises(ProviderError, match="384 dimensions where 1536") as caught:
        embedder(httpserver).embed_one("hello")
    assert caught.value.permanent


def test_a_long_text_goes_in_pieces_and_comes_back_as_one_vector(httpserver: HTTPServer) -> None:
    bodies = serve_embeddings(httpserver, 1536)
    text = "é" * 9_000
    (vector,) = embedder(httpserver).embed([text])
    assert vector is not None
    assert "".join(bodies[0]["input"]) == text
    assert max(len(piece.encode()) for piece in bodies[0]["input"]) <= 8_000


def test_many_texts_go_in_bounded_batches(httpserver: HTTPServer) -> None:
    bodies = serve_embeddings(httpserver, 1536)
    vectors = embedder(httpserver).embed([f"text {number}" for number in range(600)])
    assert [len(body["input"]) for body in bodies] == [256, 256, 88]
    assert all(vector is not None for vector in vectors)


def test_blank_texts_are_not_sent(httpserver: HTTPServer) -> None:
    bodies = serve_embeddings(httpserver, 1536)
    assert embedder(httpserver).embed(["", " "]) == [None, None]
    assert bodies == []


def test_fewer_vectors_than_texts_are_an_error(httpserver: HTTPServer) -> None:
    answer = {"object": "list", "model": "m", "data": [{"index": 0, "embedding": [1.0] * 1536}]}
    serve_in_turn(httpserver, PATH, answer)
    with pytest.raises(ProviderError, match="1 vectors for 2 texts"):
        embedder(httpserver).embed(["a", "b"])


@pytest.mark.parametrize("body", ["<html>Sign in</html>", '{"data": []}', "{}", "[]", "null", "{"])
@pytest.mark.parametrize("kind", ["text/html", "application/json"])
def test_an_answer_of_another_shape_is_an_error(httpserver: HTTPServer, body: str, kind: str) -> None:
    httpserver.expect_request(PATH).respond_with_data(body, content_type=kind)
    with pytest.raises(ProviderError, match="not expected") as caught:
        embedder(httpserver).embed_one("hello")
    assert not caught.value.permanent


def test_a_text_that_the_server_cannot_take_is_a_permanent_error(httpserver: HTTPServer) -> None:
    serve_in_turn(httpserver, PATH, failing(400, openai_error("input is too long")))
    with pytest.raises(ProviderError, match="answered 400: input is too long") as caught:
        embedder(httpserver).embed_one("hello")
    assert caught.value.permanent


def test_an_unknown_model_must_bring_its_dimensions(httpserver: HTTPServer) -> None:
    with pytest.raises(ProviderError, match="set EMBEDDING_DIMENSIONS"):
        embedder(httpserver, "house-model")
    serve_embeddings(httpserver, 100)
    assert embedder(httpserver, "house-model", 100).embed_one("hello") is not None


def test_without_a_key_openai_itself_is_not_asked() -> None:
    with pytest.raises(ProviderError, match="OPENAI_API_KEY is not set"):
        embedder_from(EmbedderConfig("openai")).embed_one("hello")


def test_the_key_is_not_shown_where_a_config_is_printed(httpserver: HTTPServer) -> None:
    assert "sk-secret" not in repr(EmbedderConfig("openai", api_key="sk-secret"))
