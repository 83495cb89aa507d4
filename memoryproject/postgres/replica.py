"""A read replica: it answers requests that only read, if it has what their tenant has already seen.

They read from it as from the server itself: for one request this thread's connection is the
replica's. A request that the database refuses there goes to the server again; a replica that does
not answer is left alone until it does, one that lags until it has caught up. Positions are those of
the write-ahead log, in bytes.
"""

import logging
import os
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

import psycopg
from django.conf import settings
from django.db import DEFAULT_DB_ALIAS, DatabaseError, InterfaceError, connections
from django.db.backends.postgresql import base
from django.db.utils import DatabaseErrorWrapper
from django.utils.functional import cached_property
from psycopg import errors

from memoryproject.postgres import databases, login_check
from memoryproject.postgres.base import DatabaseWrapper
from memoryproject.postgres.connection import ServerSilent
from memoryproject.server.front.wire import POSITION, SESSION

log = logging.getLogger(__name__)

LOOKED_EVERY = 1.0  # seconds between looks at how far the server is
AGAIN = 1.0  # seconds between tries of a replica that did not answer
CONNECT, ANSWER = 2, 4.0  # seconds; a longer request goes to the server
WRITTEN = "select (pg_current_wal_insert_lsn() - '0/0')::int8"
# If it was promoted, or is no replica, its position is that of its own log.
REPLAYED = "select (coalesce(pg_last_wal_replay_lsn(), pg_current_wal_lsn()) - '0/0')::int8"
Application = Callable[[dict[str, Any], Callable[..., Any]], Iterable[bytes]]


def is_used() -> bool:
    return bool(settings.DATABASE_REPLICA_URL)


def written() -> int | None:
    """The position of the server's log; None where it accepts no changes and so gives none."""
    wrapper = connections[DEFAULT_DB_ALIAS]
    try:
        wrapper.close_if_unusable_or_obsolete()
        with wrapper.cursor() as cursor:
            cursor.execute(WRITTEN)
            return int(cursor.fetchone()[0])
    except (DatabaseError, InterfaceError):
        return None


class NotingErrors(DatabaseErrorWrapper):
    """Django's error wrapper, which also notes the error in its connection."""

    def __init__(self, wrapper: "ReplicaWrapper") -> None:
        super().__init__(wrapper)
        self.replica = wrapper

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        if isinstance(error, psycopg.Error):
            self.replica.failed = error
        super().__exit__(kind, error, trace)


class ReplicaWrapper(DatabaseWrapper):
    """The connection of one thread. `failed` is the last error of its database."""

    failed: psycopg.Error | None = None

    @cached_property
    def wrap_database_errors(self) -> NotingErrors:
        return NotingErrors(self)

    def get_new_connection(self, conn_params: dict[str, Any]) -> Any:
        """Connect with a short limit; a silent replica says nothing about the server."""
        own = {**conn_params, "connect_timeout": CONNECT}
        made = base.DatabaseWrapper.get_new_connection(self, own)
        made.answer_within = ANSWER
        login_check.settle(made, self.settings_dict["LIMITS"])
        return made


def new_wrapper() -> ReplicaWrapper:
    url = settings.DATABASE_REPLICA_URL
    has_login = settings.APP_DATABASE_URL or settings.EMBEDDED_POSTGRES is not None
    login = databases.external(url, url if has_login else "", settings.DATABASE_ROLE, settings.DATABASE_LIMITS)
    return ReplicaWrapper({**connections[DEFAULT_DB_ALIAS].settings_dict, **login})


def replayed(wrapper: ReplicaWrapper) -> int:
    """The position that the replica has reached."""
    with instead(wrapper), wrapper.cursor() as cursor:
        cursor.execute(REPLAYED)
        return int(cursor.fetchone()[0])


@contextmanager
def instead(wrapper: ReplicaWrapper) -> Iterator[None]:
    """Inside, use the replica's connection as this thread's."""
    own = connections[DEFAULT_DB_ALIAS]
    connections[DEFAULT_DB_ALIAS] = wrapper
    try:
        yield
    finally:
        connections[DEFAULT_DB_ALIAS] = own


