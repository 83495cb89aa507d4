"""Whatever is sent to any route: no 5xx, and what is refused is refused as a problem.

Bodies, queries, headers and ids are made from the schema and then bent: some fit, most are wrong
somewhere. FUZZ_EXAMPLES=2000 makes so many for each operation, at random, instead of the same few.
"""

import os
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote, urlencode
from uuid import uuid4

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from tests.api_fixtures import Answer, Caller, caller
from tests.api_operations import (
    IN_ITS_OWN_TRANSACTION,
    OF_THE_SERVER,
    Furnished,
    Operation,
    furnish,
    operations,
    schema,
)
from tests.people import Person
from workspaces.keys import issue_server_key

FEW = 12
EXAMPLES = int(os.environ.get("FUZZ_EXAMPLES", FEW))
ODD_TEXTS = (
    "",
    " ",
    "\0",
    "a\0b",
    "\ud800",
    "é" * 300,
    "null",
    "-1",
    "1e999",
    "NaN",
    "true",
    "[]",
    "%00",
    "0001-01-01T00:00:00+14:00",
    "9999-12-31T23:59:59-14:00",
    "2026-02-30",
    "x" * 5000,
    "../..",
    "2026-01-01T00:00:00Z",
    "00000000-0000-0000-0000-000000000000",
    "\u202e\U0001f600",
    "'; --",
)
scalars = (
    st.none()
    | st.booleans()
    | st.sampled_from([0, -1, 1, 2**31, 2**63, -(2**70), 10**400, 0.0, -0.0, 1e308, 0.5])
    | st.sampled_from([float("nan"), float("inf")])
    | st.sampled_from(ODD_TEXTS)
    | st.text(max_size=20)
)
DEEP: Any = []
for _ in range(70):
    DEEP = [DEEP]
