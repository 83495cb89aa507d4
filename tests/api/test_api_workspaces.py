"""Workspaces are made and removed by administrators of the server, and changed by their own."""

import json
from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from django.utils import timezone

from tests.api_fixtures import Answer, Caller, anonymous, caller, member
from tests.factories import MembershipFactory, UserFactory, WorkspaceFactory
from tests.people import Person
from workspaces.keys import issue_server_key, revoke_server_key
from workspaces.models import (
    ApiKey,
    AuditEntry,
    Invitation,
    Membership,
    ServerKey,
    User,
    Workspace,
)
from workspaces.scope import Scope

ALL = "//api/v1/workspaces"
ACME = {"slug": "acme", "name": "Acme Ltd"}


@pytest.fixture
def deploy(db: None) -> Caller:
    """A program with a server key."""
    _, text = issue_server_key("deploy", actor="test")
    return Caller("acme", {"Authorization": f"Bearer {text}"})


def keyed(answer: Answer) -> Caller:
    return Caller(answer.body["slug"], {"Authorization": f"Bearer {answer.body['key']}"})


def superuser(slug: str = "acme") -> Caller:
    http = Caller(slug)
    http.client.force_login(UserFactory(is_superuser=True))
    return http


def test_a_workspace_is_made_and_its_key_works_at_once(deploy: Caller) -> None:
    made = deploy.post(ALL, ACME)
    assert (made.status, made.body["slug"], made.body["name"]) == (201, "acme", "Acme Ltd")
    assert keyed(made).post("/memories", {"content": "The gate is green"}).status == 201
    assert keyed(made).get().body["id"] == made.body["id"]
    assert AuditEntry.objects.get(action="create_workspace").actor.startswith("server_key:")


def test_tenants_do_not_see_each_other(deploy: Caller) -> None:
    one, two = (keyed(deploy.post(ALL, {"slug": s, "name": s})) for s in ("one", "two"))
    one.post("/memories", {"content": "The gate is green"})
    assert Caller("one", two.headers).get("/memories").status == 404
    assert two.post("/memories/search", {"query": "gate"}).body["results"] == []


def test_a_superuser_makes_one_and_owns_it(db: None) -> None:
    http = superuser()
    assert http.post(ALL, ACME).status == 201
    assert http.get().body["asker"]["role"] == "owner"


def test_what_is_refused_leaves_no_workspace(db: None) -> None:
    http = superuser()
    own = User.objects.get().email
    assert http.post(ALL, {**ACME, "ownerEmail": own}).status == 409
    assert not Workspace.objects.exists()


def test_an_owner_is_invited(deploy: Caller) -> None:
    made = deploy.post(ALL, {**ACME, "ownerEmail": "ada@example.org"})
    passwords = dict.fromkeys(("new_password1", "new_password2"), "correct horse battery")
    assert Client().post(made.body["inviteUrl"], passwords).status_code == 302
    assert Membership.objects.get().role == "owner"


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"name": "Acme"}, "slug"),
        ({"slug": "acme"}, "name"),
        ({**ACME, "slug": "Ac me"}, "slug"),
        ({**ACME, "slug": "0" * 32}, "slug"),
        ({**ACME, "slug": "acme\n"}, "slug"),
        ({**ACME, "name": ""}, "name"),
        ({**ACME, "colour": "red"}, "colour"),
        ({**ACME, "ownerEmail": "nobody"}, "ownerEmail"),
    ],
)
def test_a_wrong_field_is_named(deploy: Caller, body: dict[str, str], field: str) -> None:
    answer = deploy.post(ALL, body)
    assert (answer.status, answer.fields) == (400, [field])


def test_a_slug_is_given_once(deploy: Caller) -> None:
    deploy.post(ALL, ACME)
    answer = deploy.post(ALL, ACME)
    assert (answer.status, answer.fields) == (409, ["slug"])


@pytest.mark.parametrize("end", ["revoked", "expired"])
def test_the_invitations_of_a_server_key_end_with_it(deploy: Caller, end: str) -> None:
    link = deploy.post(ALL, ACME | {"ownerEmail": "boss@example.org"}).body["inviteUrl"]
    assert Client().get(link).status_code == 200
    key = ServerKey.objects.get()
    if end == "revoked":
        assert revoke_server_key(key.prefix)
    else:
        ServerKey.objects.update(expires_at=timezone.now())
    assert Client().get(link).status_code == 404
    assert Invitation.objects.get().state == "revoked"
    assert not Invitation.objects.open().exists()


@pytest.mark.parametrize("end", ["revoked", "expired"])
def test_the_invitations_of_a_key_end_with_it(alice: Person, end: str) -> None:
    wish = {"email": "new@example.org", "role": "admin"}
    link = caller(alice).post("/members", wish).body["inviteUrl"]
    assert Client().get(link).status_code == 200
    at = "revoked_at" if end == "revoked" else "expires_at"
    ApiKey.objects.filter(pk=alice.scope.key_id).update(**{at: timezone.now()})
    assert Client().get(link).status_code == 404
    other = member(alice.workspace, "owner")
    assert [each["state"] for each in other.get("/invitations").body["results"]] == ["revoked"]


