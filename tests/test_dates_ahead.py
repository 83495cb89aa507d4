from datetime import UTC, datetime

import pytest

from memories.patterns import dates

AT = datetime(2026, 11, 18, 12, tzinfo=UTC)  # a Wednesday


def day(text: str) -> str:
    when = dates.ground(text, AT)
    return when.date().isoformat() if when else ""


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I am sailing to Malta on December 5th", "2026-12-05"),
        ("We are opening the shop on May 9", "2027-05-09"),
        ("My audition is on February 2", "2027-02-02"),
        ("The course starts on January 11", "2027-01-11"),
        ("The meeting moved to Friday", "2026-11-20"),
        ("I will move in on the 1st", "2026-12-01"),
        ("On December 5 I am sailing to Malta", "2026-12-05"),
        ("I've got a rehearsal on Friday", "2026-11-20"),
        ("She has an interview on Monday", "2026-11-23"),
    ],
)
def test_the_present_tense_with_a_date_tells_of_the_next_one(text: str, expected: str) -> None:
    assert day(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I moved to Malta on December 5", "2025-12-05"),
        ("I was sailing to Malta on December 5", "2025-12-05"),
        ("I have been baking since March 4", "2026-03-04"),
        ("I paid the rent on the 1st", "2026-11-01"),
        ("I got a letter on Friday", "2026-11-13"),
        ("I began therapy in May and it's helping a lot", "2026-05-01"),
        ("I live on the 3rd floor", ""),
    ],
)
def test_what_is_past_keeps_its_date(text: str, expected: str) -> None:
    assert day(text) == expected


@pytest.mark.parametrize(
    "text", ["I swim every Monday and Friday", "We meet each Tuesday", "I ski every March"]
)
def test_what_recurs_has_no_date(text: str) -> None:
    assert day(text) == ""


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Our office is closed on December 24", "2026-12-24"),
        ("The launch slipped to March 9", "2027-03-09"),
        ("We meet next Thursday", "2026-11-26"),
        ("We meet next Friday", "2026-11-20"),
        ("I moved to Bern in the spring of 2020", "2020-03-01"),
        ("We got engaged on Christmas Eve", "2025-12-24"),
        ("We will meet on New Year's Day", "2027-01-01"),
        ("The lease ends at the end of the month", "2026-11-30"),
    ],
)
def test_days_with_a_name_of_their_own_are_known(text: str, expected: str) -> None:
    assert day(text) == expected
