"""Members are invited and accept, are changed and removed; a workspace keeps an owner."""

import re
from datetime import timedelta
from urllib.parse import urlsplit

import pytest
from django.test import Client
from django.utils import timezone

from tests.api_fixtures import Answer, Caller, caller, member, session_of
from tests.factories import MembershipFactory, UserFactory
from tests.people import Person
from workspaces.members import InvitationOver, join
from workspaces.models import AuditEntry, Invitation, Membership, User, Workspace

PASSWORD = "correct horse battery staple"
OWN = "/accounts/invitations"


@pytest.fixture
def admin(workspace: Workspace) -> Caller:
    return member(workspace, "admin")


@pytest.fixture
def owner(workspace: Workspace) -> Caller:
    return member(workspace, "owner")


def invited(http: Caller, email: str, role: str = "viewer", **more: str) -> Answer:
    answer = http.post("/members", {"email": email, "role": role, **more})
    assert answer.status == 201
    return answer


def browser_of(email: str = "") -> Client:
    """Somebody's browser: logged in to the account of that address, where there is one."""
    browser = Client()
    if email:
        browser.force_login(User.objects.get(email__iexact=email))
    return browser


def is_member(workspace: Workspace, email: str) -> bool:
    return Membership.objects.filter(workspace=workspace, user__email__iexact=email).exists()


def test_a_new_person_sets_a_password_and_is_a_member_then(admin: Caller, workspace: Workspace) -> None:
    told = invited(admin, "new@example.org", "editor", name="New One").body
    assert (told["role"], told["name"], told["state"]) == ("editor", "New One", "open")
    assert not User.objects.filter(email="new@example.org").exists()
    passwords = {"new_password1": PASSWORD, "new_password2": PASSWORD}
    assert browser_of().post(told["inviteUrl"], passwords).status_code == 302
    assert User.objects.get(email="new@example.org").check_password(PASSWORD)
    found = admin.get(f"/members/{told['id']}").body
    assert (found["email"], found["role"], found["name"]) == (
        "new@example.org",
        "editor",
        "New One",
    )
    assert browser_of().get(told["inviteUrl"]).status_code == 404
    assert AuditEntry.objects.filter(action="accept_invitation").count() == 1


def test_a_password_like_the_address_is_refused(admin: Caller, workspace: Workspace) -> None:
    link = invited(admin, "new@example.org").body["inviteUrl"]
    weak = {"new_password1": "new@example.org", "new_password2": "new@example.org"}
    assert "too similar" in browser_of().post(link, weak).content.decode()
    assert not is_member(workspace, "new@example.org")


def test_who_has_an_account_is_no_member_before_they_accept(admin: Caller, workspace: Workspace) -> None:
    UserFactory(email="known@example.org")
    link = invited(admin, "Known@example.org").body["inviteUrl"]
    assert not is_member(workspace, "known@example.org")
    bob = browser_of("known@example.org")
    assert "Accept" in bob.get(link).content.decode()
    assert bob.post(link, {"answer": "accept"}).url == "/admin/"
    assert is_member(workspace, "known@example.org")


def test_an_answer_tells_not_whether_there_is_an_account(admin: Caller, mallory: Person) -> None:
    UserFactory(email="a-known@example.org", first_name="Secret", last_name="Name")
    known, unknown = (invited(caller(mallory), f"{who}@example.org").body for who in ("a-known", "unknown"))
    assert known.keys() == unknown.keys()
    for told, name in ((known, "a-known"), (unknown, "unknown")):
        assert (told["name"], told["email"]) == (f"{name}@example.org", f"{name}@example.org")
        assert (told["state"], told["role"]) == ("open", "viewer")
    pages = [browser_of().get(each["inviteUrl"]).content.decode() for each in (known, unknown)]
    plain = [re.sub(r"a-known|unknown|invitations/[^\"]+|value=\"\w{64}", "", each) for each in pages]
    assert plain[0] == plain[1]


def test_no_name_that_another_tenant_wrote_is_shown(admin: Caller, mallory: Person) -> None:
    first = invited(admin, "new@example.org", name="Called by Orchard").body["inviteUrl"]
    browser_of().post(first, {"new_password1": PASSWORD, "new_password2": PASSWORD})
    swamp = caller(mallory)
    told = invited(swamp, "new@example.org").body
    browser_of("new@example.org").post(told["inviteUrl"], {"answer": "accept"})
    (theirs,) = swamp.get("/members").body["results"]
    assert (theirs["id"], theirs["name"]) == (told["id"], "new@example.org")
    ours = admin.get("/members").body["results"]
    assert "Called by Orchard" in {each["name"] for each in ours}


