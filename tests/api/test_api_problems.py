"""Errors are application/problem+json, whatever is wrong."""

from typing import Any

import pytest
from django.db import OperationalError, connection
from django.test import Client, override_settings
from pytest_django import Settings

from tests.api_fixtures import Caller, anonymous, caller
from tests.people import Person

SEARCH = "/memories/search"


@pytest.fixture
def http(alice: Person) -> Caller:
    return caller(alice)


def test_a_problem_has_the_shape_of_the_contract(http: Caller) -> None:
    answer = http.post(SEARCH, {"query": 5})
    assert answer.status == 400
    assert answer.is_problem
    assert answer.body["title"] == "Bad Request"
    assert answer.body["errors"] == [{"field": "query", "message": "Not a valid string.", "code": "invalid"}]
    assert answer.body["requestId"] == answer.headers["X-Request-Id"]


def test_the_callers_own_request_id_is_kept(http: Caller) -> None:
    assert http.post(SEARCH, {}, X_Request_Id="mine-7").body["requestId"] == "mine-7"
    odd = http.post(SEARCH, {}, X_Request_Id="no spaces <please>")
    assert odd.headers["X-Request-Id"] != "no spaces <please>"


@pytest.mark.parametrize(
    ("path", "body", "field"),
    [
        (SEARCH, {}, "query"),
        (SEARCH, {"query": "x", "limit": 0}, "limit"),
        (SEARCH, {"query": "x", "limit": "ten"}, "limit"),
        (SEARCH, {"query": "x", "limit": True}, "limit"),
        (SEARCH, {"query": "x", "threshold": 1.5}, "threshold"),
        (SEARCH, {"query": "x", "ranking": "best"}, "ranking"),
        (SEARCH, {"query": "x", "ranking": ["hybrid"]}, "ranking"),
        (SEARCH, {"query": "x", "factTypes": ["wish"]}, "factTypes[0]"),
        (
            SEARCH,
            {"query": "x", "recency": {"weight": 1, "halfLifeDays": 0}},
            "recency.halfLifeDays",
        ),
        (SEARCH, {"query": "x", "userId": ""}, "userId"),
        (SEARCH, {"query": "x", "userId": "u" * 256}, "userId"),
        (SEARCH, {"query": "x", "filter": {"field": "nothing", "value": 1}}, "filter.field"),
        (SEARCH, {"query": "x", "useId": "u1"}, "useId"),
        (SEARCH, {"query": "x", "validAt": "then"}, "validAt"),
        (SEARCH, {"query": "x", "rerank": True}, "rerank"),
        (SEARCH, {"query": "x", "layers": ["memories", "pages"]}, "layers[1]"),
        ("/memories/ingest", {"text": "x"}, "text"),
        ("/memories/ingest", {}, "content"),
        (
            "/memories/ingest",
            {"content": "x", "messages": [{"role": "user"}]},
            "messages[0].content",
        ),
        (
            "/memories/ingest",
            {"messages": [{"role": "nobody", "content": "x"}]},
            "messages[0].role",
        ),
        ("/memories/ingest", {"content": "x", "occurredAt": "soon"}, "occurredAt"),
        ("/memories/ingest", {"content": "x", "scope": "thread"}, "threadId"),
        ("/memories/ingest", {"content": "x", "wait": 61}, "wait"),
        ("/memories/ingest", {"content": "x", "metadata": []}, "metadata"),
        ("/memories", {"content": " "}, "content"),
        ("/memories", {"content": "x", "confidence": 2}, "confidence"),
    ],
)
def test_the_field_that_is_wrong_is_named(http: Caller, path: str, body: dict[str, Any], field: str) -> None:
    answer = http.post(path, body)
    assert (answer.status, answer.fields) == (400, [field])
    assert answer.is_problem


@pytest.mark.parametrize(
    ("body", "field"),
    [
        (b'{"query": "a\\u0000b"}', "query"),
        (b'{"query": "\\ud800"}', "query"),
        (b'{"query": NaN}', "query"),
        (b'{"query": 1e999}', "query"),
        (b'{"query": "x", "filter": {"value": {"deep": ["\\u0000"]}}}', "filter.value.deep[0]"),
        (b'{"a\\u0000b": 1}', "body"),
        (b'{"metadata":' * 80 + b"1" + b"}" * 80, ".".join(["metadata"] * 64)),
    ],
)
def test_what_the_database_cannot_hold_is_refused(http: Caller, body: bytes, field: str) -> None:
    answer = http.call("POST", SEARCH, body)
    assert (answer.status, answer.fields) == (400, [field])


