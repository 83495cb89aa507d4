"""When a key was last used is noted in memory, and written beside the counts."""

import pytest
from django.db import connection, transaction
from django.db.utils import DatabaseError, InternalError

from memories.meters import stored_metrics
from tests.api_fixtures import caller
from tests.people import Person
from workspaces import keys
from workspaces.keys import asker_for_key, issue_server_key
from workspaces.models import ApiKey, ServerKey

pytestmark = pytest.mark.django_db


def test_a_search_in_a_database_that_takes_no_changes_is_answered(alice: Person) -> None:
    alice.say("I live in Oslo.")
    ApiKey.objects.update(last_used_at=None)
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("set transaction read only")
        assert caller(alice).post("/memories/search", {"query": "Oslo"}).status == 200
        transaction.set_rollback(True)


def test_a_use_is_written_with_the_counts(alice: Person) -> None:
    ApiKey.objects.update(last_used_at=None)
    assert caller(alice).get("/memories").status == 200
    assert ApiKey.objects.get().last_used_at is None
    stored_metrics.flush_or_keep()
    assert ApiKey.objects.get().last_used_at is not None


def test_a_server_keys_too() -> None:
    _, text = issue_server_key("deploy", actor="test")
    assert asker_for_key(text) is not None
    keys.write()
    assert ServerKey.objects.get().last_used_at is not None


def test_what_the_database_did_not_take_is_written_later(alice: Person) -> None:
    ApiKey.objects.update(last_used_at=None)
    assert caller(alice).get("/memories").status == 200
    with (
        pytest.raises(DatabaseError),
        transaction.atomic(),
        connection.execute_wrapper(refusing),
    ):
        keys.write()
    keys.write()
    assert ApiKey.objects.get().last_used_at is not None


def refusing(execute: object, sql: str, *rest: object) -> object:
    raise InternalError("it takes nothing now")
