"""Prepared statements by libpq alone: several in one round trip, in the open transaction or in one
of their own.

psycopg's cursor takes a statement apart into sending, polling and receiving, and counts what it has
prepared: a fifth of a millisecond for each, as much as the statement that finds a key takes itself.
No statement is under way when `ask` or `ask_each` has returned: an error is that of its call.
"""

import re
from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain, count
from typing import Any, TypeAlias
from weakref import WeakKeyDictionary

import psycopg
from django.db import DEFAULT_DB_ALIAS, connections
from django.db.backends.base.base import BaseDatabaseWrapper
from psycopg import abc, errors, generators
from psycopg.abc import PQGen
from psycopg.adapt import PyFormat, Transformer
from psycopg.pq import ConnStatus, ExecStatus, Format, TransactionStatus
from psycopg.pq.abc import PGresult

from memoryproject.postgres import visible
from memoryproject.postgres.connection import BoundedConnection

TEXT = 25  # the oid of the type
# Of a statement that is alone, before it and in its transaction.
SHOW = f"select set_config('{visible.SETTING}', $1, true)".encode()
SETTER: "tuple[str, tuple[int, ...]]" = ("set what is visible", (TEXT,))
MOST = 200  # statements of one connection; the least recently used goes first
DONE = (ExecStatus.TUPLES_OK, ExecStatus.COMMAND_OK)
PARAMETER = re.compile(r"%\((\w+)\)([sb])")
FORMATS = {"s": PyFormat.AUTO, "b": PyFormat.BINARY}
Connection: TypeAlias = BoundedConnection
Names: TypeAlias = OrderedDict[tuple[str, tuple[int, ...]], bytes]
Values: TypeAlias = Mapping[str, Any] | Sequence[Any]  # of `%(name)s`; or of `$1` and on
Asked: TypeAlias = tuple[str, Values]

_names: WeakKeyDictionary[Connection, Names] = WeakKeyDictionary()
_numbers = count()


@dataclass(frozen=True, slots=True)
class PreparedResult:
    """A binary result, the transformer to Python values, and the names of its columns."""

    result: PGresult
    transformer: abc.Transformer
    columns: tuple[str, ...]

    def rows(self, make: Any) -> list[Any]:
        """Make a row of each result row's values with `make`."""
        self.transformer.set_pgresult(self.result)
        return self.transformer.load_rows(0, self.result.ntuples, make)


def live_wrapper() -> BaseDatabaseWrapper:
    """Django's side of this thread's connection, which is open."""
    wrapper = connections[DEFAULT_DB_ALIAS]
    wrapper.close_if_health_check_failed()
    wrapper.ensure_connection()
    return wrapper


def ask(wrapper: BaseDatabaseWrapper, statement: str, values: Values) -> PreparedResult:
    """Run a statement. Errors are Django's."""
    return ask_each(wrapper, [(statement, values)])[0]


def ask_each(wrapper: BaseDatabaseWrapper, asked: Iterable[Asked]) -> list[PreparedResult]:
    """Run several statements in one round trip; each sees what the ones before it did. In a
    transaction the database runs one while the next is made. If one fails, all do."""
    wrapper.validate_no_broken_transaction()
    with wrapper.wrap_database_errors:
        raw: Connection = wrapper.connection
        bound = (_BoundStatement.of(raw, statement, values) for statement, values in asked)
        if not raw.autocommit:
            return _answered(raw, bound)
        alone = list(bound)
        try:
            return _answered(raw, alone)
        except errors.InvalidSqlStatementName:
            # No statement of this name: somebody made the server forget them all.
            _names.pop(raw)
            return _answered(raw, alone)


@dataclass(frozen=True, slots=True)
class _BoundStatement:
    """A statement with its values in the form in which they are sent."""

    key: tuple[str, tuple[int, ...]]
    text: bytes
    given: Any
    formats: Any
    transformer: Any

    @classmethod
    def of(cls, raw: Connection, statement: str, values: Values) -> "_BoundStatement":
        if isinstance(values, Mapping):
            text, order, formats = _numbered(statement)
            values = [values[name] for name in order]
        else:
            text, formats = statement.encode(), [PyFormat.AUTO] * len(values)
        transformer = _transformer_of(raw, statement)
        given = transformer.dump_sequence(values, formats)
        types = transformer.types or ()
        return cls((statement, types), text, given, transformer.formats, transformer)


def _answered(raw: Connection, asked: Iterable[_BoundStatement]) -> list[PreparedResult]:
    bound = iter(asked)
    first = next(bound, None)
    if first is None:
        return []
    second = next(bound, None)
    _forget(raw)
    if second is None and not _needs_more(raw) and (name := _names[raw].get(first.key)):
        _names[raw].move_to_end(first.key)
        _send(raw, name, first)
        result = raw.wait(generators.execute(raw.pgconn))[-1]
        if result.status not in DONE:
            raise _error(raw, result)
        return [PreparedResult(result, first.transformer, _columns_of(raw, name, result))]
    trip = _Trip(raw)
    try:
        for each in chain((first,), () if second is None else (second,), bound):
            trip.send(each)
    except BaseException:
        raw.wait(trip.results())
        raise
    return trip.end()


