"""Who answers a request that only reads, in one process; the replica is the server itself here."""

from collections.abc import Callable, Iterable, Iterator
from io import BytesIO
from typing import Any
from urllib.parse import quote

import psycopg
import pytest
from django.db import DatabaseError, connection, connections
from django.http import HttpResponse, StreamingHttpResponse
from psycopg import errors

from memoryproject.postgres import replica
from memoryproject.postgres.connection import ServerSilent
from memoryproject.postgres.embedded_postgres import OWNER_ROLE
from memoryproject.postgres.replica import ReplicaReads, WithPosition
from memoryproject.server.front.wire import POSITION, SESSION
from tests.live_server import wait_for
from tests.own_databases import socket_folder

Head = list[tuple[Any, ...]]
ENDED = "select pg_terminate_backend(pg_backend_pid())"
NOWHERE = "postgresql:///none"


@pytest.fixture(scope="module", autouse=True)
def let_in(django_db_setup: None, django_db_blocker: Any) -> Iterator[None]:
    """Nothing is written here: there is nothing to take back."""
    with django_db_blocker.unblock():
        yield
        connection.close()


@pytest.fixture(autouse=True)
def itself(settings: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(replica, "CONNECT", 60)  # a busy machine is slow, not wrong
    monkeypatch.setattr(replica, "ANSWER", 60.0)
    name = connection.settings_dict["NAME"]
    settings.DATABASE_REPLICA_URL = f"postgresql://{OWNER_ROLE}@{quote(str(socket_folder()), '')}/{name}"
    replica._forget()
    yield
    assert wait_for(lambda: replica._replica.trying is None)


class Application:
    """Answers who was asked: the server or the replica, where `act` does not fail."""

    def __init__(self, act: Callable[[], object] = lambda: None, streams: bool = False) -> None:
        self.act, self.streams = act, streams
        self.asked: list[str] = []

    def __call__(self, environ: dict[str, Any], start: Callable[..., Any]) -> Iterable[bytes]:
        on_replica = isinstance(connections["default"], replica.ReplicaWrapper)
        self.asked.append("replica" if on_replica else "server")
        environ["noted"] = environ["wsgi.input"].read()
        start("200 OK", [])
        try:
            self.act()
        except DatabaseError:
            return HttpResponse("failed")
        text = self.asked[-1].encode()
        return StreamingHttpResponse([text]) if self.streams else HttpResponse(text)


def answer(reads: ReplicaReads | WithPosition, **environ: Any) -> tuple[bytes, dict[str, Any]]:
    heads: Head = []
    asked: dict[str, Any] = {"wsgi.input": BytesIO(b"body"), POSITION: 0, **environ}
    text = b"".join(reads(asked, lambda *head: heads.append(head)))
    if isinstance(reads, ReplicaReads):
        reads._wrapper().close()  # as when its thread ends
    assert heads[-1][0] == "200 OK"
    assert asked["noted"] == b"body"
    return text, asked


def failing(text: str) -> Callable[[], object]:
    """On the replica alone."""

    def act() -> None:
        if isinstance(connections["default"], replica.ReplicaWrapper):
            with connection.cursor() as cursor:
                cursor.execute(text)

    return act


def test_the_replica_answers_who_has_seen_no_more() -> None:
    text, environ = answer(ReplicaReads(Application()))
    assert (text, POSITION in environ) == (b"replica", False)


def test_who_has_seen_more_is_answered_by_the_server() -> None:
    text, environ = answer(ReplicaReads(Application()), **{POSITION: 2**60})
    assert text == b"server"
    assert environ[POSITION] > 0


def test_what_was_waited_for_is_read_where_it_was_written() -> None:
    assert answer(ReplicaReads(Application()), **{SESSION: "x"})[0] == b"server"


def test_what_the_replica_refuses_the_server_is_asked_and_the_next_one_goes_there() -> None:
    application = Application(failing("select 1 / 0"))
    assert answer(ReplicaReads(application))[0] == b"server"
    assert application.asked == ["replica", "server"]
    assert replica._replica.trying is None


def test_what_is_sent_while_it_is_made_the_server_makes() -> None:
    assert answer(ReplicaReads(Application(streams=True)))[0] == b"server"


def test_a_replica_whose_connection_ends_is_asked_again_when_it_answers(settings: Any) -> None:
    there, end = settings.DATABASE_REPLICA_URL, failing(ENDED)

    def ended_for_a_while() -> None:
        settings.DATABASE_REPLICA_URL = NOWHERE
        end()

    assert answer(ReplicaReads(Application(ended_for_a_while)))[0] == b"server"
    assert answer(ReplicaReads(Application()))[0] == b"server"
    settings.DATABASE_REPLICA_URL = there
    assert wait_for(lambda: replica._replica.trying is None)
    assert answer(ReplicaReads(Application()))[0] == b"replica"


def test_a_replica_that_is_not_there_is_no_error(settings: Any) -> None:
    there, settings.DATABASE_REPLICA_URL = settings.DATABASE_REPLICA_URL, NOWHERE
    assert answer(ReplicaReads(Application()))[0] == b"server"
    settings.DATABASE_REPLICA_URL = there


def test_after_a_write_it_is_known_how_far_the_server_is() -> None:
    text, environ = answer(WithPosition(Application()))
    assert (text, environ[POSITION] > 0) == (b"server", True)


def test_a_server_that_fails_says_nothing_of_how_far_it_is() -> None:
    with connection.execute_wrapper(refusing):
        assert replica.written() is None


def refusing(*_: object) -> object:
    raise DatabaseError("recovery is in progress")


@pytest.mark.parametrize(
    ("error", "gone"),
    [
        (errors.SerializationFailure("conflict with recovery"), False),
        (errors.QueryCanceled("statement timeout"), False),
        (ServerSilent("no answer"), True),
        (psycopg.OperationalError("closed the connection"), True),
        (errors.UndefinedTable("nowhere"), False),
    ],
)
def test_a_statement_that_fails_is_not_a_replica_that_does(error: Any, gone: bool) -> None:
    assert replica.is_gone(error) is gone
