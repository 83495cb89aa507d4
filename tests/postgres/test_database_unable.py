"""A database that is full or read-only: a 503 that says so, nothing half stored, and all goes on as
soon as it can. (No connection left, and one that hangs: test_health_live.py.)"""

from collections.abc import Iterator

import pytest
from django.db import InternalError, close_old_connections, connection
from django.test import RequestFactory

from memories.models import Episode, MemorySession
from memoryproject.postgres.database_roles import owner_connection
from tests.api_fixtures import Caller, caller
from tests.people import Person
from workspaces.api import problems
from workspaces.models import Workspace

pytestmark = pytest.mark.django_db(transaction=True)
SAID = {"content": "I prefer cider to beer."}
# What PostgreSQL raises where a file cannot grow.
FULL = """
create function no_room() returns trigger language plpgsql as $$ begin
  raise exception 'could not extend file "base/5/1": No space left on device'
    using errcode = 'disk_full'; end $$;
create trigger no_room before insert on memories_{table} execute function no_room()
"""


@pytest.fixture
def http(alice: Person) -> Caller:
    return caller(alice)


@pytest.fixture(params=["episode", "fact"])
def full(request: pytest.FixtureRequest) -> Iterator[None]:
    """The disk is full when what was said is kept, or when what was learned is."""
    with owner_connection() as owner:
        owner.execute(FULL.format(table=request.param))
        yield
        owner.execute("drop function if exists no_room() cascade")


@pytest.fixture
def read_only() -> Iterator[None]:
    """The whole database, and the session of this process is one that begins now."""
    name = connection.ops.quote_name(str(connection.settings_dict["NAME"]))
    with owner_connection() as owner:
        owner.execute(f"alter database {name} set default_transaction_read_only = on")
        connection.close()
        yield
        owner.execute(f"alter database {name} reset default_transaction_read_only")
    connection.close()


def test_a_full_disk_is_told_and_nothing_is_lost_or_halved(http: Caller, full: None) -> None:
    answer = http.post("/memories/ingest", SAID)
    assert (answer.status, answer.is_problem) == (503, True)
    assert answer.body["code"] == "database_full"
    assert "disk is full" in answer.body["detail"]
    assert int(answer.headers["Retry-After"]) > 0
    kept = Episode.objects.count(), MemorySession.objects.count()
    assert kept in [(0, 0), (1, 1)]  # with its session, which is due again when its lease is over
    with connection.cursor() as cursor:
        cursor.execute("drop function no_room() cascade")
    assert http.post("/memories/ingest", SAID).status == 201


def test_a_read_only_database_is_told_and_read(http: Caller, alice: Person, read_only: None) -> None:
    answer = http.post("/memories/ingest", SAID)
    assert (answer.status, answer.body["code"]) == (503, "database_read_only")
    assert http.get("/memories").status == 200


def test_a_session_that_began_read_only_is_replaced(http: Caller, read_only: None) -> None:
    assert http.post("/memories/ingest", SAID).status == 503
    name = connection.ops.quote_name(str(connection.settings_dict["NAME"]))
    with owner_connection() as owner:
        owner.execute("set default_transaction_read_only = off")
        owner.execute(f"alter database {name} reset default_transaction_read_only")
    close_old_connections()  # as before every request and task
    assert http.post("/memories/ingest", SAID).status == 201


def test_a_page_tells_it_too(read_only: None) -> None:
    request = RequestFactory().get("/admin/")
    try:
        Workspace.objects.create(slug="late", name="Late")
    except InternalError:
        answer = problems.server_error(request)
    assert (answer.status_code, b"read-only" in answer.content) == (503, True)
