"""The wall between workspaces that the database itself keeps: row-level security, forced, on every
table with rows of a workspace.

One place makes it from the models, after each migration: a table of a new model has its policy
automatically, or a test fails. A policy reads the setting of `postgres/visible.py`; access across
workspaces goes through the functions of `crossings.py`, whose role the policies name. The tables of
the index have words as arrays, and PostgreSQL uses no index for an array behind a policy: there the
serving role has views of the same names, found first on its search path, and no right to the tables
themselves.

Policies only filter; they must not become a way to find rows: `case` keeps the planner from using
them so, and the hot path's texts keep the plans that they were written for.
"""

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from typing import Any

from django.apps import apps
from django.db import models
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.backends.utils import CursorWrapper
from psycopg import sql

from memoryproject.postgres import administrators
from memoryproject.postgres.crossings import CROSSINGS, Crossing
from memoryproject.postgres.visible import EVERYTHING, SETTING, VIEWS

CROSSING_ROLE = "memoryproject_crossing"  # nobody logs in as it
UPKEEP = "memoryproject.upkeep"  # set while the owner migrates or copies all
# Each subquery runs at most once for a statement, and not for each row.
ALL = f"(select coalesce(current_setting('{SETTING}', true) = '{EVERYTHING}', false))"
NAMED = f"nullif(nullif(current_setting('{SETTING}', true), ''), '{EVERYTHING}')::uuid[]"
IDS = f"(select {NAMED})::uuid[]"
NUMBERS = f"(select array_agg(i.number) from memories_workspaceindex i where i.workspace_id = any ({IDS}))::int4[]"
# Mostly one workspace is visible. In a scan of ten thousand vectors, a search in an array takes a
# tenth of the time, a comparison of two numbers nothing.
NUMBER = f"(select i.number from memories_workspaceindex i where i.workspace_id = ({NAMED})[1])"
POLICY, LET_THROUGH, KEPT_UP = "workspace", "crossing", "upkeep"
# Reached through views, because of the keys in arrays.
BY_VIEW = ("memories_entry", "memories_vector")
# Columns that the serving role writes and never reads: functions of `crossings.py` compare them, or
# return one for the row that is named.
HIDDEN = {
    "workspaces_apikey": "digest",
    "workspaces_invitation": "digest",
    "workspaces_serverkey": "digest",
    "workspaces_user": "password",
}
# Rows of the server among those of workspaces, visible only where all workspaces are.
FOR_EVERYWHERE = {"memories_longjob"}
# Tables without rows of a workspace, each with its reason.
OPEN = {
    "auth_group": "unused by us; Django's",
    "auth_group_permissions": "unused by us; Django's",
    "auth_permission": "names of models",
    "django_admin_log": "unused: the audit log holds what it would",
    "django_content_type": "names of models",
    "django_migrations": "names of migrations",
    "django_q_ormq": "the queue: names of jobs and ids of rows",
    "django_q_schedule": "unused: the worker posts its sweeps by its own clock",
    "django_q_task": "unused: nothing is kept of finished tasks",
    "django_session": "of a browser, before it is known whose it is; by digests of their keys",
    "memories_breaker": "of the server: how its models do",
    "memories_embeddingmodel": "of the server: names of models",
    "memories_modelprice": "of the server: what its models cost",
    "memories_evaluationrun": "of the server: what was measured",
    "memories_postedjob": "of the server: when its worker swept last",
    "memories_workerbeat": "of the server: its processes",
    "workspaces_loginattempt": "before it is known who it is",
    "workspaces_loginpause": "before it is known who it is",
    "workspaces_recoverycode": "of a person, who may be in several workspaces",
    "workspaces_secondfactor": "of a person, who may be in several workspaces",
    "workspaces_oauthclient": "before it is known whose it will be",
    "workspaces_serverkey": "of the server",
    "workspaces_user": "a person may be in several workspaces",
    "workspaces_user_groups": "unused by us; Django's",
    "workspaces_user_user_permissions": "unused by us; Django's",
}


