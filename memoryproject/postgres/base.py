"""Django's PostgreSQL backend, which also starts the embedded server for the first connection, and
changes how migrations alter tables. It refuses a server that cannot hold the vectors, reports walls
between workspaces that somebody changed (both before `migrate` and in `check --database`), and,
before `migrate`, a database that this version cannot bring up to date.

So `--help`, type checkers and `collectstatic` never start one.
"""

import select
import time
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from functools import partial
from math import ceil
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import psycopg
from django.conf import settings
from django.core import checks
from django.core.checks import CheckMessage, Error
from django.core.management import CommandError
from django.db import NotSupportedError, connection, models, transaction
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.backends.base.validation import BaseDatabaseValidation
from django.db.backends.postgresql import base, client, creation, features, schema
from django.db.migrations.executor import MigrationExecutor
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder
from django.db.utils import Error as DjangoDatabaseError
from psycopg import errors

from memoryproject.postgres import embedded_postgres, login_check, visible, walls
from memoryproject.postgres.connection import (
    BoundedConnection,
    ServerSilent,
    at_most,
    open_until_answered,
    refuse_while_silent,
    shortest,
)
from memoryproject.postgres.embedded_postgres import program
from memoryproject.postgres.login_check import PoolerRefused

MEND = "`migrate` mends it. Find out who did it: rows of other workspaces may have been visible."
PGVECTOR = (0, 7)  # the first with halfvec and sparsevec
AVAILABLE = "select default_version, installed_version from pg_available_extensions where name = 'vector'"
# The steps of memories began anew three times before the first release: the end of each series, and
# the commit that has all of it, and continues from the end of the series before.
OLD_STEPS = (
    ({"0032_names_of_periods", "0001_first_release"}, "69f907e"),
    ({"0030_served_memories", "0001_release_0_1_0"}, "c18273f1"),
    ({"0003_days_and_summaries"}, "68bea688"),
)
# The step that came after these: where it alone is missing, its columns are added.
LAST_STEP = ("memories", "0004_summaries_by_models")
LAST_COLUMNS = """
alter table memories_embeddingmodel add column confidence jsonb;
alter table memories_talksummary add column stands_on varchar(64) not null default '';
"""


ANSWERS_WITHIN = 3  # seconds
PATIENCE = 10.0  # seconds for a server that was killed, or recovers from a killed backend
PASSING = (
    "closed the connection",
    "Connection refused",
    "in recovery mode",
    "not yet accepting connections",
    "No such file",
    "shutting down",
    "starting up",
)
IDLE = psycopg.pq.TransactionStatus.IDLE
READ_ONLY = b"default_transaction_read_only"
# PostgreSQL's code for a refused connection does not reach us; its words do.
NO_ROOM = "No space left on device"
CROWDED = (
    "too many clients",
    "remaining connection slots",
    "too many connections for",
    "no more connections allowed",
)
FULL = ("database_full", "The database's disk is full: send this again when there is room.")
IS_READ_ONLY = (
    "database_read_only",
    "The database is read-only: send this again when it takes changes.",
)
NO_CONNECTION = ("database_crowded", "The database has no connection left for this.")
WALL = "row-level security policy"
NOT_MIGRATED = (
    "The database has not the tables of this version: start the server once with `up`, or run the command `migrate`."
)
# PostgreSQL gives no code for a refused connection; its words are all there is.
BY_WORDS = (
    (
        ("Connection refused", "No such file"),
        "Nothing answers at {where}: is PostgreSQL running there, and are host and port of DATABASE_URL right?",
    ),
    (
        ("could not translate host name", "Name or service", "failed to resolve"),
        "There is no host {host!r}: correct DATABASE_URL.",
    ),
    (
        ("password authentication failed", "no password supplied", "Peer authentication"),
        "PostgreSQL refuses the password of {user!r}: correct DATABASE_URL.",
    ),
    (("no pg_hba.conf entry",), "PostgreSQL lets {user!r} not in from here: add a line to its pg_hba.conf."),
    (('role "',), "There is no login {user!r}: correct DATABASE_URL, or run: CREATE ROLE {user} LOGIN."),
    (('database "',), "There is no database {name!r}: run: CREATE DATABASE {name}."),
    (
        ("unsupported startup parameter",),
        "A pooler stands at {where} and takes no settings with a login: leave `options` out of the address.",
    ),
)