junk = st.just(DEEP) | st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text(max_size=5) | st.sampled_from(ODD_TEXTS), inner, max_size=3)
    ),
    max_leaves=8,
)
texts = st.sampled_from(ODD_TEXTS) | st.text(max_size=20)
EVERY = pytest.mark.parametrize(
    "operation",
    [each for each in operations() if each.name not in IN_ITS_OWN_TRANSACTION],
    ids=lambda operation: operation.name,
)
bounded = settings(
    max_examples=EXAMPLES,
    deadline=None,
    database=None,
    derandomize=EXAMPLES == FEW,
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
    return st.one_of([_of_kind(kind, part) for kind in ([kinds] if isinstance(kinds, str) else kinds)])


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
    if "prefixItems" in part:
        return st.tuples(*map(fitting, part["prefixItems"])).map(list)
    if kind == "array":
        return st.lists(fitting(part["items"]), min_size=1, max_size=2)
    return bent(part) if part.get("properties") else st.dictionaries(st.text(max_size=5), junk)


def bent(part: dict[str, Any]) -> st.SearchStrategy[Any]:
    """An object of which now and then one field is anything at all."""
    fields = {
        name: st.one_of(fitting(one), fitting(one), fitting(one), junk) for name, one in part["properties"].items()
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


headers = st.fixed_dictionaries(
    {},
    optional={
        "Idempotency-Key": st.sampled_from(["k1", "k2", "", "é", "x" * 300]),
        "If-Match": st.sampled_from(["1", '"1"', "*", 'W/"2"', "", "x", "9" * 400, "-1", "1.5"]),
        "Accept": st.sampled_from(["text/markdown", "text/html", "*/*", ""]),
    },
)


def rows_near(rows: dict[str, str], foreign: dict[str, str]) -> st.SearchStrategy[dict[str, str]]:
    """Ids as they are; now and then all of another workspace, of another table, or no ids."""
    shifted = dict(zip(rows, [*list(rows.values())[1:], rows["agents"]], strict=True))
    nothing = "00000000-0000-0000-0000-000000000000"
    odd = [dict.fromkeys(rows, each) for each in (nothing, "x", "%00", "%2e%2e", "9" * 300)]
    return st.sampled_from([rows] * 8 + [foreign, shifted, *odd])


def send(http: Caller, operation: Operation, address: str, body: Any, more: dict[str, str]) -> Answer:
    sent = None if operation.method in ("GET", "DELETE") else body
    return http.call(operation.method, address, sent, headers=more)


def check(answer: Answer) -> None:
    assert answer.status < 500
    assert answer.status < 400 or answer.is_problem


@pytest.fixture
def alice(furnished: Furnished, db: None) -> Person:
    return furnished.alice


def asker_of(operation: Operation, alice: Person) -> Caller:
    """Somebody who may."""
    if operation.name not in OF_THE_SERVER:
        return caller(alice)
    return Caller("orchard", {"Authorization": f"Bearer {issue_server_key('x', actor='test')[1]}"})


# ---- each part of a request by itself: one odd value in a request that is right otherwise ----

ODD_VALUES: tuple[Any, ...] = (
    None,
    True,
    0,
    -1,
    2**63,
    10**400,
    1.5,
    1e308,
    "",
    "\0",
    "\ud800",
    "x" * 5000,
    "é" * 300,
    "9999-12-31T23:59:59-14:00",
    "00000000-0000-0000-0000-000000000000",
    [],
    [None],
    [[]],
    {},
    {"": None},
    {"\0": 1},
    {"a": {"b": [None]}},
    DEEP,
    [{}],
    ["x"] * 300,
)


def right(part: dict[str, Any]) -> Any:
    """A value that the schema allows."""
    part = resolved(part)
    if "allOf" in part or "oneOf" in part:
        return right((part.get("oneOf") or part["allOf"])[0])
    if "enum" in part:
        return next(each for each in part["enum"] if each)
    kind = part.get("type", "object")
    kind = next(each for each in kind if each != "null") if isinstance(kind, list) else kind
    texts = {"date-time": "2026-01-01T00:00:00Z", "email": "b@example.org", "uuid": str(uuid4())}
    simple = {"boolean": True, "integer": 1, "number": 0.5, "string": "u1"}
    if kind == "string":
        return texts.get(part.get("format", ""), "u1")
    if kind in simple:
        return simple[kind]
    if "prefixItems" in part:
        return [right(one) for one in part["prefixItems"]]
    if kind == "array":
        return [right(part["items"])]
    return {name: right(one) for name, one in part.get("properties", {}).items()}


def paths_in(value: Any, before: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Where its parts stand, itself among them."""
    inner: Any = value.items() if isinstance(value, dict) else ()
    inner = enumerate(value) if isinstance(value, list) else inner
    return [before, *(path for key, one in inner for path in paths_in(one, (*before, key)))]


def with_odd(value: Any, path: tuple[Any, ...], odd: Any) -> Any:
    if not path:
        return odd
    changed = list(value) if isinstance(value, list) else dict(value)
    changed[path[0]] = with_odd(value[path[0]], path[1:], odd)
    return changed


def some(values: tuple[Any, ...], place: int) -> tuple[Any, ...]:
    """All of them in the long form; in the short one two, others at each place."""
    if EXAMPLES > FEW:
        return values
    return tuple(values[(place * 2 + n) % len(values)] for n in range(2))


def odd_bodies(operation: Operation) -> Iterator[Any]:
    """The body of the schema with one odd value, at each place in turn."""
    declared = schema()["paths"][operation.path][operation.method.lower()].get("requestBody")
    body = right(declared["content"]["application/json"]["schema"]) if declared else {}
    body.pop("content" if "messages" in body else "", None)
    for place, path in enumerate(paths_in(body)):
        for odd in some(ODD_VALUES, place):
            yield with_odd(body, path, odd)


def odd_addresses(operation: Operation, rows: dict[str, str]) -> Iterator[tuple[str, dict[str, str]]]:
    """Its address and headers with one odd text, in each parameter in turn."""
    declared = schema()["paths"][operation.path][operation.method.lower()]
    known = {"{workspace}": "orchard", "{key}": rows["sets"], "{row}": rows["agents"]}
    for place, one in enumerate(declared.get("parameters", ())):
        for odd in some((*ODD_TEXTS, "1", "2026-01-01"), place):
            text, address = quote(odd, safe="", errors="surrogatepass"), operation.address(rows)
            if one["in"] == "query":
                yield f"{address}?{one['name']}={text}", {}
            elif one["in"] == "header":
                yield address, {one["name"]: text}
            else:
                path = operation.path.replace(f"{{{one['name']}}}", text)
                for name, value in known.items():
                    path = path.replace(name, value)
                yield f"/{path}", {}


@EVERY
def test_whatever_is_sent_is_answered(
    operation: Operation, rows: dict[str, str], alice: Person, mallory: Person
) -> None:
    foreign = furnish(mallory) if EXAMPLES > FEW else {name: str(uuid4()) for name in rows}
    http = asker_of(operation, alice)

    @bounded
    @given(
        body=body_of(operation),
        query=query_of(operation),
        more=headers,
        near=rows_near(rows, foreign),
    )
    def run(body: Any, query: dict[str, Any], more: dict[str, str], near: dict[str, str]) -> None:
        asked = urlencode(query, errors="surrogatepass")
        check(send(http, operation, f"{operation.address(near)}?{asked}", body, more))

    for method in ("PUT", "OPTIONS", "TRACE", "BREW"):
        assert caller(alice).call(method, operation.address(rows), {}).status == 405
    for body in odd_bodies(operation):
        check(send(http, operation, operation.address(rows), body, {}))
    for address, more in odd_addresses(operation, rows):
        check(send(http, operation, address, {}, more))
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


@pytest.mark.parametrize("content_type", ["", "text/html", "application/xml", "multipart/form-data", "/"])
def test_odd_content_types_are_answered(content_type: str, alice: Person) -> None:
    answer = caller(alice).call("POST", "/memories", b'{"content": "x"}', content_type=content_type)
    assert (answer.status, answer.is_problem) == (415, True)
