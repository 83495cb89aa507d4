"""Intents in the browser, and masked words shown to people who may see them."""

import pytest

from memories.models import Episode, Intent
from tests.api_fixtures import Caller, caller
from tests.desk import desk_of, list_of, member, page_of
from tests.factories import MembershipFactory
from tests.people import Person
from workspaces.models import AuditEntry, Role, Workspace

SALARY, FORGET = "My salary is 91,000 a year.", "Please forget what I said about my salary."


@pytest.fixture
def forgotten(alice: Person) -> Episode:
    """The message of which words are masked."""
    for text in (SALARY, FORGET):
        alice.say(text, user_id="u1", thread_id="t1")
    return Episode.objects.order_by("pk")[0]


def test_the_page_tells_what_was_asked_and_takes_it_back(alice: Person, forgotten: Episode) -> None:
    grace, intent = member(alice.workspace, Role.EDITOR), Intent.objects.get()
    assert "asks to forget" in grace.sees(list_of(Intent))
    assert "91,000" not in grace.sees(page_of(intent))
    undo = f"/admin/memories/intent/{intent.pk}/do/undo/"
    assert member(alice.workspace, Role.VIEWER).client.post(undo).status_code == 403
    stranger = member(Workspace.objects.create(slug="swamp", name="Swamp"))
    assert stranger.client.post(undo).status_code == 404
    assert stranger.status(page_of(intent)) in (302, 404)
    assert alice.live() == []
    grace.client.post(undo)
    assert Intent.objects.get().state == "undone"
    assert len(alice.live()) == 1


def test_masked_words_are_shown_to_a_curator_and_the_audit_keeps_it(alice: Person, forgotten: Episode) -> None:
    grace = member(alice.workspace, Role.EDITOR)
    page, address = (
        grace.sees(page_of(forgotten)),
        f"/admin/memories/episode/{forgotten.pk}/unmask/",
    )
    assert "Show masked words" in page
    assert "91,000" not in page
    answer = grace.client.post(address)
    assert SALARY in answer.content.decode()
    assert "no-store" in answer.headers["Cache-Control"]
    line = AuditEntry.objects.get(action="reveal")
    assert (line.actor, line.target_id) == (f"user:{grace.user.pk}", forgotten.pk)
    assert "91,000" not in grace.sees(page_of(forgotten))
    assert grace.client.get(address).status_code == 302


def test_nobody_else_sees_masked_words(alice: Person, bob: Person, mallory: Person, forgotten: Episode) -> None:
    path = f"/episodes/{forgotten.pk}/unmask"
    shown = caller(alice).post(path)
    assert (shown.status, shown.body["content"]) == (200, SALARY)
    assert caller(alice).get(f"/episodes/{forgotten.pk}").body["content"] != SALARY
    assert caller(bob).post(path).status == 403
    assert caller(mallory).post(path).status == 404
    editor = MembershipFactory(workspace=alice.workspace, role=Role.EDITOR).user
    viewer = MembershipFactory(workspace=alice.workspace, role=Role.VIEWER).user
    outsider = MembershipFactory(workspace=mallory.workspace, role=Role.OWNER).user
    answers = []
    for user in (editor, viewer, outsider):
        http = Caller(alice.workspace.slug, client=desk_of(user).client)
        answers.append(http.post(path).status)
    assert answers == [200, 403, 404]
    assert AuditEntry.objects.filter(action="reveal").count() == 2
    page = f"/admin/memories/episode/{forgotten.pk}/unmask/"
    assert member(alice.workspace, Role.VIEWER).client.post(page).status_code == 403
