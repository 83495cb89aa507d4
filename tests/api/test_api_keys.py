"""Keys are issued, shown once, and revoked."""

import pytest

from tests.api_fixtures import Caller, caller
from tests.people import Person, with_key
from workspaces.keys import KeyOptions
from workspaces.models import ApiKey, AuditEntry, Workspace


@pytest.fixture
def http(alice: Person) -> Caller:
    return caller(alice)


def test_an_issued_key_works_and_is_shown_once(http: Caller) -> None:
    issued = http.post("/keys", {"name": "phone", "capabilities": ["read"]})
    assert issued.status == 201
    secret = issued.body["key"]
    assert Caller(http.slug, {"X-API-Key": secret}).get("/memories").status == 200
    listed = http.get("/keys").body["results"][0]
    assert (listed["name"], listed["capabilities"]) == ("phone", ["read"])
    assert secret not in str(http.get("/keys").body)
    assert secret not in str(list(ApiKey.objects.values()))


def test_a_revoked_key_is_refused_at_once(http: Caller) -> None:
    issued = http.post("/keys", {"name": "phone"}).body
    assert http.delete(f"/keys/{issued['id']}").status == 204
    assert Caller(http.slug, {"X-API-Key": issued["key"]}).get().status == 401
    assert http.get(f"/keys/{issued['id']}").body["revokedAt"]
    assert AuditEntry.objects.filter(action="revoke_key").count() == 1


def test_a_key_for_an_agent_and_subjects_sees_only_theirs(http: Caller) -> None:
    made = {"name": "phone", "agentId": "phone", "userIds": ["u1"]}
    key = http.post("/keys", made).body
    assert (key["agentId"], key["userIds"]) == ("phone", ["u1"])
    phone = Caller(http.slug, {"X-API-Key": key["key"]})
    assert phone.post("/memories", {"content": "Likes tea", "userId": "u1"}).status == 201
    assert phone.post("/memories", {"content": "Likes tea", "userId": "u2"}).status == 403
    assert phone.post("/memories", {"content": "Likes tea", "userId": "u1", "agentId": "other"}).status == 403
    assert [row["externalId"] for row in phone.get("/subjects").body["results"]] == ["u1"]


def test_nobody_gives_more_than_they_have(workspace: Workspace) -> None:
    administers = caller(with_key(workspace, KeyOptions("a", capabilities=("admin", "read"))))
    answer = administers.post("/keys", {"name": "x", "capabilities": ["write"]})
    assert (answer.status, answer.fields) == (403, ["capabilities"])
    assert administers.post("/keys", {"name": "x"}).body["capabilities"] == ["admin", "read"]


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "name"),
        ({"name": "x", "capabilities": ["all"]}, "capabilities[0]"),
        ({"name": "x", "capabilities": []}, "capabilities"),
        ({"name": "x", "expiresAt": "2020-01-01T00:00:00Z"}, "expiresAt"),
        ({"name": "x", "userIds": "u1"}, "userIds"),
        ({"name": "x", "subjects": ["bob"]}, "subjects"),
    ],
)
def test_a_wrong_field_is_named(http: Caller, body: dict[str, object], field: str) -> None:
    answer = http.post("/keys", body)
    assert (answer.status, answer.fields) == (400, [field])


def test_a_key_of_another_workspace_is_not_found(http: Caller, mallory: Person) -> None:
    theirs = caller(mallory)
    key = http.post("/keys", {"name": "x"}).body["id"]
    assert theirs.get(f"/keys/{key}").status == theirs.delete(f"/keys/{key}").status == 404
