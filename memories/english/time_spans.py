"""Spans of time and the arithmetic of the calendar. A day begins at midnight of its own zone."""

from collections.abc import Callable
from datetime import date, datetime, timedelta
from typing import Literal, NamedTuple

MONTHS = (
    "january", "february", "march", "april", "may", "june", "july", "august", "september",
    "october", "november", "december",
)  # fmt: skip
WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
SEASONS = {"spring": 3, "summer": 6, "fall": 9, "autumn": 9, "winter": 12}  # first months
PARTS = {"morning": (5, 12), "afternoon": (12, 18), "evening": (17, 23), "night": (20, 28)}
# Months and weekdays as they are written, in regexes of others.
MONTH = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?"
    r"|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)"
)
WEEKDAY = r"(?:(?:mon|tues|wednes|thurs|fri|satur|sun)day)"

Grain = Literal[
    "minute", "hour", "part", "day", "range", "weekend", "week", "month", "quarter", "season",
    "year", "decade",
]  # fmt: skip
Which = Literal["", "last", "this", "next"]


class Span(NamedTuple):
    """From `start` up to, not including, `end`, in the zone of the clock it was read by.

    `any_year`: no year is named; it is the nearest that fits the tense. `is_relative`: its words
    mean another time on another day. `likely` is the day that is meant rather than the first one:
    two weeks ago it was the same weekday.
    """

    start: datetime
    end: datetime
    grain: Grain
    any_year: bool = False
    is_relative: bool = False
    likely: datetime | None = None

    @property
    def first_day(self) -> date:
        return self.start.date()

    @property
    def last_day(self) -> date:
        if self.end == self.end.max.replace(tzinfo=self.end.tzinfo):
            return self.end.date()
        return max(self.first_day, (self.end - timedelta(microseconds=1)).date())


def month_number(name: str) -> int:
    short = [month[:3] for month in MONTHS]
    return short.index(name[:3].lower()) + 1


def weekday_number(name: str) -> int:
    short = [day[:3] for day in WEEKDAYS]
    return short.index(name[:3].lower())


def midnight(at: datetime) -> datetime:
    return at.replace(hour=0, minute=0, second=0, microsecond=0)


def later(at: datetime, *, days: float = 0, minutes: float = 0) -> datetime:
    """At most the last moment that the calendar has; OverflowError before its first."""
    delta = timedelta(days=days, minutes=minutes)
    try:
        return at + delta
    except OverflowError:
        if delta < timedelta(0):
            raise
        return datetime.max.replace(tzinfo=at.tzinfo)


def months_later(at: datetime, months: int) -> datetime:
    """The first of the month so many months from that of `at`."""
    number = at.year * 12 + at.month - 1 + months
    if number // 12 > date.max.year and months > 0:
        return datetime.max.replace(tzinfo=at.tzinfo)
    return midnight(at).replace(year=number // 12, month=number % 12 + 1, day=1)


def days_from(start: datetime, days: int, grain: Grain = "day", *, relative: bool = False) -> Span:
    return Span(start, later(start, days=days), grain, is_relative=relative)


def months_from(start: datetime, months: int, grain: Grain) -> Span:
    return Span(start, months_later(start, months), grain)


def in_year(span: Span, year: int) -> Span:
    """The same days of another year; ValueError on a leap day that it has not."""
    moved = year - span.start.year
    return span._replace(
        start=span.start.replace(year=year),
        end=span.end.replace(year=span.end.year + moved),
        any_year=False,
    )


def nearest(make: Callable[[int], Span], at: datetime, which: Which, *, ahead: bool) -> Span | None:
    """Of what comes once a year the one that is meant: the last, this or the next one; without such
    a word the next that is not over where `ahead`, else the last that has begun.

    A day may be one off, because the zone of who speaks is not known.
    """
    today = midnight(at)
    spans = []
    for year in range(max(1, at.year - 8), min(9999, at.year + 8) + 1):
        try:
            spans.append(make(year))
        except ValueError:  # a year without such a day
            continue
    slack = 1 if not which and spans and spans[0].grain == "day" else 0
    match which, ahead:
        case "last", _:
            return next((s for s in reversed(spans) if s.end <= today), None)
        case "next", _:
            return next((s for s in spans if s.start > today), None)
        case "this", _:
            inside = (s for s in spans if s.start <= today < s.end)
            return next(inside, next((s for s in spans if s.start.year == at.year), None))
        case _, True:
            return next((s for s in spans if later(s.end, days=slack) > today), None)
    return next((s for s in reversed(spans) if s.start <= later(today, days=slack)), None)
