"""Which server, which role, and which servers are refused."""

import pytest
from django.core.exceptions import ImproperlyConfigured
from django.db import connection
from django.db.utils import ProgrammingError

from memoryproject.postgres import database_roles, databases, visible
from memoryproject.postgres.embedded_postgres import APP_ROLE
from workspaces.models import Workspace

URL = "postgresql://owner:pa%20ss@db.example:6543/memories?sslmode=require"


def test_a_url_is_the_owner():
    settings = databases.external(URL, "", "owner")
    assert (settings["USER"], settings["PASSWORD"], settings["PORT"]) == ("owner", "pa ss", 6543)
    assert settings["OPTIONS"]["sslmode"] == "require"
    assert "assume_role" not in settings["OPTIONS"]


def test_the_ordinary_role_is_taken_after_the_owners_login():
    settings = databases.external(URL, "", "app")
    assert settings["USER"] == "owner"
    assert settings["OPTIONS"]["assume_role"] == APP_ROLE


def test_the_ordinary_role_may_have_a_login_of_its_own():
    settings = databases.external(URL, "postgresql://clerk@db.example/memories", "app")
    assert settings["USER"] == "clerk"
    assert "assume_role" not in settings["OPTIONS"]


def test_options_of_the_url_are_kept_and_ours_are_none():
    options = databases.external(f"{URL}&options=-csearch_path%3Dmine", "", "owner")["OPTIONS"]
    assert options["options"] == "-csearch_path=mine"


@pytest.mark.parametrize(
    "url",
    [
        "sqlite:///x",
        "mysql://x/y",
        "postgresql://[half/x",
        "postgresql://db.example:99999/x",
        "postgresql://",
        "postgresql://clerk@db.example",
        "postgresql://clerk:a@b#c@db.example/x",
    ],
)
def test_what_is_no_postgresql_url_is_refused(url: str):
    with pytest.raises(ImproperlyConfigured, match="DATABASE_URL"):
        databases.external(url, "", "owner")
    with pytest.raises(ImproperlyConfigured, match="^APP_DATABASE_URL"):
        databases.external("postgresql://db.example/x", url, "app")


@pytest.mark.django_db
def test_the_ordinary_role_changes_rows_and_nothing_else():
    assert database_roles.prepare(connection) == database_roles.Granted("app")
    with connection.cursor() as cursor:
        cursor.execute(f"set local role {APP_ROLE}")
        mine = Workspace(slug="mine", name="Mine")
        with visible.only(mine.pk):
            mine.save()
        with pytest.raises(ProgrammingError, match="permission denied for schema"):
            cursor.execute("create table other (id int)")


@pytest.mark.django_db
def test_an_owner_who_may_not_make_roles_serves_itself_and_says_why():
    with connection.cursor() as cursor:
        cursor.execute("create role modest createdb")
        cursor.execute("set local role modest")
        granted = database_roles.prepare(connection)
    assert granted.database_role == "owner"
    assert "permission denied" in granted.why
    assert "alter role modest createrole" in granted.remedy


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("versions", "number"),
    [("where false", "E001"), ("", "E002")],
    ids=["none", "too old"],
)
def test_a_server_without_the_right_pgvector_is_refused(versions: str, number: str):
    row = "select 'vector' as name, '0.5.1' as default_version, null as installed_version"
    with connection.cursor() as cursor:
        cursor.execute(f"create temp view pg_available_extensions as {row} {versions}")
        cursor.execute("set local search_path = pg_temp, pg_catalog")
        errors = connection.validation.check()
    assert [error.id for error in errors] == [f"memoryproject.{number}"]


@pytest.mark.django_db
def test_this_server_is_accepted():
    assert connection.validation.check() == []
