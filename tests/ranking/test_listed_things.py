"""A question that lists several things is answered for each of them."""

import pytest

from memories.ranking import listed
from tests.people import Person


@pytest.mark.parametrize(
    ("query", "things"),
    [
        (
            "What are the date, the budget and the room of Otter?",
            ["What are the date Otter", "the budget Otter", "the room of Otter"],
        ),
        (
            "Give me a recap of Otter: its date, its budget, and who sings.",
            ["its date Otter", "its budget Otter", "who sings Otter"],
        ),
        (
            "For the board, what are our rent, our wages and our debts?",
            ["For the board", "what are our rent", "our wages", "our debts"],
        ),
    ],
)
def test_each_thing_is_asked_for_with_the_names_of_the_question(query: str, things: list[str]) -> None:
    assert listed(query) == things


@pytest.mark.parametrize(
    "query",
    [
        "What are the date and the budget of Otter?",
        "What did Mira, Jon and Ada paint?",
        "I rang them, asked for a date, and wrote it down.",
        "We met the singers. What did they ask, want and get?",
        "What did we buy on May 3, 2023?",
        "Tell me, now, please, all.",
        "What are " + "the date, " * 40 + "and the room?",
    ],
)
def test_what_lists_less_is_asked_as_it_is(query: str) -> None:
    assert listed(query) == []


@pytest.mark.django_db
def test_the_best_of_each_listed_thing_is_among_the_first(alice: Person) -> None:
    agenda = "the date, the budget and the bands of Otter, and then whatever else comes up there"
    lines = [f"Meeting {n} will talk about {agenda}, as every meeting before." for n in range(6)]
    for text in (*lines, "Otter: budget of 900 euros.", "Otter: brass bands."):
        alice.say(text)
    query = "What are the date, the budget and the bands of Otter?"
    found = alice.finds(query, layers=("episodes",), limit=4)
    assert any("900" in text for text in found)
    assert any("brass" in text for text in found)
