"""A context answers what is known of whoever is named, or says why it is empty; and what is about
nobody is told where it answers, not to every question of everybody."""

import pytest

from memories.belief import review
from memories.ingest import NewMessage
from memories.search import SearchRequest
from memories.search.context import PACKED, Context, context
from tests.api_fixtures import caller
from tests.mcp_caller import McpCaller
from tests.people import Person

OFF_TOPIC = (
    "What is the capital of France?",
    "How do I sort a list in Python?",
    "Translate 'good morning' into Spanish",
    "Who wrote Hamlet?",
)


def packed(person: Person, query: str, user: str = "ines", **wish: object) -> Context:
    return context(person.scope, SearchRequest(query, limit=50, user_id=user, layers=PACKED), **wish)  # type: ignore[arg-type]


@pytest.fixture
def ines(alice: Person) -> Person:
    """Alice's backend, which was told three things of Ines."""
    for text in (
        "I moved to Bergen in May.",
        "I keep two parrots, Kim and Lou.",
        "I am allergic to walnuts.",
    ):
        alice.say(NewMessage(text, name="Ines"), user_id="ines", thread_id="t")
    return alice


@pytest.mark.parametrize(
    ("query", "told"),
    [
        ("Where do I live?", "Bergen"),
        ("where does she live now?", "Bergen"),
        ("Which birds do I have?", "parrots"),
        ("Is there any food I should avoid?", "walnuts"),
        ("What is on Ines's black list of foods?", "walnuts"),
    ],
)
def test_a_question_about_the_person_is_answered_in_whatever_words_it_is_asked(
    ines: Person, query: str, told: str
) -> None:
    assert told in packed(ines, query).text


@pytest.mark.parametrize("query", OFF_TOPIC)
def test_a_question_about_something_else_says_what_came_nearest(ines: Person, query: str) -> None:
    answer = packed(ines, query)
    assert answer.text == ""
    assert answer.nearest is not None
    assert f"{answer.nearest.confidence:.3f}" in answer.reason
    assert answer.nearest.content in answer.reason


@pytest.mark.parametrize(
    "query",
    [
        "What do you know about me?",
        "who am I?",
        "Tell me about Ines",
        "Summarize what you know of me",
    ],
)
def test_all_that_is_known_answers_the_question_for_it(ines: Person, query: str) -> None:
    for number in range(30):
        ines.say(f"Parcel {number} was delivered.", user_id="ines", thread_id="noise", extract="none")
    answer = packed(ines, query, tokens=4000)
    assert answer.confidence == 1.0
    assert all(word in answer.text for word in ("Bergen", "parrots", "walnuts"))


def test_nothing_of_another_person_is_all_that_is_known(ines: Person) -> None:
    ines.say(NewMessage("I play the viola.", name="Jon"), user_id="jon")
    assert "viola" not in packed(ines, "What do you know about me?").text
    assert "Bergen" not in packed(ines, "What do you know about me?", user="jon").text
    unknown = packed(ines, "What do you know about me?", user="nobody")
    assert unknown.text == ""
    assert unknown.reason


def test_another_workspace_is_told_nothing_of_what_came_nearest(ines: Person, mallory: Person) -> None:
    answer = packed(mallory, "Where do I live?")
    assert (answer.text, answer.nearest) == ("", None)
    assert answer.reason == "Nothing was found."


def test_what_was_forgotten_as_private_does_not_come_nearest(alice: Person) -> None:
    session = alice.say(NewMessage("I hate aniseed.", name="Ines"), user_id="ines")
    [memory] = session.created_ids
    review.forget(alice.scope, memory, "private")
    answer = packed(alice, "Who wrote Hamlet?")
    assert answer.text == ""
    assert "aniseed" not in answer.reason


def test_a_floor_that_a_caller_names_is_the_floor(ines: Person) -> None:
    assert packed(ines, "Which birds do I have?", floor=0.99).text == ""


