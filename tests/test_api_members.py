"""Members are invited, changed and removed; a workspace keeps an owner."""

import re

import pytest
from django.test import Client

from tests.api_fixtures import Caller, caller, member, session_of
from tests.factories import MembershipFactory, UserFactory
from tests.people import Person
from workspaces.models import AuditEntry, Membership, User, Workspace

PASSWORD = "correct horse battery staple"


@pytest.fixture
def admin(workspace: Workspace) -> Caller:
    return member(workspace, "admin")


@pytest.fixture
def owner(workspace: Workspace) -> Caller:
    return member(workspace, "owner")


def test_an_unknown_person_gets_a_link_and_sets_a_password(admin: Caller) -> None:
    answer = admin.post(
        "/members", {"email": "new@example.org", "role": "editor", "name": "New One"}
    )
    assert (answer.status, answer.body["role"], answer.body["name"]) == (201, "editor", "New One")
    browser = Client()
    form = browser.get(answer.body["inviteUrl"], follow=True)
    address = form.redirect_chain[-1][0]
    set_now = browser.post(address, {"new_password1": PASSWORD, "new_password2": PASSWORD})
    assert set_now.status_code == 302
    assert User.objects.get(email="new@example.org").check_password(PASSWORD)
    assert not re.search(
        "name=.new_password1", Client().get(answer.body["inviteUrl"], follow=True).text
    )


def test_who_has_an_account_gets_no_link(admin: Caller) -> None:
    UserFactory(email="known@example.org")
    answer = admin.post("/members", {"email": "Known@example.org", "role": "viewer"})
    assert (answer.status, answer.body["inviteUrl"]) == (201, None)


def test_who_is_awaited_in_another_workspace_gets_no_link_here(
    admin: Caller, mallory: Person
) -> None:
    admin.post("/members", {"email": "new@example.org", "role": "editor"})
    answer = caller(mallory).post("/members", {"email": "new@example.org", "role": "viewer"})
    assert (answer.status, answer.body["inviteUrl"]) == (201, None)


def test_a_member_is_not_invited_twice(admin: Caller) -> None:
    body = {"email": "new@example.org", "role": "viewer"}
    admin.post("/members", body)
    answer = admin.post("/members", body)
    assert (answer.status, answer.fields) == (409, ["email"])


@pytest.mark.parametrize(("body", "field"), [
    ({"email": "nobody", "role": "viewer"}, "email"),
    ({"email": "a@example.org"}, "role"),
    ({"email": "a@example.org", "role": "king"}, "role"),
])  # fmt: skip
def test_a_wrong_field_is_named(admin: Caller, body: dict[str, str], field: str) -> None:
    answer = admin.post("/members", body)
    assert (answer.status, answer.fields) == (400, [field])


def test_a_role_is_changed_and_works_at_once(admin: Caller, workspace: Workspace) -> None:
    viewer = MembershipFactory(workspace=workspace, role="viewer")
    assert admin.patch(f"/members/{viewer.pk}", {"role": "editor"}).body["role"] == "editor"
    assert session_of(viewer).post("/memories", {"content": "x"}).status == 201
    assert AuditEntry.objects.get(action="change_member").after == {"role": "editor"}


def test_an_admin_does_not_touch_owners(admin: Caller, workspace: Workspace) -> None:
    boss = MembershipFactory(workspace=workspace, role="owner")
    MembershipFactory(workspace=workspace, role="owner")
    assert admin.delete(f"/members/{boss.pk}").status == 403
    assert admin.patch(f"/members/{boss.pk}", {"role": "viewer"}).status == 403
    assert admin.post("/members", {"email": "a@example.org", "role": "owner"}).status == 403
    assert Membership.objects.filter(workspace=workspace, role="owner").count() == 2


def test_a_key_does_not_touch_owners(alice: Person, workspace: Workspace) -> None:
    MembershipFactory(workspace=workspace, role="owner")
    boss = MembershipFactory(workspace=workspace, role="owner")
    assert caller(alice).delete(f"/members/{boss.pk}").status == 403


def test_the_last_owner_stays(owner: Caller, workspace: Workspace) -> None:
    own = Membership.objects.get(workspace=workspace, role="owner")
    assert owner.delete(f"/members/{own.pk}").status == 409
    assert owner.patch(f"/members/{own.pk}", {"role": "admin"}).status == 409
    second = MembershipFactory(workspace=workspace, role="owner")
    assert owner.delete(f"/members/{second.pk}").status == 204
    assert User.objects.filter(pk=second.user_id).exists()


def test_members_of_another_workspace_are_not_found(mallory: Person, workspace: Workspace) -> None:
    viewer = MembershipFactory(workspace=workspace, role="viewer")
    theirs = caller(mallory)
    assert theirs.get(f"/members/{viewer.pk}").status == 404
    assert theirs.patch(f"/members/{viewer.pk}", {"role": "admin"}).status == 404
    assert theirs.delete(f"/members/{viewer.pk}").status == 404
