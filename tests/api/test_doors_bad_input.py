"""Whatever is sent through other doors: MCP's tools and the routes of other servers' clients answer
without a failure of ours, and what they refuse they refuse in words.

Each request is right but for one odd value, at each place in turn (see test_api_bad_input.py)."""

import json
from typing import Any
from urllib.parse import quote
from uuid import uuid4

import pytest
from django.test import Client

from memories.mcp.memory_tools import TOOLS
from memories.models import Memory
from tests.api.test_api_bad_input import ODD_TEXTS, ODD_VALUES, paths_in, right, some, with_odd
from tests.api_fixtures import Answer, caller
from tests.client_routes import address_of, client_routes
from tests.mcp_caller import LEGACY, MODERN, McpAnswer, mcp_caller
from tests.people import Person

ANSWERED = {400, 401, 403, 404, 405, 409, 413, 415, 422}
INTERNAL = -32603  # JSON-RPC's code of a failure of the server itself
CONDITION = {"AND": [{"key": "room", "value": "2", "filterType": "numeric", "negate": False}]}
SET = {"metadata_tags": ["user_id"], "set_metadata": {"user_id": "ada"}, "is_org_level": False}
FEATURE = {"category_name": "identity", "tag": "home", "feature": "city", "value": "Lisbon"}
PROJECT = {"org_id": "acme", "project_id": "harbour"}
ASKED_IN_MEM0 = {
    "query": "tea",
    "top_k": 3,
    "threshold": 0.1,
    "page": 1,
    "page_size": 5,
    "user_id": "ada",
    "filters": {
        "AND": [{"user_id": "ada"}, {"NOT": [{"metadata": {"room": {"ne": "2"}}}]}],
        "created_at": {"gte": "2026-01-01"},
    },
}
# What a client may send, by method and route; ROW becomes the id of a memory.
BODIES: dict[tuple[str, str], Any] = {
    **{
        ("POST", path): {
            "messages": [{"role": "user", "content": "I prefer tea to coffee.", "name": "Ada"}],
            "user_id": "ada",
            "agent_id": "bot",
            "run_id": "r",
            "app_id": "desk",
            "infer": True,
            "metadata": {"room": "2"},
            "expiration_date": "2027-01-01",
            "timestamp": 1_780_000_000,
        }
        for path in ("v3/memories/add/", "v1/memories/")
    },
    **{
        ("POST", path): ASKED_IN_MEM0
        for path in ("v2/memories/", "v3/memories/", *(f"v{n}/memories/search/" for n in (1, 2, 3)))
    },
    ("PUT", "v1/memories/<str:row>/"): {
        "text": "Ada prefers milk",
        "metadata": {"a": 1},
        "expiration_date": "2027-01-01",
    },
    ("PUT", "v1/batch/"): {"memories": [{"memory_id": "ROW", "text": "Ada prefers milk", "metadata": {"a": 1}}]},
    ("DELETE", "v1/batch/"): {"memories": [{"memory_id": "ROW"}]},
    **{
        ("POST", path): {
            "content": "The box is full.",
            "containerTag": "ada",
            "containerTags": ["north"],
            "customId": "a-document",
            "metadata": {"room": "2"},
            "documentDate": "2026-05-01",
            "filepath": "notes/box.txt",
            "title": "The box",
            "url": "https://example.org/box",
            "type": "text",
        }
        for path in ("v3/documents", "v3/documents/file")
    },
    ("POST", "v3/documents/batch"): {
        "documents": ["The box is full.", {"content": "So is the other.", "customId": "other"}],
        "containerTag": "ada",
        "metadata": {"room": "2"},
    },
    ("PATCH", "api/v1/orgs/organizations/<str:organisation>/projects/<str:project>/"): {
        "custom_instructions": "Keep what they sail.",
        "custom_categories": [{"boats": "what they sail"}],
    },
    ("PATCH", "v3/documents/<str:name>"): {
        "content": "The box is empty.",
        "metadata": {"room": "3"},
        "containerTags": ["ada"],
        "customId": "a-document",
    },
    ("DELETE", "v3/documents/bulk"): {"ids": ["a-document"], "containerTags": ["ada"]},
    ("POST", "v3/documents/list"): {
        "containerTags": ["ada"],
        "limit": 5,
        "page": 1,
        "order": "asc",
        "sort": "updatedAt",
        "includeContent": True,
        "filters": {"AND": [{"key": "room", "value": "2"}]},
    },
    ("POST", "chat/v2"): {
        "messages": [{"role": "user", "content": "Tea?"}],
        "mode": "simple",
        "conversationId": str(uuid4()),
        "metadata": {"preferredTone": "short"},
        "scopedDocumentIds": ["a-document"],
        "containerTags": ["ada"],
    },
    ("POST", "v3/search"): {
        "q": "tea",
        "limit": 5,
        "chunkThreshold": 0.1,
        "containerTags": ["ada"],
        "docId": "a-document",
        "includeFullDocs": True,
        "includeSummary": True,
        "onlyMatchingChunks": True,
        "rerank": False,
        "filters": CONDITION,
    },
    ("POST", "v4/search"): {
        "q": "tea",
        "limit": 5,
        "threshold": 0.1,
        "containerTag": "ada",
        "searchMode": "hybrid",
        "rerank": False,
        "filters": CONDITION,
    },
    ("POST", "v4/profile"): {
        "containerTag": "ada",
        "q": "tea",
        "threshold": 0.1,
        "include": ["static"],
        "filters": CONDITION,
    },
    ("PATCH", "v4/memories"): {
        "containerTag": "ada",
        "id": "ROW",
        "content": "Ada prefers tea",
        "newContent": "Likes milk",
        "metadata": {"a": 1},
        "forgetAfter": "2027-01-01T00:00:00Z",
        "forgetReason": "moved",
    },
    ("DELETE", "v4/memories"): {
        "containerTag": "ada",
        "id": "ROW",
        "content": "Ada prefers tea",
        "reason": "moved",
    },
    ("POST", "api/v2/projects"): {**PROJECT, "description": "Ships", "config": {"embedder": "x"}},
    **{("POST", f"api/v2/projects/{name}"): PROJECT for name in ("get", "list", "delete", "episode_count/get")},
    ("POST", "api/v2/memories"): {
        **PROJECT,
        "types": ["episodic"],
        "messages": [
            {
                "content": "I prefer tea to coffee.",
                "producer": "Ada",
                "produced_for": "bot",
                "timestamp": "2026-05-01T10:00:00Z",
                "role": "user",
                "metadata": {"user_id": "ada", "session_id": "s1"},
            }
        ],
    },
    ("POST", "api/v2/memories/search"): {
        **PROJECT,
        "query": "tea",
        "top_k": 3,
        "filter": "metadata.user_id = 'ada'",
        "set_metadata": {"user_id": "ada"},
        "expand_context": 1,
        "score_threshold": 0.1,
        "types": ["episodic"],
        "agent_mode": False,
    },
    ("POST", "api/v2/memories/list"): {
        **PROJECT,
        "page_size": 5,
        "page_num": 0,
        "filter": "metadata.user_id = 'ada'",
        "set_metadata": {"user_id": "ada"},
        "type": "semantic",
    },
    ("POST", "api/v2/memories/episodic/delete"): {
        **PROJECT,
        "episodic_id": str(uuid4()),
        "episodic_ids": [str(uuid4())],
    },
    ("POST", "api/v2/memories/semantic/delete"): {
        **PROJECT,
        "semantic_id": str(uuid4()),
        "semantic_ids": [str(uuid4())],
    },
    ("POST", "api/v2/memories/semantic/feature"): {
        **PROJECT,
        **FEATURE,
        "set_id": "user:ada",
        "citations": [str(uuid4())],
        "feature_metadata": {"by": "form"},
    },
    ("POST", "api/v2/memories/semantic/feature/get"): {
        **PROJECT,
        "feature_id": str(uuid4()),
        "load_citations": True,
    },
    ("POST", "api/v2/memories/semantic/feature/update"): {
        **PROJECT,
        **FEATURE,
        "feature_id": str(uuid4()),
        "metadata": {"by": "form"},
    },
    **{("POST", f"api/v2/memories/semantic/set_id/{name}"): {**PROJECT, **SET} for name in ("get", "list")},
}
QUERIES = ("user_id", "page", "page_size", "containerTag", "limit", "cursor", "org_id")