def test_a_link_lets_nobody_else_in(admin: Caller, workspace: Workspace) -> None:
    for email in ("known@example.org", "mallory@example.org"):
        UserFactory(email=email)
    link = invited(admin, "known@example.org").body["inviteUrl"]
    theirs = browser_of("mallory@example.org")
    for answer in ("accept", "decline"):
        assert "another address" in theirs.post(link, {"answer": answer}).content.decode()
    taken = {"new_password1": PASSWORD, "new_password2": PASSWORD}
    assert "Nothing was changed" in browser_of().post(link, taken).content.decode()
    assert not User.objects.get(email="known@example.org").check_password(PASSWORD)
    assert Membership.objects.filter(workspace=workspace).count() == 1


def test_the_account_alone_accepts_nothing(admin: Caller, workspace: Workspace) -> None:
    """Whoever was first to give an address has its account: the link must be theirs, too."""
    UserFactory(email="known@example.org")
    link = invited(admin, "known@example.org").body["inviteUrl"]
    bob = browser_of("known@example.org")
    assert "Orchard" not in bob.get(OWN).content.decode()
    guessed = f"{link.rsplit('/', 1)[0]}/guessed"
    assert bob.post(guessed, {"answer": "accept"}).status_code == 404
    assert not is_member(workspace, "known@example.org")


def test_invitations_are_declined_by_link_and_by_list(admin: Caller, workspace: Workspace) -> None:
    UserFactory(email="known@example.org")
    UserFactory(email="mallory@example.org")
    bob, other = browser_of("known@example.org"), browser_of("mallory@example.org")
    told = invited(admin, "known@example.org").body
    bob.post(told["inviteUrl"], {"answer": "decline"})
    assert admin.get(f"/invitations/{told['id']}").body["state"] == "revoked"
    again = invited(admin, "known@example.org").body
    assert other.post(OWN, {"invitation": again["id"]}).status_code == 404
    assert other.post(OWN, {"invitation": "no id"}).status_code == 404
    assert bob.post(OWN, {"invitation": again["id"]}).status_code == 404
    bob.get(again["inviteUrl"])
    assert "Orchard" in bob.get(OWN).content.decode()
    assert bob.post(OWN, {"invitation": again["id"]}).status_code == 302
    assert bob.post(again["inviteUrl"], {"answer": "accept"}).status_code == 404
    assert Client().get(OWN).url.startswith("/admin/login/")


def test_a_link_opened_before_the_login_is_listed_after_it(admin: Caller) -> None:
    user = UserFactory(email="known@example.org")
    UserFactory(email="mallory@example.org")
    link = invited(admin, "known@example.org").body["inviteUrl"]
    browser, other = Client(), browser_of("mallory@example.org")
    for each in (browser, other):
        each.get(link)
    browser.force_login(user)
    assert "Orchard" in browser.get(OWN).content.decode()
    assert "Orchard" not in other.get(OWN).content.decode()


def test_somebody_without_a_workspace_logs_in_to_accept(admin: Caller) -> None:
    user = UserFactory(email="known@example.org")
    link = invited(admin, "known@example.org").body["inviteUrl"]
    path = urlsplit(link).path
    form = {"username": user.username, "password": "a long enough password", "next": path}
    assert Client().post(f"/admin/login/?next={path}", form).url == path


def test_whoever_is_only_invited_is_led_to_the_invitation_and_to_no_page_of_the_admin(
    admin: Caller, workspace: Workspace
) -> None:
    user = UserFactory(email="known@example.org")
    invited(admin, "known@example.org")
    browser = Client()
    answer = browser.post("/admin/login/", {"username": user.username, "password": "a long enough password"})
    assert answer.url == OWN
    assert "Open the link that you were given" in browser.get(OWN).content.decode()
    for page in ("/admin/", "/admin/memories/memory/", "/admin/second-factor/"):
        assert browser.get(page, follow=True).redirect_chain[-1][0] == OWN
    assert session_of_nobody(browser, workspace) == 404


