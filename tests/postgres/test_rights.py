"""The role that serves has the rights that are listed with a reason, and no others."""

from typing import Any

import pytest
from django.db import connection, transaction
from django.db.utils import ProgrammingError

from memoryproject.postgres import crossings, database_roles, rights, walls
from memoryproject.postgres.embedded_postgres import APP_ROLE
from memoryproject.postgres.rights import ADD, CHANGE, READ, REMOVE
from tests.ordinary_role import ordinary_role

ALL = {READ, ADD, CHANGE, REMOVE}
TABLES = """
select c.relname, array(
  select a.privilege_type from aclexplode(c.relacl) a
  where a.grantee in (0, %(role)s::regrole))
from pg_class c where c.relkind in ('r', 'p', 'v', 'm', 'f')
  and c.relnamespace = %(schema)s::regnamespace
"""
COLUMNS = """
select c.relname, a.privilege_type, array_agg(t.attname::text)
from pg_attribute t join pg_class c on c.oid = t.attrelid, aclexplode(t.attacl) a
where a.grantee in (0, %(role)s::regrole) and c.relnamespace = 'public'::regnamespace
group by 1, 2
"""
FUNCTIONS = """
select p.proname from pg_proc p
where p.pronamespace in ('public'::regnamespace, 'walls'::regnamespace)
  and has_function_privilege(%s, p.oid, 'execute')
  and not exists (select 1 from pg_depend d where d.objid = p.oid and d.deptype = 'e')
"""


def asked(text: str, values: Any = None) -> list[Any]:
    with connection.cursor() as cursor:
        cursor.execute(text, values)
        return cursor.fetchall()


@pytest.mark.django_db
def test_every_right_to_a_table_is_listed_with_its_reason() -> None:
    found = asked(TABLES, {"role": APP_ROLE, "schema": "public"})
    assert len(found) > 90
    for name, given in found:
        listed = rights.rights_of(name)
        assert listed is not None, f"{name}: list its rights in memoryproject/postgres/rights.py"
        assert listed.reason
        by_column = {*listed.columns} | ({READ} if name in walls.HIDDEN else set())
        assert set(given) == {*listed.acts} - by_column, name
        assert set(given) <= ALL
    assert rights.TABLES.keys() <= {name for name, _ in found}


@pytest.mark.django_db
def test_every_right_to_single_columns_is_listed_with_its_reason() -> None:
    found = {(table, act): set(names) for table, act, names in asked(COLUMNS, {"role": APP_ROLE})}
    for table, hidden in walls.HIDDEN.items():
        columns = {
            row[0]
            for row in asked(
                "select attname::text from pg_attribute where attrelid = %s::regclass"
                " and (attnum > 0 or attname = 'ctid') and not attisdropped",
                [table],
            )
        }
        assert found.pop((table, READ)) == columns - {hidden}
    wanted = {(name, act): set(listed.columns[act]) for name, listed in rights.TABLES.items() for act in listed.columns}
    assert found == wanted
    narrow = ("workspaces_serverkey", "workspaces_loginattempt", "workspaces_oauthclient")
    assert set(wanted) == {(name, CHANGE) for name in narrow}


@pytest.mark.django_db
def test_views_of_the_index_are_the_only_ones_of_their_schema() -> None:
    found = dict(asked(TABLES, {"role": APP_ROLE, "schema": "walls"}))
    assert {name: set(given) for name, given in found.items()} == dict.fromkeys(walls.BY_VIEW, ALL)


@pytest.mark.django_db
def test_rights_to_sequences_are_listed_and_the_others_are_of_identity_columns() -> None:
    sequences = asked(
        "select c.relname,"
        "  array(select a.privilege_type from aclexplode(c.relacl) a"
        "        where a.grantee in (0, %(role)s::regrole)),"
        "  exists (select 1 from pg_depend d where d.objid = c.oid and d.deptype = 'i')"
        " from pg_class c where c.relkind = 'S'",
        {"role": APP_ROLE},
    )
    assert len(sequences) > 20
    for name, given, is_of_an_identity in sequences:
        listed = rights.SEQUENCES.get(name)
        assert given == (list(listed.acts) if listed else []), name
        assert is_of_an_identity, name
    assert all(listed.reason for listed in rights.SEQUENCES.values())


@pytest.mark.django_db
def test_it_calls_the_crossings_and_no_other_function_of_ours() -> None:
    called = {name for (name,) in asked(FUNCTIONS, [APP_ROLE])}
    assert called == {each.name for each in crossings.CROSSINGS}


@pytest.mark.django_db
def test_it_makes_nothing_is_a_member_of_no_role_and_owns_nothing() -> None:
    [[made]] = asked(
        "select count(*) from pg_namespace n where n.nspname !~ '^pg_(temp|toast)'"
        " and has_schema_privilege(%s, n.oid, 'create')",
        [APP_ROLE],
    )
    [[member]] = asked("select count(*) from pg_auth_members where member = %s::regrole", [APP_ROLE])
    [[owned]] = asked("select count(*) from pg_class where relowner = %s::regrole", [APP_ROLE])
    assert (made, member, owned) == (0, 0, 0)


@pytest.mark.django_db
@pytest.mark.parametrize("kind", ["table workspaces_user", "view workspaces_user"])
def test_it_puts_nothing_of_its_own_before_our_tables(kind: str) -> None:
    database_roles.prepare(connection)  # a copy of a database does not have its rights
    refused = pytest.raises(ProgrammingError, match="permission denied to create temporary tables")
    with ordinary_role(), refused, transaction.atomic():
        asked(f"create temp {kind} as select id, true as is_superuser from public.workspaces_user")


@pytest.mark.django_db
def test_a_table_that_nobody_thought_of_is_told_and_not_reached() -> None:
    with connection.cursor() as cursor:
        cursor.execute("create table later (id int)")
    database_roles.prepare(connection)
    assert rights.unnamed(connection) == ["later"]
    with (
        ordinary_role(),
        pytest.raises(ProgrammingError, match="permission denied"),
        transaction.atomic(),
    ):
        asked("select * from later")


@pytest.mark.django_db
def test_what_earlier_versions_gave_is_taken_back() -> None:
    with connection.cursor() as cursor:
        for text in (
            "grant select, insert, update, delete on all tables in schema public to {role}",
            "grant usage, select on all sequences in schema public to {role}",
            "grant execute on all functions in schema public to {role}",
            "alter default privileges in schema public grant select on tables to {role}",
            "create function cross_older(uuid) returns int language sql security definer as 'select 1'",
            "grant create on schema public to {crossing}",
            "alter function cross_older owner to {crossing}",
            "revoke create on schema public from {crossing}",
            "grant execute on function cross_older to {role}",
        ):
            cursor.execute(text.format(role=APP_ROLE, crossing=walls.CROSSING_ROLE))
    assert database_roles.prepare(connection) == database_roles.Granted("app")
    test_every_right_to_a_table_is_listed_with_its_reason()
    test_every_right_to_single_columns_is_listed_with_its_reason()
    test_rights_to_sequences_are_listed_and_the_others_are_of_identity_columns()
    test_it_calls_the_crossings_and_no_other_function_of_ours()
    assert asked("select 1 from pg_default_acl") == []
    assert asked("select to_regprocedure('cross_older(uuid)')") == [(None,)]
    [[given]] = asked(
        "select count(*) from pg_proc p, aclexplode(p.proacl) a"
        " where a.grantee = %s::regrole and p.proname not like 'cross\\_%%'",
        [APP_ROLE],
    )
    assert given == 0
