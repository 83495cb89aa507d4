from datetime import UTC, datetime

import pytest

from memories.language.english.dates import event_date, spans
from memories.reading.extraction import evidence
from tests.api_fixtures import caller
from tests.people import Person

AT = datetime(2026, 11, 18, 12, tzinfo=UTC)  # a Wednesday


def day(text: str) -> str:
    when = event_date(text, AT)
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


@pytest.mark.parametrize("text", ["I swim every Monday and Friday", "We meet each Tuesday", "I ski every March"])
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


@pytest.mark.parametrize("year", [1, 9999])
@pytest.mark.parametrize(
    "words",
    [
        "in ten years",
        "tomorrow",
        "yesterday",
        "next weekend",
        "last weekend",
        "this week",
        "on Monday",
        "next Monday",
        "next fall",
        "last spring",
        "in May",
        "next January",
        "by the end of next month",
        "on the 31st",
        "on February 30",
        "on January 1",
        "last Christmas Eve",
        "in 999 weeks",
        "the week before last",
        "on 0000-13-45",
    ],
)
@pytest.mark.parametrize("will", ["I will see Anna {}.", "I saw Anna {}."])
def test_beyond_the_calendar_no_day_is_meant(year: int, words: str, will: str) -> None:
    for at in (datetime(year, 1, 1, tzinfo=UTC), datetime(year, 12, 31, 23, 59, tzinfo=UTC)):
        text = will.format(words)
        when = event_date(text, at)
        assert when is None or abs(when.year - year) <= 20
        list(evidence.numbers(text, text, at))
        for span in spans(text, at):
            assert span.first_day <= span.last_day


def said_at(at: str) -> dict[str, object]:
    text = "I will see Anna in ten years, tomorrow. I worked at Acme yesterday."
    return {"messages": [{"role": "user", "createdAt": at, "content": text}], "mode": "sync"}


@pytest.mark.parametrize("at", ["9999-12-31T23:59:59Z", "0001-01-01T00:00:00Z"])
def test_what_is_said_at_an_end_of_time_is_learned_from_and_found(alice: Person, at: str) -> None:
    http = caller(alice)
    assert http.post("/memories/ingest", said_at(at)).body["status"] == "done"
    for query in ("Anna tomorrow", "Anna on May 0", "Acme 10 weeks ago"):
        assert http.post("/memories/search", {"query": query, "validAt": at}).status == 200
        assert http.post("/memories/search", {"query": query}).body["results"]


@pytest.mark.parametrize("at", ["9999-12-31T23:59:59-05:00", "0001-01-01T00:00:00+05:00"])
def test_a_time_beyond_the_calendar_is_refused_by_its_name(alice: Person, at: str) -> None:
    answer = caller(alice).post("/memories/ingest", said_at(at))
    assert (answer.status, answer.fields) == (400, ["messages[0].createdAt"])
