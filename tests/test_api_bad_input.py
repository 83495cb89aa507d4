"""Whatever is sent to any route: no 5xx, and what is refused is refused as a problem.

Bodies and queries are made from the schema and then bent: some fit, most are wrong somewhere.
"""

from typing import Any
from urllib.parse import quote, urlencode

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from tests.api_fixtures import Answer, Caller, caller
from tests.api_operations import Operation, furnish, operations, schema
from tests.people import Person

EXAMPLES = 12
ODD_TEXTS = (
    "", " ", "\0", "a\0b", "\ud800", "é" * 300, "null", "-1", "1e999", "NaN", "true", "[]", "%00",
    "0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00", "2026-02-30", "x" * 5000, "../..",
    "2026-01-01T00:00:00Z", "00000000-0000-0000-0000-000000000000", "\u202e\U0001f600", "'; --",
)  # fmt: skip
scalars = (
    st.none()
    | st.booleans()
    | st.sampled_from([0, -1, 1, 2**31, 2**63, -(2**70), 10**400, 0.0, -0.0, 1e308, 0.5])
    | st.sampled_from([float("nan"), float("inf")])
    | st.sampled_from(ODD_TEXTS)
    | st.text(max_size=20)
)
junk = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text(max_size=5) | st.sampled_from(ODD_TEXTS), inner, max_size=3)
    ),
    max_leaves=8,
)
texts = st.sampled_from(ODD_TEXTS) | st.text(max_size=20)
EVERY = pytest.mark.parametrize("operation", operations(), ids=lambda operation: operation.name)
bounded = settings(
    max_examples=EXAMPLES,
    deadline=None,
    database=None,
    derandomize=True,
    phases=(Phase.generate,),
    suppress_health_check=list(HealthCheck),
)


def resolved(part: dict[str, Any]) -> dict[str, Any]:
    while "$ref" in part:
        part = schema()["components"]["schemas"][part["$ref"].rsplit("/", 1)[1]]
    return part


def fitting(part: dict[str, Any]) -> st.SearchStrategy[Any]:
    """Values that the schema allows, more or less."""
    part = resolved(part)
    if "allOf" in part or "oneOf" in part:
        return st.one_of([fitting(one) for one in part.get("oneOf") or part["allOf"]])
    if "enum" in part:
        return st.sampled_from(part["enum"])
    kinds = part.get("type", "object")
    return st.one_of(
        [_of_kind(kind, part) for kind in ([kinds] if isinstance(kinds, str) else kinds)]
    )


def _of_kind(kind: str, part: dict[str, Any]) -> st.SearchStrategy[Any]:
    simple = {
        "null": st.none(),
        "boolean": st.booleans(),
        "integer": st.integers(1, 20),
        "number": st.floats(0, 1),
        "string": st.sampled_from(["u1", "2026-01-01T00:00:00Z", "Likes tea", "a@example.org"]),
    }
    if kind in simple:
        return simple[kind]
    if kind == "array":
        return st.lists(fitting(part["items"]), min_size=1, max_size=2)
    return bent(part) if part.get("properties") else st.dictionaries(st.text(max_size=5), junk)


def bent(part: dict[str, Any]) -> st.SearchStrategy[Any]:
    """An object of which now and then one field is anything at all."""
    fields = {
        name: st.one_of(fitting(one), fitting(one), fitting(one), junk)
        for name, one in part["properties"].items()
    }
    needed = {name: fields.pop(name) for name in part.get("required", ()) if name in fields}
    return st.fixed_dictionaries(needed, optional=fields)


def body_of(operation: Operation) -> st.SearchStrategy[Any]:
    declared = schema()["paths"][operation.path][operation.method.lower()].get("requestBody")
    if declared is None:
        return st.none() | junk
    part = resolved(declared["content"]["application/json"]["schema"])
    return st.one_of(fitting(part), fitting(part), junk)


def query_of(operation: Operation) -> st.SearchStrategy[dict[str, Any]]:
    declared = schema()["paths"][operation.path][operation.method.lower()]
    known = [one for one in declared.get("parameters", ()) if one["in"] == "query"]
    fields = {one["name"]: st.one_of(fitting(one["schema"]), texts) for one in known}
    return st.fixed_dictionaries({}, optional=fields)


def send(http: Caller, operation: Operation, address: str, body: Any) -> Answer:
    sent = None if operation.method in ("GET", "DELETE") else body
    return http.call(operation.method, address, sent)


def check(answer: Answer) -> None:
    assert answer.status < 500
    assert answer.status < 400 or answer.is_problem


@EVERY
def test_bent_requests_are_answered(operation: Operation, alice: Person) -> None:
    rows = furnish(alice)
    http = caller(alice)

    @bounded
    @given(body=body_of(operation), query=query_of(operation))
    def run(body: Any, query: dict[str, Any]) -> None:
        asked = urlencode(query, errors="surrogatepass")
        check(send(http, operation, f"{operation.address(rows)}?{asked}", body))

    run()


@pytest.mark.parametrize("text", ODD_TEXTS)
def test_odd_texts_in_the_path_are_answered(text: str, alice: Person) -> None:
    http, odd = caller(alice), quote(text, safe="", errors="surrogatepass")
    for path in (f"//api/v1/workspaces/{odd}/memories", f"//api/v1/workspaces/orchard/facts/{odd}"):
        answer = http.get(path)
        assert answer.status in (400, 404)
        assert answer.is_problem


@pytest.mark.parametrize("header", ["Authorization", "X-API-Key", "Idempotency-Key", "If-Match"])
@pytest.mark.parametrize("text", ["", "\0", "é", "x" * 5000, "Bearer \0", "Bearer mp_a_b"])
def test_odd_headers_are_answered(header: str, text: str, alice: Person) -> None:
    headers = {**caller(alice).headers, header: text}
    answer = Caller("orchard", headers).post("/memories", {"content": "x"})
    check(answer)


@pytest.mark.parametrize(
    "content_type", ["", "text/html", "application/xml", "multipart/form-data", "/"]
)
def test_odd_content_types_are_answered(content_type: str, alice: Person) -> None:
    answer = caller(alice).call("POST", "/memories", b'{"content": "x"}', content_type=content_type)
    assert (answer.status, answer.is_problem) == (415, True)
