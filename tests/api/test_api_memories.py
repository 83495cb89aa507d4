"""Memories by hand: listed, written, read, edited, forgotten, restored."""

from typing import Any

import pytest

from memories.models import Rejection
from tests.api_fixtures import Answer, Caller, caller
from tests.people import Person

TEA, GREEN_TEA = "Likes tea", "Likes green tea"


@pytest.fixture
def http(alice: Person) -> Caller:
    return caller(alice)


@pytest.fixture
def tea(http: Caller) -> str:
    body = {"content": TEA, "userId": "u1", "category": "preference", "metadata": {"a_b": [1]}}
    answer = http.post("/memories", body)
    assert answer.status == 201
    return f"/memories/{answer.body['id']}"


def edited(http: Caller, path: str, **changes: Any) -> Answer:
    return http.patch(path, changes)


def test_a_memory_is_read_as_it_was_written(http: Caller, tea: str) -> None:
    memory = http.get(tea).body
    assert (memory["content"], memory["userId"], memory["source"]) == (TEA, "u1", "manual")
    assert (memory["factType"], memory["visibility"]) == ("preference", "private")
    assert (memory["metadata"], memory["isLatest"], memory["version"]) == ({"a_b": [1]}, True, 1)


def test_new_content_is_a_new_version(http: Caller, tea: str) -> None:
    answer = edited(http, tea, content=GREEN_TEA)
    assert (answer.status, answer.body["content"], answer.body["version"]) == (200, GREEN_TEA, 2)
    assert http.get(tea).body["supersededById"] == answer.body["id"]
    links = http.get(f"{tea}/chain").body["results"]
    assert [link["memory"]["content"] for link in links] == [TEA, GREEN_TEA]
    assert [bool(link["supersession"]) for link in links] == [False, True]


def test_new_content_names_whom_it_speaks_of(http: Caller) -> None:
    body = {"content": "Ada moved to Lisbon", "entities": ["Ada", "Lisbon"]}
    path = f"/memories/{http.post('/memories', body).body['id']}"
    answer = edited(http, path, content="Ada moved to Porto")
    assert answer.body["entities"] == ["Ada", "Porto"]
    assert http.get(path).body["entities"] == ["Ada", "Lisbon"]


def test_entities_that_are_given_with_new_content_are_those_of_the_new_version(http: Caller, tea: str) -> None:
    answer = edited(http, tea, content=GREEN_TEA, entities=["Camellia"])
    assert answer.body["entities"] == ["Camellia"]
    assert http.get(tea).body["entities"] == []


def test_a_version_that_is_no_head_is_not_edited(http: Caller, tea: str) -> None:
    edited(http, tea, content=GREEN_TEA)
    answer = edited(http, tea, content="Likes mint tea")
    assert (answer.status, answer.is_problem) == (409, True)


def test_other_fields_change_in_place(http: Caller, tea: str) -> None:
    answer = edited(http, tea, pinned=True, metadata={"z": 1}, visibility="global", eventDate=None)
    assert (answer.body["version"], answer.body["pinned"]) == (1, True)
    assert (answer.body["metadata"], answer.body["visibility"]) == ({"z": 1}, "global")


def test_if_match_is_honoured(http: Caller, tea: str) -> None:
    tag = http.get(tea).headers["ETag"]
    assert http.patch(tea, {"content": GREEN_TEA}, If_Match='"7"').status == 412
    assert http.patch(tea, {"content": GREEN_TEA}, If_Match="seven").fields == ["If-Match"]
    assert http.patch(tea, {"content": GREEN_TEA}, If_Match=tag).status == 200


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"content": ""}, "content"),
        ({"content": 5}, "content"),
        ({"pinned": "yes"}, "pinned"),
        ({"visibility": "public"}, "visibility"),
        ({"validFrom": "2026-01-02T00:00:00Z", "validUntil": "2026-01-01T00:00:00Z"}, "validUntil"),
        ({"entities": ["x" * 256]}, "entities[0]"),
    ],
)
def test_a_wrong_change_is_named(http: Caller, tea: str, changes: dict[str, Any], field: str) -> None:
    answer = http.patch(tea, changes)
    assert (answer.status, answer.fields) == (400, [field])


