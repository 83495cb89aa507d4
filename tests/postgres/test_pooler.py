"""A pooler in transaction mode between web and worker and the server: a real PgBouncer."""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

import psycopg
import pytest
from django.core.management import CommandError
from django.db import OperationalError, connection, connections, transaction
from django.db.backends.base.base import BaseDatabaseWrapper

from memoryproject.postgres import database_roles, databases, login_check, prepared
from memoryproject.postgres.base import DatabaseWrapper, reason_of
from memoryproject.postgres.embedded_postgres import APP_ROLE, OWNER_ROLE
from tests.live_server import Server, measured
from tests.own_databases import own_database, socket_folder
from tests.pgbouncer import Pooler, pooler

CLIENTS, EACH = 6, 50
SETTINGS = ", ".join(f"current_setting('{name}', true)" for name in login_check.wanted())


@pytest.fixture(scope="module", autouse=True)
def let_in(django_db_setup: None, django_db_blocker: Any) -> Iterator[None]:
    """Connections of its own need no transaction of the tests."""
    with django_db_blocker.unblock():
        yield


@pytest.fixture(scope="module")
def database(django_db_setup: None) -> Iterator[str]:
    with own_database("behind_a_pooler") as name:
        yield name


@pytest.fixture(scope="module")
def bouncer(database: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pooler]:
    at = tmp_path_factory.mktemp("pooler") / "pgbouncer"
    with pooler(at, socket_folder(), (APP_ROLE, OWNER_ROLE)) as made:
        yield made


def address(port: int, database: str, user: str = APP_ROLE) -> str:
    return f"postgresql://{user}@127.0.0.1:{port}/{database}"


def past_the_pooler(database: str) -> str:
    return f"postgresql://{OWNER_ROLE}@{quote(str(socket_folder()), '')}/{database}"


@contextmanager
def wrapper_at(url: str, role: str = "owner", alias: str = "pooled") -> Iterator[BaseDatabaseWrapper]:
    """As a process of ours logs in."""
    own = databases.external(url, "", role)
    made = DatabaseWrapper({**connection.settings_dict, **own}, alias=alias)
    connections[alias] = made
    try:
        yield made
    finally:
        made.close()
        del connections[alias]


# ---- what is refused ------------------------------------------------------------------------


def refusal(url: str, role: str = "owner") -> str:
    with wrapper_at(url, role) as made, pytest.raises(OperationalError) as refused:
        made.ensure_connection()
    return reason_of(refused.value) or ""


def test_a_pooler_that_knows_no_prepared_statements_is_refused(database: str, tmp_path: Path) -> None:
    """As those before 1.21, which hand one program's statement to another."""
    at = tmp_path / "old"
    with pooler(at, socket_folder(), (APP_ROLE,), max_prepared_statements=0) as old:
        assert "PgBouncer 1.21 or newer" in refusal(address(old.port, database))


def test_a_database_without_our_settings_is_refused_behind_a_pooler(django_db_setup: None, bouncer: Pooler) -> None:
    with own_database("unsettled") as name:
        told = refusal(address(bouncer.port, name))
    assert "ALTER DATABASE unsettled SET hnsw.ef_search = '400'" in told


def test_the_rights_of_a_role_that_is_taken_after_the_login_would_stay_with_others(
    bouncer: Pooler, settled: str
) -> None:
    assert "APP_DATABASE_URL" in refusal(address(bouncer.port, settled, OWNER_ROLE), "app")


def test_the_owner_comes_past_the_pooler(bouncer: Pooler, settled: str) -> None:
    with (
        wrapper_at(address(bouncer.port, settled, OWNER_ROLE)) as made,
        pytest.raises(CommandError, match="name the server itself"),
    ):
        made.prepare_database()


# ---- what works -----------------------------------------------------------------------------


@pytest.fixture(scope="module")
def settled(bouncer: Pooler, database: str) -> str:
    """As `up` leaves it, which the pooler's sessions have seen before."""
    with psycopg.connect(address(bouncer.port, database), prepare_threshold=None) as early:
        assert early.execute("select 1").fetchone() == (1,)
    with wrapper_at(past_the_pooler(database)) as own:
        assert login_check.keep(own) == ""
        assert login_check.keep(own) == ""  # again, with nothing to do
        assert database_roles.prepare(own).database_role == "app"
    return database


def test_sessions_of_before_the_walls_are_ended(bouncer: Pooler, settled: str) -> None:
    """They would look past the views of the index, and may not read what is under them."""
    with wrapper_at(address(bouncer.port, settled)) as made, made.cursor() as cursor:
        cursor.execute("select count(*) from memories_entry")
        assert cursor.fetchone() == (0,)


