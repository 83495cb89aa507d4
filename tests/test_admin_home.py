import pytest
from django.urls import reverse

from memories.models import Memory
from tests.desk import list_of, member
from tests.factories import MembershipFactory, SessionFactory, SupersessionFactory
from tests.people import Person
from workspaces.models import Workspace

HOME = "admin:index"


def test_new_workspace_is_told_how_to_begin(workspace: Workspace) -> None:
    html = member(workspace).sees(reverse(HOME))

    assert "Nothing is remembered yet" in html
    assert f"/api/v1/workspaces/{workspace.slug}/memories/ingest" in html


def test_home_says_what_needs_a_person(workspace: Workspace) -> None:
    SupersessionFactory(workspace=workspace)
    SessionFactory(workspace=workspace, state="dead")
    html = member(workspace).sees(reverse(HOME))

    assert "decisions to take" in html
    assert "sessions failed" in html


def test_home_counts_nothing_of_other_workspaces(workspace: Workspace) -> None:
    SupersessionFactory()
    SessionFactory(state="dead")

    assert "no decision waits" in member(workspace).sees(reverse(HOME))


def test_home_shows_what_was_learned_last(alice: Person) -> None:
    alice.note("Prefers tea")

    assert "Prefers tea" in member(alice.workspace).sees(reverse(HOME))


def test_workspace_is_named_where_there_are_several(workspace: Workspace) -> None:
    alice = member(workspace)
    SupersessionFactory(workspace=workspace)
    column = "column-workspace"
    assert column not in alice.sees(list_of(Memory))

    MembershipFactory(user=alice.user)

    assert column in alice.sees(list_of(Memory))


@pytest.mark.parametrize("page", ["admin:index", "admin:memories_memory_changelist", "admin:login"])
def test_pages_name_no_other_host(workspace: Workspace, page: str) -> None:
    html = member(workspace).client.get(reverse(page), follow=True).content.decode()

    assert 'src="http' not in html
    assert 'href="http' not in html
