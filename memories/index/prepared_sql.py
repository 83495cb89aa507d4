"""The database as the hot path uses it: prepared statements, binary values, pgvector's types; and
new rows of several tables, in one statement for tables with one row each, many rows to a statement
for a table with many.

Django's own cursor binds on the client and prepares nothing. Errors are Django's: a caller that
awaits an IntegrityError hears of it whichever way it came. Of new rows types are named by hand,
`save()` is not called, and ids that the database gives are not read back."""

import json
import re
import uuid
from collections import namedtuple
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from enum import Enum
from functools import cache, lru_cache
from itertools import chain, groupby, islice
from operator import attrgetter, itemgetter
from struct import pack
from typing import Any, TypeAlias, TypeVar
from weakref import WeakSet

import msgspec
import numpy as np
import psycopg
from django.db import connection, models, transaction
from django.db.backends.base.base import BaseDatabaseWrapper
from django.utils import timezone
from pgvector.psycopg import register_vector
from psycopg.abc import Buffer
from psycopg.adapt import Dumper
from psycopg.pq import Format
from psycopg.types.json import Jsonb, JsonbBinaryLoader

from memoryproject.postgres import prepared
from memoryproject.postgres.prepared import Asked, Values

_registered: WeakSet[psycopg.Connection[Any]] = WeakSet()


# Of the types of which an answer's arrays are, by their oid: what numpy calls an element.
ELEMENTS = {16: "?", 20: ">i8", 21: ">i2", 23: ">i4", 701: ">f8", 1184: ">i8", 2950: "V16"}
# Rows of one INSERT: a power of two, so that few texts are prepared. COPY is not for tables with
# policies.
MOST_AT_ONCE = 64


class Int8s:
    """Many numbers as one value of the type int8[], in the form in which they are sent: psycopg
    looks at each of a list three times."""

    LAYOUT = np.dtype([("length", ">i4"), ("value", ">i8")])

    def __init__(self, values: Sequence[int]) -> None:
        body = np.full(len(values), 8, self.LAYOUT)
        body["value"] = values
        # Dimensions, no nulls, the type of an element; of the only dimension its length and begin.
        head = (1, 0, 20, len(values), 1) if len(body) else (0, 0, 20)
        self.packed = pack(f">{len(head)}i", *head) + body.tobytes()


class Uuids:
    """Many ids as one value of the type uuid[], as they are sent; see `Int8s`."""

    LENGTH = pack(">i", 16)

    def __init__(self, values: Sequence[uuid.UUID]) -> None:
        head = (1, 0, 2950, len(values), 1) if values else (0, 0, 2950)
        body = b"".join([self.LENGTH + value.bytes for value in values])
        self.packed = pack(f">{len(head)}i", *head) + body


class _Int8sDumper(Dumper):
    format, oid = Format.BINARY, 1016

    def dump(self, obj: Int8s | Uuids) -> bytes:
        return obj.packed


class _UuidsDumper(_Int8sDumper):
    oid = 2951


def hot_connection() -> psycopg.Connection[Any]:
    """Return this thread's psycopg connection, inside Django's transaction where there is one."""
    return _hot(prepared.live_wrapper())


def _hot(wrapper: BaseDatabaseWrapper) -> psycopg.Connection[Any]:
    raw: psycopg.Connection[Any] = wrapper.connection
    if raw not in _registered:
        # Outside of a transaction a failed look-up must not leave one open.
        register_vector(raw)
        raw.adapters.register_loader("jsonb", _JsonbLoader)
        raw.adapters.register_dumper(Int8s, _Int8sDumper)
        raw.adapters.register_dumper(Uuids, _UuidsDumper)
        _registered.add(raw)
    return raw


class _JsonbLoader(JsonbBinaryLoader):
    """A loader for binary answers alone: Django's own cursors get theirs as texts."""

    def load(self, data: Buffer) -> Any:
        text = memoryview(data)[1:]  # behind the number of the format
        try:
            return msgspec.json.decode(text)
        except msgspec.DecodeError:  # a number beyond all floats
            return json.loads(bytes(text))


