"""A database that is stopped, or held by somebody, is not waited for without an end."""

import json
import os
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest
from django.db import OperationalError, connection

from memories.index import prepared_sql, workspace_index
from memories.models import Memory
from memoryproject.postgres import databases
from memoryproject.postgres.connection import ServerSilent, at_most
from memoryproject.postgres.database_roles import owner_connection
from tests.api_fixtures import caller
from tests.live_server import Server, wait_for
from tests.people import Person

SILENT = "The database did not answer in time."
HELD = "Another write holds what this one needs, for too long."


def processes(data: Path) -> list[int]:
    """The postmaster's and all its children's."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if os.readlink(process / "cwd") == str(data):
                found.append(int(process.name))
        except OSError:
            continue
    return found


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    monkeypatch.setenv("DATABASE_STATEMENT_TIMEOUT", "3")
    monkeypatch.setenv("DATABASE_CONNECT_TIMEOUT", "2")
    running = Server(tmp_path).wait_until_ready()
    yield running
    for pid in processes(running.home.data):
        os.kill(pid, signal.SIGCONT)
    running.end()


def ask(server: Server, path: str, body: Any = None) -> tuple[int, Any]:
    headers = {"X-API-Key": server.info["key"], "Content-Type": "application/json"}
    data = None if body is None else json.dumps(body).encode()
    try:
        with urlopen(Request(server.info["url"] + path, data, headers), timeout=60) as answer:
            return answer.status, json.load(answer)
    except HTTPError as error:
        return error.code, json.load(error)


def test_a_server_over_a_frozen_database_says_so_and_works_again_after(server: Server) -> None:
    base = "/api/v1/workspaces/demo/memories"
    calls = [(f"{base}/search", {"query": "tea"}), (base, None)]
    assert [ask(server, *call)[0] for call in calls] == [200, 200]
    frozen = processes(server.home.data)
    assert len(frozen) > 1
    for pid in frozen:
        os.kill(pid, signal.SIGSTOP)
    for call in calls * 2:  # over the connection that is there, then over new ones
        status, problem = ask(server, *call)
        assert (status, problem["detail"], problem["code"]) == (503, SILENT, "database")
    began = time.monotonic()  # nobody waits any more, whichever process is asked
    assert [ask(server, *call)[0] for call in calls * 5] == [503] * 10
    assert time.monotonic() - began < 10 * 0.9
    for pid in frozen:
        os.kill(pid, signal.SIGCONT)
    assert wait_for(lambda: ask(server, *calls[0])[0] == 200)
    assert [ask(server, *call)[0] for call in calls] == [200, 200]
    assert server.log.read_text().count("the database answers again") >= 1


# ---- one connection -------------------------------------------------------------------------


@pytest.fixture
def stopped(transactional_db: None) -> Iterator[None]:
    """The server's side of this process' connection stands still."""
    pid = prepared_sql.rows("select pg_backend_pid() as pid", {})[0].pid
    os.kill(pid, signal.SIGSTOP)
    yield
    os.kill(pid, signal.SIGCONT)
    connection.close()


WAYS: dict[str, Callable[[], Any]] = {
    "libpq alone": lambda: prepared_sql.rows("select 1 as one", {}),
    "psycopg": lambda: prepared_sql.execute("select 1", {}),
    "Django": lambda: Memory.objects.count(),
}


@pytest.mark.parametrize("way", WAYS)
def test_each_way_to_ask_gives_up_and_the_next_one_has_a_new_connection(stopped: None, way: str) -> None:
    with at_most(0.3), pytest.raises(OperationalError) as caught:
        WAYS[way]()
    assert isinstance(caught.value.__cause__, ServerSilent)
    connection.close_if_unusable_or_obsolete()
    WAYS[way]()


def test_the_shorter_of_two_bounds_holds(stopped: None) -> None:
    with at_most(0.3), at_most(600), pytest.raises(OperationalError, match=r"0\.3 s"):
        prepared_sql.rows("select 1 as one", {})


@pytest.mark.django_db
def test_an_answer_in_time_is_an_answer() -> None:
    with at_most(60):
        assert prepared_sql.rows("select 1 as one", {}) == [(1,)]


# ---- what the server keeps ------------------------------------------------------------------


@pytest.fixture
def impatient(alice: Person) -> Iterator[Person]:
    """Alice in a process that waits a moment for a lock."""
    with connection.cursor() as cursor:
        cursor.execute("set lock_timeout = '200ms'")
    yield alice
    connection.close()


@pytest.mark.django_db(transaction=True)
def test_a_write_waits_for_the_lock_of_its_workspace_for_a_bounded_time(
    impatient: Person,
) -> None:
    with owner_connection() as other, other.transaction():
        other.execute(workspace_index.LOCK, {"workspace": impatient.workspace.pk})
        refused = caller(impatient).post("/memories", {"content": "I keep bees."})
    assert (refused.status, refused.body["detail"]) == (503, HELD)
    assert "Retry-After" in refused.headers
    assert caller(impatient).post("/memories", {"content": "I keep bees."}).status == 201


@pytest.mark.django_db(transaction=True)
def test_a_statement_that_takes_too_long_is_told_as_that(alice: Person) -> None:
    with connection.cursor() as cursor:
        cursor.execute("set statement_timeout = '200ms'")
    with owner_connection() as other:
        other.execute("begin")
        other.execute("lock table memories_memory in access exclusive mode")
        refused = caller(alice).get("/memories")
        other.execute("rollback")
    connection.close()
    assert (refused.status, refused.body["detail"]) == (503, SILENT)


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("path", ["/metrics", "/admin/login/"])
def test_what_is_no_api_says_it_too(alice: Person, path: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute("set statement_timeout = '200ms'")
    asker = caller(alice)
    asker.client.cookies["sessionid"] = "x" * 32
    with owner_connection() as other:
        other.execute("begin")
        other.execute("lock table memories_memorysession, django_session")
        refused = asker.client.get(path)
        other.execute("rollback")
    connection.close()
    assert (refused.status_code, refused.headers["Retry-After"]) == (503, "5")


def limits(kind: str) -> tuple[dict[str, int], object]:
    found = databases.embedded(Path("/x"), "app", databases.limits_of(kind, 5, 20.0, 10.0))
    assert "options" not in found["OPTIONS"]
    return found["LIMITS"], found["ANSWER_WITHIN"]


def test_web_has_seconds_the_worker_minutes_and_a_command_no_end() -> None:
    own, within = limits("web")
    assert (own["statement_timeout"], own["lock_timeout"]) == (20_000, 10_000)
    assert own["idle_in_transaction_session_timeout"] == 60_000
    assert within == 22.0
    assert limits("worker")[0]["statement_timeout"] == 570_000
    assert limits("command") == ({}, None)


def test_a_server_elsewhere_is_watched_by_tcp_and_its_address_may_say_otherwise() -> None:
    url = "postgresql://me@far:5432/db?tcp_user_timeout=5000&connect_timeout=9"
    found = databases.external(url, "", "app", databases.limits_of("web", 5, 20.0, 10.0))
    own = found["OPTIONS"]
    assert (own["keepalives"], own["tcp_user_timeout"], own["connect_timeout"]) == (1, 5000, 9)
    assert found["LIMITS"]["statement_timeout"] == 20_000


@pytest.mark.django_db
def test_the_builder_of_indexes_is_not_hurried() -> None:
    with owner_connection() as owner:
        [(timeout,)] = owner.execute("show statement_timeout").fetchall()
    assert (timeout, owner.answer_within) == ("0", None)
