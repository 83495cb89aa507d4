"""An owner who is no superuser, on a server of somebody's own: the walls stand, and web and worker
serve behind them, by a login of their own or after the owner's."""

import os
import subprocess
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import connection

from memories.management import isolation_tables, isolation_tenants
from memories.management.commands.up import Command as UpCommand
from memories.management.isolation_doors import ProofTally
from memoryproject.postgres import database_roles, visible, walls
from memoryproject.postgres.embedded_postgres import APP_ROLE, Home, program
from tests.servers_of_ones_own import administer, external, home

__all__ = ["external", "home"]

SCRIPT = Path(__file__).parents[2] / "deploy" / "database.sh"
WHO = """
select session_user, current_user,
       (select rolsuper or rolbypassrls from pg_roles where rolname = session_user)
"""


def test_what_the_compose_file_prepares_is_enough_and_what_lacks_is_said(
    home: Home, external: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    path = f"{program('psql').parent}:{os.environ['PATH']}"
    passwords = {"OWNER_PASSWORD": "o", "APP_PASSWORD": "a"}
    environment = {"PATH": path, "PGHOST": str(home.socket), **passwords}
    subprocess.run(["sh", SCRIPT], check=True, capture_output=True, env=environment)
    connected = external("memory", APP_ROLE)
    with connected("owner"):
        call_command("migrate", verbosity=0)
    serves_behind_walls(connected, (APP_ROLE, APP_ROLE, False))
    monkeypatch.setenv("PGHOST", str(home.socket))
    with connected("owner"):
        call_command("backup", str(tmp_path / "backups"), stdout=StringIO())
    administer(
        home,
        "memory",
        "alter role memory nocreaterole",
        "revoke create on database memory from memory",
        f"revoke {APP_ROLE} from memory",
        f"revoke {walls.CROSSING_ROLE} from memory cascade",
    )
    with connected("owner"):
        remedy = database_roles.prepare(connection).remedy
        assert set(remedy) == {
            "alter role memory createrole",
            "grant create on database memory to memory",
            f"grant {APP_ROLE} to memory with admin option",
            f"grant {walls.CROSSING_ROLE} to memory with admin option, inherit false",
        }
        # Without its views the owner would serve, and find nothing.
        with pytest.raises(CommandError, match="The walls between workspaces stand") as refusal:
            UpCommand().prepare()
        assert f"Let an administrator run: {'; '.join(remedy)}." in str(refusal.value)
        administer(home, "memory", *remedy)
        assert database_roles.prepare(connection) == database_roles.Granted("app")
        assert answer(f"select pg_has_role('{walls.CROSSING_ROLE}', 'usage')") == (False,)


def test_an_owner_who_may_not_make_roles_serves_without_walls_until_he_may(home: Home, external: Any):
    administer(home, "postgres", "create role plain login", "create database memory owner plain")
    administer(home, "memory", "create extension vector")
    connected, said = external("plain", ""), StringIO()
    with connected("owner"):
        assert UpCommand(stderr=said).prepare() == "owner"
        assert answer(
            "select has_function_privilege('public', p.oid, 'execute')"
            " from pg_proc p where proname = 'cross_password_of'"
        ) == (False,)
    [line] = said.getvalue().splitlines()
    assert "no walls between workspaces: permission denied" in line
    assert "Let an administrator run: alter role plain createrole." in line
    administer(home, "memory", "alter role plain createrole")
    with connected("owner"):
        assert UpCommand(stderr=said).prepare() == "app"
    serves_behind_walls(connected, ("plain", APP_ROLE, False))
    # It is not kept by the role alone, and that is said.
    assert said.getvalue().splitlines() == [line, database_roles.BORROWED.format(role=APP_ROLE)]
    with connected("app"):
        assert answer("select current_user") == (APP_ROLE,)
        with connection.cursor() as cursor:
            cursor.execute("reset role")
        assert answer("select current_user") == ("plain",)


def serves_behind_walls(connected: Any, who: tuple[Any, ...]) -> None:
    with connected("owner"):
        assert database_roles.prepare(connection) == database_roles.Granted("app")  # each start does it again
        assert connection.validation.check() == []
    with connected("app"):
        assert answer(WHO) == who
        tally = ProofTally()
        owner, other = both = [isolation_tenants.make("a"), isolation_tenants.make("b")]
        isolation_tables.try_tables(owner, other, tally)
        assert tally.leaks == []
        assert tally.counts["tables"] == len(walls.walls())
        with visible.only(owner.workspace.pk):
            assert answer("select count(*) from memories_memory")[0] > 0
    with connected("owner"), visible.only():
        assert answer("select count(*) from memories_memory") == (0,)
    with connected("app"):
        isolation_tenants.remove(both)


def answer(text: str) -> Any:
    with connection.cursor() as cursor:
        cursor.execute(text)
        return cursor.fetchone()
