"""An agent enters no thread of others by its name, sets nothing of it, and reads nothing of it; nor
does a user of MCP enter another's."""

from typing import Any

import pytest

from memories.models import Conversation, Episode, Memory
from tests.api_fixtures import Answer, Caller, caller
from tests.mcp_caller import mcp_caller
from tests.people import Person, bound_to_agent, with_key
from workspaces.keys import KeyOptions
from workspaces.models import Subject

SAID = {"messages": [{"role": "user", "content": "I like green tea."}], "userId": "u1"}
ASKS, ANSWER = "What is your locker password?", "kite0417"


@pytest.fixture
def mate(bob: Person) -> Person:
    return bound_to_agent(bob.workspace, "mate")


def ingested(http: Caller, thread: str) -> Answer:
    return http.post("/memories/ingest", {**SAID, "threadId": thread})


def noted(http: Caller, thread: str) -> Answer:
    return http.post("/memories", {"content": "Tea is green.", "threadId": thread})


def previewed(http: Caller, thread: str) -> Answer:
    return http.post("/memories/extract", {**SAID, "threadId": thread})


def begun(http: Caller, thread: str) -> Answer:
    return http.post("/conversations", {"threadId": thread})


@pytest.mark.parametrize("enter", [ingested, noted, previewed, begun])
def test_no_agent_sees_a_thread_by_saying_something_in_it(
    enter: Any, alice: Person, bob: Person, mate: Person, carol: Person, mallory: Person
) -> None:
    for person, thread in ((alice, "owners"), (bob, "bobs")):
        body = {"threadId": thread, "title": f"Of {thread}", "userId": "u1"}
        assert caller(person).post("/conversations", body).status == 201
    for agent in (bob, mate, carol):
        http = caller(agent)
        for thread in {"owners", "bobs"} - ({"bobs"} if agent is bob else set()):
            answer = enter(http, thread)
            assert (answer.status, answer.fields) == (409, ["threadId"])
            assert "Of " not in str(answer.body)
        shown = [row["threadId"] for row in http.get("/conversations").body["results"]]
        assert shown == (["bobs"] if agent is bob else [])
    assert not Episode.objects.exists()
    own = [person for person in (alice, bob) if enter is not begun]
    assert {enter(caller(person), "bobs").status for person in own} <= {200, 201}
    assert enter(caller(mallory), "bobs").status in (200, 201)


def test_an_agent_goes_on_in_a_thread_where_it_was_heard(alice: Person, bob: Person) -> None:
    owner = caller(alice)
    assert ingested(owner, "t").status == 201
    assert ingested(caller(bob), "t").status == 409
    heard = owner.post("/memories/ingest", {**SAID, "threadId": "t", "agentId": "bob"})
    assert heard.status == 201
    assert ingested(caller(bob), "t").status == 201


def test_only_who_began_a_thread_says_whom_it_speaks_for(
    alice: Person, bob: Person, mate: Person, carol: Person, mallory: Person
) -> None:
    owner = caller(alice)
    for agent in ("bob", "mate", "carol"):
        owner.post("/memories/ingest", {**SAID, "threadId": "t", "agentId": agent})
    row = f"/conversations/{Conversation.objects.get(external_id='t').pk}"
    changes: tuple[dict[str, Any], ...] = (
        {"audience": "team"},
        {"title": "Mine"},
        {"metadata": {"a": 1}},
    )
    for change in changes:
        # The first who said something in it began it.
        statuses = [caller(each).patch(row, change).status for each in (mate, carol, mallory)]
        assert statuses == [403, 403, 404]
        assert caller(bob).patch(row, change).status == 200
        assert owner.patch(row, change).status == 200


def test_what_others_said_last_does_not_make_an_agents_words_an_answer(alice: Person, bob: Person) -> None:
    def say(person: Person, role: str, words: str, **more: Any) -> str:
        body = {"messages": [{"role": role, "content": words}], "threadId": "t", **more}
        assert caller(person).post("/memories/ingest", body).status == 201
        return Episode.objects.latest("pk").content

    say(alice, "user", "Hello.", agentId="bob")
    say(alice, "assistant", ASKS)
    assert say(bob, "user", ANSWER) == ANSWER
    assert ANSWER not in say(alice, "assistant", ASKS) + say(alice, "user", ANSWER)
    say(bob, "assistant", ASKS)
    assert ANSWER not in say(bob, "user", ANSWER)


@pytest.mark.parametrize("how", ["path", "header", "key"])
def test_a_user_of_mcp_says_nothing_in_a_thread_of_another(alice: Person, how: str) -> None:
    for user in ("ada", "grace"):
        body = {**SAID, "userId": user, "threadId": f"of-{user}"}
        assert caller(alice).post("/memories/ingest", body).status == 201
    caller(alice).post("/conversations", {"threadId": "of-nobody"})
    ada = Subject.objects.get(external_id="ada")
    agent = {
        "path": lambda: mcp_caller(alice, "/mcp/ada"),
        "header": lambda: mcp_caller(alice, x_user_id="ada"),
        "key": lambda: mcp_caller(with_key(alice.workspace, KeyOptions("ada", subjects=(ada,)))),
    }[how]()
    before = Episode.objects.count()
    for thread in ("of-grace", "of-nobody"):
        refused = agent.tool("add_memory", text="I play the cello.", thread_id=thread)
        assert refused.is_error
        assert "taken" in refused.text
    assert Episode.objects.count() == before
    for thread in ("of-ada", "new"):
        told = agent.tool("add_memory", text=f"I play the cello in {thread}.", thread_id=thread)
        assert not told.is_error
    mine = Memory.objects.filter(content__contains="cello")
    assert {row.subject for row in mine} == {ada}


def test_a_user_of_mcp_takes_no_message_of_another_for_its_own(alice: Person) -> None:
    message = {"role": "user", "content": "I like green tea.", "id": "m1"}
    body = {"messages": [message], "userId": "grace"}
    assert caller(alice).post("/memories/ingest", body).status == 201
    for words in ("I like green tea.", "I like black tea."):
        sent = [{"role": "user", "content": words, "id": "m1"}]
        refused = mcp_caller(alice, "/mcp/ada").tool("add_memory", messages=sent)
        assert refused.is_error
        assert "taken" in refused.text
