"""OAuth 2.1 beside keys: an app registers, a person consents, and what it holds is a key of theirs: no wider
than they are, used once, and ended at once."""

import base64
import hashlib
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from django.test import Client
from django.utils import timezone

from tests.desk import Desk, member
from tests.factories import MembershipFactory
from tests.mcp_caller import McpCaller
from tests.people import Person
from workspaces import expired, members
from workspaces.keys import scope_for_key
from workspaces.models import ApiKey, Membership, OAuthClient, OAuthGrant, Role, Subject, Workspace
from workspaces.oauth import grants
from workspaces.scope import Scope

BACK = "https://claude.example/back"
VERIFIER = "v" * 64
CHALLENGE = base64.urlsafe_b64encode(hashlib.sha256(VERIFIER.encode()).digest()).decode().rstrip("=")


@dataclass
class App:
    """An app, as a program without cookies."""

    http: Client = field(default_factory=Client)
    client_id: str = ""

    def registers(self, **details: Any) -> Any:
        told = {"redirect_uris": [BACK], "client_name": "Claude", **details}
        answer = self.http.post("/oauth/register", told, content_type="application/json")
        if answer.status_code == 201:
            self.client_id = answer.json()["client_id"]
        return answer

    def asks(self, **more: str) -> str:
        """The address of the page of consent, to which the browser is sent."""
        wanted = {
            "response_type": "code",
            "client_id": self.client_id,
            "redirect_uri": BACK,
            "code_challenge": CHALLENGE,
            "code_challenge_method": "S256",
            "state": "s-1",
            **more,
        }
        return str(self.http.get("/oauth/authorize", wanted).headers["Location"])

    def tokens(self, **given: str) -> Any:
        return self.http.post("/oauth/token", {"client_id": self.client_id, **given})

    def changes(self, code: str, **more: str) -> Any:
        given = {"code": code, "redirect_uri": BACK, "code_verifier": VERIFIER, **more}
        return self.tokens(grant_type="authorization_code", **given)

    def renews(self, token: str) -> Any:
        return self.tokens(grant_type="refresh_token", refresh_token=token)


@pytest.fixture
def app(db: None) -> App:
    made = App()
    assert made.registers().status_code == 201
    return made


def lets_in(desk: Desk, page: str, may: str = "write", **more: str) -> Any:
    place = Membership.objects.get(user=desk.user, workspace=more.pop("where", None) or desk_workspace(desk)).pk
    return desk.client.post(page, {"answer": "allow", "workspace": str(place), "may": may, **more})


def desk_workspace(desk: Desk) -> Any:
    return Membership.objects.filter(user=desk.user).values_list("workspace", flat=True)[0]


def answer_of(redirect: Any) -> dict[str, str]:
    assert redirect.status_code == 302, redirect.content
    return {name: values[0] for name, values in parse_qs(urlsplit(redirect.headers["Location"]).query).items()}


def connected(app: App, desk: Desk, **wish: str) -> Any:
    return app.changes(answer_of(lets_in(desk, app.asks(), **wish))["code"]).json()


def scope_of(tokens: Any) -> Scope | None:
    return scope_for_key(tokens["access_token"])


def test_an_app_that_somebody_lets_in_holds_a_key_of_theirs(app: App, alice: Person) -> None:
    desk = member(alice.workspace)
    answer = answer_of(lets_in(desk, app.asks()))
    assert (answer["state"], answer["iss"]) == ("s-1", "http://testserver")
    tokens = app.changes(answer["code"]).json()
    assert (tokens["token_type"], tokens["expires_in"], tokens["scope"]) == ("Bearer", 3600, "read write")
    scope = scope_of(tokens)
    assert scope is not None
    assert (scope.workspace_id, scope.capabilities) == (alice.workspace.pk, {"read", "write"})
    assert McpCaller(tokens["access_token"], "/mcp/oauth").ask("tools/list").status == 200
    place = f"/api/v1/workspaces/{alice.workspace.slug}"
    assert app.http.get(place, headers={"authorization": f"Bearer {tokens['access_token']}"}).status_code == 200
    key = ApiKey.objects.get(grant__client=app.client_id)
    assert (key.name, key.created_by) == ("Claude", desk.user)


