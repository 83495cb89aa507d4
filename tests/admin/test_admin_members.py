"""Members and keys in the browser."""

import re
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from tests.desk import Desk, list_of, member, messages_of, page_of
from tests.factories import AgentFactory, MembershipFactory, SubjectFactory, UserFactory
from workspaces.keys import KeyOptions, issue_key, scope_for_key
from workspaces.models import ApiKey, Invitation, Membership, Role, User, Workspace


def invite(desk: Desk, workspace: Workspace, **fields: Any) -> str:
    body = {"workspace": str(workspace.pk), "email": "new@example.org", "role": "viewer", **fields}
    answer = desk.client.post(reverse("admin:workspaces_membership_add"), body)
    return answer.content.decode()


def issue(desk: Desk, workspace: Workspace, **fields: Any) -> Any:
    body = {"workspace": str(workspace.pk), "name": "bot", "capabilities": ["read"], **fields}
    return desk.client.post(reverse("admin:workspaces_apikey_add"), body)


@pytest.mark.parametrize("has_account", [True, False])
def test_whoever_is_invited_gets_a_link_and_is_no_member_yet(workspace: Workspace, has_account: bool) -> None:
    if has_account:
        UserFactory(email="new@example.org", first_name="Secret")
    alice = member(workspace)
    html = invite(alice, workspace, role="editor")

    assert "http://testserver/accounts/invitations/" in html
    assert "Secret" not in html
    assert not Membership.objects.filter(user__email="new@example.org").exists()
    assert "new@example.org" in alice.sees(list_of(Invitation), state="open")


def test_invitation_page_lets_the_new_person_set_a_password(workspace: Workspace) -> None:
    html = invite(member(workspace), workspace)
    link = re.search(r"http://testserver(/accounts/invitations/[^\s<]+)", html)
    assert link is not None

    assert "New password" in Client().get(link[1]).content.decode()


def test_invitation_is_revoked(workspace: Workspace) -> None:
    alice = member(workspace)
    html = invite(alice, workspace)
    link = re.search(r"http://testserver(/accounts/invitations/[^\s<]+)", html)
    alice.does(Invitation.objects.get(), "revoke")

    assert link is not None
    assert Client().get(link[1]).status_code == 404


def test_member_is_not_invited_twice(workspace: Workspace) -> None:
    MembershipFactory(workspace=workspace, user=UserFactory(email="new@example.org"))

    assert "member already" in invite(member(workspace), workspace)


@pytest.mark.parametrize("role", [Role.EDITOR, Role.VIEWER])
def test_editors_and_viewers_invite_nobody(workspace: Workspace, role: str) -> None:
    assert "403" in invite(member(workspace, role), workspace)
    assert not User.objects.filter(email="new@example.org").exists()


def test_admin_makes_no_owner(workspace: Workspace) -> None:
    assert "Only an owner" in invite(member(workspace, Role.ADMIN), workspace, role="owner")


def test_admin_invites_into_no_other_workspace(workspace: Workspace) -> None:
    other = Workspace.objects.create(slug="swamp", name="Swamp")

    assert "valid choice" in invite(member(workspace, Role.ADMIN), other)


def test_role_is_changed(workspace: Workspace) -> None:
    other = MembershipFactory(workspace=workspace, role=Role.VIEWER)
    member(workspace).does(other, "role", role="editor")

    other.refresh_from_db()
    assert other.role == Role.EDITOR


def test_admin_changes_no_owner(workspace: Workspace) -> None:
    owner = MembershipFactory(workspace=workspace, role=Role.OWNER)
    adam = member(workspace, Role.ADMIN)

    assert adam.does(owner, "role", role="viewer").status_code == 403
    assert adam.does(owner, "remove").status_code == 403
    assert "/do/" not in adam.sees(page_of(owner))


def test_admin_raises_nobody_to_owner(workspace: Workspace) -> None:
    other = MembershipFactory(workspace=workspace, role=Role.VIEWER)
    answer = member(workspace, Role.ADMIN).does(other, "role", role="owner")

    assert "Only an owner" in messages_of(answer)


def test_last_owner_stays(workspace: Workspace) -> None:
    alice = member(workspace)
    own = Membership.objects.get(user=alice.user)

    assert "needs an owner" in messages_of(alice.does(own, "role", role="viewer"))
    assert "needs an owner" in messages_of(alice.does(own, "remove"))


def test_member_is_removed(workspace: Workspace) -> None:
    other = MembershipFactory(workspace=workspace, role=Role.EDITOR)
    answer = member(workspace).does(other, "remove")

    assert answer.redirect_chain[-1][0] == list_of(Membership)
    assert not Membership.objects.filter(pk=other.pk).exists()