def session_of_nobody(browser: Client, workspace: Workspace) -> int:
    return browser.get(f"/api/v1/workspaces/{workspace.slug}").status_code


def test_who_awaits_a_password_elsewhere_gets_none_here(admin: Caller, mallory: Person, workspace: Workspace) -> None:
    waiting = UserFactory(email="old@example.org")
    waiting.set_unusable_password()
    waiting.save()
    MembershipFactory(workspace=workspace, user=waiting)
    link = invited(caller(mallory), "old@example.org").body["inviteUrl"]
    taken = {"new_password1": PASSWORD, "new_password2": PASSWORD}
    assert "Nothing was changed" in browser_of().post(link, taken).content.decode()
    assert not User.objects.get(email="old@example.org").has_usable_password()


def test_a_newer_invitation_replaces_the_older_one(admin: Caller) -> None:
    first = invited(admin, "new@example.org").body["inviteUrl"]
    second = invited(admin, "NEW@example.org").body["inviteUrl"]
    assert browser_of().get(first).status_code == 404
    assert browser_of().get(second).status_code == 200
    states = [each["state"] for each in admin.get("/invitations").body["results"]]
    assert states == ["open", "revoked"]


def test_a_member_is_not_invited_again(admin: Caller, workspace: Workspace) -> None:
    MembershipFactory(workspace=workspace, user=UserFactory(email="here@example.org"))
    answer = admin.post("/members", {"email": "Here@example.org", "role": "viewer"})
    assert (answer.status, answer.fields) == (409, ["email"])


@pytest.mark.parametrize("end", ["revoked", "expired", "inviter removed"])
def test_an_invitation_that_is_over_lets_nobody_in(
    owner: Caller, admin: Caller, workspace: Workspace, end: str
) -> None:
    told = invited(admin, "new@example.org", "admin").body
    if end == "revoked":
        assert owner.delete(f"/invitations/{told['id']}").status == 204
    elif end == "expired":
        Invitation.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    else:
        own = Membership.objects.get(workspace=workspace, role="admin")
        assert owner.delete(f"/members/{own.pk}").status == 204
    passwords = {"new_password1": PASSWORD, "new_password2": PASSWORD}
    assert browser_of().post(told["inviteUrl"], passwords).status_code == 404
    assert not User.objects.filter(email="new@example.org").exists()


def test_a_demoted_owner_comes_back_by_no_invitation_of_before(owner: Caller, workspace: Workspace) -> None:
    MembershipFactory(workspace=workspace, role="owner")
    own = Membership.objects.earliest("id")
    back = invited(owner, "back@example.org", "owner").body
    kept = invited(owner, "kept@example.org", "viewer").body
    assert owner.patch(f"/members/{own.pk}", {"role": "admin"}).status == 200
    assert browser_of().get(back["inviteUrl"]).status_code == 404
    assert browser_of().get(kept["inviteUrl"]).status_code == 200
    assert owner.get(f"/invitations/{back['id']}").body["state"] == "revoked"


@pytest.mark.parametrize("end", ["demoted", "gone", "inactive"])
def test_an_invitation_outlives_no_right_to_make_it(owner: Caller, workspace: Workspace, end: str) -> None:
    link = invited(owner, "new@example.org", "owner").body["inviteUrl"]
    row = Invitation.objects.get()
    own = Membership.objects.filter(workspace=workspace)
    if end == "demoted":
        own.update(role="admin")
    elif end == "gone":
        own.delete()
    else:
        User.objects.update(is_active=False)
    assert browser_of().get(link).status_code == 404
    with pytest.raises(InvitationOver):
        join(row, PASSWORD)
    assert not User.objects.filter(email="new@example.org").exists()


def test_invitations_of_another_workspace_are_not_found(admin: Caller, mallory: Person) -> None:
    told = invited(admin, "new@example.org").body
    theirs = caller(mallory)
    assert theirs.get("/invitations").body["results"] == []
    assert theirs.get(f"/invitations/{told['id']}").status == 404
    assert theirs.delete(f"/invitations/{told['id']}").status == 404
    assert browser_of().get(told["inviteUrl"]).status_code == 200


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"email": "nobody", "role": "viewer"}, "email"),
        ({"email": "a@example.org"}, "role"),
        ({"email": "a@example.org", "role": "king"}, "role"),
    ],
)
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
