"""The connection that a process keeps, and what becomes of it when the server goes away."""

from typing import Any

import pytest
from django.db import connection
from pytest_django import DjangoAssertNumQueries

from memoryproject.roles import owner_connection

PID = "select pg_backend_pid()"


def backend() -> Any:
    with connection.cursor() as cursor:
        cursor.execute(PID)
        return cursor.fetchone()[0]


@pytest.fixture
def kept(transactional_db: None) -> Any:
    """The process id of the server's side of this process' connection."""
    return backend()


def test_a_living_connection_is_known_without_a_round_trip(
    kept: int, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    with django_assert_num_queries(0):
        assert connection.is_usable()


def test_a_connection_that_the_server_ended_is_replaced(kept: int) -> None:
    with owner_connection() as owner:
        owner.execute("select pg_terminate_backend(%s, 60000)", [kept])
    assert not connection.is_usable()
    connection.close_if_unusable_or_obsolete()
    connection.close()
    assert backend() != kept
