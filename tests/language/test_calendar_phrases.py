"""Phrases of the calendar and the days that people mean by them: tests/data/calendar_phrases.txt."""

import calendar
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest

from memories.language.english.dates import event_date, spans
from memories.language.english.write_dates import with_dates

CLOCKS = {
    "A": datetime(2026, 4, 15, 10, tzinfo=UTC),
    "B": datetime(2026, 2, 28, 10, tzinfo=UTC),
    "C": datetime(2026, 10, 15, 10, tzinfo=UTC),
    "E": datetime(2026, 12, 31, 20, tzinfo=UTC),
    "L": datetime(2024, 2, 29, 9, tzinfo=UTC),
    "M": datetime(2026, 8, 31, 18, tzinfo=UTC),
}
# Things that are named by words of the calendar, and are taken for it: no more of them than these.
KNOWN = {
    "My last Friday shift was dull.",
    "It took us from May 12th street to the pier.",
    "I sat on the last bench in April's garden.",
}


def told() -> Iterator[tuple[str, datetime, str]]:
    """Yield each sentence with its clock and its answer."""
    path = Path(__file__).parents[1] / "data" / "calendar_phrases.txt"
    for line in path.read_text().splitlines():
        if line and not line.startswith("#"):
            clock, sentence, answer = (part.strip() for part in line.split(" | "))
            yield sentence, CLOCKS[clock[0]], answer


def days_of(answer: str) -> tuple[date, date]:
    """Return the first and the last day of "2026-05-30", "2026-05", "2026" or two of them."""
    ends = []
    for text in answer.lstrip("~").split(".."):
        first, last = (f"{text}-01-01", f"{text}-12-31") if len(text) == 4 else (f"{text}-01"[:10], text)
        if len(text) == 7:
            last = f"{text}-{calendar.monthrange(int(text[:4]), int(text[5:]))[1]}"
        ends.append((date.fromisoformat(first), date.fromisoformat(last)))
    return ends[0][0], ends[-1][1]


def is_right(sentence: str, at: datetime, answer: str) -> bool:
    found = event_date(sentence, at)
    if found is None or answer == "-":
        return found is None and answer == "-"
    first, last = days_of(answer)
    if answer.startswith("~"):
        return first <= found.date() <= last
    exact = (first, last) in {(span.first_day, span.last_day) for span in spans(sentence, at)}
    return found.date() == first and (exact or first == last)


@pytest.mark.parametrize(("sentence", "at", "answer"), [each for each in told() if each[0] not in KNOWN])
def test_a_phrase_of_the_calendar_means_its_day(sentence: str, at: datetime, answer: str) -> None:
    assert any(is_right(sentence, at, each) for each in answer.split(" or ")), (answer, event_date(sentence, at))


@pytest.mark.parametrize(("sentence", "at", "answer"), [each for each in told() if each[0] not in KNOWN])
def test_what_is_written_means_the_same_a_year_later(sentence: str, at: datetime, answer: str) -> None:
    """What still counts from the day of saying has no date in it, or keeps its own."""
    written = with_dates(sentence, at)
    if written != sentence:
        was, now = event_date(sentence, at), event_date(written, at + timedelta(days=400))
        assert was is not None
        assert now is not None
        assert abs(now - was) <= timedelta(days=16), written


def test_there_is_no_date_in_what_the_calendar_lacks() -> None:
    for text in ("on 31 April", "on 2/30", "on the fifth Monday of May", "on 29 February 2025"):
        assert not event_date(f"We meet {text}.", CLOCKS["A"]), text