def check(answer: Answer, asked: Any) -> None:
    assert answer.status < 300 or answer.status in ANSWERED, (answer.status, asked)
    if answer.status >= 400:
        told = answer.body.get("detail") or answer.body.get("error")
        assert told, (answer.body, asked)


@pytest.fixture
def memory(alice: Person) -> Memory:
    alice.say("I prefer tea to coffee.", user_id="ada")
    return Memory.objects.get()


def of_memory(body: Any, memory: Memory) -> Any:
    if isinstance(body, dict):
        return {name: of_memory(value, memory) for name, value in body.items()}
    if isinstance(body, list):
        return [of_memory(value, memory) for value in body]
    return str(memory.pk) if body == "ROW" else body


@pytest.mark.parametrize(("method", "pattern"), list(client_routes()))
def test_whatever_another_servers_client_sends_is_answered(
    method: str, pattern: str, memory: Memory, alice: Person
) -> None:
    http = caller(alice)
    body = of_memory(BODIES.get((method, pattern), {}), memory)
    for place, path in enumerate(paths_in(body)):
        for odd in some(ODD_VALUES, place):
            sent = with_odd(body, path, odd)
            check(http.call(method, address_of(pattern, memory), sent), sent)
    for place, name in enumerate(QUERIES):
        for odd in some((*ODD_TEXTS, "1"), place):
            address = address_of(pattern, memory)
            text = quote(odd, safe="", errors="surrogatepass")
            check(http.call(method, f"{address}?{name}={text}", body), (name, odd))
    for odd in ODD_TEXTS if "<" in pattern else ():
        text = quote(odd, safe="", errors="surrogatepass")
        check(http.call(method, address_of(pattern, memory, text), body), odd)
    for raw in (b"", b"{", b"\xff\xfe", b"[" * 5000, b"null", b"7"):
        check(http.call(method, address_of(pattern, memory), raw), raw)