STALE = """
select p.oid::regprocedure::text from pg_proc p join pg_roles r on r.oid = p.proowner
where r.rolname = %s and p.pronamespace = current_schema()::regnamespace
  and p.oid <> all(array(select to_regprocedure(each) from unnest(%s::text[]) each)::oid[])
"""
LOGIN_SETTINGS = """
select s.setconfig from pg_db_role_setting s
join pg_database d on d.oid = s.setdatabase join pg_roles r on r.oid = s.setrole
where d.datname = current_database() and r.rolname = %s
"""
# Found by name on the search path of the owner as on that of the serving role.
TABLE = """
select c.oid from pg_class c join pg_namespace n on n.oid = c.relnamespace
where c.relname = %s and c.relkind in ('r', 'p') and n.nspname = any(current_schemas(false))
"""
POLICIES = f"""
select p.polname, md5(concat_ws(' ', p.polqual, p.polwithcheck, p.polcmd, p.polpermissive,
                      p.polroles)),
       obj_description(p.oid, 'pg_policy')
from pg_policy p where p.polrelid = ({TABLE})
"""
SECURITY = f"""
select relrowsecurity, relforcerowsecurity from pg_class where oid = ({TABLE})
"""


@dataclass(frozen=True, slots=True)
class Wall:
    """A table and the condition that a visible row meets."""

    table: str
    visible: str
    # The column if it may be null: rows without it are the server's own, which everybody sees,
    # except those of FOR_EVERYWHERE.
    nobodys: str = ""

    @property
    def is_by_view(self) -> bool:
        return self.table in BY_VIEW


@cache
def walls() -> tuple[Wall, ...]:
    """The walls of all models that have rows of a workspace."""
    found = {}
    for model in apps.get_models(include_auto_created=True):
        if model._meta.managed and not model._meta.proxy and (condition := _condition(model)):
            found[model._meta.db_table] = Wall(
                model._meta.db_table,
                f"case when {condition} or {ALL} then true else false end",
                next((str(f.column) for f in _owners(model) if _is_for_all(f)), ""),
            )
    return tuple(found[name] for name in sorted(found))


def unnamed() -> list[str]:
    """Tables with neither a policy nor a reason for having none."""
    known = {wall.table for wall in walls()} | OPEN.keys()
    return sorted({m._meta.db_table for m in apps.get_models(include_auto_created=True)} - known)


def _owners(model: type[models.Model]) -> "list[models.Field[Any, Any]]":
    """The columns of a model that name the workspace."""
    fields = model._meta.concrete_fields
    return [f for f in fields if f.column == "workspace_id" or f.name == "workspace"]


def _is_for_all(owner: "models.Field[Any, Any]") -> bool:
    """Tell whether everybody sees the rows that name no workspace."""
    return owner.null and owner.model._meta.db_table not in FOR_EVERYWHERE


def _condition(model: type[models.Model]) -> str:
    """Return the condition: by the workspace's id, its number in the index, or the row's owner."""
    if model._meta.db_table in OPEN:
        return ""
    if model._meta.label == "workspaces.Workspace":
        return f"id = any ({IDS})"
    for field in _owners(model):
        key: Any = field.target_field if isinstance(field, models.ForeignKey) else field
        column = field.column
        if isinstance(key, models.IntegerField):
            among = f"{column} = {NUMBER} or {column} = any ({NUMBERS})"
        else:
            among = f"{column} = any ({IDS})"
        return f"{column} is null or {among}" if _is_for_all(field) else among
    for field in model._meta.concrete_fields:
        owner: Any = field.related_model
        if owner and not field.null and _condition(owner):
            return (
                f"exists (select 1 from {name_of(owner._meta.db_table)} o"
                f" where o.{owner._meta.pk.column} = {field.column})"
            )
    return ""


