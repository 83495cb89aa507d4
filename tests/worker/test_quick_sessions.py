"""Whatever the workers are at, what somebody said in a sentence is learned at once: real
processes."""

import json
import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

import pytest

from tests.live_server import Server, wait_for
from tests.wire_servers import silent_server

# Seconds that a worker waits for a model, and on a busy machine a sentence for a worker: on an idle
# one it is under a second.
MODEL_WAIT, WITHIN = 180, 60.0
HANGING = 6
LONG = 2_000_000  # characters


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    env = {"EXTRACTOR_ALLOWED_HOSTS": "*", "PROVIDER_TIMEOUT": str(MODEL_WAIT)}
    running = Server(tmp_path_factory.mktemp("quick"), env=env).wait_until_ready()
    yield running
    running.end()


def as_tenant(server: Server, slug: str, method: str, path: str, body: Any) -> Any:
    headers = {"X-API-Key": keys[slug], "Content-Type": "application/json"}
    url = f"{server.info['url']}/api/v1/workspaces/{slug}{path}"
    request = Request(url, json.dumps(body).encode() if body else None, headers, method=method)
    with urlopen(request, timeout=60) as answer:
        return json.load(answer)


keys: dict[str, str] = {}


@pytest.fixture
def tenants(server: Server) -> list[str]:
    for slug in ("waiter", "writer", "speaker"):
        if slug not in keys:
            made = server.run("createworkspace", slug, "--key", "--json")
            keys[slug] = json.loads(made.splitlines()[-1])["key"]
    return list(keys)


def test_a_sentence_is_learned_while_all_workers_wait_or_read(server: Server, tenants: list[str]) -> None:
    with silent_server() as model:
        extractors = [{"provider": "openai", "model": "m", "baseUrl": model.url_for("/v1")}]
        server.ask(
            "update workspaces_workspace set settings = settings || "
            f"'{json.dumps({'extractors': extractors})}'::jsonb where slug = 'waiter' returning 1"
        )
        for number in range(HANGING):
            said = {"content": f"Shelf {number} bends.", "mode": "async", "extract": "llm"}
            as_tenant(server, "waiter", "POST", "/memories/ingest", said)
        long = {"content": "It rained and we went home. " * (LONG // 28), "mode": "async"}
        as_tenant(server, "writer", "POST", "/memories/ingest", long)
        assert wait_for(lambda: len(model.log) > 0 or busy(server) > 0)
        said = {"content": "I live in Lisbon.", "mode": "async", "userId": "ana"}
        kept = as_tenant(server, "speaker", "POST", "/memories/ingest", said)
        path = f"/sessions/{kept['sessionId']}"
        assert wait_for(lambda: as_tenant(server, "speaker", "GET", path, None)["status"] == "done", WITHIN)
        assert busy(server) > 0  # the others are still at it


def busy(server: Server) -> int:
    [(number,)] = server.ask(
        "select count(*) from memories_memorysession s join workspaces_workspace w"
        " on w.id = s.workspace_id where w.slug = 'waiter' and s.state = 'extracting'"
    )
    assert isinstance(number, int)
    return number


def quick_process(server: Server) -> int:
    return server.children("work")[1]


def test_the_place_of_quick_sessions_is_filled_again_when_its_process_was_killed(
    server: Server,
) -> None:
    assert wait_for(lambda: len(server.children("work")) == 7)
    before = server.children("work")
    os.kill(quick_process(server), signal.SIGKILL)
    assert wait_for(lambda: len(set(server.children("work")) - set(before)) == 1)
    assert set(before) - set(server.children("work")) == {before[1]}


def test_it_goes_with_the_worker(server: Server, tmp_path: Path) -> None:
    before = server.children("work")
    os.kill(before[0], signal.SIGTERM)
    assert wait_for(lambda: not set(before) & set(server.children("work")))
