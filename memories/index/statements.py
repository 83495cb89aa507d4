"""The database as the hot path uses it: prepared statements, binary values, pgvector's types.

Django's own cursor binds on the client and prepares nothing. Errors are Django's: a caller that
awaits an IntegrityError hears of it whichever cursor met it. Outside of a transaction, reads go past
psycopg's cursors as well.
"""

from collections import namedtuple
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from typing import Any, TypeVar
from weakref import WeakSet

import numpy as np
import psycopg
from django.db import connection, models, transaction
from django.db.backends.base.base import BaseDatabaseWrapper
from pgvector.psycopg import register_vector
from psycopg.pq.abc import PGresult
from psycopg.rows import namedtuple_row

from memoryproject.postgres import prepared

_registered: WeakSet[psycopg.Connection[Any]] = WeakSet()


def hot_connection() -> psycopg.Connection[Any]:
    """This thread's psycopg connection, inside Django's transaction where there is one."""
    return _hot(prepared.live_wrapper())


def _hot(wrapper: BaseDatabaseWrapper) -> psycopg.Connection[Any]:
    raw: psycopg.Connection[Any] = wrapper.connection
    if raw not in _registered:
        # Outside of a transaction a failed look-up must not leave one open.
        register_vector(raw)
        _registered.add(raw)
    return raw


@contextmanager
def cursor_of(
    kind: type[psycopg.Cursor[Any]] = psycopg.Cursor, **options: Any
) -> Iterator[psycopg.Cursor[Any]]:
    """A cursor of `hot_connection` with psycopg's own options."""
    connection.validate_no_broken_transaction()
    with (
        connection.wrap_database_errors,
        kind(hot_connection(), **options) as cursor,
    ):
        yield cursor


def rows(statement: str, values: dict[str, Any]) -> list[Any]:
    """The named-tuple rows of a prepared statement; `values` by name (`%(name)s`)."""
    told = _asked(statement, values)
    if told is not None:
        return told.rows(_row(told.columns))
    with cursor_of(row_factory=namedtuple_row) as cursor:
        return cursor.execute(statement, values, prepare=True, binary=True).fetchall()


def _asked(statement: str, values: dict[str, Any]) -> prepared.PreparedResult | None:
    """The answer to a statement that is alone; None in a transaction."""
    wrapper = prepared.live_wrapper()
    if not prepared.is_open_to(wrapper):
        return None
    _hot(wrapper)
    return prepared.ask(wrapper, statement, values)


@lru_cache(maxsize=256)
def _row(columns: tuple[str, ...]) -> Any:
    return namedtuple("Row", columns)._make  # type: ignore[attr-defined]


# Of the types of which an answer's arrays are, by their oid: what numpy calls an element.
ELEMENTS = {16: "?", 20: ">i8", 21: ">i2", 23: ">i4", 701: ">f8", 1184: ">i8", 2950: "V16"}
# Of a binary array of one dimension: flags before, the number of elements, where they begin.
ELEMENT, COUNT, FIRST = slice(8, 12), slice(12, 16), 20


def arrays(statement: str, values: dict[str, Any]) -> dict[str, np.ndarray[Any, Any]]:
    """The only row of a prepared statement, all arrays without nulls, by column; those that are
    null are left out. For hundreds of rows a third of what `rows` takes.

    Times are microseconds since the year 2000; texts are objects, ids 16 bytes.
    """
    found = _result(statement, values)
    told = {found.fname(i): found.get_value(0, i) for i in range(found.nfields)}
    return {name.decode(): _array(raw) for name, raw in told.items() if name and raw}


def _result(statement: str, values: dict[str, Any]) -> PGresult:
    told = _asked(statement, values)
    if told is not None:
        return told.result
    with cursor_of() as cursor:
        found = cursor.execute(statement, values, prepare=True, binary=True).pgresult
        assert found is not None
        return found


def _array(raw: bytes) -> np.ndarray[Any, Any]:
    number = int.from_bytes(raw[COUNT], "big")
    kind = ELEMENTS.get(int.from_bytes(raw[ELEMENT], "big"))
    if kind is None:
        found, at = [], FIRST
        for _ in range(number):
            end = at + 4 + int.from_bytes(raw[at : at + 4], "big")
            found.append(raw[at + 4 : end].decode())
            at = end
        texts = found
        return np.array(texts, object)
    element = np.dtype(kind)
    layout = np.dtype([("length", ">i4"), ("value", element)])
    told = np.frombuffer(raw, layout, number, FIRST)["value"]
    return told.astype(element.newbyteorder("="))


Row = TypeVar("Row", bound=models.Model)


def first(model: type[Row], statement: str, values: dict[str, Any]) -> Row | None:
    """The first row of a prepared `select *` as an instance of its model, or None."""
    found = rows(statement, values)
    if not found:
        return None
    instance = model(**found[0]._asdict())
    instance._state.adding = False
    return instance


def execute(statement: str, values: dict[str, Any]) -> int:
    """Run a prepared statement; the number of rows it changed."""
    with cursor_of() as cursor:
        return cursor.execute(statement, values, prepare=True).rowcount


def require_transaction() -> None:
    """Truth and index change together or not at all."""
    if not connection.in_atomic_block:
        raise transaction.TransactionManagementError("the index is written in a transaction")
