"""Ctrl-K: whatever is named is reached, and nothing that is another's."""

import pytest
from django.test import Client
from django.urls import reverse

from memories.models import Document
from tests.admin.test_admin_queries import MOST, queries_of
from tests.desk import Desk, member, page_of
from tests.factories import MembershipFactory, MemoryFactory, SubjectFactory
from tests.people import Person
from workspaces.models import Role, Workspace

PAGE = "admin:memories_jump"


def targets(desk: Desk, asked: str) -> list[dict[str, str]]:
    answer = desk.client.get(reverse(PAGE), {"q": asked})
    assert answer.status_code == 200
    return list(answer.json()["results"])


def titles(desk: Desk, asked: str) -> list[str]:
    return [each["title"] for each in targets(desk, asked)]


def test_people_memories_and_documents_are_found_by_their_words(alice: Person) -> None:
    workspace = alice.workspace
    ada = SubjectFactory(workspace=workspace, name="Ada Lovelace")
    memory = alice.note("Lovelace prefers tea")
    document = Document.objects.create(
        workspace=workspace,
        title="Notes of Lovelace",
        visibility="team",
        state="failed",
        error_code="no_text",
    )
    found = {each["kind"]: each["url"] for each in targets(member(workspace), "lovelace")}

    expected = {"Person": ada, "Memory": memory, "Document": document}
    assert found == {kind: page_of(row) for kind, row in expected.items()}


def test_pages_and_acts_are_found_by_their_words(workspace: Workspace) -> None:
    desk = member(workspace)

    assert targets(desk, "members")[0]["url"] == reverse("admin:workspaces_membership_changelist")
    assert "Invite somebody" in titles(desk, "invite")
    assert titles(desk, "rules change") == ["Change words"]


def test_an_empty_question_offers_pages(workspace: Workspace) -> None:
    assert titles(member(workspace), "")[0] == "Home"


@pytest.mark.parametrize("asked", ["", "Lovelace", "orchard"])
def test_an_outsider_is_shown_nothing_of_another_workspace(workspace: Workspace, asked: str) -> None:
    SubjectFactory(workspace=workspace, name="Ada Lovelace")
    MemoryFactory(workspace=workspace, content="Lovelace prefers tea")
    mallory = member(Workspace.objects.create(slug="swamp", name="Swamp"))

    assert {each["kind"] for each in targets(mallory, asked)} <= {"Page", "Act"}
    assert Client().get(reverse(PAGE)).status_code == 302


def test_what_a_role_may_not_do_is_not_offered(workspace: Workspace) -> None:
    victor = member(workspace, Role.VIEWER)
    everything = targets(victor, "")

    assert "Invite somebody" not in titles(victor, "invite")
    assert all(victor.status(each["url"]) == 200 for each in everything)


def test_every_offer_opens(workspace: Workspace) -> None:
    SubjectFactory(workspace=workspace, name="Ada Lovelace")
    alice = member(workspace)
    for letter in "aeiou":
        assert [t for t in targets(alice, letter) if alice.status(t["url"]) != 200] == []


def test_odd_input_is_answered(workspace: Workspace) -> None:
    desk = member(workspace)
    for asked in ("%", "'", "x" * 5000, "🦆 ", "\0"):
        targets(desk, asked)


def test_it_takes_few_queries(workspace: Workspace) -> None:
    desk = member(workspace)
    for _ in range(9):
        other = MembershipFactory(user=desk.user).workspace
        MemoryFactory(workspace=other, content="Lovelace prefers tea")

    assert len(queries_of(desk, reverse(PAGE), q="lovelace")) <= MOST