def test_the_same_request_makes_one_workspace(deploy: Caller) -> None:
    first = deploy.post(ALL, ACME, Idempotency_Key="acme-1")
    again = deploy.post(ALL, ACME, Idempotency_Key="acme-1")
    assert (first.status, again.status) == (201, 201)
    assert again.body == first.body | {"key": None}
    other = deploy.post(ALL, {"slug": "other", "name": "Other"}, Idempotency_Key="acme-1")
    assert (other.status, other.codes) == (409, ["key_reused"])
    assert deploy.post(ALL, ACME, Idempotency_Key="acme-2").fields == ["slug"]
    assert Workspace.objects.count() == 1


def test_a_refused_request_frees_its_idempotency_key(deploy: Caller) -> None:
    assert deploy.post(ALL, {"slug": "No!", "name": "x"}, Idempotency_Key="k").status == 400
    assert deploy.post(ALL, ACME, Idempotency_Key="k").status == 201
    assert keyed(deploy.post(ALL, {"slug": "b", "name": "b"})).get("/memories").status == 200


def test_a_revoked_server_key_is_401(deploy: Caller) -> None:
    assert revoke_server_key(ServerKey.objects.get().prefix)
    assert deploy.post(ALL, ACME).status == 401


@pytest.mark.parametrize("text", ["mps_", "mps_x", "mps_000000000000_x", "mps_é_x", "mps__"])
def test_what_looks_like_a_server_key_proves_nothing(db: None, text: str) -> None:
    assert Caller("acme", {"X-API-Key": text}).post(ALL, ACME).status == 401


def test_a_server_key_is_no_scope(deploy: Caller, alice: Person) -> None:
    """It reaches no workspace's rows, also not one that it made."""
    made = deploy.post(ALL, ACME).body["slug"]
    for slug in (made, alice.workspace.slug):
        http = Caller(slug, deploy.headers)
        for path in ("", "/memories", "/keys", "/members"):
            assert http.get(path).status == 404
        assert http.post("/keys", {"name": "mine"}).status == 404
        assert http.patch("", {"name": "Mine"}).status == 404


def test_removal_is_planned_then_done(deploy: Caller) -> None:
    made = deploy.post(ALL, ACME)
    keyed(made).post("/memories", {"content": "The gate is green"})
    plan = deploy.delete("", dryRun="true")
    assert (plan.status, plan.body["status"], plan.body["plan"]["memories"]) == (200, "planned", 1)
    assert keyed(made).get("/memories").status == 200
    done = deploy.delete("")
    assert (done.status, done.body["status"], done.body["removed"]["memories"]) == (200, "done", 1)
    assert keyed(made).get("/memories").status == 401
    assert deploy.delete("").status == 404
    again = Caller(made.body["id"], deploy.headers).delete("")
    assert (again.status, again.body) == (200, done.body)
    assert deploy.post(ALL, ACME).status == 201


def test_a_mistyped_dry_run_removes_nothing(deploy: Caller) -> None:
    made = deploy.post(ALL, ACME)
    answer = deploy.delete("", dry_run="true")
    assert (answer.status, answer.fields) == (400, ["dry_run"])
    assert "dryRun" in answer.body["errors"][0]["message"]
    assert keyed(made).get("/memories").status == 200


def test_no_name_that_another_took_hinders_a_removal(deploy: Caller) -> None:
    made = deploy.post(ALL, ACME)
    name = f"removed-{made.body['id'].replace('-', '')}"
    answer = deploy.post(ALL, {"slug": name, "name": "Mine"})
    assert (answer.status, answer.fields) == (400, ["slug"])
    WorkspaceFactory(slug=name)  # as one of before
    assert deploy.delete("").status == 200


def test_nobody_else_removes_one(alice: Person, mallory: Person) -> None:
    owner = member(alice.workspace, "owner")
    assert {http.delete("").status for http in (caller(alice), owner)} == {403}
    assert caller(mallory, alice.workspace).delete("").status == 404
    assert caller(mallory, alice.workspace).delete("", dryRun="true").status == 404
    assert anonymous(alice.workspace).delete("").status == 401
    assert superuser("orchard").delete("").status == 200
    assert list(Workspace.objects.values_list("slug", flat=True)) == ["swamp"]


def test_a_superusers_session_must_prove_that_the_page_was_ours(alice: Person) -> None:
    http = Caller("orchard", client=Client(enforce_csrf_checks=True))
    http.client.force_login(UserFactory(is_superuser=True))
    assert http.delete("").status == http.post(ALL, ACME).status == 403
    assert Workspace.objects.count() == 1


