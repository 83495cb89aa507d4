"""The OpenAPI schema is kept as a file, and the answers are as it says."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone
from drf_spectacular.renderers import OpenApiYamlRenderer
from drf_spectacular.validation import validate_schema
from jsonschema import Draft202012Validator

from memories.api import schema_words
from memories.api.schema_words import ROW
from memories.models import Case, Memory, MemorySession
from memoryproject.server import schema_page
from tests.api_fixtures import Answer, Caller, caller
from tests.api_operations import (
    IN_ITS_OWN_TRANSACTION,
    OF_THE_SERVER,
    Furnished,
    Operation,
    body_example,
    declared,
    operations,
    query_example,
    schema,
)
from tests.factories import FactFactory
from tests.people import Person
from workspaces.api.views import WorkspaceView
from workspaces.keys import issue_server_key

FILE = Path(__file__).parents[2] / "docs" / "openapi.yaml"
READS = [
    operation
    for operation in operations()
    if operation.method == "GET" and operation.name not in IN_ITS_OWN_TRANSACTION
]


@pytest.fixture
def alice(furnished: Furnished, db: None) -> Person:
    return furnished.alice


def test_the_file_is_up_to_date() -> None:
    made = OpenApiYamlRenderer().render(schema(), renderer_context={})
    regenerate = "manage.py spectacular --validate --fail-on-warn --file docs/openapi.yaml"
    assert FILE.read_bytes() == made, regenerate


def test_the_schema_is_valid() -> None:
    validate_schema(schema())


def check(operation: Operation, answer: Answer) -> None:
    """The answer is as the schema says."""
    declared = schema()["paths"][operation.path][operation.method.lower()]["responses"]
    content = declared[str(answer.status)]["content"]
    told = content[answer.headers["Content-Type"]]["schema"]
    document: dict[str, Any] = {"components": schema()["components"], **told}
    is_file = isinstance(answer.body, bytes)
    Draft202012Validator(document).validate(answer.body.decode() if is_file else answer.body)


@pytest.mark.parametrize("operation", READS, ids=lambda operation: operation.name)
def test_what_is_read_is_as_declared(operation: Operation, alice: Person, rows: dict[str, str]) -> None:
    # The document failed, so that its file is for a curator who says so.
    query = {"unmask": "true"} if operation.name == "readDocumentFile" else query_example(operation)
    answer = caller(alice).call("GET", operation.address(rows), query=query)
    assert answer.status == 200
    check(operation, answer)


@pytest.mark.parametrize(
    ("name", "body", "status"),
    [
        ("ingest", {"content": "I like tea", "userId": "u1"}, 201),
        ("ingest", {"content": "I like tea", "mode": "async"}, 202),
        ("ingest", {"content": ""}, 400),
        ("previewExtraction", {"content": "I prefer tea over coffee."}, 200),
        (
            "search",
            {"query": "spaces", "layers": ["memories", "episodes"], "include": ["citations", "scores", "chain"]},
            200,
        ),
        (
            "search",
            {
                "query": "spaces",
                "layers": ["memories", "episodes", "features"],
                "include": ["citations", "scores", "chain", "neighbours"],
            },
            200,
        ),
        ("packContext", {"query": "spaces", "layers": ["memories", "episodes"]}, 200),
        ("createMemory", {"content": "Likes tea"}, 201),
        ("editMemory", {"content": "Likes spaces"}, 200),
        ("restoreMemory", {}, 409),
        ("approveSupersession", {}, 200),
        ("issueKey", {"name": "phone"}, 201),
        ("inviteMember", {"email": "a@example.org", "role": "viewer"}, 201),
        ("createAgent", {"externalId": "bot"}, 201),
    ],
)
def test_what_is_written_is_answered_as_declared(
    alice: Person, rows: dict[str, str], name: str, body: dict[str, Any], status: int
) -> None:
    operation = next(one for one in operations() if one.name == name)
    answer = operation.call(caller(alice), rows, body)
    assert answer.status == status
    check(operation, answer)


# What has to be done before, so that there is something to take back.
BEFORE = {
    "restoreMemory": ("forgetMemory",),
    "undoSupersession": ("approveSupersession",),
    "redoSupersession": ("approveSupersession", "undoSupersession"),
    "reopenSupersession": ("approveSupersession",),
    "undoFeature": ("editFeature",),
    "undoCase": ("decideCase",),
    "takeBackTranscripts": ("importTranscript",),
}
WRITES = [operation for operation in operations() if operation.method != "GET"]


def in_a_state_to(name: str, alice: Person, rows: dict[str, str]) -> dict[str, str]:
    """Rows as an operation wants them that has no other to bring them there."""
    if name in ("acceptFact", "dismissFact"):
        session = alice.say("The cat lives in Graz. So it is.", extract="none")
        held = FactFactory(
            workspace=alice.workspace,
            session=session,
            agent=session.agent,
            statement="The cat lives in Graz",
            quarantined_at=timezone.now(),
        )
        return rows | {"facts": str(held.pk)}
    if name in ("decideCase", "undoCase"):
        alice.say("My salary is 91,000 a year.", user_id="u9")
        Memory.objects.filter(subject__external_id="u9").update(pinned=True)
        alice.say("Please forget my salary.", user_id="u9")
        return rows | {"cases": str(Case.objects.get(kind="intent").pk)}
    if name == "liftHold":
        held = caller(alice).post("/holds", {"userId": "held", "reason": "Case 14"})
        return rows | {"holds": held.body["id"]}
    if name == "retrySession":
        MemorySession.objects.filter(pk=rows["sessions"]).update(state=MemorySession.State.FAILED)
    return rows


@pytest.mark.parametrize("operation", WRITES, ids=lambda operation: operation.name)
def test_what_is_done_is_answered_as_declared(operation: Operation, alice: Person, rows: dict[str, str]) -> None:
    rows = in_a_state_to(operation.name, alice, rows)
    by_name = {one.name: one for one in WRITES}
    http = caller(alice)
    if operation.name in OF_THE_SERVER:
        http = Caller("orchard", {"Authorization": f"Bearer {issue_server_key('x', actor='t')[1]}"})
    for name in (*BEFORE.get(operation.name, ()), operation.name):
        answer = by_name[name].call_as_shown(http, rows)
        assert 200 <= answer.status < 300, answer.body
    if answer.status == 204:
        assert not answer.body
    else:
        check(operation, answer)


@pytest.mark.parametrize(
    "operation",
    [one for one in WRITES if one.method == "DELETE" and one.name.startswith("erase")],
    ids=lambda operation: operation.name,
)
def test_an_erasure_that_is_only_planned_is_answered_as_declared(
    operation: Operation, alice: Person, rows: dict[str, str]
) -> None:
    answer = caller(alice).call("DELETE", operation.address(rows), query={"dryRun": "true"})
    assert (answer.status, set(answer.body)) == (200, {"kind", "id", "plan"})
    check(operation, answer)


@pytest.mark.parametrize("operation", operations(), ids=lambda operation: operation.name)
def test_an_operation_is_described_and_has_an_example(operation: Operation) -> None:
    told = declared(operation)
    assert len(told["tags"]) == 1
    assert told["summary"]
    assert told["description"] != WorkspaceView.__doc__
    [sample] = told["x-codeSamples"]
    assert operation.path.format(workspace="demo", row=ROW, key="user:ada") in sample["source"]
    content = told.get("requestBody", {}).get("content", {})
    assert ("application/json" in content) == (body_example(operation) is not None)


def test_every_example_is_of_an_operation_and_every_group_is_told() -> None:
    names = {operation.name for operation in operations()}
    assert set(schema_words.BODIES) | set(schema_words.QUERIES) <= names
    assert {declared(each)["tags"][0] for each in operations()} == {group["name"] for group in schema()["tags"]}


def test_no_field_of_a_request_is_required_where_it_has_a_default() -> None:
    for name, made in schema()["components"]["schemas"].items():
        if name.endswith("Request"):
            assert not any("default" in field for field in made["properties"].values()), name


@pytest.mark.parametrize("page", ["/api/docs", "/api/redoc"])
def test_the_documentation_names_no_other_host(client: Client, page: str) -> None:
    told = client.get(page).content.decode()
    assert re.findall(r"https?://[^\s\"']+", told) == []


# ---- as it is served ----


@pytest.fixture
def folder(settings: Any, tmp_path: Path) -> Iterator[Path]:
    """Where the schema is kept; nothing is kept in it yet."""
    settings.SCHEMA_DIR = tmp_path / "schema"
    begin_anew()
    yield settings.SCHEMA_DIR
    begin_anew()


def begin_anew() -> None:
    """As in another process."""
    for each in (schema_page.version, schema_page.schema, schema_page.made):
        each.cache_clear()


def test_the_schema_is_made_once_for_all_processes(folder: Path) -> None:
    client = Client()
    made = client.get("/api/schema").content
    assert made.startswith(b"openapi: 3.1.0")
    [kept] = folder.glob("*.yaml")
    kept.write_text("kept: true")
    assert client.get("/api/schema?format=yaml").content == made
    begin_anew()
    assert client.get("/api/schema").content == b"kept: true"


def test_the_schema_is_served_as_the_asker_takes_it(folder: Path) -> None:
    told = Client().get("/api/schema", headers={"accept": "application/json, */*"})
    assert told.headers["Content-Type"] == "application/json"
    assert told.json()["paths"].keys() == schema()["paths"].keys()
    assert Client().get("/api/schema?format=json").content == told.content


def test_another_version_makes_its_own_schema(folder: Path, settings: Any) -> None:
    folder.mkdir()
    (folder / "0123.json").write_text("{}")
    assert Client().get("/api/schema?format=json").json() != {}
    before = {each.name for each in folder.iterdir()}
    settings.SPECTACULAR_SETTINGS = settings.SPECTACULAR_SETTINGS | {"VERSION": "2"}
    begin_anew()
    assert Client().get("/api/schema?format=json").status_code == 200
    after = {each.name for each in folder.iterdir()}
    assert (len(before), len(after), before & after) == (2, 2, set())


def test_a_schema_that_cannot_be_kept_is_served_all_the_same(folder: Path) -> None:
    folder.write_text("")
    assert Client().get("/api/schema").status_code == 200


def test_who_has_the_schema_already_is_told_so() -> None:
    client = Client()
    etag = client.get("/api/schema").headers["ETag"]
    again = client.get("/api/schema", headers={"if-none-match": etag})
    assert (again.status_code, again.content, again.headers["ETag"]) == (304, b"", etag)
    other = client.get("/api/schema?format=json", headers={"if-none-match": etag})
    assert other.status_code == 200


@pytest.mark.parametrize(
    ("method", "address", "accept", "status"),
    [
        ("GET", "/api/schema?format=x", "*/*", 404),
        ("GET", "/api/schema?format=", "*/*", 404),
        ("GET", "/api/schema?format=%00", "*/*", 404),
        ("GET", "/api/schema", "image/png", 406),
        ("POST", "/api/schema", "*/*", 405),
        ("PATCH", "/api/schema?format=json", "*/*", 405),
    ],
)
def test_a_schema_that_there_is_not_is_refused_in_words(method: str, address: str, accept: str, status: int) -> None:
    client = Client(raise_request_exception=False, enforce_csrf_checks=True)
    answer = client.generic(method, address, headers={"accept": accept})
    assert answer.status_code == status
    assert answer.headers["Content-Type"] == "application/problem+json"
