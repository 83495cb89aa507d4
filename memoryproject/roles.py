"""The two database roles: the owner migrates, the ordinary one serves. It may change rows and
nothing else."""

from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote, urlsplit

import psycopg
from django.conf import settings
from django.db import ProgrammingError, connections, transaction
from django.db.backends.base.base import BaseDatabaseWrapper
from psycopg import sql

from memoryproject import databases
from memoryproject.embedded_postgres import APP_ROLE
from memoryproject.postgres.base import DatabaseWrapper

EXISTS = "select 1 from pg_roles where rolname = %s"
# Since 16 whoever makes a role is its member, but may not take it.
MAY_TAKE = """
select pg_has_role(current_user, %s,
  case when current_setting('server_version_num')::int >= 160000 then 'SET' else 'MEMBER' end)
"""
# Set rights for what is there, and for what later migrations add.
GRANTS = (
    "GRANT USAGE ON SCHEMA {schema} TO {role}",
    "GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA {schema} TO {role}",
    "GRANT USAGE, SELECT ON ALL SEQUENCES IN SCHEMA {schema} TO {role}",
    "GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA {schema} TO {role}",
    "ALTER DEFAULT PRIVILEGES IN SCHEMA {schema}"
    " GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES TO {role}",
    "ALTER DEFAULT PRIVILEGES IN SCHEMA {schema} GRANT USAGE, SELECT ON SEQUENCES TO {role}",
    "ALTER DEFAULT PRIVILEGES IN SCHEMA {schema} GRANT EXECUTE ON FUNCTIONS TO {role}",
)
LOGIN = ("USER", "PASSWORD", "HOST", "PORT", "OPTIONS", "ANSWER_WITHIN")


@dataclass(frozen=True)
class Granted:
    """The role that web and worker use: `owner` when the server refused an ordinary one, then with
    `why`."""

    database_role: str
    why: str = ""


def app_role() -> str:
    """The name of the ordinary role: our own, or the one that APP_DATABASE_URL logs in as."""
    return unquote(urlsplit(settings.APP_DATABASE_URL).username or "") or APP_ROLE


def prepare(connection: BaseDatabaseWrapper) -> Granted:
    """Make sure that the ordinary role exists and has its rights; run as the owner, after
    migrating."""
    try:
        with transaction.atomic(using=connection.alias):
            role = app_role()
            with connection.cursor() as cursor:
                cursor.execute(EXISTS, [role])
                if cursor.fetchone() is None:
                    cursor.execute(sql.SQL("CREATE ROLE {} NOLOGIN").format(sql.Identifier(role)))
                # Without a login of its own, the role is taken after the owner's (SET ROLE).
                cursor.execute(MAY_TAKE, [role])
                if not settings.APP_DATABASE_URL and not cursor.fetchone()[0]:
                    cursor.execute(sql.SQL("GRANT {} TO CURRENT_USER").format(sql.Identifier(role)))
            grant(connection)
    except ProgrammingError as error:
        return Granted("owner", str(error).splitlines()[0])
    return Granted("app")


def grant(connection: BaseDatabaseWrapper) -> None:
    """Give the ordinary role its rights on all tables, sequences and functions of the current
    schema."""
    with connection.cursor() as cursor:
        cursor.execute("select current_schema()")
        names = {"schema": sql.Identifier(cursor.fetchone()[0]), "role": sql.Identifier(app_role())}
        for statement in GRANTS:
            cursor.execute(sql.SQL(statement).format(**names))


@contextmanager
def owner_connection() -> Iterator[psycopg.Connection[Any]]:
    """A connection with the owner's rights, for what the ordinary role may not do, to the database
    of this process. Every statement commits by itself, and may take as long as it does: an index is
    built by one."""
    own = connections["default"].settings_dict
    if settings.EMBEDDED_POSTGRES is not None:
        found = databases.embedded(settings.DATA_DIR, "owner")
    else:
        found = databases.external(settings.DATABASE_URL, settings.APP_DATABASE_URL, "owner")
    login = {name: found[name] for name in LOGIN if name in found}
    wrapper = DatabaseWrapper({**own, **login}, alias="owner")
    with closing(wrapper.get_new_connection(wrapper.get_connection_params())) as owner:
        owner.autocommit = True
        yield owner
