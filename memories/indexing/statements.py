"""The database as the hot path uses it: prepared statements, binary values, pgvector's types.

Django's own cursor binds on the client and prepares nothing.
"""

from typing import Any
from weakref import WeakSet

import psycopg
from django.db import connection, transaction
from pgvector.psycopg import register_vector
from psycopg.rows import namedtuple_row

_registered: WeakSet[psycopg.Connection[Any]] = WeakSet()


def hot_connection() -> psycopg.Connection[Any]:
    """This thread's psycopg connection, inside Django's transaction where there is one."""
    connection.ensure_connection()
    raw: psycopg.Connection[Any] = connection.connection
    if raw not in _registered:
        # Outside of a transaction a failed look-up must not leave one open.
        register_vector(raw)
        _registered.add(raw)
    return raw


def rows(statement: str, values: dict[str, Any]) -> list[Any]:
    """The named-tuple rows of a prepared statement; `values` by name (`%(name)s`)."""
    connection.validate_no_broken_transaction()
    with psycopg.Cursor(hot_connection(), row_factory=namedtuple_row) as cursor:
        return cursor.execute(statement, values, prepare=True, binary=True).fetchall()


def execute(statement: str, values: dict[str, Any]) -> int:
    """Run a prepared statement; the number of rows it changed."""
    connection.validate_no_broken_transaction()
    with psycopg.Cursor(hot_connection()) as cursor:
        return cursor.execute(statement, values, prepare=True).rowcount


def copy(table: str, columns: dict[str, str], records: list[tuple[Any, ...]]) -> None:
    """Binary COPY of `records` into `table`; `columns` maps each column to its type."""
    if not records:
        return
    with psycopg.Cursor(hot_connection()) as cursor:
        statement = f"copy {table} ({', '.join(columns)}) from stdin (format binary)"
        with cursor.copy(statement) as writer:
            writer.set_types(list(columns.values()))
            for record in records:
                writer.write_row(record)


def require_transaction() -> None:
    """Truth and index change together or not at all."""
    if not connection.in_atomic_block:
        raise transaction.TransactionManagementError("the index is written in a transaction")
