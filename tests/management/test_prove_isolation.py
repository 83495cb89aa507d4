"""`prove_isolation` finds nothing where all is as it should be, and what somebody opened."""

import pytest
from django.db import connection

from memories.management import isolation_doors, isolation_tables, isolation_tenants
from memories.management.isolation_doors import ProofTally
from memories.management.isolation_tenants import Tenant
from memories.mcp.memory_tools import TOOLS
from memories.models.memory import MemoryQuerySet
from memoryproject.postgres import visible
from tests.ordinary_role import ordinary_role
from workspaces.models import User, Workspace


@pytest.fixture
def both(db: None) -> list[Tenant]:
    with ordinary_role():
        return [isolation_tenants.make("a"), isolation_tenants.make("b")]


def test_no_route_no_page_and_no_table_leads_from_one_workspace_to_another(both: list[Tenant]):
    owner, other = both
    tally = ProofTally()
    other.doors = [other.backend, other.doors[-2]]  # a key and a session: the command tries all
    with ordinary_role():
        before = isolation_tables.fingerprint(owner)
        isolation_doors.try_routes(owner, other, tally)
        isolation_doors.try_tools(owner, other, tally)
        isolation_doors.try_pages(owner, other, tally)
        isolation_tables.compare(before, isolation_tables.fingerprint(owner), tally)
        isolation_tables.try_tables(owner, other, tally)
        isolation_tenants.remove(both)
    assert tally.leaks == []
    assert tally.counts["routes"] == len(isolation_doors.operations())
    assert tally.counts["tools"] == len(TOOLS) + 2
    assert tally.counts["tables"] > 40
    assert not Workspace.objects.filter(slug__startswith="isolation-").exists()


def test_what_somebody_opened_is_found(both: list[Tenant], monkeypatch: pytest.MonkeyPatch):
    owner, other = both
    tally = ProofTally()
    with connection.cursor() as cursor:
        cursor.execute("set constraints all immediate")
        cursor.execute("alter table memories_fact no force row level security")
        cursor.execute("alter policy workspace on memories_memory using (true)")
    monkeypatch.setattr(MemoryQuerySet, "visible_to", lambda rows, scope: rows)
    with ordinary_role():
        isolation_tables.try_tables(owner, other, tally)
        isolation_doors.try_routes(owner, other, tally)
    assert "row-level security is not forced on memories_fact" in tally.leaks
    assert "memories_memory: update reaches another's rows" in tally.leaks
    assert any("shows what is another's" in leak for leak in tally.leaks)


def test_who_does_not_see_his_own_rows_proves_nothing(both: list[Tenant]):
    owner, other = both
    tally = ProofTally()
    with connection.cursor() as cursor:
        cursor.execute("set constraints all immediate")
        cursor.execute("alter policy workspace on memories_fact using (false)")
    with ordinary_role():
        isolation_tables.try_tables(owner, other, tally)
    assert "nothing is proven of memories_fact: a wall hides its own rows" in tally.leaks


def test_a_door_that_is_not_on_the_list_is_told(both: list[Tenant]):
    owner, _ = both
    new = isolation_doors.Operation("GET", "/api/v1/workspaces/{workspace}/boxes/{row}", "readBox")
    odd = isolation_doors.Operation("GET", "/api/v1/workspaces/{workspace}/{shelf}", "readShelf")
    told = list(isolation_doors.unlisted([new, odd], owner))
    assert len(told) == 2, told
    assert visible.setting() == ""


@pytest.mark.django_db
def test_what_could_not_be_made_whole_is_removed() -> None:
    with connection.cursor() as cursor:
        cursor.execute("alter table memories_goldenquestion add constraint never check (false)")
    with ordinary_role(), pytest.raises(isolation_tenants.NotFurnished, match="/golden-questions: "):
        isolation_tenants.make("a")
    assert not Workspace.objects.filter(slug__startswith="isolation-").exists()
    assert not User.objects.filter(username__startswith="isolation-").exists()
