"""A language model that is away for a while: `up` with all its processes, and a model behind a real socket."""

import json
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.request import Request, urlopen

import pytest
from pytest_httpserver import HTTPServer
from werkzeug import Response

from tests.live_server import Server, wait_for
from tests.wire_servers import Json, chat_completion, facts_json, failing, openai_error, serve_in_turn

SESSIONS = 6
USED, ENDED = 30.0, 60.0  # seconds until a model that is well again is used, and from then until all is done
OPEN = "select count(*) from memories_breaker where state = 'open' and failures > 3"
SPARE = 2.0  # as many times of these may pass where the machine is busy


@pytest.fixture
def model() -> Iterator[HTTPServer]:
    """A server that is started and stopped by the test, always at the same address."""
    once = HTTPServer(threaded=True)
    once.start()
    port = once.port
    once.stop()
    yield (server := HTTPServer(port=port, threaded=True))
    if server.is_running():
        server.stop()


@pytest.fixture
def server(tmp_path: Path, model: HTTPServer) -> Iterator[Server]:
    env = {
        "EXTRACTION_PROVIDER": "openai",
        "EXTRACTION_MODEL": "m",
        "OPENAI_BASE_URL": f"http://localhost:{model.port}/v1",
        "PROVIDER_TIMEOUT": "5",
    }
    running = Server(tmp_path, env=env).wait_until_ready()
    yield running
    running.end()


def tell(server: Server, number: int) -> None:
    text = f"As of this spring number {number} is where I live, by the river."
    assert server.post("/api/v1/workspaces/demo/memories/ingest", {"content": text, "extract": "llm", "mode": "async"})


def sessions(server: Server) -> list[Json]:
    headers = {"X-API-Key": server.info["key"]}
    with urlopen(Request(f"{server.info['url']}/api/v1/workspaces/demo/sessions?limit=100", headers=headers)) as answer:
        return json.load(answer)["results"]


def are_done(server: Server) -> bool:
    return {each["status"] for each in sessions(server)} == {"done"}


def hang(_: object) -> Response:
    time.sleep(20)
    return Response("{}")


def recover(server: Server, model: HTTPServer, asked: list[Json], began: float) -> tuple[float, float]:
    """Return after how many seconds the model was used, and then all was done."""
    assert wait_for(lambda: len(asked) > 0)
    used = time.monotonic()
    assert wait_for(lambda: are_done(server)), sessions(server)
    return used - began, time.monotonic() - used


def test_no_kind_of_outage_costs_a_session_an_attempt_and_a_model_that_is_well_is_used_soon(
    server: Server, model: HTTPServer
) -> None:
    path, well = "/v1/chat/completions", chat_completion(facts_json())
    for kind in ("refused", "503", "hangs"):
        if kind != "refused":
            model.clear()
            if kind == "503":
                serve_in_turn(model, path, failing(503, openai_error("busy"), retry_after="3600"))
            else:
                model.expect_request(path).respond_with_handler(hang)
        for number in range(SESSIONS):
            tell(server, number)
        assert wait_for(lambda: server.ask(OPEN) == [(1,)]), server.log.read_text()[-3000:]
        waiting = [each for each in sessions(server) if each["status"] != "done"]
        assert {each["status"] for each in waiting} <= {"received", "extracting"}
        assert {each["attempts"] for each in waiting} <= {0, 1}  # one is being tried
        if kind == "refused":
            model.start()
        model.clear()
        asked, began = serve_in_turn(model, path, well), time.monotonic()
        used, ended = recover(server, model, asked, began)
        assert used <= SPARE * USED
        assert ended <= SPARE * ENDED
    assert server.ask("select max(failures) from memories_memorysession") == [(0,)]