@pytest.mark.parametrize("body", [b"{", b"\xff\xfe", b"[" * 100_000, b'{"a":' + b"9" * 5000 + b"}"])
def test_what_is_no_json_is_refused(http: Caller, body: bytes) -> None:
    answer = http.call("POST", SEARCH, body)
    assert (answer.status, answer.is_problem) == (400, True)


@pytest.mark.parametrize("body", [b"[]", b'"text"', b"5", b"null"])
def test_json_that_is_no_object_is_refused(http: Caller, body: bytes) -> None:
    assert http.call("POST", SEARCH, body).status == 400


def test_null_characters_in_the_address_are_refused(http: Caller) -> None:
    answer = http.call("GET", "/memories?q=a%00b")
    assert (answer.status, answer.fields) == (400, ["q"])
    assert http.call("GET", "%00/memories").status in (400, 404)


def test_another_content_type_is_415(http: Caller) -> None:
    answer = http.call("POST", SEARCH, b"query=x", content_type="text/plain")
    assert (answer.status, answer.is_problem) == (415, True)


def test_a_body_that_is_too_large_is_413(http: Caller, settings: Settings) -> None:
    settings.DATA_UPLOAD_MAX_MEMORY_SIZE = 100
    answer = http.post("/memories/ingest", {"content": "x" * 200})
    assert (answer.status, answer.is_problem) == (413, True)


def test_a_method_that_a_route_does_not_have_is_405(http: Caller) -> None:
    for method in ("PUT", "DELETE", "OPTIONS"):
        answer = http.call(method, SEARCH)
        assert (answer.status, answer.is_problem) == (405, True)


@pytest.mark.parametrize("path", ["//api/v1/x", "//api/v1/workspaces/", "/rooms"])
def test_routes_that_are_not_built_are_404(http: Caller, path: str) -> None:
    answer = http.call("GET", path)
    assert (answer.status, answer.is_problem) == (404, True)


def test_also_where_something_is_sent_to_them() -> None:
    http = Caller("orchard", client=Client(enforce_csrf_checks=True))
    for path in ("//api/v1/nothing", "//metrics", "//health/live"):
        assert http.post(path, {}).is_problem


@override_settings(DEBUG=True)
def test_also_while_debugging(http: Caller) -> None:
    assert http.call("GET", "/rooms").is_problem


def test_a_host_that_is_not_ours_is_400(http: Caller) -> None:
    answer = http.call("GET", "/memories", headers={"Host": "elsewhere.example"})
    assert (answer.status, answer.is_problem) == (400, True)


def test_what_nobody_foresaw_is_logged_and_says_nothing(
    http: Caller, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("memories.search.search", lambda *_: 1 / 0)
    answer = http.post(SEARCH, {"query": "x"})
    assert (answer.status, answer.is_problem) == (500, True)
    assert "division" not in str(answer.body)
    assert "ZeroDivisionError" in caplog.text
    assert answer.body["requestId"] in caplog.text


def test_a_database_that_is_away_is_503(http: Caller) -> None:
    def away(*_: Any) -> None:
        raise OperationalError("connection refused")

    with connection.execute_wrapper(away):
        answer = http.get("/memories")
    assert (answer.status, answer.is_problem) == (503, True)
    assert int(answer.headers["Retry-After"]) > 0


def test_the_schema_and_its_pages_need_no_key(http: Caller) -> None:
    nobody = anonymous_at(http)
    for path in ("//api/schema", "//api/docs", "//api/redoc", "//health/live"):
        assert nobody.get(path).status == 200
    assert nobody.get("//health/ready").status in (200, 503)  # no worker runs here


def anonymous_at(http: Caller) -> Caller:
    return Caller(http.slug)


def test_a_misspelt_accept_header_still_gets_json(http: Caller) -> None:
    assert http.call("GET", "/memories", headers={"Accept": "text/html"}).status == 200


def test_nobody_is_asked_for_a_key(alice: Person) -> None:
    answer = anonymous(alice.workspace).get("/memories")
    assert (answer.status, answer.is_problem) == (401, True)
    assert answer.headers["WWW-Authenticate"].startswith("Bearer")