class DatabaseValidation(BaseDatabaseValidation):
    def check(self, **kwargs: Any) -> list[CheckMessage]:
        with self.connection.cursor() as cursor:
            cursor.execute(AVAILABLE)
            row = cursor.fetchone()
        if row is None:
            return [_refusal("This PostgreSQL server has no pgvector.", "E001", "Install pgvector")]
        version = row[1] or row[0]
        if tuple(int(part) for part in version.split(".")[:2]) < PGVECTOR:
            advice = "Install a newer pgvector, then run: ALTER EXTENSION vector UPDATE"
            return [_refusal(f"pgvector {version} is too old: 0.7 or newer is needed.", "E002", advice)]
        if not walls.are_up(self.connection):
            return []
        return [
            checks.Warning(f"{fault[:1].upper()}{fault[1:]}.", hint=MEND, id="memoryproject.W001")
            for fault in walls.faults(self.connection)
        ]


def finish_old_steps(connection: BaseDatabaseWrapper) -> None:
    """Finish the steps from before the first release if the database has taken only some of those
    that a migration of today replaces: take the last one, if it alone is missing. Raises
    CommandError if more are missing, which no longer exist."""
    recorder = MigrationRecorder(connection)
    applied = recorder.applied_migrations().keys()
    there = MigrationLoader(None).disk_migrations
    for (app, _), migration in there.items():
        missing = set(migration.replaces) - applied - there.keys()
        if not missing or all(app != each for each, _ in applied):
            continue
        if missing == {LAST_STEP}:
            with transaction.atomic(connection.alias), connection.cursor() as cursor:
                cursor.execute(LAST_COLUMNS)
                recorder.record_applied(*LAST_STEP)
            continue
        steps = {name for app, name in applied if app == "memories"}
        commits: list[str] = []
        for ends, commit in reversed(OLD_STEPS):
            if steps & ends:
                break
            commits.insert(0, f"commit {commit} over it once")
        raise CommandError(
            "This data was written by a version before the first release, and not by the last"
            f" of them: start {', then '.join(commits)}, then this version."
        )


def _refusal(message: str, number: str, advice: str) -> Error:
    hint = f"{advice}; or unset DATABASE_URL to use the embedded server."
    return Error(message, hint=hint, id=f"memoryproject.{number}")


# The type stubs name little of what these have.
Editor: Any = object if TYPE_CHECKING else schema.DatabaseSchemaEditor
ServerCursor: Any = object if TYPE_CHECKING else base.ServerSideCursor


class SchemaEditor(Editor):
    sql_create_column_inline_fk = None  # added after, at the end of the migration
    _is_adding = False

    def add_field(self, model: type[models.Model], field: "models.Field[Any, Any]") -> None:
        if field.many_to_many:
            super().add_field(model, field)
            return
        self.sql_check_constraint, self._is_adding = "", True
        try:
            super().add_field(model, field)
        finally:
            del self.sql_check_constraint
            self._is_adding = False
        table, column = model._meta.db_table, field.column
        if check := field.db_parameters(connection=self.connection)["check"]:
            name = self._create_index_name(table, [column], suffix="_check")
            self.execute(self._create_check_sql(model, name, check))
        if field.unique and not field.primary_key:
            self.execute(self._create_unique_sql(model, [field]))

    def _iter_column_sql(self, *args: Any) -> Iterator[str]:
        for part in super()._iter_column_sql(*args):
            if not (self._is_adding and part == "UNIQUE"):
                yield part


class DatabaseFeatures(features.DatabaseFeatures):
    minimum_database_version = (15,)  # the oldest that our statements were written for


class DatabaseCreation(creation.DatabaseCreation):
    """Test databases are dropped even while a thread or process of a test still lets go of one."""

    def _destroy_test_db(self, test_database_name: str, verbosity: int) -> None:
        name = self.connection.ops.quote_name(test_database_name)
        with self._nodb_cursor() as cursor:  # type: ignore[attr-defined]  # the stubs lack it
            cursor.execute(f"DROP DATABASE {name} WITH (FORCE)")


class DatabaseClient(client.DatabaseClient):
    """`manage.py dbshell`."""

    @classmethod
    def settings_to_cmd_args_env(
        cls, settings_dict: dict[str, Any], parameters: Iterable[str]
    ) -> tuple[list[str], dict[str, str] | None]:
        """Use the embedded server's own psql, and keep the server running with the shell."""
        args, env = super().settings_to_cmd_args_env(settings_dict, parameters)
        if settings.EMBEDDED_POSTGRES is None:
            return args, env
        embedded_postgres.ensure_running(settings.EMBEDDED_POSTGRES)
        return [str(program("psql")), *args[1:]], env


class AloneCursor(psycopg.ClientCursor[Any]):
    """Django's cursor. A statement outside of a transaction carries its visibility setting in the
    same text: the server runs both in one transaction."""

    def execute(self, query: Any, params: Any = None, **kwargs: Any) -> Any:
        shown = visible.setting()
        own = self.connection
        if not shown or not own.autocommit or own.info.transaction_status != IDLE:
            return super().execute(query, params, **kwargs)
        text = query if isinstance(query, str) else query.as_string(self)
        super().execute(f"{visible.command(shown).decode()}; {text}", params, **kwargs)
        self.nextset()
        return self


