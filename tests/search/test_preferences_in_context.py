"""What somebody prefers is served with what the question speaks of; a story in its own order."""

from datetime import UTC, datetime, timedelta

import pytest

from memories.ingest import NewMessage
from memories.language.english.standing_wishes import preference
from memories.ranking import asks_in_time
from memories.search import SearchRequest, context
from memories.search.context import Context
from tests.api_fixtures import caller
from tests.people import Person

NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)
LOAVES = "For the bakery page I'd prefer large pictures over long lists."


def pack(person: Person, query: str, **wish: object) -> Context:
    request = SearchRequest(query, user_id="ada", layers=("memories", "episodes"), limit=20)
    return context.context(person.scope, request, **{"floor": 0.0} | wish)  # type: ignore[arg-type]


def say(person: Person, *texts: str) -> None:
    for day, text in enumerate(texts):
        message = NewMessage(text, created_at=NOON + timedelta(days=day))
        person.say(message, user_id="ada", extract="patterns")


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("Thanks. I strongly prefer oats. Bye.", "I strongly prefer oats."),
        ("My preference is a window seat", "My preference is a window seat"),
        ("I live by the sea and I prefer tea.", "I prefer tea."),
        ("She prefers tea.", None),
        ("Which one would you prefer?", None),
        ("", None),
    ],
)
def test_the_sentence_that_says_a_preference(text: str, sentence: str | None) -> None:
    place = preference(text)
    assert (place and text[slice(*place)].strip()) == sentence


@pytest.mark.parametrize(
    ("query", "is_story"),
    [
        ("In what order did I bake them?", True),
        ("How did my sourdough develop?", True),
        ("Give me a summary of the bakery", True),
        ("Which flour do I use?", False),
        ("How do I order flour?", False),
    ],
)
def test_what_asks_for_a_story(query: str, is_story: bool) -> None:
    assert asks_in_time(query) is is_story


@pytest.mark.django_db
class TestTold:
    def test_a_preference_of_what_is_asked_comes_first(self, alice: Person) -> None:
        say(alice, LOAVES, "The bakery opens at six.", "I prefer trains to planes.")
        first, *others = pack(alice, "When does the bakery open?").text.splitlines()[2:-1]
        assert " always] " in first
        assert "large pictures" in first
        assert not any(" always] " in line for line in others)

    def test_what_nothing_answers_brings_no_preference(self, alice: Person) -> None:
        say(alice, LOAVES)
        assert pack(alice, "What is the bakery's phone number?", floor=1.0).text == ""

    def test_a_standing_wish_is_not_told_twice(self, alice: Person) -> None:
        say(alice, "Always answer in French. I prefer short bakery answers.", "The bakery is old.")
        assert pack(alice, "How old is the bakery?").text.count(" always]") == 1

    def test_what_another_agent_was_told_is_not_told(self, bob: Person, carol: Person) -> None:
        say(bob, LOAVES)
        say(carol, "The bakery opens at six.")
        query = "When does the bakery open?"
        assert "large pictures" in pack(bob, query).text
        assert "large pictures" not in pack(carol, query).text

    def test_a_story_is_told_in_its_order_unless_another_is_asked(self, alice: Person) -> None:
        say(alice, "I baked rye loaves.", "I baked oat loaves.", "I baked spelt loaves.")

        def order(query: str, **wish: object) -> list[str]:
            text = pack(alice, query, **wish).text
            return sorted(("rye", "oat", "spelt"), key=text.index)

        assert order("In what order were the loaves baked?") == ["rye", "oat", "spelt"]
        assert order("Which loaves were baked?") == ["spelt", "oat", "rye"]
        newest = order("In what order were the loaves baked?", order="newest")
        assert newest == ["spelt", "oat", "rye"]

    def test_the_route_takes_the_order(self, alice: Person) -> None:
        say(alice, "I baked rye loaves.", "I baked oat loaves.")
        wish = {"query": "loaves", "userId": "ada", "order": "as_asked", "floor": 0}
        assert caller(alice).post("/memories/context", wish).status == 200
        refused = caller(alice).post("/memories/context", wish | {"order": "sideways"})
        assert refused.status == 400