@contextmanager
def cursor_of(kind: type[psycopg.Cursor[Any]] = psycopg.Cursor, **options: Any) -> Iterator[psycopg.Cursor[Any]]:
    """Open a cursor of `hot_connection` with psycopg's own options."""
    connection.validate_no_broken_transaction()
    with (
        connection.wrap_database_errors,
        kind(hot_connection(), **options) as cursor,
    ):
        yield cursor


def rows(statement: str, values: Values) -> list[Any]:
    """Return the named-tuple rows of a prepared statement; `values` by name (`%(name)s`)."""
    return rows_of_each([(statement, values)])[0]


def rows_of_each(asked: Iterable[Asked]) -> list[list[Any]]:
    """Return the `rows` of several statements in one round trip, each of which sees what the ones
    before it did; a statement that only writes has none."""
    return [answer.rows(_row(answer.columns)) for answer in _asked(asked)]


def _asked(asked: Iterable[Asked]) -> list[prepared.PreparedResult]:
    wrapper = prepared.live_wrapper()
    _hot(wrapper)
    return prepared.ask_each(wrapper, asked)


@lru_cache(maxsize=256)
def _row(columns: tuple[str, ...]) -> Any:
    return namedtuple("Row", columns)._make  # type: ignore[attr-defined]


# Of a binary array of one dimension: flags before, the number of elements, where they begin.
ELEMENT, COUNT, FIRST = slice(8, 12), slice(12, 16), 20


def arrays(statement: str, values: dict[str, Any]) -> dict[str, np.ndarray[Any, Any]]:
    """Return the only row of a prepared statement, all arrays without nulls, by column; null
    columns are left out. For hundreds of rows it takes a third of the time of `rows`.

    Times are microseconds since the year 2000; texts are objects, ids 16 bytes.
    """
    return arrays_of_each([(statement, values)])[0]


def arrays_of_each(asked: Iterable[Asked]) -> list[dict[str, np.ndarray[Any, Any]]]:
    """Return the `arrays` of several statements in one round trip."""
    found = []
    for answer in _asked(asked):
        told = ((name, answer.result.get_value(0, i)) for i, name in enumerate(answer.columns))
        found.append({name: _array(raw) for name, raw in told if raw})
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
    """Return the first row of a prepared `select *` as an instance of its model, or None."""
    found = rows(statement, values)
    if not found:
        return None
    instance = model(**found[0]._asdict())
    instance._state.adding = False
    return instance


def execute(statement: str, values: Values) -> int:
    """Run a prepared statement; return the number of rows it changed."""
    return _asked([(statement, values)])[0].result.command_tuples or 0


def require_transaction() -> None:
    """Require a transaction: truth and index change together or not at all."""
    if not connection.in_atomic_block:
        raise transaction.TransactionManagementError("the index is written in a transaction")


Record = tuple[Any, ...]
Field: TypeAlias = "models.Field[Any, Any]"


@dataclass(frozen=True, eq=False)
class Table:
    """A table and its columns, with their types."""

    name: str
    columns: Mapping[str, str]

    @property
    def listed(self) -> str:
        return f"{self.name} ({', '.join(self.columns)})"


@dataclass(frozen=True, slots=True)
class Rows:
    """New rows of one table. `records` are made while they are sent, so that the database works on
    the ones before."""

    table: Table
    number: int
    records: Iterable[Record]

    def __len__(self) -> int:
        return self.number


New: TypeAlias = Rows | Sequence[models.Model]


def insert(*groups: New, then: Iterable[Asked] = ()) -> None:
    """INSERT rows of several tables, each of one model, in this order, in a fifth of the time of
    `bulk_create`. The statements of `then` follow in the same round trip."""
    _asked(chain(inserts(*groups), then))


