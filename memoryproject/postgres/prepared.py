"""Prepared statements by libpq alone, for what is read outside of transactions.

psycopg's cursor takes a statement apart into sending, polling and receiving, and counts what it has
prepared: a fifth of a millisecond for each, as much as the statement that finds a key takes itself.
"""

import re
from collections import OrderedDict
from collections.abc import Callable, Mapping
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

TEXT = 25  # the oid of the type
# Of a statement that is alone, before it and in its transaction.
SHOW = f"select set_config('{visible.SETTING}', $1, true)".encode()
SETTER: "tuple[str, tuple[int, ...]]" = ("set what is visible", (TEXT,))
MOST = 100  # statements of one connection; the least recently used goes first
UNKNOWN = "26000"  # no statement of this name: psycopg deallocates all of them after a rollback
PARAMETER = re.compile(r"%\((\w+)\)s")
Connection: TypeAlias = psycopg.Connection[Any]
Names: TypeAlias = OrderedDict[tuple[str, tuple[int, ...]], bytes]

_names: WeakKeyDictionary[Connection, Names] = WeakKeyDictionary()
_numbers = count()


@dataclass(frozen=True, slots=True)
class PreparedResult:
    """What came back, in binary, and how it becomes Python values."""

    result: PGresult
    transformer: abc.Transformer

    @property
    def columns(self) -> tuple[str, ...]:
        names = (self.result.fname(i) or b"" for i in range(self.result.nfields))
        return tuple(name.decode() for name in names)

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
    with wrapper.wrap_database_errors:
        raw: Connection = wrapper.connection
        text, order = _numbered(statement)
        transformer = Transformer(raw)
        given: Any = transformer.dump_sequence(
            [values[name] for name in order], [PyFormat.AUTO] * len(order)
        )
        key = (statement, transformer.types or ())
        for _ in range(2):
            name = _name_of(raw, key, text)
            if shown := visible.setting():
                setter = _name_of(raw, SETTER, SHOW)
                send = partial(
                    raw.pgconn.send_query_prepared,
                    name, given, transformer.formats, result_format=Format.BINARY,
                )  # fmt: skip
                result = raw.wait(_shown(raw.pgconn, setter, shown.encode(), send))
            else:
                raw.pgconn.send_query_prepared(
                    name, given, transformer.formats, result_format=Format.BINARY
                )
                result = _awaited(raw)
            if result.status == ExecStatus.TUPLES_OK:
                return PreparedResult(result, transformer)
            error = _error(raw, result)
            if error.sqlstate != UNKNOWN:
                break
            _names.pop(raw)
        raise error


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


def _shown(
    pgconn: PGconn, setter: bytes, value: bytes, send: Callable[[], None]
) -> PQGen[PGresult]:
    """One round trip: what is visible, and the statement, in one transaction of their own. The
    answer of the statement, or the error of the first that failed."""
    pgconn.enter_pipeline_mode()
    pgconn.send_query_prepared(setter, [value])
    send()
    pgconn.pipeline_sync()
    yield from generators.send(pgconn)
    told = []
    for _ in range(3):
        told += yield from generators.fetch_many(pgconn)
    pgconn.exit_pipeline_mode()
    return told[0] if told[0].status == ExecStatus.FATAL_ERROR else told[1]


def _awaited(raw: Connection) -> PGresult:
    """What came of the one thing that was sent. libpq's own calls that wait do so for ever."""
    return raw.wait(generators.execute(raw.pgconn))[-1]


def _error(raw: Connection, result: PGresult) -> psycopg.Error:
    if raw.pgconn.status != ConnStatus.OK:
        return psycopg.OperationalError(result.get_error_message())
    return errors.error_from_result(result)
