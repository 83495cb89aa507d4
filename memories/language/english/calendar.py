"""Dates of the calendar: spans of time and their arithmetic, where a day begins at midnight in its
own zone; and dates that name a day, a month or a year: 14.11.2026, "on May 3rd", "last summer"."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Literal, NamedTuple, get_args

from memories.language.english.numbers import DAY_ORDINALS, ORDINALS

MONTHS = (
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
)
WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
SEASONS = {"spring": 3, "summer": 6, "fall": 9, "autumn": 9, "winter": 12}  # first months
PARTS = {"morning": (5, 12), "afternoon": (12, 18), "evening": (17, 23), "night": (20, 28)}
# Months, weekdays and seasons as they are written, in regexes of others.
MONTH_NAMES, WEEKDAY_NAMES = "|".join(MONTHS), "|".join(WEEKDAYS)
SEASON = "|".join(SEASONS)
MONTH = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?"
    r"|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)"
)
WEEKDAY_STEMS = WEEKDAY_NAMES.replace("day", "")  # "mon", "tues"
WEEKDAY = rf"(?:(?:{WEEKDAY_STEMS})day)"

Grain = Literal[
    "minute", "hour", "part", "day", "range", "weekend", "week", "month", "quarter", "season", "year", "decade"
]
Which = Literal["", "last", "this", "next"]


DateOrder = Literal["auto", "day_first", "month_first"]
DATE_ORDERS: tuple[DateOrder, ...] = get_args(DateOrder)
# The words before a phrase that make it a date.
MONTH_WORDS = frozenset("in during since until till by before after from".split()) | {"as of"}
RANGE_WORDS = frozenset("from between".split())
DAY_WORDS = frozenset("on by until till since before after from between dated to at".split())
# Widely kept days that have a fixed place in the calendar, or a formula for it.
EASTER = "easter"
HOLIDAYS = {
    "christmas": (12, 25),
    "christmas eve": (12, 24),
    "christmas day": (12, 25),
    "boxing day": (12, 26),
    "new year's eve": (12, 31),
    "new year's day": (1, 1),
    "halloween": (10, 31),
    "valentine's day": (2, 14),
    "valentines day": (2, 14),
    "new year's": (1, 1),
    "independence day": (7, 4),
    "st patrick's day": (3, 17),
    "st. patrick's day": (3, 17),
    "may day": (5, 1),
    "epiphany": (1, 6),
    "all saints' day": (11, 1),
}
# Days from Easter Sunday.
BY_EASTER = {
    "shrove tuesday": -47,
    "ash wednesday": -46,
    "maundy thursday": -3,
    "palm sunday": -7,
    "good friday": -2,
    "easter sunday": 0,
    "easter monday": 1,
    EASTER: 0,
    "ascension day": 39,
    "whit sunday": 49,
    "pentecost": 49,
    "whit monday": 50,
}
# The nth weekday of a month, in the United States, where others do not keep one of that name.
BY_WEEKDAY = {
    "martin luther king day": (1, 3, 0),
    "martin luther king jr. day": (1, 3, 0),
    "mlk day": (1, 3, 0),
    "presidents' day": (2, 3, 0),
    "memorial day": (5, -1, 0),
    "labor day": (9, 1, 0),
    "thanksgiving day": (11, 4, 3),
    "thanksgiving": (11, 4, 3),
}
AFTER_THANKSGIVING = {"black friday": 1, "cyber monday": 4}
NINETIES = "twenties thirties forties fifties sixties seventies eighties nineties".split()


class Span(NamedTuple):
    """A time from `start` up to, not including, `end`, in the zone of the clock it was read by.

    `any_year`: no year is named; it is the nearest that fits the tense. `is_relative`: its words
    mean another time on another day. `likely` is the day that is meant rather than the first one:
    "two weeks ago" was the same weekday.
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


def day_number(name: str) -> int:
    """Return the day of a month: 5, "5th", "twenty-first"."""
    return DAY_ORDINALS.get(name.lower()) or int(name.rstrip("stndrhSTNDRH"))


def weekday_number(name: str) -> int:
    short = [day[:3] for day in WEEKDAYS]
    return short.index(name[:3].lower())


def midnight(at: datetime) -> datetime:
    return at.replace(hour=0, minute=0, second=0, microsecond=0)


def later(at: datetime, *, days: float = 0, minutes: float = 0) -> datetime:
    """Return the later time, or the calendar's last moment; OverflowError before its first."""
    delta = timedelta(days=days, minutes=minutes)
    try:
        return at + delta
    except OverflowError:
        if delta < timedelta(0):
            raise
        return datetime.max.replace(tzinfo=at.tzinfo)