def test_the_route_and_the_tool_say_why_a_text_is_empty(ines: Person) -> None:
    body = {"query": OFF_TOPIC[0], "userId": "ines"}
    answer = caller(ines).post("/memories/context", body).body
    assert answer["text"] == ""
    assert answer["nearest"].keys() == {"content", "confidence"}
    assert answer["nearest"]["content"] in answer["reason"]
    filled = caller(ines).post("/memories/context", {**body, "query": "Where do I live?"}).body
    assert (filled["reason"], filled["nearest"]) == (None, None)
    told = McpCaller(ines.key).tool("get_context", query=OFF_TOPIC[0], user_id="ines").told
    assert told["reason"] == answer["reason"]


def test_a_team_decision_is_told_where_it_answers_and_not_elsewhere(ines: Person) -> None:
    ines.say("Our team decided to use Grafana for dashboards.", extract="none", visibility="team")
    assert "Grafana" in packed(ines, "What do we use for dashboards?").text
    assert "Grafana" not in packed(ines, "Which birds do I have?").text


def test_the_home_of_another_does_not_answer_where_somebody_lives(ines: Person) -> None:
    """Bob asks; of him something is known, and of Olaf a page of nobody's."""
    ines.say(NewMessage("I own a kayak.", name="Bob"), user_id="bob")
    ines.tell("Olaf lives in Potsdam now.", visibility="team")
    assert "Potsdam" not in packed(ines, "Where do I live?", user="bob").text
    assert "Potsdam" in packed(ines, "Where does Olaf live?", user="bob").text


def test_a_tool_leaves_out_memories_that_have_nothing_to_do_with_it(ines: Person) -> None:
    mcp = McpCaller(ines.key)
    told = mcp.tool("search_memories", query="parrots", user_id="ines").told
    assert "parrots" in told["results"][0]["content"]
    assert told["reason"] is None
    none = mcp.tool("search_memories", query="zzyzx", user_id="ines").told
    assert none["count"] == len(none["results"])
    assert (none["count"] == 0) == (none["reason"] is not None)


def test_a_chat_without_a_model_quotes_what_is_known_of_the_person(ines: Person) -> None:
    asked = [{"role": "user", "content": "What do you know about me?"}]
    said = caller(ines).post("/chat", {"messages": asked, "userId": "ines"})
    assert "walnuts" in said.body["message"]


def test_what_programs_say_to_each_other_is_not_told(alice: Person) -> None:
    call = '{"type": "function_call", "name": "look", "arguments": "{\\"gate\\": 3}"}'
    alice.say(NewMessage(call, role="assistant"), NewMessage("The gate 3 is red."), user_id="ines")
    answer = packed(alice, "look at gate 3", floor=0)
    assert "function_call" not in answer.text
    assert "The gate 3 is red." in answer.text


def test_a_context_into_which_nothing_fits_says_what_came_nearest_and_how_far(
    alice: Person,
) -> None:
    long = "Zeppelinreparaturwerkstattschluessel" * 30
    alice.say(NewMessage(f"I keep the {long}.", name="Ines"), user_id="ines", extract="none")
    answer = packed(alice, f"Where is the {long}?", tokens=50, floor=0)
    assert answer.text == ""
    assert answer.nearest is not None
    assert "fits into 50 tokens" in answer.reason
    assert f"{answer.nearest.confidence:.3f}" in answer.reason
    assert "Zeppelin" in answer.reason


def test_where_all_that_was_found_is_about_something_else_the_nearest_of_it_is_told(
    alice: Person,
) -> None:
    alice.tell("Olaf lives in Potsdam now.", visibility="team")
    answer = packed(alice, "Who wrote Hamlet?", user="bob", floor=1e-9)
    assert answer.text == ""
    assert answer.nearest is not None
    assert "is about what is asked" in answer.reason
    assert "Potsdam" in answer.reason