class AloneServerCursor(ServerCursor):
    """The cursor behind Django's `iterator()`. Outside of a transaction it finds its rows in a
    short one, with the visibility setting, and the server keeps them until they are fetched."""

    def execute(self, query: Any, params: Any = None, **kwargs: Any) -> Any:
        shown, own = visible.setting(), self.connection
        if not shown or not own.autocommit or own.info.transaction_status != IDLE:
            return super().execute(query, params, **kwargs)
        with own.transaction():
            own.execute(visible.command(shown))
            return super().execute(query, params, **kwargs)


class DatabaseWrapper(base.DatabaseWrapper):
    client_class = DatabaseClient
    creation_class = DatabaseCreation
    features_class = DatabaseFeatures
    SchemaEditorClass = SchemaEditor
    validation_class = DatabaseValidation

    # psycopg, with our kind of connection
    Database = SimpleNamespace(  # type: ignore[assignment]
        **{**vars(psycopg), "connect": BoundedConnection.connect}
    )

    def get_new_connection(self, conn_params: dict[str, Any]) -> Any:
        home = settings.EMBEDDED_POSTGRES
        if home is None:
            return self._connected(conn_params)
        embedded_postgres.ensure_running(home)
        end = time.monotonic() + PATIENCE
        while True:
            try:
                return self._connected(conn_params)
            except psycopg.OperationalError as error:
                if time.monotonic() > end or not is_passing(error):
                    raise
            time.sleep(0.05)
            embedded_postgres.ensure_running(home, recheck=True)

    def create_cursor(self, name: str | None = None) -> Any:
        if name is None:
            return super().create_cursor()
        own = self.connection
        holds = {"scrollable": False, "withhold": own.autocommit}
        return AloneServerCursor(own, name=name, **holds)

    def get_connection_params(self) -> dict[str, Any]:
        return {**super().get_connection_params(), "cursor_factory": AloneCursor}

    def _configure_role(self, connection: psycopg.Connection[Any]) -> bool:
        """Let a session that took a role after another login find the views before the tables, for
        it has that login's settings; likewise an owner who looks through the views."""
        is_taken: bool = super()._configure_role(connection)  # type: ignore[misc]  # the stubs lack it
        by_views = bool(self.settings_dict.get(visible.BY_VIEWS))
        if is_taken or by_views:
            connection.execute(visible.THROUGH_VIEWS)
        return is_taken or by_views

    def _savepoint_rollback(self, sid: str) -> None:
        """Forget the visibility setting, which the rollback to the savepoint may have undone."""
        super()._savepoint_rollback(sid)  # type: ignore[misc]  # the stubs lack it
        self.connection.shows = None

    def prepare_database(self) -> None:
        """Check the database before a migration; Django calls this first."""
        finish_old_steps(self)
        self.ensure_connection()
        if self.connection.is_shared:
            raise CommandError(
                "A pooler stands where DATABASE_URL points: name the server itself there, which is"
                " migrated and gets its indexes so, and the pooler in APP_DATABASE_URL."
            )
        super().prepare_database()

    def _connected(self, conn_params: dict[str, Any]) -> Any:
        """Connect, waiting for the server up to `ANSWER_WITHIN` of its settings; in a web process
        not at all while the server is known to be silent."""
        is_web = settings.PROCESS_KIND == "web"
        if is_web:
            refuse_while_silent()
        if (bound := shortest(None)) is not None:
            conn_params = {**conn_params, "connect_timeout": ceil(bound)}
        try:
            made = super().get_new_connection(conn_params)
        except psycopg.errors.ConnectionTimeout:
            if is_web and bound is None:
                open_until_answered(partial(answers, conn_params))
            raise
        made.answer_within = self.settings_dict.get("ANSWER_WITHIN")
        made.answers = partial(answers, conn_params) if is_web else None
        try:
            login_check.settle(made, self.settings_dict.get("LIMITS", {}))
        except BaseException:
            made.close()
            raise
        if made.is_shared:
            # A server-side cursor outlives its transaction, and the next statement runs elsewhere.
            self.settings_dict["DISABLE_SERVER_SIDE_CURSORS"] = True
            if self.settings_dict["OPTIONS"].get("assume_role"):
                made.close()
                raise login_check.PoolerRefused(
                    "Behind a pooler web and worker need a login of their own: APP_DATABASE_URL."
                )
        return made

    def is_usable(self) -> bool:
        """Tell Django before every request whether the connection works, mostly without a round
        trip: one that the server or the kernel has closed has something to be read."""
        own: Any = self.connection
        if own is not None and not own.closed:
            # A session that began while the database was read-only stays so when it accepts changes
            # again. The server reports this setting by itself.
            if own.pgconn.parameter_status(READ_ONLY) == b"on":
                return False
            if not self.errors_occurred:
                poll = select.poll()
                poll.register(own.fileno(), select.POLLIN)
                if not poll.poll(0):
                    return True
        return bool(super().is_usable())