def test_its_key_is_renewed_in_turns_and_the_one_before_is_refused(app: App, alice: Person) -> None:
    first = connected(app, member(alice.workspace))
    second = app.renews(first["refresh_token"]).json()
    assert scope_of(first) is None
    assert scope_of(second)
    assert ApiKey.objects.filter(grant__client=app.client_id).count() == 1


def test_a_token_that_comes_twice_ends_what_was_let_in(app: App, alice: Person) -> None:
    first = connected(app, member(alice.workspace))
    second = app.renews(first["refresh_token"]).json()
    again = app.renews(first["refresh_token"])
    assert (again.status_code, again.json()["error"]) == (400, "invalid_grant")
    assert scope_of(second) is None
    assert app.renews(second["refresh_token"]).status_code == 400


def test_a_code_that_comes_twice_ends_what_was_let_in(app: App, alice: Person) -> None:
    code = answer_of(lets_in(member(alice.workspace), app.asks()))["code"]
    tokens = app.changes(code).json()
    assert app.changes(code).status_code == 400
    assert scope_of(tokens) is None


@pytest.mark.parametrize(
    "wrong",
    [
        {"code_verifier": "w" * 64},
        {"redirect_uri": "https://claude.example/other"},
        {"code": "made-up"},
    ],
)
def test_a_code_is_worth_nothing_without_what_it_was_asked_with(app: App, alice: Person, wrong: dict[str, str]) -> None:
    code = answer_of(lets_in(member(alice.workspace), app.asks()))["code"]
    assert app.changes(**{"code": code, **wrong}).json()["error"] in ("invalid_grant", "invalid_request")
    other = App()
    other.registers()
    assert other.changes(code).json()["error"] == "invalid_grant"


def test_a_code_is_good_for_some_minutes(app: App, alice: Person) -> None:
    code = answer_of(lets_in(member(alice.workspace), app.asks()))["code"]
    OAuthGrant.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    assert app.changes(code).json()["error"] == "invalid_grant"


def test_nobody_lets_an_app_do_more_than_they_may(app: App, alice: Person) -> None:
    viewer = member(alice.workspace, Role.VIEWER)
    page = viewer.client.get(app.asks()).content.decode()
    assert 'value="read"' in page
    assert 'value="write"' not in page
    assert lets_in(viewer, app.asks(), may="write").status_code == 200
    assert not OAuthGrant.objects.exists()
    assert connected(app, viewer, may="read")["scope"] == "read"


def test_an_app_gets_no_more_than_it_asks_for(app: App, alice: Person) -> None:
    owner = member(alice.workspace)
    page = owner.client.get(app.asks(scope="read")).content.decode()
    assert 'value="write"' not in page
    assert lets_in(owner, app.asks(scope="read"), may="curate").status_code == 200
    assert not OAuthGrant.objects.exists()


def test_nobody_lets_an_app_into_a_workspace_of_others(app: App, alice: Person, mallory: Person) -> None:
    owner, outsider = member(alice.workspace), member(mallory.workspace)
    place = Membership.objects.get(user=owner.user).pk
    answer = outsider.client.post(app.asks(), {"answer": "allow", "workspace": str(place), "may": "read"})
    assert answer.status_code == 200
    assert not OAuthGrant.objects.exists()


def test_an_app_for_one_person_sees_nothing_of_another(app: App, alice: Person) -> None:
    alice.say("I live in Lisbon.", user_id="ada")
    alice.say("I live in Porto.", user_id="bob")
    desk = member(alice.workspace)
    assert "There is nobody of this id" in lets_in(desk, app.asks(), person="eve").content.decode()
    scope = scope_of(connected(app, desk, person="ada"))
    assert scope is not None
    assert scope.subject_ids == (Subject.objects.get(external_id="ada").pk,)


def test_whoever_refuses_sends_the_app_away(app: App, alice: Person) -> None:
    answer = member(alice.workspace).client.post(app.asks(), {"answer": "refuse"})
    assert answer_of(answer) == {"error": "access_denied", "state": "s-1", "iss": "http://testserver"}