def test_the_bodies_are_those_of_routes_and_none_is_missing() -> None:
    """A new route has a body here, where it reads one."""
    unknown = {pattern for _, pattern in client_routes() if pattern.endswith("<path:rest>")}
    empty = {("DELETE", "v1/memories/"), ("POST", "v3/connections/list")}
    reading = {
        (method, pattern)
        for method, pattern in client_routes()
        if method in ("POST", "PUT", "PATCH") and pattern not in unknown
    }
    assert set(BODIES) <= set(client_routes())
    assert reading - empty - set(BODIES) == set()


METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS", "TRACE", "PROPFIND")
UNKNOWN = (
    "v1",
    "v1/",
    "v1/nothing",
    "v1/default/banks/ada",
    "v1/memories",
    "v2/",
    "v3/documents/",
    "v3/x/y",
    "v4/",
    "chat",
    "chat/nothing",
    "api/v2",
    "api/v2/",
    "api/v2/memories/",
    "api/v2/projects/x",
    "api/v1/orgs/",
    "api/v1/orgs/acme/projects/p/",
    "api/v1/webhooks/",
    "api/v3/x",
    "ns/ada/search",
    "memories",
    "search",
    "v1/%ff",
    "v3/documents/%ff",
    "api/v2/%0a",
)


@pytest.mark.parametrize("method", METHODS)
def test_a_route_or_method_that_a_client_finds_nowhere_is_told_in_json(
    method: str, alice: Person, memory: Memory
) -> None:
    known = {address_of(route, memory) for _, route in client_routes()}
    client = Client(raise_request_exception=False, enforce_csrf_checks=True)
    for address in [*(f"/{path}" for path in UNKNOWN), *(path[1:] for path in known)]:
        for headers in ({}, {"authorization": f"Bearer {alice.key}"}):
            answer = client.generic(method, address, b"[]", "application/json", headers=headers)
            assert answer.status_code < 500, (address, answer.content)
            kind = answer.headers.get("Content-Type", "")
            is_json = kind.startswith(("application/json", "application/problem+json"))
            assert is_json or not answer.content, (address, kind)


# ---- MCP ----


def check_tool(answer: McpAnswer, asked: Any) -> None:
    assert answer.status in (200, 202, 400), (answer.status, asked)
    if answer.body is None:
        return
    for each in answer.body if isinstance(answer.body, list) else [answer.body]:
        if "error" in each:
            assert each["error"]["code"] != INTERNAL, (each, asked)
            assert each["error"]["message"]
        elif "detail" in each:
            assert answer.status == 400  # too many at once: a problem of the request, not of a message
        elif each["result"].get("isError"):
            assert each["result"]["content"][0]["text"], asked


def inlined(part: Any, defined: dict[str, Any]) -> Any:
    """The schema without references."""
    if isinstance(part, dict):
        if "$ref" in part:
            return inlined(defined[part["$ref"].rsplit("/", 1)[1]], defined)
        if "anyOf" in part:
            return inlined(part["anyOf"][0], defined)
        return {name: inlined(one, defined) for name, one in part.items() if name != "$defs"}
    return [inlined(one, defined) for one in part] if isinstance(part, list) else part


@pytest.mark.parametrize("era", [LEGACY, MODERN])
@pytest.mark.parametrize("name", list(TOOLS))
def test_whatever_a_tool_is_given_is_answered(name: str, era: str, memory: Memory, alice: Person) -> None:
    agent = mcp_caller(alice)
    agent.era = era
    listed = {tool["name"]: tool for tool in agent.ask("tools/list").result["tools"]}
    schema = listed[name]["inputSchema"]
    given = right(inlined(schema, schema.get("$defs", {})))
    given |= {"memory_id": str(memory.pk)} if "memory_id" in given else {}
    for place, path in enumerate(paths_in(given)):
        for odd in some(ODD_VALUES, place):
            sent = with_odd(given, path, odd)
            check_tool(agent.ask("tools/call", name=name, arguments=sent), sent)


@pytest.mark.parametrize("era", [LEGACY, MODERN])
def test_whatever_is_sent_as_a_message_is_answered(era: str, alice: Person) -> None:
    agent = mcp_caller(alice)
    agent.era = era
    message = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "tools/call",
        "params": {"name": "get_profile", "arguments": {"user_id": "ada"}},
    }
    for path in paths_in(message):
        for odd in ODD_VALUES:
            sent = with_odd(message, path, odd)
            check_tool(agent.send(json.dumps(sent).encode()), sent)
    for raw in (b"", b"{", b"\xff\xfe", b"[" * 5000, b"null", b"7", b"[]"):
        check_tool(agent.send(raw), raw)
