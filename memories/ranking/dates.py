"""Dates that a query names."""

import re
from collections.abc import Iterator
from datetime import date, datetime
from typing import NamedTuple

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
_counted = "one two three four five six seven eight nine ten eleven twelve".split()
_numbers = {"a": 1, "an": 1} | {word: n for n, word in enumerate(_counted, start=1)}
_number = rf"\d{{1,3}}|an?|{'|'.join(_counted)}"
_ago = re.compile(rf"\b({_number}) (day|week|month|year)s? ago\b", re.I)
_ahead = re.compile(rf"\bin ({_number}) (day|week|month|year)s?\b(?! of\b)", re.I)
_past = re.compile(
    rf"\b(?:(?:past|last) (?P<number>{_number})|past) (?P<unit>day|week|month|year)(?(number)s?)\b"
    r"(?! of\b)",
    re.I,
)
_lengths = {"day": 1, "week": 7, "month": 30.44, "year": 365.25}  # in days
_last_year = re.compile(r"\blast year\b", re.I)
_which = re.compile(r"\b(last|this|next) $", re.I)
_day = re.compile(r"\b(?:yesterday|today|tonight|tomorrow)\b", re.I)
_days = {"yesterday": -1, "today": 0, "tonight": 0, "tomorrow": 1}
_period = re.compile(r"\b(last|this|next) (week|weekend|month|year)\b(?! of\b)", re.I)
_steps = {"last": -1, "this": 0, "next": 1}


class Anchor(NamedTuple):
    """A day, month or year that a query names; what it leaves open is None. A week, a weekend or
    the past months are so many `days` from the first on."""

    year: int | None
    month: int | None
    day: int | None
    days: int = 1


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
    years, is_last_year = _year.findall(query), bool(_last_year.search(query))
    for m in _named.finditer(query):
        day = m["before"] or m["after"]
        may_be_verb = m["month"].casefold() in ("may", "mar", "march") and not (day or m["year"])
        if may_be_verb and not _modal.search(_before(query, m.start("month"))):
            continue
        month = _names.index(m["month"][:3].casefold()) + 1
        year = m["year"] or (years[0] if years else None)
        if year is None and today:
            year = _year_of(is_last_year, _before(query, m.start()), month, today)
        yield Anchor(int(year) if year else None, month, int(day) if day else None)


def _before(query: str, place: int) -> str:
    """The few characters in which the word before a month stands."""
    return query[max(0, place - 12) : place]


def _year_of(is_last_year: bool, before: str, month: int, today: date) -> int | None:
    """The year of "last May", which is over, of "next May", and of May in "last year in May"."""
    if is_last_year:
        return today.year - 1
    which = _which.search(before)
    if which is None:
        return None
    is_over, has_begun = month < today.month, month <= today.month
    return today.year + {"last": is_over - 1, "this": 0, "next": has_begun}[which[1].casefold()]


def _relative(query: str, today: date) -> Iterator[Anchor]:
    for word in _day.findall(query):
        yield _moved(today, _days[word.casefold()], "day")
    for which, unit in _period.findall(query):
        yield _moved(today, _steps[which.casefold()], unit.casefold())
    for number, unit in _ago.findall(query):
        yield _moved(today, -_count(number), unit.casefold())
    for number, unit in _ahead.findall(query):
        yield _due(today, _count(number), unit.casefold())
    for past in _past.finditer(query):
        days = round(_count(past["number"] or "a") * _lengths[past["unit"].casefold()])
        yield _from(shifted(today, -days), days + 1)


def _count(number: str) -> int:
    return int(number) if number.isdigit() else _numbers[number.casefold()]


def _due(today: date, steps: int, unit: str) -> Anchor:
    """ "In two weeks" is the same day of that week, or one near it."""
    if unit == "week":
        return _from(shifted(today, 7 * steps - 3), 7)
    return _moved(today, steps, unit)


def _moved(today: date, steps: int, unit: str) -> Anchor:
    """So many days, weeks, weekends, months or years from this one."""
    if unit == "year":
        return Anchor(today.year + steps, None, None)
    if unit == "month":
        months = today.year * 12 + today.month - 1 + steps
        return Anchor(months // 12, months % 12 + 1, None)
    if unit == "day":
        return _from(shifted(today, steps), 1)
    monday = shifted(today, 7 * steps - today.weekday())
    return _from(monday, 7) if unit == "week" else _from(shifted(monday, 5), 2)


def shifted(day: date, days: int) -> date:
    """So many days later, or the first or last day that the calendar has."""
    number = day.toordinal() + days
    return date.fromordinal(min(max(number, date.min.toordinal()), date.max.toordinal()))


def _from(day: date, days: int) -> Anchor:
    return Anchor(day.year, day.month, day.day, days)