def name_of(table: str) -> str:
    """The name under which the serving role finds a table."""
    return f"{VIEWS}.{table}" if table in BY_VIEW else table


# ---- made -----------------------------------------------------------------------------------


def make_functions(cursor: CursorWrapper) -> None:
    """Make the crossings in the owner's schema: new ones are the owner's until `make` gives them
    away, the others keep their owner. Neither may be called by everybody."""
    administrators.make_keys(cursor)
    cursor.execute(
        "select current_schema(), array(select p.proname from pg_proc p"
        " join pg_roles r on r.oid = p.proowner where r.rolname = %s"
        " and p.pronamespace = current_schema()::regnamespace)",
        [CROSSING_ROLE],
    )
    schema, given = cursor.fetchone()
    names = {"schema": sql.Identifier(schema), "crossing": sql.Identifier(CROSSING_ROLE)}

    def create(each: Crossing) -> None:
        cursor.execute(
            sql.SQL(
                "create or replace function {schema}.{signature} returns {gives} language sql"
                " security definer {how} set search_path = {schema}, pg_temp as {query}"
            ).format(
                **names,
                signature=sql.SQL(each.signature),
                gives=sql.SQL(each.gives),
                how=sql.SQL(each.how),
                query=sql.Literal(each.query),
            )
        )
        signature = sql.SQL(each.signature)
        text = "revoke all on function {schema}.{signature} from public"
        cursor.execute(sql.SQL(text).format(**names, signature=signature))

    for each in CROSSINGS:
        if each.name not in given:
            create(each)
    if given:
        cursor.execute(sql.SQL("grant create on schema {schema} to {crossing}").format(**names))
        with _as_crossing_role(cursor):
            for each in CROSSINGS:
                if each.name in given:
                    create(each)
        cursor.execute(sql.SQL("revoke create on schema {schema} from {crossing}").format(**names))


@contextmanager
def _as_crossing_role(cursor: CursorWrapper) -> Iterator[None]:
    """Inside an open transaction, act as the role that owns the crossings: an owner who is no
    superuser can no longer change what was given to it. An error rolls back the transaction, and
    with it the role."""
    cursor.execute("select current_setting('role')")
    before = cursor.fetchone()[0]
    cursor.execute(sql.SQL("set local role {}").format(sql.Identifier(CROSSING_ROLE)))
    yield
    cursor.execute("select set_config('role', %s, true)", [before])


def make(connection: BaseDatabaseWrapper, role: str) -> bool:
    """Put up every wall that is missing or was changed by hand; `role` serves. Run as the owner, in
    one transaction. Tables that are as they should be are not locked. Returns whether the role's
    sessions must reconnect: those there are look for tables without the views before them."""
    with connection.cursor() as cursor:
        cursor.execute("select current_schema(), current_user, current_database()")
        schema, owner, database = map(sql.Identifier, cursor.fetchone())
        names = {
            "schema": schema,
            "owner": owner,
            "database": database,
            "role": sql.Identifier(role),
            "crossing": sql.Identifier(CROSSING_ROLE),
            "views": sql.Identifier(VIEWS),
        }

        def run(text: str, **more: sql.Composable) -> None:
            cursor.execute(sql.SQL(text).format(**names, **more))

        run("create schema if not exists {views}")
        bad = [wall for wall in walls() if any(faults_of(cursor, wall, with_older=True))]
        if bad:
            # Before a right is given: ANALYZE has a table's lock and waits for the row of
            # pg_class that a GRANT has changed, which a policy's lock would wait for in turn.
            tables = sql.SQL(", ").join(sql.Identifier(wall.table) for wall in bad)
            run("lock table {tables} in access exclusive mode", tables=tables)
        run("grant usage on schema {schema}, {views} to {role}, {crossing}")
        run("grant create on schema {schema}, {views} to {crossing}")
        for table in sorted({name for each in CROSSINGS for name in each.reads} | {*BY_VIEW}):
            run("grant select on {table} to {crossing}", table=sql.Identifier(table))
        for each in CROSSINGS:
            signature = sql.SQL(each.signature)
            run("alter function {schema}.{name} owner to {crossing}", name=signature)
            if each.rights:
                rights, first = sql.SQL(each.rights), sql.Identifier(each.reads[0])
                run("grant {rights} on {table} to {crossing}", rights=rights, table=first)
        run("grant select on memories_workspaceindex to {crossing}")
        for table in BY_VIEW:
            _make_view(cursor, next(w for w in walls() if w.table == table), names)
        with _as_crossing_role(cursor):
            _open_crossings(cursor, names)
        administrators.make(cursor)
        for wall in bad:
            _make_policies(cursor, wall, role)
        run("revoke create on schema {schema}, {views} from {crossing}")
        # For this database alone: another one of the same cluster may be making its own now.
        cursor.execute(LOGIN_SETTINGS, [role])
        before = cursor.fetchall()
        run("alter role {role} in database {database} set search_path = {views}, {schema}")
        cursor.execute(LOGIN_SETTINGS, [role])
        return before != cursor.fetchall()