def months_later(at: datetime, months: int) -> datetime:
    """Return the first day of the month that is so many months after that of `at`."""
    number = at.year * 12 + at.month - 1 + months
    if number // 12 > date.max.year and months > 0:
        return datetime.max.replace(tzinfo=at.tzinfo)
    return midnight(at).replace(year=number // 12, month=number % 12 + 1, day=1)


def days_from(start: datetime, days: int, grain: Grain = "day", *, relative: bool = False) -> Span:
    return Span(start, later(start, days=days), grain, is_relative=relative)


def months_from(start: datetime, months: int, grain: Grain) -> Span:
    return Span(start, months_later(start, months), grain)


def in_year(span: Span, year: int) -> Span:
    """Return the same days of another year; ValueError for a leap day that the year lacks."""
    moved = year - span.start.year
    return span._replace(
        start=span.start.replace(year=year), end=span.end.replace(year=span.end.year + moved), any_year=False
    )


def nearest(make: Callable[[int], Span], at: datetime, which: Which, *, tense: int) -> Span | None:
    """Return one of the spans that come once a year: the last, this or the next one. Without such a
    word, by the tense: the next that is not over, the last that has begun, or the nearer of the two.

    A day may be off by one, because the speaker's time zone is not known.
    """
    today = midnight(at)
    spans = []
    for year in range(max(1, at.year - 8), min(9999, at.year + 8) + 1):
        try:
            spans.append(make(year))
        except ValueError:  # a year without such a day
            continue
    slack = 1 if not which and spans and spans[0].grain == "day" else 0
    match which, tense:
        case "last", _:
            return next((s for s in reversed(spans) if s.end <= today), None)
        case "next", _:
            return next((s for s in spans if s.start > today), None)
        case "this", _:
            inside = (s for s in spans if s.start <= today < s.end)
            return next(inside, next((s for s in spans if s.start.year == at.year), None))
    coming = next((s for s in spans if later(s.end, days=slack) > today), None)
    begun = next((s for s in reversed(spans) if s.start <= later(today, days=slack)), None)
    if tense or not (coming and begun):
        return coming if tense > 0 else begun
    return min(begun, coming, key=lambda span: max(today - span.end, 1.5 * (span.start - today)))  # rather past


"""Of day and month in 3/4/2026; auto: 3.4. and 3-4 are day first, 3/4 is month first. Where one of
them can only be the day, it is."""

_from_behind = {"last": -1, "final": -1, "penultimate": -2, "second to last": -2, "next to last": -2}
_beside_months = MONTH_WORDS | RANGE_WORDS | frozenset("of on early late mid to and through for around".split())
_also_verbs = frozenset("may mar march".split())


@dataclass(frozen=True, slots=True)
class Clock:
    """The context of a form besides its words: the time, the tense (1: to come, -1: past, 0: neither is said),
    the word before, the order."""

    at: datetime
    tense: int
    before: str
    order: DateOrder

    @property
    def ahead(self) -> bool:
        return self.tense > 0

    @property
    def today(self) -> datetime:
        return midnight(self.at)


def which_of(match: re.Match[str]) -> Which:
    word = (match["which"] or "").lower()
    if word in ("last", "past", "this past"):
        return "last"
    if word == "next":
        return "next"
    return "this" if word else ""


def iso(match: re.Match[str], clock: Clock) -> Span:
    year, month = int(match["year"]), int(match["month"])
    if not match["day"]:
        return months_from(clock.today.replace(year=year, month=month, day=1), 1, "month")
    day = days_from(clock.today.replace(year=year, month=month, day=int(match["day"])), 1)
    if not match["hour"]:
        return day
    return at_time(day, int(match["hour"]) * 60 + int(match["minute"]), "minute")


def numeric(match: re.Match[str], clock: Clock) -> Span | None:
    """Read 14.11.2026, 11/14/26, "on 14.11.", in the order of the workspace if that gives a day."""
    first, second, year = int(match["first"]), int(match["second"]), match["year"]
    if (year is None or len(year) == 2) and clock.before not in DAY_WORDS:
        return None
    if match["sign"] == "." and year is None and not match["dot"]:
        return None
    is_day_first = clock.order == "day_first" or clock.order == "auto" and match["sign"] != "/"
    day, month = (first, second) if is_day_first else (second, first)
    if month > 12:
        day, month = month, day
    if year is None:
        return _any_day(month, day, clock)
    number = int(year)
    if number < 100:
        number += 2000 if 2000 + number <= clock.at.year + 20 else 1900
    return days_from(clock.today.replace(year=number, month=month, day=day), 1)


def _any_day(month: int, day: int, clock: Clock) -> Span | None:
    span = nearest(
        lambda year: days_from(clock.today.replace(year=year, month=month, day=day), 1), clock.at, "", tense=clock.tense
    )
    return span and span._replace(any_year=True)


def named_day(match: re.Match[str], clock: Clock) -> Span | None:
    month, day = month_number(match["month"]), day_number(match["day"])
    if match["year"]:
        return days_from(clock.today.replace(year=int(match["year"]), month=month, day=day), 1)
    return _any_day(month, day, clock)


def days_of_month(match: re.Match[str], clock: Clock) -> Span | None:
    """Read "from 3 to 5 May", "May 3-5"."""
    if match["join"].strip() == "and" and clock.before not in RANGE_WORDS:
        return None
    month, first, last = month_number(match["month"]), int(match["day"]), int(match["until"])
    if last < first:
        return None

    def of_year(year: int) -> Span:
        start = clock.today.replace(year=year, month=month, day=first)
        return Span(start, later(start.replace(day=last), days=1), "range")

    if match["year"]:
        return of_year(int(match["year"]))
    span = nearest(of_year, clock.at, "", tense=clock.tense)
    return span and span._replace(any_year=True)


def holiday(match: re.Match[str], clock: Clock) -> Span | None:
    """Read "at Christmas", "last Easter", "on Halloween 2024"; Easter means its four days."""
    name = match["holiday"].lower().replace("’", "'")

    def of_year(year: int) -> Span:
        if name in HOLIDAYS:
            month, day = HOLIDAYS[name]
            return days_from(clock.today.replace(year=year, month=month, day=day), 1)
        if name in BY_WEEKDAY or name in AFTER_THANKSGIVING:
            month, number, weekday = BY_WEEKDAY.get(name, BY_WEEKDAY["thanksgiving"])
            first = clock.today.replace(year=year, month=month, day=1)
            day = (weekday - first.weekday()) % 7 + 7 * (number - 1 if number > 0 else 3)
            day += 7 * (number < 0 and later(first, days=day + 7).month == month) + AFTER_THANKSGIVING.get(name, 0)
            return days_from(later(first, days=day), 1)
        sunday = clock.today.replace(year=year, month=3, day=1) + easter(year)
        if name == EASTER:
            return days_from(later(sunday, days=-2), 4, "range")._replace(likely=sunday)
        return days_from(later(sunday, days=BY_EASTER[name]), 1)

    if match["year"]:
        return of_year(int(match["year"]))
    which = which_of(match)
    span = nearest(of_year, clock.at, which, tense=clock.tense)
    # What moves with Easter is on no day of "any year".
    return span and span._replace(any_year=not which and name in HOLIDAYS)


def easter(year: int) -> timedelta:
    """Return the days from 1 March to Easter Sunday in the Gregorian calendar (Meeus, Jones,
    Butcher)."""
    golden, (century, rest) = year % 19, divmod(year, 100)
    moon = (19 * golden + century - century // 4 - (8 * century + 13) // 25 + 15) % 30
    moon -= (golden + 11 * moon) // 319
    weekday = (2 * (century % 4) + 2 * (rest // 4) - rest % 4 - moon + 32) % 7
    return timedelta(days=moon + weekday + 21)


def month(match: re.Match[str], clock: Clock) -> Span | None:
    """Read "in May", "last May", "in May 2019"."""
    name, number = match["month"].lower(), month_number(match["month"])
    is_named = match["which"] or match["year"]
    if name in _also_verbs and not is_named and clock.before not in _beside_months:
        return None

    def of_year(year: int) -> Span:
        return months_from(clock.today.replace(year=year, month=number, day=1), 1, "month")

    if match["year"]:
        return of_year(int(match["year"]))
    span = nearest(of_year, clock.at, which_of(match), tense=clock.tense)
    return span and span._replace(any_year=not match["which"])


def third(span: Span, part: str) -> Span:
    """Return the early, middle or late third of a span; at its end, the last day."""
    small = part.lower()
    if small.startswith("end") or span.grain == "weekend":
        return span._replace(start=midnight(later(span.end, days=-1)), grain="day")
    place = 1 if small.startswith("mid") else 2 if small.startswith("late") else 0
    if span.grain in ("quarter", "season", "year"):
        size = 4 if span.grain == "year" else 1
        steps = [months_later(span.start, size * place), months_later(span.start, size * (place + 1))]
    else:
        size = 2 if span.grain == "week" else 10
        steps = [later(span.start, days=size * place), later(span.start, days=size * (place + 1))]
    end = span.end if place == 2 else steps[1]
    return span._replace(start=steps[0], end=end, grain="range")


def season(match: re.Match[str], clock: Clock) -> Span | None:
    first = SEASONS[match["season"].lower()]

    def of_year(year: int) -> Span:
        return months_from(clock.today.replace(year=year, month=first, day=1), 3, "season")

    if match["year"]:
        return of_year(int(match["year"]))
    which = which_of(match)
    span = nearest(of_year, clock.at, which, tense=clock.tense)
    return span and span._replace(any_year=not which)


def place(match: re.Match[str], whole: Span) -> Span | None:
    """Read "the last Saturday of", "the second half of", "mid", "the end of" beside a time."""
    if part := match["part"]:
        return third(whole, part)
    word, what = match["ordinal"].lower(), match["what"].lower().replace("week ", "")
    number = _from_behind.get(word.replace("-", " ")) or int(word[:-2] if word[0].isdigit() else ORDINALS[word])
    days = (whole.end - whole.start).days
    if days > 366 or (what != "week" and whole.grain in ("week", "weekend")):
        return None
    if what == "half":
        middle = later(whole.start, days=15) if days < 32 else months_later(whole.start, round(days / 61))
        start, end = (whole.start, middle) if number == 1 else (middle, whole.end)
        return whole._replace(start=start, end=end, grain="range")
    starts = [later(whole.start, days=at) for at in range(days)]
    if what == "week":
        starts = starts[::7] if number > 0 else starts[-7::-7][::-1]
    elif what.endswith(("working day", "business day")):
        starts = [day for day in starts if day.weekday() < 5]
    elif what != "day":
        wanted = 5 if what == "weekend" else weekday_number(what)
        starts = [day for day in starts if day.weekday() == wanted]
    if not -len(starts) <= (at := number - (number > 0)) < len(starts):
        raise ValueError("no such day")
    length = {"week": 7, "weekend": 2}.get(what, 1)
    end = later(starts[at], days=length)
    return whole._replace(
        start=starts[at], end=end, grain="range" if what == "week" else "weekend" if length == 2 else "day"
    )


def quarter(match: re.Match[str], clock: Clock) -> Span | None:
    """Read "in Q3", "Q1'25", "2025Q3", "3Q25", "H1 2025", "the first quarter"."""
    told = match.groupdict()
    year, size = told.get("year") or told.get("short"), 6 if told.get("half") else 3
    number = int(told.get("half") or told.get("digit") or ORDINALS[told["ordinal"].lower()])

    def of_year(year: int) -> Span:
        first = clock.today.replace(year=year, month=size * (number - 1) + 1, day=1)
        return months_from(first, size, "quarter" if size == 3 else "range")

    if year:
        return of_year(int(year) if len(year) == 4 else 2000 + int(year))
    span = nearest(of_year, clock.at, "", tense=clock.tense)
    return span and span._replace(any_year=True)


def year(match: re.Match[str], clock: Clock) -> Span | None:
    return _year(int(match["year"]), clock)


def _year(number: int, clock: Clock, years: int = 1) -> Span:
    grain: Grain = "year" if years == 1 else "range"
    return months_from(clock.today.replace(year=number, month=1, day=1), 12 * years, grain)


def fiscal_year(match: re.Match[str], clock: Clock) -> Span | None:
    """Read "FY25", "fiscal year 2024", "in 2023/24", "in '84": as the year of its name, since nobody
    says when theirs begins."""
    told = match.groupdict()
    if told.get("short"):
        number = int(told["short"])
        return _year(number + (2000 if 2000 + number <= clock.at.year + 20 else 1900), clock)
    number, until = int(told["year"]), told.get("until")
    if until and int(until) != (number + 1) % 100:
        return None
    return _year(number, clock, 2 if until else 1)


def decade(match: re.Match[str], clock: Clock) -> Span:
    year = int(match["year"] or 0) or 10 * (NINETIES.index(match["name"].lower()) + 2)
    if year < 100:
        year += 2000 if 2000 + year <= clock.at.year else 1900
    return months_from(clock.today.replace(year=year, month=1, day=1), 120, "decade")


def at_time(day: Span, minutes: int, grain: Grain) -> Span:
    start = later(midnight(day.start), minutes=minutes)
    return day._replace(start=start, end=later(start, minutes=60 if grain == "hour" else 1), grain=grain)
