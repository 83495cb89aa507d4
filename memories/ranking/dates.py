"""Dates that a query names, and how well a message's day fits them."""

import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import date, datetime, timedelta
from math import isfinite
from typing import NamedTuple

_epoch = date(1970, 1, 1)
_names = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_month = (
    r"(?P<month>jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?"
    r"|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)"
)
_named = re.compile(
    rf"(?:\b(?P<before>\d{{1,2}})(?:st|nd|rd|th)?(?: of)? )?\b{_month}\b\.?"
    r"(?: (?P<after>\d{1,2})(?:st|nd|rd|th)?\b(?!\d))?(?:,? (?P<year>(?:19|20)\d\d)\b)?",
    re.IGNORECASE,
)
_iso = re.compile(r"\b((?:19|20)\d\d)-(\d\d)(?:-(\d\d))?\b")
_year = re.compile(r"\b((?:19|20)\d\d)\b")
_modal = re.compile(r"\b(?:in|on|of|since|during|early|late|mid|last|this|next|until|by) $", re.I)
_numbers = {"a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6}
_ago = re.compile(
    r"\b(\d{1,3}|an?|one|two|three|four|five|six) (day|week|month|year)s? ago\b", re.I
)
_last_year = re.compile(r"\blast year\b", re.I)
_just_last = re.compile(r"\blast $", re.I)
_last = re.compile(r"\b(?:(yesterday)|(today)|last (week|month|year))\b", re.I)


class Anchor(NamedTuple):
    """A day, month or year that a query names; what it leaves open is None."""

    year: int | None
    month: int | None
    day: int | None


def anchors(query: str, now: datetime | None) -> list[Anchor]:
    """Dates named in the query; relative ones only where `now` is given."""
    today = now.date() if now else None
    found = [*_absolute(query, today), *(_relative(query, today) if today else ())]
    if not found:
        found = [Anchor(int(y), None, None) for y in _year.findall(query)]
    return list(dict.fromkeys(found))


def _absolute(query: str, today: date | None) -> Iterator[Anchor]:
    for year, month, day in _iso.findall(query):
        yield Anchor(int(year), int(month), int(day) if day else None)
    years = _year.findall(query)
    for m in _named.finditer(query):
        day = m["before"] or m["after"]
        may_be_verb = m["month"].casefold() in ("may", "mar", "march") and not (day or m["year"])
        if may_be_verb and not _modal.search(query[: m.start("month")]):
            continue
        month = _names.index(m["month"][:3].casefold()) + 1
        year = m["year"] or (years[0] if years else None)
        if year is None and today:
            year = _last_one(query, query[: m.start()], month, today)
        yield Anchor(int(year) if year else None, month, int(day) if day else None)


def _last_one(query: str, before: str, month: int, today: date) -> int | None:
    """The year of "last May", which is over, and of May in "last year in May"."""
    if _last_year.search(query):
        return today.year - 1
    return today.year - (month >= today.month) if _just_last.search(before) else None


def _relative(query: str, today: date) -> Iterator[Anchor]:
    for yesterday, this_day, unit in _last.findall(query):
        if unit:
            yield _back(today, 1, unit.casefold())
        else:
            yield _back(today, 1 if yesterday and not this_day else 0, "day")
    for number, unit in _ago.findall(query):
        count = int(number) if number.isdigit() else _numbers[number.casefold()]
        yield _back(today, count, unit.casefold())


def _back(today: date, count: int, unit: str) -> Anchor:
    if unit == "year":
        return Anchor(today.year - count, None, None)
    if unit == "month":
        months = today.year * 12 + today.month - 1 - count
        return Anchor(months // 12, months % 12 + 1, None)
    day = today - timedelta(days=count * (7 if unit == "week" else 1))
    return Anchor(day.year, day.month, day.day)


def fit(anchors: Iterable[Anchor], day: date) -> float:
    """How well a day fits the best of the anchors, 0 to 1.

    People speak of a day in the days after it, so that a message somewhat later fits as well.
    """
    return max((_fit(anchor, day) for anchor in anchors), default=0.0)


def _fit(anchor: Anchor, day: date) -> float:
    if anchor.month is None:
        return 0.3 if day.year == anchor.year else 0.0
    year = anchor.year or day.year
    if not (1 <= anchor.month <= 12 and 1 <= year <= 9999):
        return 0.0
    late = (day - date(year, anchor.month, min(anchor.day or 15, 28))).days
    if anchor.day is None:
        return 1.0 if (day.year, day.month) == (year, anchor.month) else _within(late, 1, 40, 0.6)
    return _within(late, -3, 14, 1.0) or _within(late, -20, 31, 0.5)


def _within(days: int, first: int, last: int, value: float) -> float:
    return value if first <= days <= last else 0.0


def fits(anchors: Sequence[Anchor], times: Sequence[float]) -> list[float]:
    """`fit` for the day (UTC) of each time in seconds since the epoch; 0 where it is nan."""
    return [fit(anchors, _day(at)) if isfinite(at) else 0.0 for at in times]


def _day(at: float) -> date:
    return _epoch + timedelta(days=at // 86_400)
