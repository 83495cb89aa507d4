"""Telling over HTTP: sync, async, with tools, and only looking what would be read."""

import json
import uuid
from types import SimpleNamespace
from typing import Any

import pytest
from pytest_django import Settings

from memories import ingest
from memories.models import Episode, Memory, MemorySession
from tests.api_fixtures import Caller, caller
from tests.people import Person, with_key
from workspaces.keys import KeyOptions
from workspaces.models import Subject, Workspace

PREFERS = "I prefer dark mode in my editor."
INGEST, EXTRACT = "/memories/ingest", "/memories/extract"


@pytest.fixture
def http(alice: Person) -> Caller:
    return caller(alice)


def message(content: str, **more: object) -> dict[str, object]:
    return {"role": "user", "content": content, **more}


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"scope": "thread", "content": PREFERS}, "threadId"),
        ({"scope": "workflow", "content": PREFERS}, "workflowId"),
        ({"messages": [{"role": "user", "content": "Hello", "id": "a"}] * 2}, "messages[1].id"),
    ],
)
@pytest.mark.parametrize("route", [INGEST, EXTRACT])
def test_a_preview_refuses_what_an_ingest_refuses(
    http: Caller, route: str, body: dict[str, object], field: str
) -> None:
    answer = http.post(route, body)
    assert (answer.status, answer.fields) == (400, [field])


def test_a_preview_tells_that_an_id_says_something_else_already(http: Caller) -> None:
    http.post(INGEST, {"threadId": "t", "messages": [message(PREFERS, id="a")]})
    answer = http.post(EXTRACT, {"threadId": "t", "messages": [message("Hello", id="a")]})
    assert (answer.status, answer.fields) == (409, ["messages[0].id"])


def test_a_sync_ingest_answers_what_became_of_it(http: Caller) -> None:
    answer = http.post(INGEST, {"content": PREFERS, "userId": "u1", "threadId": "t1"})
    assert answer.status == 201
    told = answer.body
    counts = (told["memoriesCreated"], told["memoriesUpdated"], told["factsExtracted"])
    assert (told["status"], counts) == ("done", (1, 0, 1))
    memory = told["memories"][0]
    assert (memory["userId"], memory["threadId"], memory["factType"]) == ("u1", "t1", "preference")
    session = http.get(f"/sessions/{told['sessionId']}").body
    assert (session["status"], session["createdIds"]) == ("done", [memory["id"]])


def test_an_async_ingest_answers_at_once(http: Caller) -> None:
    answer = http.post(INGEST, {"content": PREFERS, "mode": "async"})
    session_id = answer.body["sessionId"]
    assert (answer.status, answer.body) == (202, {"sessionId": session_id, "status": "received"})
    ingest.run(uuid.UUID(session_id))
    assert http.get(f"/sessions/{session_id}").body["status"] == "done"
    assert http.get("/sessions", status="done").body["results"][0]["id"] == session_id
    assert http.get("/sessions", status="dead").body["results"] == []


