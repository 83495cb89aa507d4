"""Who and what stand on which side decides whether two statements of equal words say the same."""

import pytest

from memories.language.english.statements import Relation, read, relation, restates
from tests.people import Person


def between(old: str, new: str, cosine: float | None = 0.97) -> Relation:
    return relation(read(old), read(new), cosine=cosine, threshold=0.88)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Nell likes plums but not figs", "Nell likes figs but not plums"),
        ("The heron is older than the stork", "The stork is older than the heron"),
        ("Nell swims faster than Odd", "Odd swims faster than Nell"),
    ],
)
def test_the_opposite_order_of_what_excludes_itself_is_newer(old: str, new: str) -> None:
    assert between(old, new) == Relation("update", "turned")


def test_whom_somebody_trusts_more_is_left_to_a_person() -> None:
    found = between("I trust Nell more than Odd", "I trust Odd more than Nell")
    assert found.kind == "unsure"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (
            "Nell eats soup with salt and without pepper",
            "Nell eats soup with pepper and without salt",
        ),
        ("Nell presented Odd to Pia", "Nell presented Pia to Odd"),
        ("Nell has a red tent and a blue kayak", "Nell has a blue tent and a red kayak"),
        ("Nell outran Odd", "Odd outran Nell"),
    ],
)
@pytest.mark.parametrize("cosine", [None, 0.99])
def test_equal_words_with_changed_places_both_stand(old: str, new: str, cosine: float | None) -> None:
    assert between(old, new, cosine).kind == "different"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Nell likes plums, figs and pears", "Nell likes pears, figs and plums"),
        ("Nell has a red tent and a blue kayak", "Nell has a blue kayak and a red tent"),
        (
            "Nell eats soup with salt and without pepper",
            "Nell eats soup without pepper and with salt",
        ),
        (
            "Nell likes plums but she doesn't like figs",
            "Nell doesn't like figs but she likes plums",
        ),
        ("Pia is the umpire", "The umpire is Pia"),
        ("Nell drew the map", "The map was drawn by Nell"),
        ("Every Tuesday Nell fences in Bonn", "Nell fences in Bonn every Tuesday"),
    ],
)
def test_an_order_that_does_not_matter_says_the_same(old: str, new: str) -> None:
    assert between(old, new).kind == "same"


def test_what_was_rejected_is_not_said_again_by_its_opposite() -> None:
    rejected, new = "Nell likes plums but not figs", "Nell likes figs but not plums"
    assert not restates(read(rejected), read(new), 0.99, 0.88)


def test_the_newer_opposite_is_what_is_believed(alice: Person) -> None:
    alice.tell("Nell likes plums but not figs", user_id="u")
    session = alice.tell("Nell likes figs but not plums", user_id="u")
    assert session.reinforced_ids == []
    assert alice.live() == ["Nell likes figs but not plums"]