def _needs_more(raw: Connection) -> bool:
    """Tell whether the visibility setting or a BEGIN must go before a statement."""
    wanted = visible.setting()
    if raw.autocommit:
        return bool(wanted)
    return raw.pgconn.transaction_status == TransactionStatus.IDLE or raw.shows != wanted


def _send(raw: Connection, name: bytes, bound: _BoundStatement) -> None:
    raw.pgconn.send_query_prepared(name, bound.given, bound.formats, result_format=Format.BINARY)


class _Trip:
    """Statements in libpq's pipeline mode, from the first of them until its `end`."""

    def __init__(self, raw: Connection) -> None:
        self.raw, self.pgconn = raw, raw.pgconn
        self.sent = 0
        self.asked: list[tuple[int, bytes, abc.Transformer]] = []
        self.new: list[tuple[str, tuple[int, ...]]] = []
        is_first = self.pgconn.transaction_status == TransactionStatus.IDLE
        self.pgconn.enter_pipeline_mode()
        wanted = visible.setting()
        if raw.autocommit:
            if wanted:
                setter = self._name_of(SETTER, SHOW)
                self.pgconn.send_query_prepared(setter, [wanted.encode()])
                self.sent += 1
            return
        if is_first:
            raw.shows = ""
            self._send_plain(raw._get_tx_start_command())
        if raw.shows != wanted:
            raw.shows = wanted
            self._send_plain(visible.command(wanted))

    def _send_plain(self, text: bytes) -> None:
        self.pgconn.send_query_params(text, None)
        self.sent += 1

    def send(self, bound: _BoundStatement) -> None:
        name = self._name_of(bound.key, bound.text)
        _send(self.raw, name, bound)
        self.pgconn.flush()
        self.asked.append((self.sent, name, bound.transformer))
        self.sent += 1

    def _name_of(self, key: tuple[str, tuple[int, ...]], text: bytes) -> bytes:
        names = _names[self.raw]
        if known := names.get(key):
            names.move_to_end(key)
            return known
        name = b"prepared_%d" % next(_numbers)
        if len(names) >= MOST:
            self.pgconn.send_close_prepared(names.popitem(last=False)[1])
            self.sent += 1
        self.pgconn.send_prepare(name, text, key[1])
        self.sent += 1
        self.new.append(key)
        names[key] = name
        return name

    def results(self) -> PQGen[list[PGresult]]:
        """The results of all statements sent; nothing after a failed one was run."""
        self.pgconn.pipeline_sync()
        yield from generators.send(self.pgconn)
        results: list[PGresult] = []
        for _ in range(self.sent + 1):
            results += yield from generators.fetch_many(self.pgconn)
        self.pgconn.exit_pipeline_mode()
        if any(each.status not in DONE for each in results[: self.sent]):
            for key in self.new:  # prepared or not: the next time under another name
                _names[self.raw].pop(key, None)
        return results[: self.sent]

    def end(self) -> list[PreparedResult]:
        """Return the answers. Raises the error of the first statement that failed."""
        raw = self.raw
        results = raw.wait(self.results())
        if failed := next((each for each in results if each.status not in DONE), None):
            raise _error(raw, failed)
        return [
            PreparedResult(results[at], transformer, _columns_of(raw, name, results[at]))
            for at, name, transformer in self.asked
        ]


def _forget(raw: Connection) -> None:
    """Forget our statements: psycopg makes the server forget all of them after some rollbacks."""
    if raw not in _names or raw._prepared.has_forgotten:
        raw.wait(raw._prepared.maintain_gen(raw))  # where it is still to do so
        raw._prepared.has_forgotten = False
        _names[raw] = OrderedDict()


def _columns_of(raw: Connection, name: bytes, result: PGresult) -> tuple[str, ...]:
    """The columns of a prepared statement, which never change under its name."""
    kept = raw.columns
    if name not in kept:
        if len(kept) >= MOST:
            kept.clear()
        columns = (result.fname(i) or b"" for i in range(result.nfields))
        kept[name] = tuple(column.decode() for column in columns)
    return kept[name]


def _transformer_of(raw: Connection, statement: str) -> abc.Transformer:
    """The transformer of a statement, kept with its connection, as cursors keep theirs: how to read
    and write each type is looked up once."""
    kept = raw.transformers
    if statement not in kept:
        if len(kept) >= MOST:
            kept.clear()
        kept[statement] = Transformer(raw)
    return kept[statement]


@lru_cache(maxsize=256)
def _numbered(statement: str) -> tuple[bytes, tuple[str, ...], list[PyFormat]]:
    """The text with $1, $2..., the names in their order, and the format of each value."""
    places: dict[str, int] = {}
    formats: list[PyFormat] = []

    def numbered(found: re.Match[str]) -> str:
        if found[1] not in places:
            places[found[1]] = len(places) + 1
            formats.append(FORMATS[found[2]])
        return f"${places[found[1]]}"

    text = PARAMETER.sub(numbered, statement).replace("%%", "%")
    return text.encode(), tuple(places), formats


def _error(raw: Connection, result: PGresult) -> psycopg.Error:
    if raw.pgconn.status != ConnStatus.OK:
        return psycopg.OperationalError(result.get_error_message())
    return errors.error_from_result(result)
