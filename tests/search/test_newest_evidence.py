"""Where a caller names no layers: what was said last about a thing stands before what is believed of it."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from memories.ingest import NewMessage
from memories.models import Memory, Touch
from tests.api_fixtures import caller
from tests.people import Person, bound_to_agent

FIRST = datetime(2026, 3, 1, 10, tzinfo=UTC)
HAS, SOLD = "I have a blue canoe.", "Lovely weather. The canoe got sold, you know."


def say(person: Person, *contents: str, day: int = 0, user: str = "ada") -> None:
    for later, content in enumerate(contents):
        at = FIRST + timedelta(days=day + later)
        person.say(NewMessage(content, created_at=at), user_id=user, thread_id=f"of {person.key[-8:]}")


def results(person: Person, query: str, **wish: Any) -> list[dict[str, Any]]:
    body = caller(person).post("/memories/search", {"query": query, "userId": "ada", **wish}).body
    return list(body["results"])


def content(hit: dict[str, Any]) -> str:
    return str((hit.get("memory") or hit["episode"])["content"])


def contents(person: Person, query: str, **wish: Any) -> list[str]:
    return [content(hit) for hit in results(person, query, **wish)]


def relate(relation: str, until: datetime | None = None) -> None:
    """Decide every touch."""
    Touch.objects.update(relation=relation, until=until)


@pytest.fixture
def sold(alice: Person) -> Person:
    """Alice's backend, which was told of a canoe, and a month later that it is gone."""
    say(alice, HAS)
    say(alice, SOLD, day=30)
    return alice


def test_messages_are_answered_with_memories(alice: Person) -> None:
    say(alice, "The lighthouse was painted on Monday by somebody else's crew?", HAS)
    hits = results(alice, "lighthouse canoe")
    assert {hit["layer"] for hit in hits} == {"memories", "episodes"}
    assert all(("memory" in hit) == (hit["layer"] == "memories") for hit in hits)


@pytest.mark.parametrize("relation", ["unsure", "replaces", "ends"])
def test_later_words_stand_before_the_belief_that_they_speak_against(sold: Person, relation: str) -> None:
    relate(relation)
    first = results(sold, "Do I have a canoe?")[0]
    assert first["episode"]["content"] == SOLD
    assert "canoe" in content(first["echoes"][0])
    assert len([hit for hit in results(sold, "Do I have a canoe?") if "canoe" in content(hit)]) == 1


def test_later_words_that_share_none_with_the_question_are_brought_up(sold: Person) -> None:
    say(sold, *(f"Canoe trip number {n} was wet." for n in range(40)), day=40, user="bo")
    assert contents(sold, "blue", limit=1) == [SOLD]


def test_an_exception_stands_beside_what_holds(sold: Person) -> None:
    relate("exception")
    first, second = results(sold, "blue canoe")[:2]
    assert content(first) == SOLD
    assert "blue canoe" in content(second)


def test_an_exception_that_is_over_leads_no_more(sold: Person) -> None:
    relate("exception", until=FIRST + timedelta(days=31))
    assert "blue canoe" in contents(sold, "blue canoe")[0]


def test_what_was_said_again_leads_again(sold: Person) -> None:
    say(sold, HAS, day=60)
    assert "blue canoe" in contents(sold, "Do I have a blue canoe?")[0]


def test_named_layers_and_other_rankings_stay_as_they_were(sold: Person) -> None:
    for wish in ({"layers": ["memories"]}, {"ranking": "linea"}, {"ranking": "keyword"}):
        assert {hit["layer"] for hit in results(sold, "canoe", **wish)} == {"memories"}
    assert "blue canoe" in contents(sold, "blue canoe", layers=["memories", "episodes"])[0]


@pytest.mark.parametrize("wish", [{"categories": ["possession"]}, {"factTypes": ["profile"]}, {"scope": "user"}])
def test_what_only_memories_have_is_asked_of_memories_alone(alice: Person, wish: dict[str, Any]) -> None:
    say(alice, HAS)
    assert {hit["layer"] for hit in results(alice, "canoe", **wish)} == {"memories"}


def test_a_forgotten_belief_is_behind_no_message(sold: Person) -> None:
    (memory,) = Memory.objects.filter(content__contains="canoe")[:1]
    assert contents(sold, "canoe")[0] == SOLD
    caller(sold).delete(f"/memories/{memory.pk}?reason=private")
    assert not any("blue" in each for each in contents(sold, "canoe"))


def test_each_is_led_by_the_later_words_that_they_may_see_alone(alice: Person, bob: Person, mallory: Person) -> None:
    teammate = bound_to_agent(alice.workspace, "helper")
    owner = bound_to_agent(alice.workspace, "keeper")
    say(teammate, HAS)
    Memory.objects.update(visibility="global")
    say(owner, SOLD, day=30)
    assert Touch.objects.exists()
    assert contents(owner, "blue canoe")[0] == SOLD
    assert SOLD not in contents(teammate, "blue canoe")
    assert any("canoe" in each for each in contents(teammate, "blue canoe"))
    assert contents(mallory, "blue canoe") == []
