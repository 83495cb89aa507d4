"""Prepared statements by libpq alone, for what is read outside of transactions.

psycopg's cursor takes a statement apart into sending, polling and receiving, and counts what it has
prepared: a fifth of a millisecond for each, as much as the statement that finds a key takes itself.
"""

import re
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import count
from typing import Any, TypeAlias
from weakref import WeakKeyDictionary

import psycopg
from django.db import DEFAULT_DB_ALIAS, connections
from django.db.backends.base.base import BaseDatabaseWrapper
from psycopg import abc, errors, generators
from psycopg.abc import PQGen
from psycopg.adapt import PyFormat, Transformer
from psycopg.pq import ConnStatus, ExecStatus, Format
from psycopg.pq.abc import PGconn, PGresult

from memoryproject.postgres import visible
from memoryproject.postgres.connection import BoundedConnection

TEXT = 25  # the oid of the type
# Of a statement that is alone, before it and in its transaction.
SHOW = f"select set_config('{visible.SETTING}', $1, true)".encode()
SETTER: "tuple[str, tuple[int, ...]]" = ("set what is visible", (TEXT,))
MOST = 100  # statements of one connection; the least recently used goes first
UNKNOWN = "26000"  # no statement of this name: psycopg deallocates all of them after a rollback
PARAMETER = re.compile(r"%\((\w+)\)s")
Connection: TypeAlias = BoundedConnection
Names: TypeAlias = OrderedDict[tuple[str, tuple[int, ...]], bytes]

_names: WeakKeyDictionary[Connection, Names] = WeakKeyDictionary()
_numbers = count()


@dataclass(frozen=True, slots=True)
class PreparedResult:
    """What came back, in binary, how it becomes Python values, and what its columns are called."""

    result: PGresult
    transformer: abc.Transformer
    columns: tuple[str, ...]

    def rows(self, make: Any) -> list[Any]:
        """Of each row what `make` makes of its values."""
        self.transformer.set_pgresult(self.result)
        return self.transformer.load_rows(0, self.result.ntuples, make)


def live_wrapper() -> BaseDatabaseWrapper:
    """Django's side of this thread's connection, which is open."""
    wrapper = connections[DEFAULT_DB_ALIAS]
    wrapper.close_if_health_check_failed()
    wrapper.ensure_connection()
    return wrapper


def is_open_to(wrapper: BaseDatabaseWrapper) -> bool:
    """Whether `ask` may be used: in a transaction, a name that is gone would end it."""
    return wrapper.autocommit and not wrapper.in_atomic_block


def ask(wrapper: BaseDatabaseWrapper, statement: str, values: Mapping[str, Any]) -> PreparedResult:
    """Run a statement, `values` by name (`%(name)s`). Errors are Django's."""
    return ask_each(wrapper, [(statement, values)])[0]


def ask_each(
    wrapper: BaseDatabaseWrapper, asked: Sequence[tuple[str, Mapping[str, Any]]]
) -> list[PreparedResult]:
    """As `ask`, several in one round trip and one transaction. Where one fails, all do."""
    with wrapper.wrap_database_errors:
        raw: Connection = wrapper.connection
        bound = [_BoundStatement.of(raw, statement, values) for statement, values in asked]
        for _ in range(2):
            sends: list[Callable[[], None]] = []
            if shown := visible.setting():
                setter = _name_of(raw, SETTER, SHOW)
                sends.append(partial(raw.pgconn.send_query_prepared, setter, [shown.encode()]))
            names = []
            for each in bound:
                name = _name_of(raw, each.key, each.text)
                names.append(name)
                sends.append(
                    partial(
                        raw.pgconn.send_query_prepared,
                        name, each.given, each.formats, result_format=Format.BINARY,
                    )
                )  # fmt: skip
            results = raw.wait(_answers(raw.pgconn, sends))
            failed = next((each for each in results if each.status != ExecStatus.TUPLES_OK), None)
            if failed is None:
                return [
                    PreparedResult(result, each.transformer, _columns_of(raw, name, result))
                    for result, each, name in zip(results[-len(bound) :], bound, names, strict=True)
                ]
            error = _error(raw, failed)
            if error.sqlstate != UNKNOWN:
                break
            _names.pop(raw)
        raise error