def answers(conn_params: dict[str, Any]) -> bool:
    """Tell whether the server accepts a connection and answers, each within a few seconds."""
    try:
        words = {**conn_params, "connect_timeout": ANSWERS_WITHIN}
        with closing(BoundedConnection.connect(**words)) as made, at_most(ANSWERS_WITHIN):
            made.execute("select 1")
    except (ServerSilent, psycopg.errors.ConnectionTimeout):
        return False
    except psycopg.Error:  # it says why it refuses: that is an answer
        return True
    return True


def is_passing(error: psycopg.OperationalError) -> bool:
    """Tell by its words whether a refusal is temporary: PostgreSQL gives it no code."""
    return any(words in str(error) for words in PASSING)


# Reasons why the database of DATABASE_URL cannot be used, in one line that says what to do; and why
# one that answers refuses a request: full, read-only, no connection left.


def cause_of(error: BaseException | None) -> tuple[str, str] | None:
    """A code and a sentence for the caller, where the database is well but cannot do it; `error` is
    psycopg's, or Django's about it."""
    while error is not None and not isinstance(error, psycopg.Error):
        error = error.__cause__
    match error:
        case errors.DiskFull():
            return FULL
        case psycopg.OperationalError() if NO_ROOM in str(error):
            return FULL
        case errors.ReadOnlySqlTransaction():
            return IS_READ_ONLY
        case errors.TooManyConnections():
            return NO_CONNECTION
        case psycopg.OperationalError() if any(words in str(error) for words in CROWDED):
            return NO_CONNECTION
        case _:
            return None


def reason_of(error: BaseException) -> str | None:
    """Explain an error that the operator of a database can fix; None for any other."""
    own = connection.settings_dict
    names = {
        "where": f"{own.get('HOST') or 'the local socket'}:{own.get('PORT') or 5432}",
        "host": own.get("HOST", ""),
        "user": own.get("USER", ""),
        "name": own.get("NAME", ""),
    }
    cause: BaseException | None = error
    while cause is not None and not isinstance(cause, psycopg.Error):
        # Django's migrations raise their own errors while they handle the database's.
        cause = cause.__cause__ or cause.__context__
    text = str(cause or error)
    if isinstance(error, NotSupportedError) and "or later is required" in text:
        return f"This PostgreSQL is too old: {text.splitlines()[0].strip()}"
    if isinstance(cause, PoolerRefused):
        return text
    if isinstance(cause, errors.InsufficientPrivilege) and WALL in text:
        return (
            f"A wall between workspaces keeps the login {names['user']!r} from rows"
            f" ({text.splitlines()[0]}). No right is missing: rows are reached through the views of"
            f" the schema {visible.VIEWS!r}, of the workspaces that are asked for."
        )
    if isinstance(cause, errors.InsufficientPrivilege):
        return (
            f"The login {names['user']!r} lacks a right ({text.splitlines()[0]}): let an"
            " administrator grant CREATE on the database and its schema, and run once:"
            " CREATE EXTENSION vector."
        )
    if isinstance(cause, psycopg.OperationalError) and cause.sqlstate is None:
        for words, told in BY_WORDS:
            if any(each in text for each in words):
                return told.format(**names)
    return None


def lacks_tables(error: BaseException) -> bool:
    """Tell by an error whether a database was never migrated, or not to this version."""
    missing = (errors.UndefinedTable, errors.UndefinedColumn, errors.UndefinedFunction)
    if not isinstance(error.__cause__, missing):
        return False
    executor = MigrationExecutor(connection)
    return bool(executor.migration_plan(executor.loader.graph.leaf_nodes()))


@contextmanager
def one_line_refusals(*, is_migrating: bool = False) -> Iterator[None]:
    """Inside, turn errors of an operator's own database that cannot be used into CommandError, and
    errors of one without this version's tables, unless they are just being made."""
    try:
        yield
    except DjangoDatabaseError as error:
        reason = reason_of(error) if settings.EMBEDDED_POSTGRES is None else None
        if reason is None and not is_migrating and lacks_tables(error):
            reason = NOT_MIGRATED
        if reason is None:
            raise
        raise CommandError(reason) from None
