"""What is of the moment, of somebody else's words or not in earnest is a message and no memory."""

from datetime import UTC, datetime

import pytest

from memories.language.english import find_claims
from memories.language.english.write_dates import end_of_state

AT = datetime(2026, 2, 4, 12, tzinfo=UTC)  # a Wednesday


def told(text: str) -> list[str]:
    return [each.statement for each in find_claims.extract(text, "Alex", AT) if not each.unworthy]


@pytest.mark.parametrize(
    "text",
    [
        "I'm banging my elbow on the drawer",
        "I love the colours and the soft light",
        "I'm at the dentist",
        "The sign says I have lived here since 1890.",
        "Overheard at the ferry: I hate my job at the bank",
        "In the play I'm a widow from Kerry with six goats.",
        "I dreamt I was a lighthouse keeper in Norway",
        "From: Bo Lind\nTo: Ann\nSubject: flat\n\nI live in Turku and I work at Fazer.",
        "Enjoy the concert on Friday!",
        "Mixed audience notes should use only the broad wording of May",
    ],
)
def test_what_is_not_told_of_ones_own_life_is_no_memory(text: str) -> None:
    assert told(text) == []


@pytest.mark.parametrize(
    ("text", "statement"),
    [
        ("I'm learning Welsh for my new job.", "Alex is learning Welsh for their new job"),
        ("I'm in Tallinn", "Alex is in Tallinn"),
        ("PASSED my driving test on Monday", "Alex passed their driving test on Monday"),
    ],
)
def test_what_lasts_or_has_a_name_is_kept(text: str, statement: str) -> None:
    assert told(text) == [statement]


@pytest.mark.parametrize(
    ("statement", "day"),
    [
        ("Ann works from home for a fortnight", datetime(2026, 2, 20, 12, tzinfo=UTC)),
        ("Ann is on antibiotics for ten days", datetime(2026, 2, 16, 12, tzinfo=UTC)),
        ("Ann takes the bus till the car is back", datetime(2026, 3, 6, 12, tzinfo=UTC)),
    ],
)
def test_words_of_duration_have_an_end(statement: str, day: datetime) -> None:
    assert end_of_state(statement, AT) == day


def test_until_a_weekday_ends_behind_it() -> None:
    end = end_of_state("Ann is staying at her sister's until Sunday", AT)
    assert end is not None
    assert end.date() >= datetime(2026, 2, 8, tzinfo=UTC).date()


@pytest.mark.parametrize(
    "statement",
    [
        "Ann has lived in Rome for two weeks",
        "Ann lived in Rome for three months",
        "Ann starts today as the new engineer and is in Tallinn",
        "Ann waited until the bus came",
        "Ann never eats until noon",
    ],
)
def test_what_lasts_or_is_over_has_no_end(statement: str) -> None:
    assert end_of_state(statement, AT) is None