def test_one_that_is_left_is_refused(bouncer: Pooler, settled: str) -> None:
    url = address(bouncer.port, settled)
    with psycopg.connect(url, prepare_threshold=None, autocommit=True) as early:
        early.execute("set search_path = public")
        assert "RECONNECT" in refusal(url)
        early.execute("reset search_path")
        with wrapper_at(url) as made:
            made.ensure_connection()


def test_statements_that_are_prepared_go_where_the_pooler_sends_them(bouncer: Pooler, settled: str) -> None:
    """Two programs that share the server's sessions, each with statements of its own."""
    url = address(bouncer.port, settled)
    with wrapper_at(url) as made, wrapper_at(url, alias="beside") as other:
        for each in (made, other):
            each.ensure_connection()
            assert each.connection.is_shared
            assert each.settings_dict["DISABLE_SERVER_SIDE_CURSORS"]
        for number in range(prepared.MOST + 2):  # the first are closed again
            one = prepared.ask(made, f"select {number} + %(n)s::int as n", {"n": 1})
            two = prepared.ask(other, f"select '{number} ' || %(n)s::text as n", {"n": "x"})
            assert (one.rows(tuple), two.rows(tuple)) == ([(number + 1,)], [(f"{number} x",)])
        again = prepared.ask(made, "select 0 + %(n)s::int as n", {"n": 2})
        assert again.rows(tuple) == [(2,)]


def test_a_rollback_of_one_program_takes_no_statement_from_it(bouncer: Pooler, settled: str) -> None:
    """psycopg forgets all of its own after one."""
    with wrapper_at(address(bouncer.port, settled)) as made:
        made.ensure_connection()
        for number in range(3):
            found = prepared.ask(made, "select 1 + %(n)s::int as n", {"n": number})
            assert found.rows(tuple) == [(number + 1,)]
            with (
                pytest.raises(psycopg.errors.DivisionByZero),
                transaction.atomic(using=made.alias),
                psycopg.Cursor(made.connection) as cursor,
            ):
                cursor.execute("select 1 / %(n)s::int", {"n": 0}, prepare=True)


@pytest.fixture(scope="module")
def server(settled: str, bouncer: Pooler, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    env = {
        "DATABASE_URL": past_the_pooler(settled),
        "APP_DATABASE_URL": address(bouncer.port, settled),
    }
    running = Server(tmp_path_factory.mktemp("pooled"), env=env | measured())
    try:
        yield running.wait_until_ready()
    finally:
        running.end()


def at_once(act: Callable[[int], list[int]]) -> list[int]:
    """What clients were answered that act side by side."""
    answers: list[int] = []
    clients = [threading.Thread(target=lambda own=number: answers.extend(act(own))) for number in range(CLIENTS)]
    for client in clients:
        client.start()
    for client in clients:
        client.join()
    return answers


def test_requests_of_several_clients_side_by_side_are_all_answered(server: Server) -> None:
    info = json.loads(server.file.read_text())
    base = f"/api/v1/workspaces/{info['workspace']}"

    def talk(client: int) -> list[int]:
        user = f"user-{client}"
        told = []
        for turn in range(EACH):
            if turn % 10 == 0:
                body = {"userId": user, "content": f"I live in town {client} since {turn}."}
                told.append(server.post(f"{base}/memories/ingest", body))
            else:
                body = {"query": "where do I live?", "userId": user}
                told.append(server.post(f"{base}/memories/search", body))
        return told

    answers = at_once(talk)
    assert len(answers) == CLIENTS * EACH
    faults = {status for status in answers if not 200 <= status < 300}
    told = [line for line in server.log.read_text().splitlines() if " INFO " not in line]
    assert faults == set(), "\n".join(told)[:6000]


def test_every_connection_of_the_pooler_has_our_settings(server: Server, bouncer: Pooler, settled: str) -> None:
    wanted = tuple(login_check.wanted().values())
    with ExitStack() as opened:
        seen = {}
        for _ in range(3):  # all of them, for each holds a transaction
            raw = opened.enter_context(psycopg.connect(address(bouncer.port, settled)))
            row = raw.execute(f"select pg_backend_pid(), current_user, {SETTINGS}").fetchone()
            assert row is not None
            seen[row[0]] = row[1:]
    assert len(seen) == 3
    assert set(seen.values()) == {(APP_ROLE, *wanted)}
