"""A memory that tells the attribute which a question asks for, of whom it asks, comes before one
that only shares its words."""

import pytest

from memories.ingest import NewMessage
from memories.language.english.asked_attribute import asked_attribute, is_of_person
from tests.people import Person
from workspaces.models import Subject


@pytest.mark.parametrize(
    ("query", "who", "key"),
    [
        ("Where does Rita live?", "Rita", "rita|residence|"),
        ("where do I live now?", "", "rita|residence|"),
        ("What is my job?", "", "rita|job|"),
        ("Who does she work for?", "", "rita|employer|"),
        ("How old is Rita?", "Rita", "rita|age|"),
        ("who is her boss?", "", "rita|boss|"),
        ("Which locker is mine?", "", "rita|locker|number"),
    ],
)
def test_a_question_names_an_attribute_as_a_statement_does(query: str, who: str, key: str) -> None:
    asked = asked_attribute(query)
    assert asked is not None
    assert asked.who == who
    assert key in asked.keys(["Rita"])


@pytest.mark.parametrize(
    "query",
    ["Where did Rita live as a child?", "Does Rita live well?", "What happened in Oslo?", "home"],
)
def test_another_question_names_none(query: str) -> None:
    assert asked_attribute(query) is None


@pytest.mark.parametrize(
    ("query", "names", "is_own"),
    [
        ("What may a visitor bring?", ["May"], False),
        ("Is the cat of May ill?", ["May"], True),
        ("How does the user table work?", ["user"], False),
        ("is the cat of rita ill?", ["Rita"], True),
        ("Do I have a cat?", [], True),
        ("How do I feed a cat?", [], False),
        ("Can you feed my cat?", [], False),
        ("Who was the first man in space and when did he fly?", [], False),
    ],
)
def test_a_question_is_of_a_person_by_its_words_or_the_name(query: str, names: list[str], is_own: bool) -> None:
    assert is_of_person(query, names) is is_own


@pytest.fixture
def ines(alice: Person) -> Person:
    """Alice's backend, which was told where Ines lives."""
    alice.say(NewMessage("I moved to Bergen in May.", name="Ines"), user_id="ines", thread_id="t")
    return alice


@pytest.mark.parametrize("query", ["Where does Ines live?", "Where do I live?"])
@pytest.mark.parametrize("layers", [("memories",), ("memories", "episodes")])
def test_the_attribute_that_is_asked_for_comes_before_a_word_of_the_question(
    ines: Person, query: str, layers: tuple[str, ...]
) -> None:
    for text in (
        "My sister Gerda lives in Hamar.",
        "My neighbour lives next door and lives alone.",
    ):
        ines.say(NewMessage(text, name="Ines"), user_id="ines", thread_id="t")
    for user in ("ines", *(() if " I " in query else ("",))):
        assert "Bergen" in ines.finds(query, user_id=user, layers=layers)[0]


@pytest.mark.parametrize("name", ["Ines", "Ines Berg", ""])
def test_the_attribute_of_somebody_who_gave_no_name_is_found_by_their_id_or_name(alice: Person, name: str) -> None:
    user = "u-17" if name else "ines"
    for text in ("I live in Bergen.", "My sister Gerda lives in Hamar."):
        alice.say(text, user_id=user, thread_id="t")
    alice.tell("Ines lives and breathes music, her sister lives for food.", user_id=user, thread_id="t")
    Subject.objects.filter(external_id=user).update(name=name)
    assert "Bergen" in alice.finds("Where does Ines live?", user_id=user, layers=("memories", "episodes"))[0]
    assert "Bergen" not in alice.finds("Where does Gerda live?", user_id=user)[0]


def test_the_attribute_is_found_among_many_that_hold_the_words(ines: Person) -> None:
    for number in range(120):
        text = f"My cousin number {number} lives where cousins live, and lives well."
        ines.tell(text, user_id="ines", thread_id="cousins")
    assert "Bergen" in ines.finds("Where do I live?", user_id="ines")[0]


def test_an_attribute_of_another_is_no_answer(ines: Person) -> None:
    ines.say(NewMessage("I live in Split.", name="Jon"), user_id="jon")
    hits = ines.ask("Where does Jon live?", user_id="ines")
    assert not any(hit.scores.get("attribute") for hit in hits)
    bound = ines.ask("Where does Jon live?")
    assert "Split" in bound[0].row.content
