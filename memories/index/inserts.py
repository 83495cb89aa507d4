"""New rows of several tables: in one statement where each is alone in its table, by COPY where
they are many.

Types are named by hand, `save()` is not called, and ids that the database gives are not read back.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import cache
from itertools import groupby
from operator import attrgetter, itemgetter
from typing import Any, TypeAlias

import psycopg
from django.db import connection, models
from django.utils import timezone
from psycopg.types.json import Jsonb

from memories.index.statements import cursor_of

Record = tuple[Any, ...]
Field: TypeAlias = "models.Field[Any, Any]"


@dataclass(frozen=True, eq=False)
class Table:
    """A table and its columns, with their types as COPY wants them named."""

    name: str
    columns: Mapping[str, str]

    @property
    def listed(self) -> str:
        return f"{self.name} ({', '.join(self.columns)})"


@dataclass(frozen=True, slots=True)
class Rows:
    """New rows of one table. `records` are made while they are sent, so that the database is at
    the ones before."""

    table: Table
    number: int
    records: Iterable[Record]

    def __len__(self) -> int:
        return self.number


New: TypeAlias = Rows | Sequence[models.Model]


def insert(*groups: New) -> None:
    """INSERT rows of several tables, each of one model, in this order: a fifth of what
    `bulk_create` takes."""
    found = [each if isinstance(each, Rows) else _rows_of(each) for each in groups if len(each)]
    for are_alone, some in groupby(found, lambda rows: len(rows) == 1):
        if are_alone:
            _insert_alone(list(some))
        else:
            for rows in some:
                with (
                    cursor_of() as cursor,
                    cursor.copy(f"copy {rows.table.listed} from stdin (format binary)") as writer,
                ):
                    writer.set_types(list(rows.table.columns.values()))
                    for record in rows.records:
                        writer.write_row(record)


def _insert_alone(groups: Sequence[Rows]) -> None:
    """One round trip, where each COPY has three."""
    values = [value for rows in groups for record in rows.records for value in record]
    with cursor_of(psycopg.RawCursor) as cursor:
        cursor.execute(_text(tuple(rows.table for rows in groups)), values, prepare=True)


@cache
def _text(tables: tuple[Table, ...]) -> str:
    parts, place = [], 1
    for table in tables:
        kinds = [f"${at}::{kind}" for at, kind in enumerate(table.columns.values(), place)]
        parts.append(f"insert into {table.listed} values ({', '.join(kinds)})")
        place += len(kinds)
    before = ", ".join(f"n{at} as ({part})" for at, part in enumerate(parts[:-1]))
    return f"with {before} {parts[-1]}" if before else parts[-1]


def _rows_of(instances: Sequence[models.Model]) -> Rows:
    layout = _layout(type(instances[0]))
    return Rows(layout.table, len(instances), map(layout.record, instances))


def rows_with(model: type[models.Model], rows: Sequence[Mapping[str, Any]], **shared: Any) -> Rows:
    """New rows of a model by their values, which takes a third of what instances take.

    All name the same attributes (`subject_id`); what they leave out is `shared`, or the default.
    """
    layout = _layout(model)
    return Rows(layout.table, len(rows), layout.filled(rows, shared))


@dataclass(frozen=True, slots=True)
class _Layout:
    """How the rows of a model are made. `stamped` are fields that see to their value themselves
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

    def filled(
        self, rows: Sequence[Mapping[str, Any]], shared: Mapping[str, Any]
    ) -> Iterator[Record]:
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
    fields = [
        f
        for f in model._meta.concrete_fields
        if not isinstance(f, models.AutoField) and not f.generated
    ]
    kinds = [_type(field) for field in fields]
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


def _type(field: Field) -> str:
    """`varchar(255)[]` as `varchar[]`: COPY names types without their limits."""
    return re.sub(
        r"\(\d+\)",
        "",
        str(field.rel_db_type(connection) if field.is_relation else field.db_type(connection)),
    )