def test_name_and_settings_are_changed_by_admins(alice: Person) -> None:
    http = caller(alice)
    settings = {"llm": "always", "ranking": {"keyword": 0.2}}
    told = http.patch("", {"name": "Big Orchard", "settings": settings})
    assert (told.status, told.body["name"], told.body["settings"]) == (200, "Big Orchard", settings)
    http.patch("", {"settings": {"llm": None, "conflictRule": "nearest"}})
    left = {"ranking": {"keyword": 0.2}, "conflictRule": "nearest"}
    assert http.get().body["settings"] == left
    assert AuditEntry.objects.filter(action="change_workspace").count() == 2
    assert member(alice.workspace, "editor").patch("", {"name": "Mine"}).status == 403


def test_a_setting_may_still_be_sent_as_it_was_spelled_once(alice: Person) -> None:
    told = caller(alice).patch("", {"settings": {"conflict_rule": "nearest"}})
    assert (told.status, told.body["settings"]) == (200, {"conflictRule": "nearest"})


@pytest.mark.parametrize(
    ("settings", "field"),
    [
        ({"llm": "never"}, "settings.llm"),
        ({"colour": "red"}, "settings.colour"),
        ({"ranking": {"keyword": "x"}}, "settings.ranking.keyword"),
        ({"ranking": []}, "settings.ranking"),
        ({"extractors": [{"provider": "x"}]}, "settings.extractors[0].provider"),
        ({"extractors": 5}, "settings.extractors"),
        ({"featureSets": []}, "settings.featureSets"),
        ({"review": {"similarity": 3}}, "settings.review.similarity"),
        ({"review": []}, "settings.review"),
        ({"conflictRule": {}}, "settings.conflictRule"),
        ({"llm": []}, "settings.llm"),
    ],
)
def test_settings_are_validated(alice: Person, settings: dict[str, Any], field: str) -> None:
    answer = caller(alice).patch("", {"settings": settings})
    assert (answer.status, answer.fields) == (400, [field])
    assert caller(alice).get().body["settings"] == {}


def test_all_that_is_wrong_with_settings_is_told_at_once(alice: Person) -> None:
    extractors = [{"provider": "openai", "timeout": 0, "apiKey": "x"}, {"provider": "x"}]
    wrong = {
        "conflictRule": "fastest",
        "extractors": extractors,
        "featureSets": {"messages": 0, "categories": [{"name": "a", "tags": [{"name": ""}]}]},
        "ranking": {"keyword": 9, "vektor": 1},
        "review": {"similarity": [0.9, 0.8], "confidence": True, "categories": ["secrets"]},
    }
    answer = caller(alice).patch("", {"settings": wrong})
    assert answer.status == 400
    assert sorted(answer.fields) == sorted(
        f"settings.{place}"
        for place in (
            "conflictRule",
            "extractors[0].timeout",
            "extractors[0].apiKey",
            "extractors[1].provider",
            "featureSets.messages",
            "featureSets.categories[0].tags[0].name",
            "ranking.keyword",
            "ranking.vektor",
            "review.similarity",
            "review.confidence",
            "review.categories[0]",
        )
    )


# ---- from the shell -------------------------------------------------------------------------


def run(name: str, *words: str) -> str:
    out = StringIO()
    call_command(name, *words, stdout=out, stderr=StringIO())
    return out.getvalue()


def test_createworkspace_prints_json_with_a_key(db: None) -> None:
    told = json.loads(run("createworkspace", "acme", "--name", "Acme", "--key", "--json"))
    assert (told["slug"], told["name"]) == ("acme", "Acme")
    http = Caller("acme", {"X-API-Key": told["key"]})
    assert http.get().body["id"] == told["id"]
    with pytest.raises(CommandError, match="already"):
        run("createworkspace", "acme")
    with pytest.raises(CommandError, match="slug"):
        run("createworkspace", "Not a slug")


def test_createworkspace_invites_an_owner(db: None) -> None:
    told = run("createworkspace", "acme", "--owner", "ada@example.org")
    path = told.split("invitePath")[1].strip()
    assert "ada@example.org" in Client().get(path).content.decode()


def test_createkey_makes_and_revokes_a_server_key(db: None) -> None:
    text = run("createkey", "--server", "--name", "deploy").strip()
    http = Caller("acme", {"X-API-Key": text})
    assert http.post(ALL, ACME).status == 201
    run("createkey", "--server", "--revoke", text.split("_")[1])
    assert http.delete("").status == 401
    with pytest.raises(CommandError, match="--agent"):
        run("createkey", "--server", "--agent", "bot")


def test_no_server_key_is_found_as_a_workspaces(deploy: Caller, alice: Person) -> None:
    from_server = deploy.headers["Authorization"].split()[1]
    forged = Caller("orchard", {"X-API-Key": from_server.replace("mps_", "mp_", 1)})
    assert forged.get("/memories").status == 401
    assert isinstance(alice.scope, Scope)
    MembershipFactory(workspace=alice.workspace)
    assert Caller("orchard", deploy.headers).get("/members").status == 404