def test_key_is_shown_once_with_a_line_to_try_it(workspace: Workspace) -> None:
    alice = member(workspace)
    answer = issue(alice, workspace)
    html = answer.content.decode()
    secret = re.search(r'id="secret">(mp_[\w-]+)<', html)
    assert secret is not None
    scope = scope_for_key(secret[1])
    assert scope is not None
    assert scope.capabilities == {"read"}
    assert f"curl http://testserver/api/v1/workspaces/{workspace.slug}/memories/search" in html
    assert "no-store" in answer["Cache-Control"]
    assert secret[1] not in alice.sees(page_of(ApiKey.objects.get()))


def test_digest_is_on_no_page(workspace: Workspace) -> None:
    key, _ = issue_key(workspace.pk, KeyOptions("bot"), actor="test")
    alice = member(workspace)

    for html in (alice.sees(list_of(ApiKey)), alice.sees(page_of(key))):
        assert bytes(key.digest).hex() not in html
        assert "digest" not in html


def test_key_is_bound_to_agent_and_subjects_of_its_workspace(workspace: Workspace) -> None:
    agent, subject = AgentFactory(workspace=workspace), SubjectFactory(workspace=workspace)
    issue(member(workspace), workspace, agent=str(agent.pk), subjects=[str(subject.pk)])

    key = ApiKey.objects.get()
    assert key.agent == agent
    assert list(key.subjects.all()) == [subject]
    assert key.limited_to_subjects


def test_key_is_limited_to_spaces_and_its_page_says_so(workspace: Workspace) -> None:
    alice = member(workspace)
    assert "no tag of a space" in issue(alice, workspace, spaces="a space").content.decode()
    issue(alice, workspace, spaces="north, west,north")

    key = ApiKey.objects.get()
    assert key.container_tags == ["north", "west"]
    assert "north, west" in alice.sees(page_of(key))


def test_key_takes_no_agent_of_another_workspace(workspace: Workspace) -> None:
    alice = member(workspace)
    own_elsewhere = AgentFactory(workspace=MembershipFactory(user=alice.user).workspace)
    foreign = AgentFactory()

    assert "Choose of Orchard only" in issue(alice, workspace, agent=str(own_elsewhere.pk)).content.decode()
    assert "valid choice" in issue(alice, workspace, agent=str(foreign.pk)).content.decode()
    assert not ApiKey.objects.exists()


def test_key_that_would_be_over_already_is_refused(workspace: Workspace) -> None:
    html = issue(member(workspace), workspace, expires_on="2020-01-01").content.decode()

    assert "give a later one" in html


def test_key_expires_on_its_day(workspace: Workspace) -> None:
    issue(member(workspace), workspace, expires_on="2099-05-01")

    expires = ApiKey.objects.get().expires_at
    assert expires is not None
    assert expires.isoformat() == "2099-05-01T00:00:00+00:00"


def test_revoked_key_opens_nothing(workspace: Workspace) -> None:
    key, secret = issue_key(workspace.pk, KeyOptions("bot"), actor="test")
    alice = member(workspace)
    alice.does(key, "revoke")

    assert scope_for_key(secret) is None
    assert "/do/revoke/" not in alice.sees(page_of(key))
    assert workspace.audit_entries.get(action="revoke_key").actor == f"user:{alice.user.pk}"


def test_the_page_of_a_key_says_once_how_much_it_sees(workspace: Workspace) -> None:
    oliver = SubjectFactory(workspace=workspace, external_id="oliver")
    whole, _ = issue_key(workspace.pk, KeyOptions("backend"), actor="test")
    narrow, _ = issue_key(workspace.pk, KeyOptions("phone", subjects=(oliver,)), actor="test")
    space, _ = issue_key(workspace.pk, KeyOptions("shelf", container_tags=("north",)), actor="test")
    alice, all_of_it = member(workspace), "sees all of the workspace"

    assert [all_of_it in alice.sees(page_of(key)) for key in (whole, narrow, space)] == [
        True,
        False,
        False,
    ]
    assert "a first use shows after some seconds" in alice.sees(page_of(narrow))


def test_keys_are_filtered_by_state(workspace: Workspace) -> None:
    key, _ = issue_key(workspace.pk, KeyOptions("old bot"), actor="test")
    alice = member(workspace)
    alice.does(key, "revoke")

    assert "old bot" in alice.sees(list_of(ApiKey), state="revoked")
    assert "old bot" not in alice.sees(list_of(ApiKey), state="active")


def test_workspace_settings_must_be_an_object(workspace: Workspace) -> None:
    alice = member(workspace)
    body = {"name": "Orchard", "slug": "orchard", "settings": "[1]"}
    answer = alice.client.post(page_of(workspace), body)

    assert "A JSON object is wanted" in answer.content.decode()


def test_only_superusers_make_workspaces(workspace: Workspace) -> None:
    assert member(workspace).status(reverse("admin:workspaces_workspace_add")) == 403


def test_the_list_of_keys_tells_which_are_narrow(workspace: Workspace) -> None:
    alice = member(workspace)
    issue(alice, workspace, name="of the harbour", spaces="harbour")
    html = alice.sees(list_of(ApiKey))

    assert "documents of harbour only" in html
    assert "some people only" not in html
