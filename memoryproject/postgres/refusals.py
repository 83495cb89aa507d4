"""Why the database that DATABASE_URL names cannot be used, in one line that says what to do; and
why one that answers does not do what it is asked: full, read-only, no connection left."""

from collections.abc import Iterator
from contextlib import contextmanager

import psycopg
from django.conf import settings
from django.core.management import CommandError
from django.db import NotSupportedError, connection
from django.db.migrations.executor import MigrationExecutor
from django.db.utils import Error as DjangoDatabaseError
from psycopg import errors

from memoryproject.postgres.login_check import PoolerRefused

# PostgreSQL's code of a connection that it refuses does not reach us; its words do.
NO_ROOM = "No space left on device"
CROWDED = (
    "too many clients",
    "remaining connection slots",
    "too many connections for",
    "no more connections allowed",
)
FULL = ("database_full", "The database's disk is full: send this again when there is room.")
READ_ONLY = (
    "database_read_only",
    "The database is read-only: send this again when it takes changes.",
)
NO_CONNECTION = ("database_crowded", "The database has no connection left for this.")


def cause_of(error: BaseException | None) -> tuple[str, str] | None:
    """A code and a sentence for a caller, where the database is well and cannot; `error` is
    psycopg's, or Django's about it."""
    while error is not None and not isinstance(error, psycopg.Error):
        error = error.__cause__
    match error:
        case errors.DiskFull():
            return FULL
        case psycopg.OperationalError() if NO_ROOM in str(error):
            return FULL
        case errors.ReadOnlySqlTransaction():
            return READ_ONLY
        case errors.TooManyConnections():
            return NO_CONNECTION
        case psycopg.OperationalError() if any(words in str(error) for words in CROWDED):
            return NO_CONNECTION
        case _:
            return None


NOT_MIGRATED = (
    "The database has not the tables of this version: start the server once with `up`, or run"
    " `manage.py migrate`."
)
# PostgreSQL gives no code to a connection that it refuses; its words are all there is.
BY_WORDS = (
    (("Connection refused", "No such file"), "Nothing answers at {where}: is PostgreSQL running"
     " there, and are host and port of DATABASE_URL right?"),
    (("could not translate host name", "Name or service", "failed to resolve"), "There is no host"
     " {host!r}: correct DATABASE_URL."),
    (("password authentication failed", "no password supplied", "Peer authentication"),
     "PostgreSQL refuses the password of {user!r}: correct DATABASE_URL."),
    (("no pg_hba.conf entry",), "PostgreSQL lets {user!r} not in from here: add a line to its"
     " pg_hba.conf."),
    (('role "',), "There is no login {user!r}: correct DATABASE_URL, or run: CREATE ROLE"
     " {user} LOGIN."),
    (('database "',), "There is no database {name!r}: run: CREATE DATABASE {name}."),
    (("unsupported startup parameter",), "A pooler stands at {where} and takes no settings with a"
     " login: leave `options` out of the address."),
)  # fmt: skip


def reason_of(error: BaseException) -> str | None:
    """None where it is nothing that the operator of a database can mend."""
    own = connection.settings_dict
    names = {
        "where": f"{own.get('HOST') or 'the local socket'}:{own.get('PORT') or 5432}",
        "host": own.get("HOST", ""), "user": own.get("USER", ""), "name": own.get("NAME", ""),
    }  # fmt: skip
    cause: BaseException | None = error
    while cause is not None and not isinstance(cause, psycopg.Error):
        # Django's migrations raise their own while they handle the database's.
        cause = cause.__cause__ or cause.__context__
    text = str(cause or error)
    if isinstance(error, NotSupportedError) and "or later is required" in text:
        return f"This PostgreSQL is too old: {text.splitlines()[0].strip()}"
    if isinstance(cause, PoolerRefused):
        return text
    if isinstance(cause, errors.InsufficientPrivilege):
        return (
            f"The login {names['user']!r} lacks a right ({text.splitlines()[0]}): let an"
            " administrator grant CREATE on the database and its schema, and run once:"
            " CREATE EXTENSION vector."
        )
    if isinstance(cause, psycopg.OperationalError) and cause.sqlstate is None:
        for words, told in BY_WORDS:
            if any(each in text for each in words):
                return told.format(**names)
    return None


def lacks_tables(error: BaseException) -> bool:
    """Whether it fails because a database was never migrated, or not to this version."""
    missing = (errors.UndefinedTable, errors.UndefinedColumn, errors.UndefinedFunction)
    if not isinstance(error.__cause__, missing):
        return False
    executor = MigrationExecutor(connection)
    return bool(executor.migration_plan(executor.loader.graph.leaf_nodes()))


@contextmanager
def one_line_refusals(*, is_migrating: bool = False) -> Iterator[None]:
    """Inside, a database of the operator's own that cannot be used is a CommandError, and so is any
    that lacks this version's tables, where they are not just being made."""
    try:
        yield
    except DjangoDatabaseError as error:
        reason = reason_of(error) if settings.EMBEDDED_POSTGRES is None else None
        if reason is None and not is_migrating and lacks_tables(error):
            reason = NOT_MIGRATED
        if reason is None:
            raise
        raise CommandError(reason) from None