def test_sync_with_a_network_model_waits_no_longer_than_asked(
    http: Caller, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.ANTHROPIC_API_KEY = "a key"
    slept: list[float] = []
    clock = SimpleNamespace(monotonic=lambda: sum(slept), sleep=slept.append)
    monkeypatch.setattr("memories.ingest.waited_ingest.time", clock)
    answer = http.post(INGEST, {"content": PREFERS, "wait": 2})
    assert (answer.status, answer.body["status"]) == (202, "received")
    assert sum(slept) == pytest.approx(2)
    assert http.post(INGEST, {"content": PREFERS, "extract": "patterns"}).status == 201


def test_messages_keep_what_the_caller_sent(http: Caller) -> None:
    at = "2026-03-01T10:00:00+02:00"
    said = message(PREFERS, name="Ann", id="m1", createdAt=at, metadata={"x_y": {"camelMe": 1}})
    assert http.post(INGEST, {"messages": [said], "threadId": "t1"}).status == 201
    row = http.get("/episodes", threadId="t1").body["results"][0]
    assert (row["externalId"], row["name"], row["content"]) == ("m1", "Ann", PREFERS)
    assert row["occurredAt"] == at
    assert row["metadata"] == {"x_y": {"camelMe": 1}}


def test_tool_calls_and_results_are_kept_with_their_payload(http: Caller) -> None:
    call = {"role": "assistant", "toolName": "weather", "toolUseId": "1", "input": {"city": "Ulm"}}
    result = {"role": "tool", "toolUseId": "1", "output": "rain", "isError": False}
    http.post(INGEST, {"messages": [call, result]})
    first, second = Episode.objects.order_by("position")
    assert (first.kind, first.content) == ("tool_use", 'weather: {"city": "Ulm"}')
    assert first.payload == {"toolName": "weather", "toolUseId": "1", "input": {"city": "Ulm"}}
    assert (second.kind, second.content) == ("tool_result", "rain")
    assert second.payload == {"toolUseId": "1", "output": "rain", "isError": False}


def test_a_known_id_with_other_content_is_409(http: Caller) -> None:
    http.post(INGEST, {"messages": [message(PREFERS, id="m1")]})
    body = {"messages": [message("Hello"), message("I prefer light mode.", id="m1")]}
    answer = http.post(INGEST, body)
    assert (answer.status, answer.fields) == (409, ["messages[1].id"])


def test_a_bound_key_speaks_for_its_own_agent_only(bob: Person) -> None:
    http = caller(bob)
    for path in (INGEST, EXTRACT):
        answer = http.post(path, {"content": PREFERS, "agentId": "carol"})
        assert (answer.status, answer.fields) == (403, ["agentId"])
    assert http.post(INGEST, {"content": PREFERS, "agentId": "bob"}).status == 201
    assert Memory.objects.get().agent == Episode.objects.get().agent


def test_a_key_limited_to_subjects_writes_only_about_them(workspace: Workspace) -> None:
    subject = Subject.objects.create(workspace=workspace, external_id="u1")
    http = caller(with_key(workspace, KeyOptions("phone", subjects=(subject,))))
    for path in (INGEST, EXTRACT):
        assert http.post(path, {"content": PREFERS, "userId": "u2"}).fields == ["userId"]
        assert http.post(path, {"content": PREFERS}).status == 403
    assert http.post(INGEST, {"content": PREFERS, "userId": "u1"}).status == 201


def test_a_preview_stores_nothing(http: Caller) -> None:
    body = {"messages": [message("Hello!"), message(PREFERS)], "userId": "u1", "agentId": "new"}
    answer = http.post(EXTRACT, body)
    fact = answer.body["facts"][0]
    cited = fact["citations"][0]
    assert (fact["category"], fact["method"], cited["messageIndex"]) == ("preference", "pattern", 1)
    assert PREFERS[cited["start"] : cited["end"]] == cited["quote"]
    assert [skip["messageIndex"] for skip in answer.body["skipped"]] == [0]
    assert not Episode.objects.exists()
    assert not Subject.objects.exists()


def test_a_failed_session_is_retried(http: Caller) -> None:
    session_id = http.post(INGEST, {"content": PREFERS}).body["sessionId"]
    assert http.post(f"/sessions/{session_id}/retry").status == 409
    MemorySession.objects.update(state="failed", error="no such model")
    answer = http.post(f"/sessions/{session_id}/retry")
    assert (answer.status, answer.body["status"]) == (200, "received")


def test_null_is_the_same_as_absent(http: Caller) -> None:
    body = dict.fromkeys(("messages", "userId", "threadId", "visibility", "occurredAt"))
    assert http.post(INGEST, {"content": PREFERS, **body}).status == 201


def test_a_bare_message_is_appended_as_well_as_a_list(http: Caller) -> None:
    http.post("/memories/ingest", {"threadId": "t1", "messages": [{"role": "user", "content": "a"}]})
    thread = http.get("/conversations").body["results"][0]["id"]
    bare = http.post(f"/conversations/{thread}/episodes", {"role": "user", "content": "b"})
    assert (bare.status, bare.contents()) == (201, ["b"])
    wrong = http.post(f"/conversations/{thread}/episodes", {"message": "b"})
    assert (wrong.status, wrong.fields) == (400, ["message"])


@pytest.mark.parametrize("route", [INGEST, EXTRACT])
@pytest.mark.parametrize(
    ("messages", "field"),
    [
        ([None], "messages[0]"),
        ([message("Hello."), None], "messages[1]"),
        ([message("Hello.", colour="red")], "messages[0].colour"),
        ([{"role": "wizard", "content": "Hello."}], "messages[0].role"),
        ([message("Hello.", durationMs=-1)], "messages[0].durationMs"),
    ],
)
def test_a_message_that_is_not_right_is_named(http: Caller, route: str, messages: list[object], field: str) -> None:
    answer = http.post(route, {"messages": messages})
    assert (answer.status, answer.fields) == (400, [field])


def test_what_a_message_may_say_is_told(http: Caller) -> None:
    odd = {"role": "wizard", "content": "Hello.", "colour": "red"}
    told = {e["field"]: e["message"] for e in http.post(INGEST, {"messages": [odd]}).body["errors"]}
    assert "toolUseId, input, output, isError, durationMs" in told["messages[0].colour"]
    assert "user, assistant, system, tool, tool_use" in told["messages[0].role"]
    [error] = http.post(INGEST, {"x": 1}).body["errors"]
    assert "Known: content, messages, userId" in error["message"]


def test_how_long_a_tool_took_and_what_failed_is_kept(http: Caller) -> None:
    failed = {"durationMs": 1250.5, "errorMessage": "No route to host", "isError": True}
    said = {"role": "tool", "toolName": "fetch", "content": "Nothing came.", **failed}
    http.post(INGEST, {"messages": [said]})
    (episode,) = http.get("/episodes").body["results"]
    assert episode["payload"] == {"toolName": "fetch", **failed}


def test_a_null_is_appended_to_no_conversation(http: Caller) -> None:
    http.post(INGEST, {"messages": [message("Hello.")], "threadId": "t1"})
    thread = http.get("/conversations").body["results"][0]["id"]
    for odd, field in ((None, "messages[0]"), (message("Hi.", colour="red"), "messages[0].colour")):
        answer = http.post(f"/conversations/{thread}/episodes", {"messages": [odd]})
        assert (answer.status, answer.fields) == (400, [field])


def test_a_message_in_parts_is_read_as_its_texts(http: Caller) -> None:
    parts = [
        {"type": "text", "text": "Look at this."},
        {"type": "image_url", "image_url": {"url": "https://example.org/desk.png"}},
        {"type": "input_text", "text": PREFERS},
    ]
    answer = http.post(INGEST, {"userId": "u1", "messages": [{"role": "user", "content": parts}]})
    assert (answer.status, answer.body["memoriesCreated"]) == (201, 1)
    assert Episode.objects.get().content == f"Look at this.\n\n[image_url]\n\n{PREFERS}"


@pytest.mark.parametrize("part", ["words", {"text": "words"}, {"type": "text"}, {"type": " "}])
def test_a_part_that_says_nothing_is_refused_with_its_place(http: Caller, part: object) -> None:
    parts = [{"type": "text", "text": PREFERS}, part]
    answer = http.post(INGEST, {"messages": [{"role": "user", "content": parts}]})
    assert (answer.status, answer.fields) == (400, ["messages[0].content"])
    assert "Part 1" in answer.body["errors"][0]["message"]


# ---- when it was said, and what is wrong ----

MARCH, APRIL = "2026-03-02T10:00:00Z", "2026-04-02T10:00:00Z"


@pytest.mark.parametrize("name", ["occurredAt", "createdAt"])
def test_the_time_of_a_message_is_taken_by_either_name(http: Caller, name: str) -> None:
    message = {"role": "user", "content": "I prefer tea.", name: MARCH}
    assert http.post(INGEST, {"messages": [message], "threadId": "t"}).status == 201
    [thread] = http.get("/conversations", threadId="t").body["results"]
    appended = {**message, "content": "And milk."}
    path = f"/conversations/{thread['id']}/episodes"
    assert http.post(path, {"messages": [appended]}).status == 201
    more = {"content": "I prefer jam.", "threadId": "t", name: MARCH}
    assert http.post(INGEST, more).status == 201
    listed = http.get("/episodes", threadId="t").body["results"]
    assert [row["occurredAt"] for row in listed] == [MARCH] * 3


def test_both_names_of_a_time_may_say_the_same_and_no_two_times(http: Caller) -> None:
    message = {"role": "user", "content": "I prefer tea.", "occurredAt": MARCH}
    same = {**message, "createdAt": "2026-03-02T11:00:00+01:00"}
    other = {**message, "createdAt": APRIL}
    assert http.post(INGEST, {"messages": [same]}).status == 201
    refused = http.post(INGEST, {"messages": [message, other]})
    assert refused.status == 400
    assert [each["field"] for each in refused.body["errors"]] == ["messages[1].createdAt"]
    refused = http.post(INGEST, {"content": "Tea.", "occurredAt": MARCH, "createdAt": APRIL})
    assert [each["field"] for each in refused.body["errors"]] == ["createdAt"]


def test_what_is_wrong_with_every_message_is_said_once(http: Caller) -> None:
    messages = [{"role": "user", "content": "Tea.", "saidOn": MARCH} for _ in range(26)]
    answer = http.post(INGEST, {"messages": messages})
    assert (answer.status, answer.is_problem) == (400, True)
    [error] = answer.body["errors"]
    assert error["field"] == "messages[0].saidOn"
    assert error["also"] == [f"messages[{n}].saidOn" for n in range(1, 26)]
    assert json.dumps(answer.body).count(json.dumps(error["message"])[1:-1]) == 1
    assert "messages[0].saidOn" in answer.body["detail"]
    assert "21 more" in answer.body["detail"]


@pytest.mark.parametrize("body", [{}, {"content": 5}, {"content": "", "mode": "x"}, {"x": 1}])
def test_no_sentence_of_a_refusal_stands_in_it_twice(http: Caller, body: Any) -> None:
    answer = http.post(INGEST, body)
    assert answer.status == 400
    assert answer.body["errors"]
    for error in answer.body["errors"]:
        assert json.dumps(answer.body).count(json.dumps(error["message"])[1:-1]) == 1