def test_a_forgotten_memory_is_listed_no_more_and_can_be_restored(http: Caller, tea: str) -> None:
    assert http.delete(tea, reason="outdated").status == 204
    assert http.get("/memories").contents() == []
    assert http.get("/memories", live="false").contents() == [TEA]
    assert http.get(tea).body["forgetReason"] == "outdated"
    assert http.post(f"{tea}/restore").body["forgottenAt"] is None
    assert http.get("/memories").contents() == [TEA]
    assert http.post(f"{tea}/restore").status == 409


def test_wrong_leaves_a_rejection(http: Caller, tea: str) -> None:
    http.delete(tea, reason="wrong")
    assert Rejection.objects.count() == 1
    session = http.post("/memories/ingest", {"content": TEA, "userId": "u1", "extract": "none"})
    assert session.body["memoriesCreated"] == 0


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ({"userId": "u1"}, True),
        ({"userId": "u2"}, False),
        ({"category": "preference", "factType": "preference", "scope": "user"}, True),
        ({"visibility": "team"}, False),
        ({"q": "LIKES"}, True),
        ({"q": "%"}, False),
        ({"knownAt": "2020-01-01T00:00:00Z"}, False),
        ({"validAt": "2999-01-01T00:00:00Z"}, True),
        ({"agentId": "nobody"}, False),
        ({"threadId": "t1", "workflowId": "w1"}, False),
        ({"live": "any"}, True),
    ],
)
def test_parameters_of_the_list_narrow(http: Caller, tea: str, query: dict[str, str], found: bool) -> None:
    assert http.get("/memories", **query).contents() == ([TEA] if found else [])


def test_facts_come_with_the_words_they_stand_on(http: Caller) -> None:
    said = {"role": "user", "content": "I prefer dark mode in my editor.", "id": "m1"}
    told = http.post("/memories/ingest", {"messages": [said], "userId": "u1"}).body
    memory = told["memories"][0]["id"]
    fact = http.get(f"/memories/{memory}/facts").body["results"][0]
    cited = fact["citations"][0]
    assert cited["quote"] == said["content"][cited["start"] : cited["end"]]
    assert (cited["externalId"], fact["memoryId"]) == ("m1", memory)
    assert http.get(f"/facts/{fact['id']}").body == fact
    assert http.get("/facts", memoryId=memory, method="pattern").body["results"] == [fact]
    assert http.get("/facts", minConfidence="1").body["results"] == []
    assert http.get("/facts", entity="Nobody").body["results"] == []


def test_a_memory_of_another_workspace_is_not_found(http: Caller, tea: str, mallory: Person) -> None:
    theirs = caller(mallory)
    for path in (tea, f"{tea}/chain", f"{tea}/facts"):
        assert theirs.get(path).status == 404
    assert theirs.patch(tea, {"content": GREEN_TEA}).status == 404
    assert theirs.delete(tea).status == theirs.post(f"{tea}/restore").status == 404
    assert http.get(tea).body["content"] == TEA


@pytest.mark.parametrize(
    "metadata",
    [
        {"x": "The gate is green. " * 300_000},
        {f"k{n}": "The gate is green." for n in range(200_000)},
        {"x": ["The gate is green."] * 250_000},
    ],
    ids=["one text", "many names", "a long list"],
)
def test_metadata_without_measure_is_refused_before_it_is_looked_through(
    http: Caller, metadata: dict[str, Any]
) -> None:
    """All of it would be looked through for secrets while others wait to write."""
    answer = http.post("/memories", {"content": "Ada likes tea", "metadata": metadata})
    assert answer.status == 400
    assert [each["field"] for each in answer.body["errors"]] == ["metadata"]
    assert len(str(answer.body)) < 1000
    message = {"role": "user", "content": "I like tea.", "metadata": metadata}
    refused = http.post("/memories/ingest", {"messages": [message]})
    assert [each["field"] for each in refused.body["errors"]] == ["messages[0].metadata"]


def test_metadata_of_a_few_pages_is_kept(http: Caller) -> None:
    metadata = {"x": "The gate is green. " * 3_000}
    answer = http.post("/memories", {"content": "Ada likes tea", "metadata": metadata})
    assert (answer.status, answer.body["metadata"]) == (201, metadata)
