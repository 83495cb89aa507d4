"""Who is let in, and to what."""

import gc
from datetime import timedelta

import pytest
from django.middleware.csrf import get_token
from django.test import Client, RequestFactory
from django.utils import timezone

from tests.api_fixtures import Caller, caller, member, session_of
from tests.factories import MembershipFactory
from tests.people import Person, with_key
from workspaces.api.views import WorkspaceView
from workspaces.keys import KeyOptions, revoke_key
from workspaces.models import ApiKey, Workspace

NEW = {"content": "The gate is green"}


def limited(workspace: Workspace, *capabilities: str) -> Caller:
    return caller(with_key(workspace, KeyOptions("limited", capabilities=capabilities)))


@pytest.mark.parametrize("scheme", ["Bearer {}", "Token {}", "bearer {}"])
def test_a_key_in_authorization_is_accepted(alice: Person, scheme: str) -> None:
    http = Caller(alice.workspace.slug, {"Authorization": scheme.format(alice.key)})
    assert http.get("/memories").status == 200


def test_a_key_in_its_own_header_is_accepted(alice: Person) -> None:
    assert Caller(alice.workspace.slug, {"X-API-Key": alice.key}).get("/memories").status == 200


@pytest.mark.parametrize("shown", ["Bearer x", "Bearer", "Basic YTpi", "Bearer mp_000000000000_x", "Bearer mp_²_é"])
def test_what_proves_nothing_is_401(alice: Person, shown: str) -> None:
    answer = Caller(alice.workspace.slug, {"Authorization": shown}).get("/memories")
    assert (answer.status, answer.is_problem) == (401, True)


def test_a_revoked_or_expired_key_is_401(alice: Person) -> None:
    past = timezone.now() - timedelta(seconds=1)
    expired = with_key(alice.workspace, KeyOptions("old", expires_at=past))
    assert caller(expired).get("/memories").status == 401
    revoke_key(ApiKey.objects.get(pk=alice.scope.key_id), actor="test")
    assert caller(alice).get("/memories").status == 401


def test_a_workspace_is_named_by_slug_or_id(alice: Person) -> None:
    http = caller(alice)
    by_id = Caller(str(alice.workspace.pk), http.headers)
    assert http.get().body["id"] == by_id.get().body["id"] == str(alice.workspace.pk)


def test_another_workspace_is_404_as_one_that_is_not(alice: Person, mallory: Person) -> None:
    theirs = caller(mallory, alice.workspace)
    nothing = Caller("nowhere", theirs.headers)
    assert theirs.get("/memories").status == nothing.get("/memories").status == 404
    assert theirs.post("/memories", NEW).status == 404


def test_a_key_needs_the_capability(workspace: Workspace) -> None:
    reads, writes = limited(workspace, "read"), limited(workspace, "read", "write")
    assert reads.post("/memories/search", {"query": "gate"}).status == 200
    assert reads.post("/memories", NEW).status == 403
    made = writes.post("/memories", NEW)
    assert made.status == 201
    assert writes.delete(f"/memories/{made.body['id']}").status == 403
    assert limited(workspace, "read", "curate").delete(f"/memories/{made.body['id']}").status == 204
    assert limited(workspace, "read", "write", "curate").get("/keys").status == 403


def test_members_may_what_their_role_allows(workspace: Workspace) -> None:
    viewer, editor = member(workspace, "viewer"), member(workspace, "editor")
    assert viewer.get("/memories").status == 200
    assert viewer.post("/memories", NEW).status == 403
    assert editor.post("/memories", NEW).status == 201
    assert editor.get("/members").status == 403
    assert member(workspace, "admin").get("/members").status == 200


def test_a_session_without_membership_is_404(workspace: Workspace) -> None:
    stranger = session_of(MembershipFactory())
    assert Caller(workspace.slug, client=stranger.client).get("/memories").status == 404


def test_a_session_must_prove_that_the_page_was_ours(workspace: Workspace) -> None:
    membership = MembershipFactory(workspace=workspace, role="editor")
    http = Caller(workspace.slug, client=Client(enforce_csrf_checks=True))
    http.client.force_login(membership.user)
    assert http.get("/memories").status == 200
    answer = http.post("/memories", NEW)
    assert (answer.status, answer.is_problem) == (403, True)
    token = get_token(RequestFactory().get("/"))
    http.client.cookies["csrftoken"] = token
    assert http.post("/memories", NEW, X_CSRFToken=token).status == 201


def test_a_key_decides_alone_whatever_session_comes_with_it(alice: Person, mallory: Person) -> None:
    """A session that may what the key may not helps nobody, and needs no token of ours."""
    owner = member(alice.workspace, "owner").client
    stolen = Caller(alice.workspace.slug, {"X-API-Key": mallory.key}, client=owner)
    assert stolen.get("/memories").status == 404
    forged = Caller(alice.workspace.slug, {"Authorization": "Bearer x"}, client=owner)
    assert forged.get("/memories").status == 401
    reads = {"X-API-Key": with_key(alice.workspace, KeyOptions("r", capabilities=("read",))).key}
    assert Caller(alice.workspace.slug, reads, client=owner).post("/memories", NEW).status == 403


def test_a_key_opens_no_page_and_spares_no_token(alice: Person) -> None:
    pages = Client(enforce_csrf_checks=True, headers={"X-API-Key": alice.key})
    assert pages.get("/admin/").status_code == 302
    pages.force_login(MembershipFactory(workspace=alice.workspace, role="owner").user)
    assert pages.get("/admin/").status_code == 200
    assert pages.post("/admin/logout/").status_code == 403


def views_alive() -> int:
    return sum(issubclass(type(one), WorkspaceView) for one in gc.get_objects())


def test_of_an_answered_request_nothing_waits_for_the_garbage_collector(alice: Person) -> None:
    http = caller(alice)
    gc.collect()
    gc.disable()
    try:
        before = views_alive()
        assert http.post("/memories/search", {"query": "gate"}).status == 200
        assert http.post("/memories/ingest", {"content": "I like tea."}).status == 201
        assert views_alive() == before
    finally:
        gc.enable()


def test_the_workspaces_of_the_asker_are_listed(alice: Person, mallory: Person) -> None:
    own = [row["slug"] for row in caller(alice).get("//api/v1/workspaces").body["results"]]
    assert own == ["orchard"]
    membership = MembershipFactory(workspace=alice.workspace)
    MembershipFactory(workspace=mallory.workspace, user=membership.user)
    both = session_of(membership).get("//api/v1/workspaces").body["results"]
    assert {row["slug"] for row in both} == {"orchard", "swamp"}


def test_a_key_of_an_agent_does_not_administer(alice: Person, bob: Person) -> None:
    for path in ("/keys", "/members"):
        assert caller(alice).get(path).status == 200
        assert caller(bob).get(path).status == 403
