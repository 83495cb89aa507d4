"""How a case is put to people: a question, buttons named by their effect, and what it came to."""

import pytest

from memories.language.english.case_words import (
    holds_no_more,
    holds_still,
    listed,
    predicate_of,
    question_of,
    short_names,
)
from memories.language.english.statements import read, relation

POOL = "User swims at the harbour pool because it's close to their flat"


@pytest.mark.parametrize(
    ("kind", "attribute", "who", "said", "question"),
    [
        ("contradiction", "residence", "Ann", ["User lives in Lille"], "Where does Ann live?"),
        ("held", "residence", "Ann", ["Ann's sister lives in Lille"], "Which of these is true of Ann?"),
        ("contradiction", "deadline", "", ["The report is due on 3 May"], "Which deadline is right?"),
        ("contradiction", "other", "", ["The lift is broken"], "Which of these is true?"),
        ("quarantine", "other", "Ann", ["User sails"], "Is this true of Ann?"),
        ("uncertain", "residence", "Ann", [POOL], "Is this still true of Ann?"),
    ],
)
def test_a_case_asks_a_question(kind: str, attribute: str, who: str, said: list[str], question: str) -> None:
    assert question_of(kind, attribute, who, said) == question


@pytest.mark.parametrize(
    ("said", "still", "no_more"),
    [
        (POOL, "Still swims at the harbour pool", "Swims at the harbour pool no more"),
        ("Ann Lee is vegan", "Still is vegan", "Is vegan no more"),
        ("User does not eat fish", "Still does not eat fish", "Not true any more"),
        ("User's bakery is near the flat", "Still true", "Not true any more"),
        ("User and others sail", "Still true", "Not true any more"),
    ],
)
def test_buttons_say_what_they_do(said: str, still: str, no_more: str) -> None:
    assert (holds_still(said, "Ann Lee"), holds_no_more(said, "Ann Lee")) == (still, no_more)


@pytest.mark.parametrize(
    ("said", "names"),
    [
        (["User lives in Lille", "User moved to Antwerp"], ["Lille", "Antwerp"]),
        (
            ["User's budget for the kitchen is 12,000 EUR", "User's kitchen budget is 15,000 EUR"],
            ["12,000 EUR", "15,000 EUR"],
        ),
        (["The report is due on 3 December", "The report is due on December 10th"], ["3 December", "December 10th"]),
        (["User sails", "User moved to Antwerp"], ["“User sails”", "“User moved to Antwerp”"]),
        (["User sails."], ["“User sails”"]),
        ([], []),
    ],
)
def test_statements_are_called_by_what_tells_them_apart(said: list[str], names: list[str]) -> None:
    assert short_names(said) == names


def test_of_many_the_first_are_listed() -> None:
    assert listed(["a"]) == "a"
    assert listed(["a", "b"]) == "a and b"
    assert listed(list("abcdef")) == "a, b, c and 3 more"


def test_what_is_told_of_somebody_else_has_no_short_form() -> None:
    assert predicate_of("Bo swims", "Ann") == ""


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (
            "User has to finish the Lyra draft by 3 December",
            "User has to finish the Lyra report by 10 December",
        ),
        ("User's budget for the kitchen is 12,000 EUR", "User's budget for the bathroom is 2,000 EUR"),
        ("A seat costs 20 euros", "A seat costs 25 euros on weekends"),
        ("User spent 900 EUR on the kitchen", "User's kitchen budget is 15,000 EUR"),
        ("User meets Bo on 3 December", "User meets Bo on 10 December"),
    ],
)
def test_values_of_two_things_do_not_conflict(old: str, new: str) -> None:
    assert relation(read(old), read(new), cosine=None, threshold=0.9).kind == "different"
