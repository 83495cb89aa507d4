"""Settings that every session of ours must have. They belong to the database: settings of a login
reach neither a pooler's server connections nor the nodes of a distributed server, and are silently
lost there. So each login checks them, and behind a pooler refuses to go on with others."""

from collections.abc import Mapping
from typing import Any

import psycopg
from django.conf import settings
from django.db import ProgrammingError, transaction
from django.db.backends.base.base import BaseDatabaseWrapper
from psycopg import errors, generators, sql
from psycopg.pq import ExecStatus
from psycopg.pq.abc import PGresult

from memoryproject.postgres.connection import BoundedConnection

# An approximate index examines so many vectors, and goes on if a condition leaves too few. At a
# million, 200 find 0.94 of the first ten and 400 find 0.99, and a filter that leaves one in a
# hundred needs to go on further than 20,000.
SEARCH = {
    "jit": "off",
    "hnsw.ef_search": "400",
    "hnsw.iterative_scan": "relaxed_order",
    "hnsw.max_scan_tuples": "60000",
}
# The prepared texts of the hot path can use one index only: planning them once is safe and saves
# 0.4 ms. A distributed server (Citus) cannot plan all of them so.
PLANS = {"generic": "force_generic_plan", "auto": "auto"}
KEPT = """
select coalesce((select s.setconfig from pg_db_role_setting s
                 join pg_database d on d.oid = s.setdatabase
                 where d.datname = current_database() and s.setrole = 0), '{}')
"""
# The serving role reads the index only by its views, which come before the tables.
READS = "has_table_privilege(to_regclass('memories_entry'), 'select')"
PROBE = b"memoryproject_probe"
IS_NAMED_SO = b"select count(*) from pg_prepared_statements where name = '%b'" % PROBE


class PoolerRefused(psycopg.OperationalError):
    """A pooler stands before the database, and requests through it would go wrong."""


def wanted() -> dict[str, str]:
    return {"plan_cache_mode": PLANS[settings.DATABASE_PLANS], **SEARCH}


def keep(connection: BaseDatabaseWrapper) -> str:
    """Store the settings in the database; run as the owner, after migrating. Returns the reason
    where the owner may not change the database."""
    try:
        with transaction.atomic(using=connection.alias), connection.cursor() as cursor:
            cursor.execute("select '[1]'::vector")  # else its settings are known to nobody yet
            cursor.execute("select name from pg_settings where name = any(%s)", [list(wanted())])
            known = {name for (name,) in cursor.fetchall()}
            cursor.execute(KEPT)
            kept = set(cursor.fetchone()[0])
            cursor.execute("select current_database()")
            database = sql.Identifier(cursor.fetchone()[0])
            for name, value in wanted().items():
                if name in known and f"{name}={value}" not in kept:
                    text = sql.SQL("alter database {} set {} to {}")
                    cursor.execute(text.format(database, sql.SQL(name), sql.Literal(value)))
    except ProgrammingError as error:
        return str(error).splitlines()[0]
    return ""


def settle(made: BoundedConnection, limits: Mapping[str, int]) -> None:
    """Check a new connection. One of our own gets the settings it lacks, and `limits` (milliseconds
    by their setting); one that a pooler shares out is `is_shared`, and must have them already.

    Raises PoolerRefused.
    """
    asked = ", ".join(f"current_setting('{name}', true)" for name in wanted())
    (pid, reads, *values) = _row(made, f"select pg_backend_pid(), {READS}, {asked}".encode())
    lacking = {name: value for (name, value), own in zip(wanted().items(), values, strict=True) if own != value}
    # A pooler answers for its server, with a process number of its own.
    made.is_shared = int(pid) != made.pgconn.backend_pid
    if made.is_shared:
        _refuse_unfit(made, lacking, is_behind_views=reads != "f")
    elif own := {**lacking, **limits}:
        _row(made, "; ".join(f"set {name} to '{value}'" for name, value in own.items()).encode())


def _refuse_unfit(made: BoundedConnection, lacking: Mapping[str, str], *, is_behind_views: bool) -> None:
    """Refuse a pooler that hands sessions on without knowing prepared statements, or a database
    without our settings."""
    try:
        made.pgconn.send_prepare(PROBE, IS_NAMED_SO)
        _last(made)
        made.pgconn.send_query_prepared(PROBE, [])
        is_passed_on = _last(made).get_value(0, 0) != b"0"
        made.pgconn.send_close_prepared(PROBE)
        _last(made)
    except psycopg.Error:
        is_passed_on = True
    if is_passed_on:
        raise PoolerRefused(
            "The pooler keeps no account of prepared statements, and would run one program's with"
            " another one's values: take PgBouncer 1.21 or newer, with pool_mode = transaction and"
            " max_prepared_statements = 200."
        )
    if lacking:
        alter = f"ALTER DATABASE {made.info.dbname} SET"
        told = "; ".join(f"{alter} {name} = '{value}'" for name, value in lacking.items())
        raise PoolerRefused(
            "Behind a pooler the settings of our sessions belong to the database. Start `up` with"
            f" the owner's address in DATABASE_URL, or let an administrator run: {told}."
        )
    if not is_behind_views:
        raise PoolerRefused(
            "The pooler keeps a session that began before the database was prepared: let it begin"
            " them anew (RECONNECT in its console), or start it again."
        )


def _row(made: BoundedConnection, query: bytes) -> list[str]:
    made.pgconn.send_query(query)
    result = _last(made)
    return [(result.get_value(0, i) or b"").decode() for i in range(result.nfields)]


def _last(made: BoundedConnection) -> PGresult:
    """Return the last result, waited for as long as a statement may take."""
    results: list[Any] = made.wait(generators.execute(made.pgconn))
    for result in results:
        if result.status not in (ExecStatus.COMMAND_OK, ExecStatus.TUPLES_OK):
            raise errors.error_from_result(result)
    return results[-1]
