"""A psycopg connection that waits for its server for a bounded time, and does not wait again for
one that fell silent.

The server keeps `statement_timeout`, and a frozen server keeps nothing: its sockets stay open, and
a client would wait for ever. So the client watches the clock, too.
"""

import logging
import mmap
import os
import struct
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

import psycopg
from psycopg import abc, errors, generators
from psycopg._preparing import PrepareManager
from psycopg.abc import PQGen
from psycopg.pq import ExecStatus, TransactionStatus

from memoryproject.postgres import visible

# A database that fell silent is not waited for again: every caller is refused at once.
#
# A process that waited in vain tells all that were forked beside it, and retries in the background
# until there is an answer.

log = logging.getLogger(__name__)

BETWEEN = 1.0  # seconds between two tries
HOLDS = 8.0  # seconds for which a try's failure holds: longer than the next try takes
_until = struct.Struct("d")  # by the machine's monotonic clock, which all processes share
_shared = mmap.mmap(-1, _until.size)
_lock = threading.Lock()
_trying: threading.Thread | None = None


INTERVAL = 0.1  # seconds between looks at what else happens, as psycopg's own


def is_open() -> bool:
    """Tell whether the database is known to be silent."""
    return time.monotonic() < float(_until.unpack_from(_shared)[0])


def open_until_answered(answers: Callable[[], bool]) -> None:
    """Refuse all from here on, until `answers`, called in a separate thread, returns True."""
    global _trying
    with _lock:
        if not is_open():
            log.error("the database is silent: nobody waits for it until it answers again")
        _until.pack_into(_shared, 0, time.monotonic() + HOLDS)
        if _trying is None:
            _trying = threading.Thread(target=_try, args=(answers,), name="database", daemon=True)
            _trying.start()


def close() -> None:
    """Note that the database answers."""
    _until.pack_into(_shared, 0, 0.0)


def _try(answers: Callable[[], bool]) -> None:
    global _trying
    while not answers():
        _until.pack_into(_shared, 0, time.monotonic() + HOLDS)
        time.sleep(BETWEEN)
    with _lock:
        close()
        _trying = None
    log.warning("the database answers again")


def _forget() -> None:
    """Reset a forked process: it has no thread, and shares the breaker with all others."""
    global _lock, _trying
    _lock, _trying = threading.Lock(), None


os.register_at_fork(after_in_child=_forget)


Found = TypeVar("Found")


class _Bound(threading.local):
    seconds: float | None = None


_bound = _Bound()


class ServerSilent(errors.QueryCanceled):
    """The server did not answer in time, neither with rows nor with an error."""


def refuse_while_silent() -> None:
    """Raises ServerSilent at once where the server is known not to answer."""
    if is_open():
        raise ServerSilent("the server does not answer, and is tried in the background")


@contextmanager
def at_most(seconds: float) -> Iterator[None]:
    """Limit how long this thread waits for a database, for each statement by itself."""
    before, _bound.seconds = _bound.seconds, shortest(seconds)
    try:
        yield
    finally:
        _bound.seconds = before


def shortest(limit: float | None) -> float | None:
    """`limit`, or that of `at_most` if it is less; None for no end."""
    bound = _bound.seconds
    if bound is None or limit is None:
        return limit if bound is None else bound
    return min(limit, bound)


class Forgetting(PrepareManager):
    """psycopg's own, which makes the server forget all statements when a prepared one may be
    outdated: `has_forgotten` then tells that those prepared beside it are gone too."""

    has_forgotten = False

    def clear(self) -> bool:
        is_cleared = super().clear()
        self.has_forgotten |= is_cleared
        return is_cleared


class BoundedConnection(psycopg.Connection[Any]):
    """`answer_within`: seconds that one statement may take; None for no end. `answers`: whether the
    server does, checked over another connection; None where nobody shall be refused."""

    answer_within: float | None = None
    is_shared: bool = False  # by a pooler, with other programs
    answers: Callable[[], bool] | None = None
    # The visibility setting of the open transaction; None where it is not known.
    shows: str | None = None

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._prepared: Forgetting = Forgetting()
        # See prepared.py: by statement, and by the name it is prepared under.
        self.transformers: dict[str, abc.Transformer] = {}
        self.columns: dict[bytes, tuple[str, ...]] = {}

    def _start_query(self) -> PQGen[None]:
        """Send the visibility setting together with the beginning of a transaction."""
        wanted = visible.setting()
        if self._autocommit:
            return
        status = self.pgconn.transaction_status
        if status == TransactionStatus.IDLE and wanted and not self._pipeline:
            self.shows = wanted
            begin = b"%b; %b" % (self._get_tx_start_command(), visible.command(wanted))
            self.pgconn.send_query(begin)
            for result in (yield from generators.execute(self.pgconn)):
                if result.status != ExecStatus.COMMAND_OK:
                    raise errors.error_from_result(result)
            return
        yield from super()._start_query()
        if status == TransactionStatus.IDLE:
            self.shows = ""
        if self.shows != wanted and status != TransactionStatus.INERROR:
            self.shows = wanted
            yield from self._exec_command(visible.command(wanted))

    def set_autocommit(self, value: bool) -> None:
        """Set it without psycopg's loop that waits for the server: nothing is sent."""
        for _ in self._set_autocommit_gen(value):
            pass

    def wait(self, gen: PQGen[Found], interval: float = INTERVAL, timeout: float | None = None) -> Found:
        limit = shortest(self.answer_within) if timeout is None else timeout
        if self.answers is not None and is_open():
            self.pgconn.finish()
            refuse_while_silent()
        try:
            return super().wait(gen, interval, limit)
        except errors._WaitTimeout:
            if timeout is not None:
                raise
            self.pgconn.finish()  # a late answer belongs to no request
            if self.answers is not None and limit == self.answer_within:
                open_until_answered(self.answers)
            raise ServerSilent(f"the server did not answer within {limit:g} s") from None