@dataclass(frozen=True, slots=True)
class _BoundStatement:
    """A statement with its values as they are sent."""

    key: tuple[str, tuple[int, ...]]
    text: bytes
    given: Any
    formats: Any
    transformer: Any

    @classmethod
    def of(cls, raw: Connection, statement: str, values: Mapping[str, Any]) -> "_BoundStatement":
        text, order = _numbered(statement)
        transformer = _transformer_of(raw, statement)
        given = transformer.dump_sequence(
            [values[name] for name in order], [PyFormat.AUTO] * len(order)
        )
        types = transformer.types or ()
        return cls((statement, types), text, given, transformer.formats, transformer)


def _columns_of(raw: Connection, name: bytes, result: PGresult) -> tuple[str, ...]:
    """Of what is prepared under a name they never change."""
    kept = raw.columns
    if name not in kept:
        if len(kept) >= MOST:
            kept.clear()
        columns = (result.fname(i) or b"" for i in range(result.nfields))
        kept[name] = tuple(column.decode() for column in columns)
    return kept[name]


def _transformer_of(raw: Connection, statement: str) -> abc.Transformer:
    """Kept with its connection, as cursors keep theirs: what reads and writes each type is looked
    up once."""
    kept = raw.transformers
    if statement not in kept:
        if len(kept) >= MOST:
            kept.clear()
        kept[statement] = Transformer(raw)
    return kept[statement]


@lru_cache(maxsize=256)
def _numbered(statement: str) -> tuple[bytes, tuple[str, ...]]:
    """The text with $1, $2 and on, and the names in their order."""
    places: dict[str, int] = {}

    def numbered(found: re.Match[str]) -> str:
        return f"${places.setdefault(found[1], len(places) + 1)}"

    text = PARAMETER.sub(numbered, statement).replace("%%", "%")
    return text.encode(), tuple(places)


def _name_of(raw: Connection, key: tuple[str, tuple[int, ...]], text: bytes) -> bytes:
    names = _names.setdefault(raw, OrderedDict())
    name = names.get(key)
    if name is not None:
        names.move_to_end(key)
        return name
    name = b"prepared_%d" % next(_numbers)
    if len(names) >= MOST:
        raw.pgconn.send_close_prepared(names.popitem(last=False)[1])
        _awaited(raw)
    raw.pgconn.send_prepare(name, text, key[1])
    result = _awaited(raw)
    if result.status != ExecStatus.COMMAND_OK:
        raise _error(raw, result)
    names[key] = name
    return name


def _answers(pgconn: PGconn, sends: Sequence[Callable[[], None]]) -> PQGen[list[PGresult]]:
    """One round trip: what is visible, and the statements, in one transaction of their own. What
    came of each; behind one that failed the others were not run."""
    if len(sends) == 1:
        sends[0]()
        return (yield from generators.execute(pgconn))
    pgconn.enter_pipeline_mode()
    for send in sends:
        send()
    pgconn.pipeline_sync()
    yield from generators.send(pgconn)
    results = []
    for _ in range(len(sends) + 1):
        results += yield from generators.fetch_many(pgconn)
    pgconn.exit_pipeline_mode()
    return results[: len(sends)]


def _awaited(raw: Connection) -> PGresult:
    """What came of the one thing that was sent. libpq's own calls that wait do so for ever."""
    return raw.wait(generators.execute(raw.pgconn))[-1]


def _error(raw: Connection, result: PGresult) -> psycopg.Error:
    if raw.pgconn.status != ConnStatus.OK:
        return psycopg.OperationalError(result.get_error_message())
    return errors.error_from_result(result)
