"""Sources over HTTP: named, tested, synced and removed; their secrets are never answered."""

from pathlib import Path
from typing import Any

import pytest

from memories.documents import pipeline
from memories.models import Connection, SyncRun
from memories.sources.connections import sync
from tests.api_fixtures import Caller, caller
from tests.people import Person

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def http(alice: Person) -> Caller:
    return caller(alice)


@pytest.fixture
def source(tmp_path: Path, settings: Any) -> dict[str, Any]:
    settings.BLOB_DIR = tmp_path / "blobs"
    settings.CONNECTION_FOLDERS = [str(tmp_path)]
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "a.md").write_text("The heron fishes at noon.")
    return {
        "provider": "folder",
        "name": "Notes",
        "options": {"path": str(tmp_path / "notes")},
        "containerTags": ["shelf"],
        "userId": "ada",
    }


def test_a_source_is_named_and_its_documents_come(http: Caller, source: dict[str, Any]) -> None:
    made = http.post("/connections", source)
    assert made.status == 201
    assert (made.body["visibility"], made.body["userId"]) == ("private", "ada")
    address = f"/connections/{made.body['id']}"
    [run] = http.get(f"{address}/runs").body["results"]
    assert (run["kind"], run["state"]) == ("sync", "waiting")
    sync.run(run["id"])
    for document in pipeline.due():
        pipeline.run(document)
    [run] = http.get(f"{address}/runs").body["results"]
    assert (run["state"], run["counts"]) == ("done", {"added": 1})
    [document] = http.get("/documents", connectionId=made.body["id"]).body["results"]
    assert (document["status"], document["containerTags"]) == ("completed", ["shelf"])
    assert (document["userId"], document["source"]) == ("ada", "folder")
    assert http.get(address).body["lastSyncedAt"] is not None


def test_secrets_are_taken_and_never_answered(http: Caller) -> None:
    given = {
        "provider": "github",
        "options": {"owner": "ada", "repository": "pumps"},
        "credentials": {"token": "ghp_secret"},
    }
    made = http.post("/connections", given)
    address = f"/connections/{made.body['id']}"
    changed = http.patch(address, {"credentials": {"token": "ghp_other"}, "minutes": 0})
    answers = [made, changed, http.get(address), http.get("/connections"), http.get("/audit")]
    assert all("ghp_" not in str(answer.body) for answer in answers)
    assert (changed.body["hasCredentials"], changed.body["nextSyncAt"]) == (True, None)


def test_it_is_asked_for_a_test_a_sync_and_all_anew(http: Caller, source: dict[str, Any]) -> None:
    address = f"/connections/{http.post('/connections', source).body['id']}"
    tried = http.post(f"{address}/test", {})
    assert (tried.status, tried.body["kind"]) == (201, "test")
    assert http.post(f"{address}/sync", {}).body["kind"] == "sync"
    http.post(f"{address}/sync", {"full": True, "confirmDeletions": True})
    run = SyncRun.objects.exclude(kind="test").get()
    assert (run.kind, run.is_confirmed) == ("full", True)


def test_it_goes_with_or_without_its_documents(http: Caller, source: dict[str, Any]) -> None:
    address = f"/connections/{http.post('/connections', source).body['id']}"
    erased = http.delete(f"{address}?documents=erase")
    assert (erased.status, erased.body["kind"]) == (202, "remove")
    assert http.post(f"{address}/sync", {}).status == 409
    again = f"/connections/{http.post('/connections', source).body['id']}"
    assert http.delete(again).status == 204
    assert Connection.objects.count() == 1


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({"provider": "none"}, "provider"),
        ({"provider": "web", "options": {"url": "http://10.0.0.1/"}}, "options.url"),
        ({"provider": "web", "options": {"url": "https://a.org/", "depth": 11}}, "options.depth"),
        ({"provider": "notion", "credentials": {"key": "x"}}, "credentials.key"),
        ({"provider": "folder", "options": {"path": "/a"}, "minutes": -1}, "minutes"),
    ],
)
def test_what_is_wrong_is_named(http: Caller, given: dict[str, Any], field: str) -> None:
    refused = http.post("/connections", given)
    assert refused.status == 400
    assert field in [each["field"] for each in refused.body["errors"]]


def test_nobody_else_sees_or_asks_it(alice: Person, bob: Person, mallory: Person, source: dict[str, Any]) -> None:
    row = caller(alice).post("/connections", source).body["id"]
    for person in (bob, mallory):
        other = caller(person)
        assert other.get("/connections").body.get("results", []) == []
        for path in (f"/connections/{row}", f"/connections/{row}/runs"):
            assert other.get(path).status in (403, 404)
        assert other.post(f"/connections/{row}/sync", {}).status in (403, 404)
        assert other.delete(f"/connections/{row}").status in (403, 404)
    assert caller(bob).post("/connections", source).status == 403


def test_a_document_is_named_by_its_address(http: Caller) -> None:
    named = http.post("/documents", {"url": "https://example.org/a", "mode": "sync"})
    assert (named.status, named.body["status"]) == (202, "pending")
    assert http.post("/documents", {"url": "http://127.0.0.1/"}).body["errors"][0]["field"] == "url"
    assert http.post("/documents", {}).body["errors"][0]["field"] == "content"