def test_a_stranger_logs_in_first_and_a_changed_request_is_over(app: App, alice: Person) -> None:
    page = app.asks()
    assert Client().get(page).headers["Location"].startswith("/admin/login/?next=/oauth/consent")
    desk = member(alice.workspace)
    assert desk.client.get(f"{page}x").status_code == 400
    guarded = Client(enforce_csrf_checks=True)
    guarded.force_login(desk.user)
    assert guarded.post(page, {"answer": "refuse"}).status_code == 403


def test_the_page_names_where_it_leads_and_may_lead_there(app: App, alice: Person) -> None:
    answer = member(alice.workspace).client.get(app.asks())
    assert "<strong>claude.example</strong>" in answer.content.decode()
    assert "form-action 'self' https://claude.example;" in answer.headers["Content-Security-Policy"]


@pytest.mark.parametrize(
    "address",
    [
        "http://claude.example/back",
        "javascript:alert(1)",
        "data:text/html,x",
        "https://claude.ai@evil.example/back",
        "https://claude.example/back#part",
        "https://claude.example/" + "x" * 2_000,
    ],
)
def test_an_app_registers_no_address_that_leaks_or_lies(address: str, db: None) -> None:
    answer = App().registers(redirect_uris=[address])
    assert answer.status_code == 400
    assert answer.json()["error"] in ("invalid_redirect_uri", "invalid_client_metadata")


@pytest.mark.parametrize("address", ["http://localhost:3210/callback", "http://127.0.0.1:9/", "cursor://x.y/back"])
def test_an_app_on_the_persons_own_machine_may_register(address: str, db: None) -> None:
    assert App().registers(redirect_uris=[address]).status_code == 201


@pytest.mark.parametrize("body", [b"", b"[]", b"{", b'{"redirect_uris": []}', b'{"redirect_uris": "x"}', b"\xff"])
def test_a_registration_that_is_none_is_refused(body: bytes, db: None) -> None:
    answer = Client().post("/oauth/register", body, content_type="application/json")
    assert (answer.status_code, answer.json()["error"]) == (400, "invalid_client_metadata")


def test_an_unknown_address_is_never_led_to(app: App) -> None:
    wanted = {"response_type": "code", "client_id": app.client_id, "redirect_uri": "https://evil.example/"}
    answer = app.http.get("/oauth/authorize", {**wanted, "code_challenge": CHALLENGE})
    assert (answer.status_code, answer.json()["error"]) == (400, "invalid_request")


def test_registrations_are_few_from_one_network_and_end_unused(app: App, alice: Person) -> None:
    connected(app, member(alice.workspace))
    for _ in range(grants.MOST_BY_NETWORK):
        assert App().registers().status_code == 201
    assert "come back tomorrow" in App().registers().json()["error_description"]
    OAuthClient.objects.update(created_at=timezone.now() - timedelta(days=2))
    expired.prune()
    assert [str(each.pk) for each in OAuthClient.objects.all()] == [app.client_id]
    assert App().registers().status_code == 201


def test_a_person_sees_and_ends_only_their_own_apps(app: App, alice: Person, mallory: Person) -> None:
    owner, teammate, outsider = member(alice.workspace), member(alice.workspace), member(mallory.workspace)
    tokens = connected(app, owner)
    grant = OAuthGrant.objects.get()
    for other in (teammate, outsider):
        assert "Claude" not in other.client.get("/oauth/apps").content.decode().replace("as Claude and", "")
        assert other.client.post("/oauth/apps", {"app": str(grant.pk)}).status_code == 404
    assert scope_of(tokens)
    assert "may read, and tell it things" in owner.client.get("/oauth/apps").content.decode()
    owner.client.post("/oauth/apps", {"app": str(grant.pk)})
    assert scope_of(tokens) is None
    assert app.renews(tokens["refresh_token"]).status_code == 400


def test_an_app_ends_itself_by_either_token_and_no_other_one(app: App, alice: Person) -> None:
    desk = member(alice.workspace)
    for name in ("access_token", "refresh_token"):
        tokens = connected(app, desk)
        other = App()
        other.registers()
        assert (
            other.http.post("/oauth/revoke", {"client_id": other.client_id, "token": tokens[name]}).status_code == 200
        )
        assert scope_of(tokens)
        app.http.post("/oauth/revoke", {"client_id": app.client_id, "token": tokens[name]})
        assert scope_of(tokens) is None


