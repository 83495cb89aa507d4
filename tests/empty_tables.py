"""How the tables are emptied after a test that commits: a hundred that are truncated, each with its
indexes, take half a second, and most hold no row or a few."""

from typing import Any

from django.db import connection
from psycopg import sql

LARGE = 256 * 1024  # bytes; more is truncated, so that what deletions leave behind is bounded
# The same after each migration, and made anew by what follows a flush.
KEPT = {"django_content_type", "auth_permission"}


def statements(truncation: list[str], tables: list[str]) -> list[str]:
    """Deletions from the tables that hold rows; the truncation of all where one is large, or where
    only its owner may switch triggers off."""
    parts = [
        sql.SQL("select {}, pg_relation_size({}::regclass), exists (select from {})").format(
            table, sql.Literal(f'"{table}"'), sql.Identifier(table)
        )
        for table in sorted({*tables} - KEPT)
    ]
    with connection.cursor() as cursor:
        cursor.execute("show is_superuser")
        [[is_superuser]] = cursor.fetchall()
        cursor.execute(sql.SQL(" union all ").join(parts))
        rows = cursor.fetchall()
    if is_superuser != "on" or any(size > LARGE for _, size, _ in rows):
        return truncation
    names = [connection.ops.quote_name(table) for table, _, has_rows in rows if has_rows]
    # Neither triggers nor foreign keys: all of it goes.
    return ["set local session_replication_role = replica", *(f"delete from {n}" for n in names)]


def begin() -> None:
    """From here on `flush` empties tables this way, in this process."""
    truncate = connection.ops.sql_flush

    def sql_flush(style: Any, tables: list[str], **options: Any) -> list[str]:
        return statements(truncate(style, tables, **options), tables)

    connection.ops.sql_flush = sql_flush  # type: ignore[method-assign]
