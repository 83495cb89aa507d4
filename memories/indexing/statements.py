"""The database as the hot path uses it: prepared statements, binary values, pgvector's types.

Django's own cursor binds on the client and prepares nothing. Errors are Django's: a caller that
awaits an IntegrityError hears of it whichever cursor met it.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from enum import Enum
from functools import cache
from operator import attrgetter
from typing import Any, TypeAlias, TypeVar
from weakref import WeakSet

import numpy as np
import psycopg
from django.db import connection, models, transaction
from pgvector.psycopg import register_vector
from psycopg.rows import namedtuple_row
from psycopg.types.json import Jsonb

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


@contextmanager
def cursor_of(**options: Any) -> Iterator[psycopg.Cursor[Any]]:
    """A cursor of `hot_connection` with psycopg's own options."""
    connection.validate_no_broken_transaction()
    with (
        connection.wrap_database_errors,
        psycopg.Cursor(hot_connection(), **options) as cursor,
    ):
        yield cursor


def rows(statement: str, values: dict[str, Any]) -> list[Any]:
    """The named-tuple rows of a prepared statement; `values` by name (`%(name)s`)."""
    with cursor_of(row_factory=namedtuple_row) as cursor:
        return cursor.execute(statement, values, prepare=True, binary=True).fetchall()


# Of the types of which an answer's arrays are, by their oid: what numpy calls an element.
ELEMENTS = {16: "?", 20: ">i8", 21: ">i2", 23: ">i4", 701: ">f8", 1184: ">i8", 2950: "V16"}
# Of a binary array of one dimension: flags before, the number of elements, where they begin.
ELEMENT, COUNT, FIRST = slice(8, 12), slice(12, 16), 20


def arrays(statement: str, values: dict[str, Any]) -> dict[str, np.ndarray[Any, Any]]:
    """The only row of a prepared statement, all arrays without nulls, by column; those that are
    null are left out. For hundreds of rows a third of what `rows` takes.

    Times are microseconds since the year 2000; texts are objects, ids 16 bytes.
    """
    with cursor_of() as cursor:
        found = cursor.execute(statement, values, prepare=True, binary=True).pgresult
        assert found is not None
        told = {found.fname(i): found.get_value(0, i) for i in range(found.nfields)}
    return {name.decode(): _array(raw) for name, raw in told.items() if name and raw}


def _array(raw: bytes) -> np.ndarray[Any, Any]:
    number = int.from_bytes(raw[COUNT], "big")
    kind = ELEMENTS.get(int.from_bytes(raw[ELEMENT], "big"))
    if kind is None:
        return np.array(_texts(raw, number), object)
    element = np.dtype(kind)
    layout = np.dtype([("length", ">i4"), ("value", element)])
    told = np.frombuffer(raw, layout, number, FIRST)["value"]
    return told.astype(element.newbyteorder("="))


def _texts(raw: bytes, number: int) -> list[str]:
    found, at = [], FIRST
    for _ in range(number):
        end = at + 4 + int.from_bytes(raw[at : at + 4], "big")
        found.append(raw[at + 4 : end].decode())
        at = end
    return found


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


def copy(table: str, columns: dict[str, str], records: list[tuple[Any, ...]]) -> None:
    """Binary COPY of `records` into `table`; `columns` maps each column to its type."""
    if not records:
        return
    if len(records) == 1:
        _insert_one(table, columns, records[0])
        return
    with cursor_of() as cursor:
        statement = f"copy {table} ({', '.join(columns)}) from stdin (format binary)"
        with cursor.copy(statement) as writer:
            writer.set_types(list(columns.values()))
            for record in records:
                writer.write_row(record)


def _insert_one(table: str, columns: dict[str, str], record: tuple[Any, ...]) -> None:
    """One row as a prepared INSERT: one round trip where COPY has three."""
    places = ", ".join(f"%s::{kind}" for kind in columns.values())
    statement = f"insert into {table} ({', '.join(columns)}) values ({places})"
    with cursor_of() as cursor:
        cursor.execute(statement, record, prepare=True)


def insert(instances: Sequence[models.Model]) -> None:
    """INSERT of new rows of one model by COPY, all at once: a fifth of what `bulk_create` takes.

    As with `bulk_create`, `save` is not called. Ids that the database gives are not read back.
    """
    if not instances:
        return
    layout = _layout(type(instances[0]))
    copy(layout.table, layout.columns, [layout.record(instance) for instance in instances])


Field: TypeAlias = "models.Field[Any, Any]"


@dataclass(frozen=True, slots=True)
class _Layout:
    """A table, its columns with their types as COPY wants them named, and how to read them.

    `stamped` are fields that see to their value themselves before it is kept, as `auto_now` does.
    """

    table: str
    columns: dict[str, str]
    read: Callable[[Any], tuple[Any, ...]]
    stamped: tuple[Field, ...]
    json: tuple[int, ...]

    def record(self, instance: models.Model) -> tuple[Any, ...]:
        for field in self.stamped:
            field.pre_save(instance, add=True)
        values = [str(v) if isinstance(v, Enum) else v for v in self.read(instance)]
        for place in self.json:
            if values[place] is not None:
                values[place] = Jsonb(values[place])
        return tuple(values)


@cache
def _layout(model: type[models.Model]) -> _Layout:
    fields = [f for f in model._meta.concrete_fields if not isinstance(f, models.AutoField)]
    kinds = [_type(field) for field in fields]
    return _Layout(
        model._meta.db_table,
        {f'"{field.column}"': kind for field, kind in zip(fields, kinds, strict=True)},
        attrgetter(*(field.attname for field in fields)),
        tuple(f for f in fields if type(f).pre_save is not models.Field.pre_save),
        tuple(place for place, kind in enumerate(kinds) if kind == "jsonb"),
    )


def _type(field: Field) -> str:
    """`varchar(255)[]` as `varchar[]`: COPY names types without their limits."""
    return re.sub(
        r"\(\d+\)",
        "",
        str(field.rel_db_type(connection) if field.is_relation else field.db_type(connection)),
    )


def require_transaction() -> None:
    """Truth and index change together or not at all."""
    if not connection.in_atomic_block:
        raise transaction.TransactionManagementError("the index is written in a transaction")
