"""The two database roles: the owner migrates, the ordinary one serves. It may change rows, within
the rights of `rights.py`, and nothing else."""

from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote, urlsplit

import psycopg
from django.conf import settings
from django.db import ProgrammingError, connections, transaction
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.backends.utils import CursorWrapper
from psycopg import sql

from memoryproject.postgres import databases, rights, visible, walls
from memoryproject.postgres.base import DatabaseWrapper
from memoryproject.postgres.embedded_postgres import APP_ROLE

EXISTS = "select 1 from pg_roles where rolname = %s"
# Since version 16 the creator of a role is its member, but may not take it.
MAY_TAKE = """
select pg_has_role(current_user, %s,
  case when current_setting('server_version_num')::int >= 160000 then 'SET' else 'MEMBER' end)
"""
OTHER_SESSIONS = """
select pg_terminate_backend(pid) from pg_stat_activity
where usename = %s and datname = current_database() and pid <> pg_backend_pid()
"""
# Statements for an administrator, so that an owner who is no superuser may put up the walls.
LACKING = """
with own as (
  select rolname as owner, rolcreaterole or rolsuper as makes_roles from pg_roles
  where rolname = current_user
)
select format('alter role %%I createrole', owner) from own where not makes_roles
union all
select format('grant create on database %%I to %%I', current_database(), owner) from own
where not has_database_privilege(current_database(), 'create')
union all
select format('grant %%I to %%I with admin option', rolname, owner)
  || case when rolname = %(crossing)s and current_setting('server_version_num')::int >= 160000
     then ', inherit false' else '' end
from pg_roles, own
where rolname in (%(role)s, %(crossing)s)
  and not pg_has_role(owner, oid, 'member with admin option')
"""
# PostgreSQL lets a login return to its own role: only a separate login keeps a role.
BORROWED = (
    "Web and worker log in as the owner of the tables and then take the role {role}: SQL that"
    " somebody slips in can give the owner's rights back (RESET ROLE). Give them a login of their"
    " own in APP_DATABASE_URL: see docs/guides/operating.md, A PostgreSQL of your own."
)
LOGIN = ("USER", "PASSWORD", "HOST", "PORT", "OPTIONS", "ANSWER_WITHIN", "LIMITS")


@dataclass(frozen=True)
class Granted:
    """The role that web and worker use: `owner` if the server refused an ordinary one; then `why`
    says why, and `remedy` has the statements for an administrator, if rights are missing."""

    database_role: str
    why: str = ""
    remedy: tuple[str, ...] = ()

    @property
    def advice(self) -> str:
        """Advice to the operator, in one line."""
        acts = f"Let an administrator run: {'; '.join(self.remedy)}. " if self.remedy else ""
        return f"{self.why}. {acts}See docs/guides/operating.md, A PostgreSQL of your own."

    @property
    def warning(self) -> str:
        if not self.why:
            return ""
        return f"Web and worker run with the owner's rights and no walls between workspaces: {self.advice}"


def app_role() -> str:
    """The name of the ordinary role: our own, or the login of APP_DATABASE_URL."""
    return unquote(urlsplit(settings.APP_DATABASE_URL).username or "") or APP_ROLE


def warning_of_borrowed_role(granted: Granted) -> str:
    """Return a warning if the ordinary role protects less than it should, because the owner's login
    takes it; empty where it logs in by itself."""
    is_own = settings.EMBEDDED_POSTGRES is not None or settings.APP_DATABASE_URL
    return "" if is_own or granted.why else BORROWED.format(role=app_role())


def prepare(connection: BaseDatabaseWrapper) -> Granted:
    """Make sure that the ordinary role exists and has its rights; run as the owner, after
    migrating."""
    try:
        with transaction.atomic(using=connection.alias), connection.cursor() as cursor:
            walls.make_functions(cursor)
        with transaction.atomic(using=connection.alias):
            role = app_role()
            with connection.cursor() as cursor:
                cursor.execute(EXISTS, [role])
                if cursor.fetchone() is None:
                    cursor.execute(sql.SQL("CREATE ROLE {} NOLOGIN").format(sql.Identifier(role)))
                make_crossing_role(cursor)
                # Without a login of its own, the role is taken after the owner's (SET ROLE).
                cursor.execute(MAY_TAKE, [role])
                if not settings.APP_DATABASE_URL and not cursor.fetchone()[0]:
                    cursor.execute(sql.SQL("GRANT {} TO CURRENT_USER").format(sql.Identifier(role)))
            is_new = walls.make(connection, role)
            rights.grant(connection, role)
        if is_new:
            # Sessions that a pooler keeps would go on with the settings that they began with. An
            # owner who may not take the role leaves them: a login by the pooler is refused.
            with transaction.atomic(using=connection.alias), connection.cursor() as cursor:
                cursor.execute(MAY_TAKE, [role])
                if cursor.fetchone()[0]:
                    cursor.execute(sql.SQL("set local role {}").format(sql.Identifier(role)))
                    cursor.execute(OTHER_SESSIONS, [role])
    except ProgrammingError as error:
        with connection.cursor() as cursor:
            cursor.execute(LACKING, {"role": app_role(), "crossing": walls.CROSSING_ROLE})
            remedy = tuple(text for (text,) in cursor.fetchall())
        return Granted("owner", str(error).splitlines()[0], remedy)
    return Granted("app")