def _open_crossings(cursor: CursorWrapper, names: dict[str, sql.Identifier]) -> None:
    """Let the serving role and the owner use the objects of the crossing role; run as that role."""
    texts = [
        sql.SQL("grant execute on function {schema}.{name} to {role}, {owner}").format(
            name=sql.SQL(each.signature), **names
        )
        for each in CROSSINGS
    ]
    # An owner who is no superuser is held by the policies, too, and has no other way to the rows.
    texts += [
        sql.SQL("grant select, insert, update, delete on {views}.{table} to {owner}").format(
            table=sql.Identifier(table), **names
        )
        for table in BY_VIEW
    ]
    for text in texts:
        cursor.execute(text)
    cursor.execute(STALE, [CROSSING_ROLE, [each.signature for each in CROSSINGS]])
    for (stale,) in cursor.fetchall():  # another version's may do what this one's must not
        cursor.execute(sql.SQL("drop function {}").format(sql.SQL(stale)))


def readable(cursor: CursorWrapper, table: str) -> list[str]:
    """The columns of a table that the serving role may read."""
    cursor.execute(
        "select attname from pg_attribute where attrelid = %s::regclass"
        " and attnum > 0 and not attisdropped and attname <> %s order by attnum",
        [name_of(table), HIDDEN.get(table, "")],
    )
    return [name for (name,) in cursor.fetchall()]


def _make_policies(cursor: CursorWrapper, wall: Wall, role: str) -> None:
    table = sql.Identifier(wall.table)
    cursor.execute(POLICIES, [wall.table])
    for name, *_ in cursor.fetchall():
        cursor.execute(sql.SQL("drop policy {} on {}").format(sql.Identifier(name), table))
    texts = [
        "create policy {crossing} on {table} to {crossing_role} using (true)",
        f"create policy {{upkeep}} on {{table}} to current_user using (current_setting('{UPKEEP}', true) = 'on')",
        "alter table {table} enable row level security",
        "alter table {table} force row level security",
    ]
    if not wall.is_by_view:
        texts.insert(0, "create policy {workspace} on {table} using (%s)" % wall.visible)  # noqa: UP031  braces
    for text in texts:
        cursor.execute(
            sql.SQL(text).format(
                table=table,
                crossing=sql.Identifier(LET_THROUGH),
                upkeep=sql.Identifier(KEPT_UP),
                workspace=sql.Identifier(POLICY),
                crossing_role=sql.Identifier(CROSSING_ROLE),
            )
        )
    cursor.execute(POLICIES, [wall.table])
    for name, digest, _ in cursor.fetchall():
        cursor.execute(
            sql.SQL("comment on policy {} on {} is {}").format(
                sql.Identifier(name), table, sql.Literal(f"{_mark(wall)} {digest}")
            )
        )


