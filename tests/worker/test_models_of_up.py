"""A server whose embedder and reranker are neural: `up` with all its processes."""

import json
import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

import numpy as np
import pytest

from tests import onnx_models
from tests.live_server import Server, wait_for
from tests.onnx_models import WORDS

HERON, BREAD = "The heron waits at the pond", "The bread rises slowly"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("neural")
    meant = onnx_models.table()
    meant[WORDS.index("froze")] = meant[[WORDS.index("bread"), WORDS.index("rises")]].mean(axis=0)
    weights = np.zeros((len(WORDS), 1), np.float32)
    weights[WORDS.index("heron")] = 8.0
    env = {
        "EMBEDDING_PROVIDER": "fastembed",
        "EMBEDDING_FOLDER": str(onnx_models.write(folder / "own", onnx_models.model(meant))),
        "RERANK_PROVIDER": "fastembed",
        "RERANK_FOLDER": str(onnx_models.write(folder / "cross", onnx_models.cross_encoder(weights))),
        "QUERY_CACHE_SECONDS": "0",
    }
    running = Server(folder, env=env).wait_until_ready()
    for content in (HERON, BREAD):
        ask(running, "/memories/ingest", {"content": content})
    yield running
    running.end()


def ask(server: Server, path: str, body: Any) -> Any:
    headers = {"X-API-Key": server.info["key"], "Content-Type": "application/json"}
    url = f"{server.info['url']}/api/v1/workspaces/{server.info['workspace']}{path}"
    with urlopen(Request(url, json.dumps(body).encode(), headers), timeout=60) as answer:
        return json.load(answer)


def found(server: Server, query: str, **wish: Any) -> list[str]:
    answer = ask(server, "/memories/search", {"query": query, "layers": ["memories"], **wish})
    return [] if answer.get("notes") else [hit["memory"]["content"] for hit in answer["results"]]


def process_of_models(server: Server) -> int:
    """The one of the worker's processes that has the library."""
    maps = {pid: Path(f"/proc/{pid}/maps").read_text() for pid in server.children("work")}
    [own] = [pid for pid, mapped in maps.items() if "onnxruntime_pybind11_state" in mapped]
    return own


def test_meaning_finds_and_the_reranker_puts_in_order(server: Server) -> None:
    assert wait_for(lambda: found(server, "froze") == [BREAD, HERON])
    assert wait_for(lambda: found(server, "froze", rerank=True) == [HERON, BREAD])


def test_only_one_process_has_the_models(server: Server) -> None:
    assert wait_for(lambda: found(server, "froze") == [BREAD, HERON])
    web = [Path(f"/proc/{pid}/maps").read_text() for pid in server.children("web")]
    assert process_of_models(server) > 0
    assert not [mapped for mapped in web if "onnxruntime_pybind11_state" in mapped]


def test_when_that_process_was_killed_meaning_finds_again_soon(server: Server) -> None:
    assert wait_for(lambda: found(server, "froze") == [BREAD, HERON])
    before = process_of_models(server)
    os.kill(before, signal.SIGKILL)
    assert wait_for(lambda: server.get("/health/ready") > 0)
    assert wait_for(lambda: found(server, "froze") == [BREAD, HERON])
    assert process_of_models(server) != before


def test_without_workers_the_models_have_a_process_of_their_own(tmp_path: Path) -> None:
    env = {"EMBEDDING_PROVIDER": "fastembed", "EMBEDDING_FOLDER": str(onnx_models.write(tmp_path / "own"))}
    running = Server(tmp_path, env=env, more="--no-worker").wait_until_ready()
    try:
        ask(running, "/memories/ingest", {"content": HERON})
        assert wait_for(lambda: found(running, "pond", ranking="vector") == [HERON])
        assert len(running.children("models")) == 1
    finally:
        running.end()
    assert not running.children("models")
