"""A database that cannot be used is refused in one line that says what to do."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
import pytest
from django.core.management import CommandError
from django.db import NotSupportedError, OperationalError, ProgrammingError, connection
from django.db.migrations.exceptions import MigrationSchemaMissing
from psycopg import errors

from memoryproject.postgres.base import one_line_refusals, reason_of
from tests.management.test_commands import run


@contextmanager
def another(**changed: Any) -> Iterator[None]:
    own = dict(connection.settings_dict)
    connection.close()
    connection.settings_dict.update(changed)
    try:
        yield
    finally:
        connection.close()
        connection.settings_dict.update(own)


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"HOST": "127.0.0.1", "PORT": "1"}, "Nothing answers at 127.0.0.1:1"),
        ({"HOST": "/nowhere"}, "Nothing answers at /nowhere:5432"),
        ({"HOST": "nothing.invalid"}, "There is no host 'nothing.invalid'"),
        ({"USER": "nobody_here"}, "There is no login 'nobody_here'"),
        ({"NAME": "not_there"}, "There is no database 'not_there': run: CREATE DATABASE"),
    ],
)
def test_what_a_server_refuses_is_one_line(changed: dict[str, str], said: str, settings: Any) -> None:
    settings.EMBEDDED_POSTGRES = None
    for command in ("stats", "migrate"):
        with another(**changed), pytest.raises(CommandError) as caught:
            run(command)
        assert said in str(caught.value)
        assert "\n" not in str(caught.value)


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("words", [("stats",), ("createkey", "--workspace", "demo"), ("work",)])
def test_a_database_that_was_never_migrated_is_one_line_that_says_what_to_do(
    words: tuple[str, ...],
) -> None:
    with another(NAME="postgres"), pytest.raises(CommandError, match="the command `migrate`") as caught:
        run(*words)
    assert "\n" not in str(caught.value)


def told(error: Exception, cause: Exception | None = None) -> str | None:
    error.__cause__ = cause
    return reason_of(error)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("FATAL:  password authentication failed for user", "refuses the password"),
        ("FATAL:  no pg_hba.conf entry for host", "pg_hba.conf"),
        ("FATAL:  unsupported startup parameter: options", "A pooler stands at"),
    ],
)
def test_what_only_other_servers_say_is_one_line_too(words: str, said: str) -> None:
    assert said in str(told(OperationalError(), psycopg.OperationalError(words)))


def test_a_lacking_right_and_an_old_server_are_told() -> None:
    lacking = errors.InsufficientPrivilege("permission denied to create extension")
    assert "CREATE EXTENSION vector" in str(told(ProgrammingError(), lacking))
    missing = MigrationSchemaMissing("no table")
    missing.__context__ = lacking  # raised while it was handled, and not from it
    assert "lacks a right" in str(reason_of(missing))
    old = NotSupportedError("PostgreSQL 15 or later is required (found 13.4).")
    assert told(old) == ("This PostgreSQL is too old: PostgreSQL 15 or later is required (found 13.4).")


def test_what_nobody_foresaw_is_raised_as_it_is(settings: Any) -> None:
    strange = OperationalError("the moon is full")
    assert told(strange, psycopg.OperationalError("the moon is full")) is None
    settings.EMBEDDED_POSTGRES = None
    with pytest.raises(OperationalError), one_line_refusals():
        raise strange