def _make_view(cursor: CursorWrapper, wall: Wall, names: dict[str, Any]) -> None:
    """A plain view: conditions beside its own may use the indexes of the table."""
    text = (
        "create view {views}.{table} as select t.*, t.ctid from {schema}.{table} t"
        f" where {wall.visible} with check option"
    )
    cursor.execute(
        "select attname, atttypid::regtype::text from pg_attribute"
        " where attrelid = to_regclass(%s) and attnum > 0 and not attisdropped order by attnum",
        [wall.table],
    )
    mark = hashlib.md5(f"{text} {cursor.fetchall()}".encode()).hexdigest()
    cursor.execute("select obj_description(to_regclass(%s), 'pg_class')", [name_of(wall.table)])
    if cursor.fetchone()[0] == mark:
        return
    run = {**names, "table": sql.Identifier(wall.table), "mark": sql.Literal(mark)}
    for each in (
        "drop view if exists {views}.{table}",
        text,
        "comment on view {views}.{table} is {mark}",
        "grant select, insert, update, delete on {table} to {crossing}",
        "grant select, insert, update, delete on {views}.{table} to {role}",
        "alter view {views}.{table} owner to {crossing}",  # last: then it is no more the owner's
    ):
        cursor.execute(sql.SQL(each).format(**run))


def drop_views(connection: BaseDatabaseWrapper) -> None:
    """Drop the views before a migration changes their tables; `make` puts them up again."""
    with connection.cursor() as cursor:
        cursor.execute("select 1 from pg_namespace where nspname = %s", [VIEWS])
        if cursor.fetchone():
            for table in BY_VIEW:
                cursor.execute(f"drop view if exists {VIEWS}.{table} cascade")


def _mark(wall: Wall) -> str:
    return hashlib.md5(f"{wall.visible} {wall.is_by_view}".encode()).hexdigest()


# ---- looked at ------------------------------------------------------------------------------


def faults_of(cursor: CursorWrapper, wall: Wall, *, with_older: bool = False) -> Iterator[str]:
    """Describe what somebody took down or changed; with `with_older` also what another version left
    as it made it, which is no reason for an alarm, nor is a table that is only now being made."""
    cursor.execute(SECURITY, [wall.table])
    row = cursor.fetchone()
    if row is None:
        return
    if not row[0]:
        yield f"row-level security is off on {wall.table}"
    elif not row[1]:
        yield f"row-level security is not forced on {wall.table}"
    cursor.execute(POLICIES, [wall.table])
    policies = {name: (digest, told) for name, digest, told in cursor.fetchall()}
    wanted = {LET_THROUGH, KEPT_UP} | (set() if wall.is_by_view else {POLICY})
    for name in sorted(wanted - policies.keys()):
        yield f"policy {name} is missing on {wall.table}"
    for name in sorted(policies.keys() - wanted):
        yield f"policy {name} on {wall.table} is not ours"
    for name in sorted(wanted & policies.keys()):
        digest, told = policies[name]
        mark, _, made = (told or "").partition(" ")
        if made != digest:
            yield f"policy {name} on {wall.table} was changed"
        elif with_older and mark != _mark(wall):
            yield f"policy {name} on {wall.table} is another version's"


def faults(connection: BaseDatabaseWrapper) -> list[str]:
    """The faults of all tables; empty where the wall stands."""
    with connection.cursor() as cursor:
        faults = [fault for wall in walls() for fault in faults_of(cursor, wall)]
        return faults + administrators.faults(cursor)


def are_up(connection: BaseDatabaseWrapper) -> bool:
    """Tell whether this database has walls: they need a role that serves, beside the owner."""
    with connection.cursor() as cursor:
        cursor.execute("select to_regnamespace(%s) is not null", [VIEWS])
        return bool(cursor.fetchone()[0])
