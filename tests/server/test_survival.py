"""kill -9 of the worker, of Postgres and of the web process in the middle of work."""

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from memoryproject.postgres.postgres_guard import postmaster
from tests.live_server import Server, wait_for

INGEST = "/api/v1/workspaces/demo/memories/ingest"
TOLD = 60
UNFINISHED = "select count(*) from memories_memorysession where state <> 'done'"


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    running = Server(tmp_path).wait_until_ready()
    yield running
    if running.process.poll() is None:
        running.end()


def tell(server: Server, number: int) -> bool:
    """Send one text until it is taken; its own id makes a second try the same episode."""
    message = {"role": "user", "content": f"Ledger line {number}: {number * 7} apples", "id": "1"}
    body = {"messages": [message], "threadId": f"line-{number}", "extract": "none"}
    return wait_for(lambda: server.post(INGEST, {**body, "mode": "async"}) in (201, 202))


def test_nothing_is_lost_and_nothing_is_there_twice(server: Server) -> None:
    kills = {15: worker, 30: database, 45: web}
    for number in range(TOLD):
        if number in kills:
            os.kill(kills[number](server), signal.SIGKILL)
        assert tell(server, number), server.log.read_text()[-2000:]
    assert wait_for(lambda: swept(server)), server.ask(UNFINISHED)
    count = "select count(*), count(distinct content), sum(source_count) from memories_memory"
    assert server.ask(count) == [(TOLD, TOLD, TOLD)]
    assert server.ask("select count(*) from memories_episode") == [(TOLD,)]
    assert "agree" in server.run("checkindex")


def worker(server: Server) -> int:
    return server.children("work")[-1]


def database(server: Server) -> int:
    pid = postmaster(server.home.data)
    assert pid is not None
    return pid


def web(server: Server) -> int:
    return server.children("web")[-1]


def swept(server: Server) -> bool:
    """The sweep would come by itself within a minute; here it comes at once."""
    server.run("sweep")
    return server.ask(UNFINISHED) == [(0,)]
