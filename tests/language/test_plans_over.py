"""A plan whose day has passed is told as upcoming no more; it stays known, and in history."""

from datetime import date, timedelta

import pytest
from django.utils import timezone

from memories.language.english.dates import last_day
from tests.api_fixtures import Caller, caller
from tests.people import Person

PROFILE, NOW = "/memories/profile", timezone.now()


@pytest.fixture
def http(alice: Person) -> Caller:
    return caller(alice)


def say(http: Caller, text: str, days_ago: int) -> None:
    at = (NOW - timedelta(days=days_ago)).isoformat()
    said = {"role": "user", "name": "Ada", "content": text, "createdAt": at}
    http.post("/memories/ingest", {"userId": "ada", "messages": [said]})
    http.post("/sets/user:ada/fold")


def dynamic(http: Caller, **at: str) -> str:
    body = http.get(PROFILE, userId="ada", **at).body
    text = str(http.get(PROFILE, userId="ada", format="markdown", **at).body)
    told = " ".join(body["dynamic"])
    current, _, earlier = text.partition("## Earlier")
    assert ("Malta" in told) == ("Malta" in current)
    assert not ("Malta" in told and "Malta" in earlier)
    return told


def test_it_is_upcoming_until_its_day_has_passed(http: Caller) -> None:
    say(http, "I am going to sail to Malta tomorrow.", 0)
    assert "Malta" in dynamic(http)
    say(http, "I am going to paint the barn tomorrow.", 20)
    assert "barn" not in dynamic(http)


def test_over_it_is_still_known_and_was_upcoming_then(http: Caller) -> None:
    say(http, "I am going to sail to Malta tomorrow.", 20)
    assert "Malta" not in dynamic(http)
    plans = http.get(PROFILE, userId="ada").body["features"]["plans"]
    assert [row["isOver"] for rows in plans.values() for row in rows] == [True]
    then = (NOW - timedelta(days=20, hours=-1)).isoformat()
    assert "Malta" in dynamic(http, validAt=then)


def test_a_wish_without_a_date_is_upcoming_as_long_as_it_is_spoken_of(http: Caller) -> None:
    say(http, "My goal is to sail to Malta.", 90)
    assert "Malta" not in dynamic(http)
    assert "## Earlier" in str(http.get(PROFILE, userId="ada", format="markdown").body)
    say(http, "My goal is to sail to Malta.", 30)
    assert "Malta" in dynamic(http)


@pytest.mark.parametrize(
    ("statement", "first", "last"),
    [
        ("flies to Oslo on May 9", date(2026, 5, 9), date(2026, 5, 9)),
        ("flies to Oslo on May 1st", date(2026, 5, 1), date(2026, 5, 1)),
        ("moves to Oslo in February", date(2028, 2, 1), date(2028, 2, 29)),
        ("moves to Oslo tomorrow", date(2026, 5, 1), date(2026, 5, 1)),
        ("moves to Oslo next month", date(2026, 5, 1), date(2026, 5, 31)),
        ("moves to Oslo next week", date(2026, 5, 5), date(2026, 5, 11)),
        ("paints this weekend", date(2026, 5, 9), date(2026, 5, 10)),
        ("travels next year", date(2027, 1, 1), date(2028, 1, 1)),
        ("travels next summer", date(2027, 6, 1), date(2027, 9, 1)),
        ("travels next decade", date(9999, 1, 1), date(9999, 12, 31)),
    ],
)
def test_the_last_day_follows_from_the_words(statement: str, first: date, last: date) -> None:
    assert last_day(statement, first) == last