def test_a_key_revoked_by_an_admin_is_not_renewed(app: App, alice: Person) -> None:
    tokens = connected(app, member(alice.workspace))
    member(alice.workspace).does(ApiKey.objects.get(grant__client=app.client_id), "revoke")
    assert scope_of(tokens) is None
    assert app.renews(tokens["refresh_token"]).json()["error"] == "invalid_grant"


@pytest.mark.parametrize("change", ["removed", "demoted", "inactive"])
def test_an_app_ends_with_what_its_person_may(app: App, alice: Person, change: str) -> None:
    desk = member(alice.workspace, Role.EDITOR)
    tokens = connected(app, desk)
    membership = Membership.objects.get(user=desk.user)
    asker = Scope(alice.workspace.pk, "user:x", frozenset(), role=Role.OWNER)
    if change == "removed":
        members.remove(asker, membership)
    elif change == "demoted":
        members.change_role(asker, membership, Role.VIEWER)
    else:
        desk.user.is_active = False
        desk.user.save()
    assert app.renews(tokens["refresh_token"]).json()["error"] == "invalid_grant"
    assert scope_of(tokens) is None or change == "inactive"


def test_only_the_address_for_oauth_tells_of_it(alice: Person) -> None:
    by_key = McpCaller("mp_none_x", "/mcp").ask("tools/list")
    by_oauth = McpCaller("mp_none_x", "/mcp/oauth").ask("tools/list")
    assert (by_key.status, by_key.headers["www-authenticate"]) == (401, "Bearer")
    place = "http://testserver/.well-known/oauth-protected-resource/mcp/oauth"
    assert by_oauth.headers["www-authenticate"] == f'Bearer resource_metadata="{place}", error="invalid_token"'


def test_behind_a_proxy_at_a_sub_path_all_addresses_begin_with_it(db: None) -> None:
    """As the proxy takes it off before it asks."""
    below = {"x-forwarded-prefix": "/memory"}
    about = Client(headers=below).get("/.well-known/oauth-authorization-server").json()
    assert about["token_endpoint"] == "http://testserver/memory/oauth/token"
    answer = McpCaller("mp_none_x", "/mcp/oauth", below).ask("tools/list")
    assert "http://testserver/memory/.well-known/oauth-protected-resource" in answer.headers["www-authenticate"]


def test_no_token_goes_over_the_wire_in_plain_text(app: App, alice: Person, settings: Any) -> None:
    settings.BEHIND_TLS_PROXY = True
    given = {"client_id": app.client_id, "grant_type": "refresh_token", "refresh_token": "x"}
    far = {"REMOTE_ADDR": "198.51.100.7", "HTTP_X_FORWARDED_FOR": "198.51.100.7"}
    answer = app.http.post("/oauth/token", given, **far)
    assert (answer.status_code, "Ask over https" in answer.json()["detail"]) == (403, True)


def test_metadata_leads_from_the_resource_to_its_addresses(db: None) -> None:
    http = Client()
    resource = http.get("/.well-known/oauth-protected-resource/mcp/oauth")
    assert resource.headers["Access-Control-Allow-Origin"] == "*"
    [server] = resource.json()["authorization_servers"]
    about = http.get("/.well-known/oauth-authorization-server").json()
    assert about["issuer"] == server == "http://testserver"
    assert about["code_challenge_methods_supported"] == ["S256"]
    for name in ("token_endpoint", "registration_endpoint", "revocation_endpoint"):
        assert http.options(urlsplit(about[name]).path).status_code == 200
        assert http.get(urlsplit(about[name]).path).status_code == 405


def test_tokens_are_of_the_workspace_that_was_chosen(app: App, alice: Person) -> None:
    desk = member(alice.workspace)
    second = Workspace.objects.create(slug="second", name="Second")
    MembershipFactory(workspace=second, user=desk.user, role=Role.VIEWER)
    scope = scope_of(connected(app, desk, may="read", where=second))
    assert scope is not None
    assert scope.workspace_id == second.pk
    assert lets_in(desk, app.asks(), may="write", where=second).status_code == 200