def make_crossing_role(cursor: CursorWrapper) -> None:
    """Make the role that owns the crossings. The owner may hand objects over to it, but is not one
    of the roles that its policies let through."""
    name = sql.Identifier(walls.CROSSING_ROLE)
    cursor.execute(EXISTS, [walls.CROSSING_ROLE])
    if cursor.fetchone() is None:
        cursor.execute(sql.SQL("CREATE ROLE {} NOLOGIN NOINHERIT").format(name))
    cursor.execute(MAY_TAKE, [walls.CROSSING_ROLE])
    if not cursor.fetchone()[0]:
        cursor.execute("select current_setting('server_version_num')::int >= 160000")
        options = " WITH INHERIT FALSE, SET TRUE" if cursor.fetchone()[0] else ""
        cursor.execute(sql.SQL("GRANT {} TO CURRENT_USER" + options).format(name))


def refuse_unfit_login(role: str) -> None:
    """Log in once as web and worker will, so that their errors appear here. Raises Django's
    database errors."""
    own = connections["default"].settings_dict
    login = databases.external(settings.DATABASE_URL, settings.APP_DATABASE_URL, role)
    wrapper = DatabaseWrapper({**own, **{n: login[n] for n in LOGIN if n in login}}, alias="login")
    with wrapper.wrap_database_errors:
        wrapper.get_new_connection(wrapper.get_connection_params()).close()


def serve() -> None:
    """Continue as the role that serves, in a process that was started as the owner."""
    own = connections["default"].settings_dict
    if own["USER"] == app_role():
        return
    if settings.EMBEDDED_POSTGRES is not None:
        login = databases.embedded(settings.DATA_DIR, "app")
    else:
        login = databases.external(settings.DATABASE_URL, settings.APP_DATABASE_URL, "app")
    connections["default"].close()
    own.update({name: login[name] for name in LOGIN if name in login})


@contextmanager
def through_views() -> Iterator[None]:
    """Inside, this process finds the views of the walls before the tables under them, as the
    serving role does: else an owner who is no superuser would see no rows there and could add none.
    For commands that work on rows; making tables or copying all of them stays outside."""
    own = connections["default"]
    with own.cursor() as cursor:
        cursor.execute("select current_setting('search_path')")
        before = cursor.fetchone()[0]
        cursor.execute(visible.THROUGH_VIEWS)
    own.settings_dict[visible.BY_VIEWS] = True  # for sessions that begin inside
    try:
        yield
    finally:
        own.settings_dict.pop(visible.BY_VIEWS, None)
        if own.connection is not None and not own.needs_rollback:
            with own.cursor() as cursor:
                cursor.execute("select set_config('search_path', %s, false)", [before])


@contextmanager
def owner_connection() -> Iterator[psycopg.Connection[Any]]:
    """A connection with the owner's rights to the database of this process, for what the ordinary
    role may not do. Every statement commits by itself and has no time limit: an index is built by
    one."""
    own = connections["default"].settings_dict
    if settings.EMBEDDED_POSTGRES is not None:
        found = databases.embedded(settings.DATA_DIR, "owner")
    else:
        found = databases.external(settings.DATABASE_URL, settings.APP_DATABASE_URL, "owner")
    login = {name: found[name] for name in LOGIN if name in found}
    wrapper = DatabaseWrapper({**own, **login}, alias="owner")
    with closing(wrapper.get_new_connection(wrapper.get_connection_params())) as owner:
        owner.autocommit = True
        # With the visibility setting before it, a statement would be two, in a transaction.
        owner.cursor_factory = psycopg.ClientCursor
        yield owner
