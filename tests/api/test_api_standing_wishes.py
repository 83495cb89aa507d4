"""A standing wish is served as long as it is believed: not when it was corrected, replaced, taken
back or forgotten."""

from datetime import UTC, datetime, timedelta
from itertools import count

import pytest

from tests.api_fixtures import Caller, caller
from tests.people import Person

QUESTION = "How tall is Mount Everest?"
DAYS = count()


@pytest.fixture
def api(alice: Person) -> Caller:
    return caller(alice)


def say(api: Caller, *texts: str, user: str = "ada", role: str = "user") -> None:
    for text in texts:
        day = next(DAYS)
        at = datetime(2026, 2, 1, tzinfo=UTC) + timedelta(days=day)
        message = {"role": role, "content": text, "createdAt": at.isoformat()}
        body = {"messages": [message], "userId": user, "threadId": f"t{day}"}
        assert api.post("/memories/ingest", body).status == 201


def context(api: Caller, user: str = "ada", query: str = QUESTION, **more: object) -> str:
    body = {"query": query, "userId": user, **more}
    return str(api.post("/memories/context", body).body["text"])


def standing(api: Caller, user: str = "ada", **more: object) -> list[str]:
    """What is served as a wish, without marks and days."""
    lines = context(api, user, **more).splitlines()
    return [line.partition(": ")[2] or line for line in lines if " always] " in line]


def believed(api: Caller, user: str = "ada") -> list[dict[str, object]]:
    return list(api.get(f"/memories?userId={user}").body["results"])


def test_a_corrected_wish_is_served_as_it_was_corrected(api: Caller) -> None:
    say(api, "Always answer in French.")
    assert standing(api) == ["user: Always answer in French."]
    [memory] = believed(api)
    api.patch(f"/memories/{memory['id']}", {"content": "User wants answers in German"})
    assert standing(api) == ["User wants answers in German"]


@pytest.mark.parametrize("reason", ["wrong", "outdated", "private", "no more"])
def test_a_forgotten_wish_is_none(api: Caller, reason: str) -> None:
    say(api, "Always answer in French.")
    [memory] = believed(api)
    api.delete(f"/memories/{memory['id']}", reason=reason)
    assert standing(api) == []
    api.post(f"/memories/{memory['id']}/restore")
    assert standing(api) == ["user: Always answer in French."]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("Always answer in French.", "From now on, always answer in Spanish."),
        ("Answer in Danish, please.", "Please reply in Welsh."),
        ("I prefer short answers.", "I changed my mind: I prefer long answers."),
        ("Please call me Dr. Ibsen.", "Please call me Henrik."),
        ("Use British spelling.", "Use American spelling."),
        ("Keep it formal.", "Keep it casual."),
        ("Never use emojis.", "Always use emojis."),
        ("Always cite your sources.", "Stop citing sources."),
        ("No bullet points please.", "Please use bullet points in all answers."),
        ("I want all prices in Swiss francs.", "I want all prices in Danish kroner."),
    ],
)
def test_a_newer_wish_about_the_same_takes_the_place_of_the_older(api: Caller, before: str, after: str) -> None:
    say(api, before)
    assert standing(api) == [f"user: {before}"]
    say(api, after)
    assert standing(api) == [f"user: {after}"]
    assert len(believed(api)) == 1
    assert api.get("/cases").body["results"] == []


def test_wishes_about_different_things_stand_side_by_side(api: Caller) -> None:
    said = ["Always answer in French.", "Keep your answers short.", "Never use tables."]
    say(api, *said, "Always answer in Italian when I ask about opera.")
    assert len(believed(api)) == 4
    assert standing(api) == [f"user: {text}" for text in reversed(said)]


@pytest.mark.parametrize(
    ("wish", "end"),
    [
        ("Never use tables.", "You can use tables again."),
        ("Never recommend horror films.", "You may recommend horror films again."),
        ("Always add sources.", "You don't have to add sources anymore."),
        ("Always answer in French.", "Forget that I want answers in French."),
    ],
)
def test_what_is_allowed_again_or_taken_back_is_asked_no_more(api: Caller, wish: str, end: str) -> None:
    say(api, wish)
    assert standing(api) == [f"user: {wish}"]
    say(api, end)
    assert standing(api) == []


@pytest.mark.parametrize("kind", [{"factType": "system"}, {"category": "instruction"}], ids=["type", "category"])
def test_a_wish_that_was_written_by_hand_stands(api: Caller, kind: dict[str, str]) -> None:
    api.post("/memories", {"content": "Answer Ada in verse", "userId": "ada", **kind})
    assert standing(api) == ["Answer Ada in verse"]
    assert standing(api, user="bea") == []


def test_what_is_to_be_remembered_is_no_wish(api: Caller) -> None:
    say(api, "Please remember that I work nights.", "You should always wear a helmet.")
    assert standing(api) == []


def test_only_the_person_and_nobody_else_asks(api: Caller) -> None:
    say(api, "Always answer in French.", role="assistant")
    say(api, "My doctor said: never take aspirin with alcohol.")
    assert standing(api) == []


def test_a_wish_is_private(api: Caller, mallory: Person) -> None:
    for text in ("Stop using emojis.", "Never use tables.", "You should always add sources."):
        say(api, text)
    assert {memory["visibility"] for memory in believed(api)} == {"private"}
    assert standing(caller(mallory)) == []


def test_all_wishes_of_a_message_are_told(api: Caller) -> None:
    say(api, "No emojis please. Keep your answers short. I am a nurse in Bergen.")
    assert standing(api) == ["user: No emojis please. Keep your answers short."]


def test_many_wishes_leave_three_quarters_to_what_answers(api: Caller) -> None:
    things = "bikes boats cars drums flutes globes hats knives lamps mirrors ovens pianos".split()
    wishes = [f"Always answer with a note on {thing}." for thing in things]
    say(api, *(f"The barn owl of farm {n} sleeps in its oak tree." for n in range(12)), *wishes)
    query = "Where does the barn owl sleep?"
    for tokens in (70, 100, 400):
        body = {"query": query, "userId": "ada", "tokens": tokens, "floor": 0}
        answer = api.post("/memories/context", body).body
        told = [line for line in answer["text"].splitlines() if " always] " in line]
        assert told[0].endswith("a note on pianos.")
        assert tokens < 400 or 1 < len(told) < 6
        assert answer["tokens"] <= tokens
    # Where nothing answers, they may have it all.
    assert len(standing(api, tokens=400)) > 6


@pytest.mark.parametrize("reason", ["wrong", "outdated", "private", "no more"])
def test_a_message_whose_belief_was_forgotten_is_left_out(api: Caller, reason: str) -> None:
    say(api, "I live in Rome near the old aqueduct.")
    query = "Where do I live, in Rome near the aqueduct?"
    assert "in Rome" in context(api, query=query, floor=0)
    [memory] = believed(api)
    api.delete(f"/memories/{memory['id']}", reason=reason)
    assert "Rome" not in context(api, query=query, floor=0)


def test_of_a_message_that_tells_more_what_was_forgotten_is_left_out(api: Caller) -> None:
    say(api, "I live in Rome near the old aqueduct. My sister is called Livia.")
    memory = next(one for one in believed(api) if "Rome" in str(one["content"]))
    api.delete(f"/memories/{memory['id']}", reason="outdated")
    text = context(api, query="Where do I live, and what is my sister called?", floor=0)
    assert "Livia" in text
    assert "Rome" not in text
    found = api.post("/memories/search", {"query": "Rome", "userId": "ada", "layers": ["episodes"]})
    assert "Rome" in str(found.body["results"])
