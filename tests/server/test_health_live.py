"""A real server whose database hangs, has no connection left, or takes no changes: it says so,
loses nothing that it took, and goes on by itself."""

import json
import os
import signal
from collections import deque
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import psycopg
import pytest

from memoryproject.postgres.embedded_postgres import APP_ROLE, DATABASE, OWNER_ROLE
from memoryproject.postgres.postgres_guard import postmaster
from tests.live_server import Server, wait_for

INGEST = "/api/v1/workspaces/demo/memories/ingest"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    running = Server(tmp_path_factory.mktemp("unwell")).wait_until_ready()
    yield running
    running.end()


def asked(server: Server, path: str, body: Any = None) -> tuple[int, dict[str, Any]]:
    headers = {"X-API-Key": server.info["key"], "Content-Type": "application/json"}
    data = None if body is None else json.dumps(body).encode()
    try:
        with urlopen(Request(server.info["url"] + path, data, headers), timeout=60) as answer:
            return answer.status, json.loads(answer.read())
    except HTTPError as error:
        return error.code, json.loads(error.read())


def told(server: Server, words: str) -> tuple[int, dict[str, Any]]:
    return asked(server, INGEST, {"content": words, "extract": "none"})


def states(server: Server) -> tuple[int, dict[str, str]]:
    status, body = asked(server, "/health/ready")
    return status, {part["name"]: part["state"] for part in body["parts"]}


def owner(server: Server) -> "psycopg.Connection[Any]":
    host = str(server.home.socket)
    return psycopg.connect(host=host, user=OWNER_ROLE, dbname=DATABASE, autocommit=True)


def own_processes(server: Server) -> list[int]:
    """The database server's, its first one last."""
    first = postmaster(server.home.data)
    assert first is not None
    children = Path(f"/proc/{first}/task/{first}/children").read_text().split()
    return [*map(int, children), first]


def test_a_server_that_works_has_a_worker_and_says_so(server: Server) -> None:
    assert wait_for(lambda: states(server)[1].get("workers") == "ok"), server.log.read_text()
    status, found = states(server)
    found["disk"] = "ok"  # of this machine
    assert (status, set(found.values())) == (200, {"ok"})


def test_a_frozen_database_is_told_and_thaws(server: Server) -> None:
    frozen = own_processes(server)
    for pid in frozen:
        os.kill(pid, signal.SIGSTOP)
    try:
        status, found = states(server)
        assert (status, found["database"]) == (503, "failed")
    finally:
        for pid in reversed(frozen):
            os.kill(pid, signal.SIGCONT)
    assert wait_for(lambda: states(server)[0] == 200)
    assert told(server, "After the thaw the press ran well.")[0] == 201


def test_a_read_only_database_is_told_and_taken_up_again(server: Server) -> None:
    with owner(server) as hand:
        hand.execute(f"alter database {DATABASE} set default_transaction_read_only = on")
        hand.execute("set default_transaction_read_only = off")
        let_go(hand)
        status, problem = told(server, "Written while nothing can be.")
        assert (status, problem["code"]) == (503, "database_read_only")
        assert states(server)[0] == 503
        hand.execute(f"alter database {DATABASE} reset default_transaction_read_only")
    assert told(server, "Written when it can be.")[0] == 201
    assert wait_for(lambda: states(server)[0] == 200)
    assert is_learned_in_the_background(server, "Lara lives in Turku.")
    assert server.ask("select count(*) from memories_memory where content like 'Written%'") == [(1,)]


def test_without_a_connection_left_it_says_so_and_goes_on_when_there_is_one(
    server: Server,
) -> None:
    with ExitStack() as crowd, owner(server) as hand:
        fill(server, crowd)
        let_go(hand)
        fill(server, crowd)
        status, problem = told(server, "Nobody has room for this.")
        assert (status, problem["code"]) == (503, "database_crowded")
        assert states(server)[0] == 503
    assert wait_for(lambda: told(server, "Now there is room.")[0] == 201)
    assert wait_for(lambda: states(server)[0] == 200)
    assert is_learned_in_the_background(server, "Ivo lives in Graz.")


def is_learned_in_the_background(server: Server, words: str) -> bool:
    """The worker, too, goes on by itself."""
    status, session = asked(server, INGEST, {"content": words, "mode": "async"})
    assert status == 202
    path = f"/api/v1/workspaces/demo/sessions/{session['sessionId']}"
    return wait_for(lambda: asked(server, path)[1]["status"] == "done")


def fill(server: Server, crowd: ExitStack) -> None:
    """Take connections until there is none for an ordinary role."""
    words = {"host": str(server.home.socket), "user": APP_ROLE, "dbname": DATABASE}
    more = iter(lambda: psycopg.connect(**words, application_name="crowd"), None)
    with pytest.raises(psycopg.OperationalError, match="connection"):
        deque(map(crowd.enter_context, more), maxlen=0)


def let_go(hand: "psycopg.Connection[Any]") -> None:
    """End the sessions of the server's processes; they come back with new ones."""
    hand.execute(
        "select pg_terminate_backend(pid, 60000) from pg_stat_activity"
        " where usename = %s and application_name <> 'crowd'",
        [APP_ROLE],
    )