@dataclass(slots=True)
class Replica:
    """The state of the replica as one process knows it."""

    position: int = 0  # it is as far as this, or farther
    looked_at: float = float("-inf")
    # When the server was how far: the replica must have all that is older than the allowed lag.
    server: deque[tuple[float, int]] = field(default_factory=deque)
    least: int = 0
    lags: bool = False
    trying: threading.Thread | None = None

    def serves(self, wrapper: ReplicaWrapper, wanted: int) -> bool:
        """Tell whether it can answer a tenant that has seen the server at `wanted`."""
        if self.trying is not None:
            return False
        try:
            if time.monotonic() - self.looked_at > LOOKED_EVERY:
                self.look(wrapper)
            if self.position < wanted:
                self.position = replayed(wrapper)
        except (DatabaseError, InterfaceError) as error:
            wrapper.close()
            wrapper.failed = None
            self.leave(error)
            return False
        return self.position >= max(wanted, self.least)

    def look(self, wrapper: ReplicaWrapper) -> None:
        now = time.monotonic()
        if (position := written()) is not None:
            self.server.append((now, position))
        while self.server and self.server[0][0] < now - settings.DATABASE_REPLICA_LAG:
            self.least = self.server.popleft()[1]
        self.position, self.looked_at = replayed(wrapper), now
        if (self.position < self.least) != self.lags:
            self.lags = not self.lags
            log.warning("the replica %s", "lags and is not asked" if self.lags else "caught up")

    def leave(self, error: BaseException) -> None:
        """Stop using it, until it answers a try in the background."""
        log.warning("the replica is not asked until it answers again: %s", error)
        self.trying = threading.Thread(target=self._try, name="replica", daemon=True)
        self.trying.start()

    def _try(self) -> None:
        while True:
            time.sleep(AGAIN)
            wrapper = new_wrapper()
            with suppress(DatabaseError, InterfaceError), closing(wrapper):
                self.position = replayed(wrapper)
                break
        log.warning("the replica answers again")
        self.trying = None


class ReplicaReads:
    """A WSGI application for requests that change nothing: the replica answers those it can."""

    def __init__(self, application: Application) -> None:
        self.application = application
        self._own = threading.local()

    def __call__(self, environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        if SESSION not in environ:  # a write just waited for is read where it was written
            wrapper = self._wrapper()
            if _replica.serves(wrapper, environ.get(POSITION) or 0):
                parts = self._answer(wrapper, environ, start_response)
                if parts is not None:
                    environ.pop(POSITION, None)
                    return parts
                environ["wsgi.input"].seek(0)
        answer = self.application(environ, start_response)
        environ[POSITION] = written()
        return answer

    def _wrapper(self) -> ReplicaWrapper:
        wrapper: ReplicaWrapper | None = getattr(self._own, "wrapper", None)
        if wrapper is None:
            wrapper = self._own.wrapper = new_wrapper()
        return wrapper

    def _answer(
        self, wrapper: ReplicaWrapper, environ: dict[str, Any], start_response: Callable[..., Any]
    ) -> list[bytes] | None:
        """Answer from the replica; None where the server must be asked instead."""
        tried: dict[str, Any] = dict(environ)
        heads: list[tuple[Any, ...]] = []
        with instead(wrapper):
            answer: Any = self.application(tried, lambda *head: heads.append(head))
            is_whole = not getattr(answer, "streaming", False)
            parts = list(answer) if is_whole else []
            answer.close()
        error, wrapper.failed = wrapper.failed, None
        if error is not None and is_gone(error):
            wrapper.close()
            _replica.leave(error)
        if error is not None or not is_whole:
            return None
        environ.update(tried)
        start_response(*heads[0])
        return parts


class WithPosition:
    """A WSGI application that reports the position of the server's log after each request."""

    def __init__(self, application: Application) -> None:
        self.application = application

    def __call__(self, environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        answer = self.application(environ, start_response)
        environ[POSITION] = written()
        return answer


def is_gone(error: psycopg.Error) -> bool:
    """Tell whether the replica itself is unwell, rather than the statement or its timing."""
    if isinstance(error, errors.QueryCanceled | errors.SerializationFailure):
        return isinstance(error, ServerSilent)
    return isinstance(error, psycopg.OperationalError | psycopg.InterfaceError)


_replica = Replica()


def _forget() -> None:
    """Reset a forked process: it has no thread, and must look for itself."""
    global _replica
    _replica = Replica()


os.register_at_fork(after_in_child=_forget)
