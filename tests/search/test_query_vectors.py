"""Vectors of queries that a remote model made are kept, for all processes."""

import os
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from pytest_django import Settings
from pytest_httpserver import HTTPServer

from memories import metrics
from memories.errors import ProviderError
from memories.index import workspace_index
from memories.search import query_vectors
from tests.api_fixtures import caller
from tests.people import Person
from tests.wire_servers import Json, failing, openai_error, serve_embeddings

pytestmark = pytest.mark.django_db
SIZE = 1536


@pytest.fixture
def kept(settings: Settings, httpserver: HTTPServer, tmp_path: Path) -> Iterator[Path]:
    """A remote model in the settings, and the folder that keeps its vectors."""
    settings.EMBEDDING_PROVIDER, settings.OPENAI_API_KEY = "openai", "key"
    settings.OPENAI_BASE_URL = httpserver.url_for("/v1")
    settings.QUERY_CACHE_SECONDS, settings.QUERY_CACHE_DIR = 1000, tmp_path / "kept"
    metrics.clear()
    yield tmp_path / "kept"
    metrics.clear()


@pytest.fixture
def bodies(kept: Path, httpserver: HTTPServer) -> list[Json]:
    return serve_embeddings(httpserver, SIZE)


def ask(person: Person, query: str = "gate") -> np.ndarray:
    found = query_vectors.vector_of(workspace_index.index_of(person.workspace.pk), query)
    assert found is not None
    return found


def files(kept: Path) -> list[Path]:
    return [path for path in kept.rglob("*") if path.is_file()]


def counted() -> dict[str, int]:
    found = [one for one in metrics.snapshot() if one.name == "query_vectors"]
    return {dict(one.labels)["outcome"]: one.count for one in found}


def test_the_same_query_is_embedded_once(alice: Person, bodies: list[Json]) -> None:
    first, again = ask(alice), ask(alice)
    assert np.allclose(first, again, atol=1e-3)
    assert len(bodies) == 1
    assert counted() == {"hit": 1, "miss": 1}


def test_a_search_uses_what_is_kept(alice: Person, bodies: list[Json]) -> None:
    alice.finds("orchard gate")
    alice.finds("orchard gate", ranking="vector")
    assert len([body for body in bodies if body["input"] == ["orchard gate"]]) == 1


def test_another_query_model_or_server_is_another_vector(
    alice: Person, bodies: list[Json], settings: Settings, httpserver: HTTPServer
) -> None:
    ask(alice, "gate")
    ask(alice, "Gate")
    settings.OPENAI_BASE_URL = httpserver.url_for("/v1/")
    ask(alice, "gate")
    assert len(bodies) == 3


def test_what_is_old_is_asked_for_again(alice: Person, bodies: list[Json], kept: Path) -> None:
    ask(alice)
    (path,) = files(kept)
    then = time.time() - 1001
    os.utime(path, (then, then))
    ask(alice)
    assert len(bodies) == 2


def test_use_does_not_make_it_younger(alice: Person, bodies: list[Json], kept: Path) -> None:
    ask(alice)
    (path,) = files(kept)
    written = time.time() - 90
    os.utime(path, (written, written))
    ask(alice)
    assert path.stat().st_mtime == pytest.approx(written)
    assert path.stat().st_atime > written + 60


def test_the_least_recently_used_goes_first(
    alice: Person, bodies: list[Json], kept: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(query_vectors, "PER_FOLDER", 2)
    folder = kept / "00"
    vector = np.ones(SIZE, np.float32)
    for number, name in enumerate("abc"):
        query_vectors._write(folder / name, vector)
        os.utime(folder / name, (1000 + number, 1000 + number))
        if name == "b":
            os.utime(folder / "a", (5000, 1000))  # used again
    assert sorted(path.name for path in files(kept)) == ["a", "c"]


def test_a_broken_file_is_made_anew(alice: Person, bodies: list[Json], kept: Path) -> None:
    ask(alice)
    files(kept)[0].write_bytes(b"\x00" * 10)
    assert np.linalg.norm(ask(alice)) == pytest.approx(1.0, abs=1e-3)
    assert len(bodies) == 2


def test_no_query_can_be_read_from_what_is_kept(alice: Person, bodies: list[Json], kept: Path) -> None:
    ask(alice, "my secret question")
    (path,) = files(kept)
    assert "secret" not in str(path)
    assert path.stat().st_size == 2 * SIZE
    assert kept.stat().st_mode & 0o077 == 0 or path.parent.stat().st_mode & 0o077 == 0


def test_where_nothing_can_be_kept_search_goes_on(alice: Person, bodies: list[Json], kept: Path) -> None:
    kept.write_text("a file where the folder should be")
    ask(alice)
    ask(alice)
    assert len(bodies) == 2


def test_a_failure_is_not_kept(alice: Person, kept: Path, httpserver: HTTPServer) -> None:
    answer = failing(400, openai_error("no"))
    httpserver.expect_request("/v1/embeddings").respond_with_response(answer)
    with pytest.raises(ProviderError):
        ask(alice)
    assert files(kept) == []


def test_a_local_model_writes_no_file(alice: Person, kept: Path, settings: Settings) -> None:
    settings.EMBEDDING_PROVIDER = "hash"
    query_vectors.forget_vectors()
    ask(alice)
    assert files(kept) == []
    assert counted() == {"miss": 1}


def test_it_can_be_switched_off(alice: Person, bodies: list[Json], kept: Path, settings: Settings) -> None:
    settings.QUERY_CACHE_SECONDS = 0
    ask(alice)
    ask(alice)
    assert len(bodies) == 2
    assert files(kept) == []


@pytest.mark.usefixtures("kept")
def test_where_a_failing_provider_is_and_what_it_said_stands_in_the_log_alone(
    alice: Person, httpserver: HTTPServer, caplog: pytest.LogCaptureFixture
) -> None:
    workspace_index.index_of(alice.workspace.pk)
    answered = failing(401, openai_error("the disk of rack 7"))
    httpserver.expect_request("/v1/embeddings").respond_with_response(answered)
    answer = caller(alice).post("/memories/search", {"query": "gate", "ranking": "vector"})
    assert answer.status == 200  # by words, as the answer says
    for secret in ("rack 7", f":{httpserver.port}"):
        assert secret not in str(answer.body)
        assert secret in caplog.text