def inserts(*groups: New) -> Iterator[Asked]:
    """Yield the statements of `insert`, for the caller to send."""
    found = []
    for group in filter(len, groups):
        if isinstance(group, Rows):
            found.append(group)
        else:
            layout = _layout(type(group[0]))
            found.append(Rows(layout.table, len(group), map(layout.record, group)))
    for are_alone, some in groupby(found, lambda rows: len(rows) == 1):
        if are_alone:
            single = list(some)
            values = [value for rows in single for record in rows.records for value in record]
            yield _insert_text(tuple(rows.table for rows in single)), values
            continue
        for rows in some:
            records = iter(rows.records)
            left = len(rows)
            while left:
                size = min(MOST_AT_ONCE, 1 << (left.bit_length() - 1))
                values = [value for record in islice(records, size) for value in record]
                yield _insert_many_text(rows.table, size), values
                left -= size


@cache
def _insert_many_text(table: Table, size: int) -> str:
    kinds, width = list(table.columns.values()), len(table.columns)
    rows = (", ".join(f"${at * width + place}::{kind}" for place, kind in enumerate(kinds, 1)) for at in range(size))
    return f"insert into {table.listed} values {', '.join(f'({row})' for row in rows)}"


@cache
def _insert_text(tables: tuple[Table, ...]) -> str:
    parts, place = [], 1
    for table in tables:
        kinds = [f"${at}::{kind}" for at, kind in enumerate(table.columns.values(), place)]
        parts.append(f"insert into {table.listed} values ({', '.join(kinds)})")
        place += len(kinds)
    before = ", ".join(f"n{at} as ({part})" for at, part in enumerate(parts[:-1]))
    return f"with {before} {parts[-1]}" if before else parts[-1]


def rows_with(model: type[models.Model], rows: Sequence[Mapping[str, Any]], **shared: Any) -> Rows:
    """Return new rows of a model by their values, in a third of the time that instances take.

    All name the same attributes (`subject_id`); what they leave out is `shared`, or the default.
    """
    layout = _layout(model)
    return Rows(layout.table, len(rows), layout.filled(rows, shared))


@dataclass(frozen=True, slots=True)
class _Layout:
    """The way to make the rows of a model. `stamped` are fields that see to their value themselves
    before it is kept, as `auto_now` does; `made` are defaults that differ from row to row."""

    table: Table
    names: tuple[str, ...]
    stamped: tuple[Field, ...]
    json: tuple[int, ...]
    same: Mapping[str, Any]
    made: Mapping[str, Callable[[], Any]]

    def record(self, instance: models.Model) -> Record:
        for field in self.stamped:
            field.pre_save(instance, add=True)
        return self._plain(attrgetter(*self.names)(instance))

    def filled(self, rows: Sequence[Mapping[str, Any]], shared: Mapping[str, Any]) -> Iterator[Record]:
        if not rows:
            return
        same, values = {**self.same, **shared}, itemgetter(*self.names)
        made = {n: m for n, m in self.made.items() if n not in shared and n not in rows[0]}
        for row in rows:
            fresh = {name: make() for name, make in made.items()}
            yield self._plain(values({**same, **fresh, **row}))

    def _plain(self, found: Record) -> Record:
        values = [str(value) if isinstance(value, Enum) else value for value in found]
        for place in self.json:
            if values[place] is not None:
                values[place] = Jsonb(values[place])
        return tuple(values)


@cache
def _layout(model: type[models.Model]) -> _Layout:
    fields = [f for f in model._meta.concrete_fields if not isinstance(f, models.AutoField) and not f.generated]
    types = [f.rel_db_type(connection) if f.is_relation else f.db_type(connection) for f in fields]
    # `varchar(255)[]` as `varchar[]`: a cast would cut what is too long.
    kinds = [re.sub(r"\(\d+\)", "", str(kind)) for kind in types]
    stamped = tuple(f for f in fields if type(f).pre_save is not models.Field.pre_save)
    made: dict[str, Callable[[], Any]] = {
        field.attname: field.get_default for field in fields if callable(field.default)
    } | {field.attname: timezone.now for field in stamped if getattr(field, "auto_now", False)}
    return _Layout(
        Table(
            model._meta.db_table,
            {f'"{field.column}"': kind for field, kind in zip(fields, kinds, strict=True)},
        ),
        tuple(field.attname for field in fields),
        stamped,
        tuple(place for place, kind in enumerate(kinds) if kind == "jsonb"),
        {field.attname: field.get_default() for field in fields if field.attname not in made},
        made,
    )
