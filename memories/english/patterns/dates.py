"""Relative dates: "yesterday", "two weeks ago", "next Friday", "in May", against a message's time."""

import re
from collections.abc import Callable
from datetime import datetime, timedelta

_weekdays = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_months = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_seasons = {"spring": 3, "summer": 6, "fall": 9, "autumn": 9, "winter": 12}
_numbers = {
    word: value
    for value, words in enumerate(
        ("", "a an one", "two couple", "three few", "four", "five", "six", "seven", "eight", "nine")
        + ("ten", "eleven", "twelve")
    )
    for word in words.split()
}
_weekday = r"(?:mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)(?:day)?"
_month = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?"
    r"|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)"
)
_number = (
    r"(?:an?|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|(?:a )?few"
    r"|a couple(?: of)?|\d{1,3})"
)
_unit = r"(?:minute|hour|day|week|weekend|month|year|decade)"
_future = re.compile(
    r"\b(?:will|going to|gonna|plan|planning|next|soon|shall|hope|hoping|want|upcoming|by|until|due"
    r"|deadline|can't wait|looking forward|scheduled|appointment|intend|off to)\b|['’]ll\b",
    re.IGNORECASE,
)
# the present tense with a date tells of what is to come, unless something in it is past
_present = re.compile(
    r"(?:\b(?:am|are|is)|['’](?:m|re|s)) (?:not |only |also |both |all |just )?(?:[a-z]{2,}ing\b|(?:on|at|in|from|set|booked|planned|closed|open)\b)"
    r"|(?:\b(?:have|has)|['’](?:ve|s)) (?:got )?(?:an?|my|our|another|two|three)\b"
    r"|\b(?:starts?|ends?|begins?|opens?|closes?|leaves?|departs?|arrives?|expires?|takes? place|happens|falls on|flies|fly)\b"
    rf"|\b(?:moved|slipped|slips|postponed|pushed(?: back)?|brought forward|rescheduled|delayed) (?:to|until) (?:{_weekday}|{_month})\b",
    re.IGNORECASE,
)
_past = re.compile(
    r"\b(?:was|were|been|did|had|since|ago|last|yesterday|went|came)\b|(?<!have )(?<!has )(?<!['’]ve )(?<!['’]s )\bgot\b",
    re.IGNORECASE,
)
_recurring = re.compile(
    rf"\b(?:every|each) (?:(?:single|other|second|third) )?(?:{_weekday}|{_month}|{_unit}|morning|evening|night"
    rf"|spring|summer|fall|autumn|winter)s?\b(?: \d{{1,2}}(?:st|nd|rd|th)?\b)?(?:(?:,|,? and|,? or|,? except|,? but not)(?: on)? (?:every )?{_weekday}s?\b)*",
    re.IGNORECASE,
)


_LEADING = 12  # characters; a day that stands before this opens the clause: "On Friday we fly home"


def ground(clause: str, at: datetime) -> datetime | None:
    """When that is what `clause` tells of, as far as its words say; None: they do not say.

    The start of the day, month, season or year that is meant, in the zone of `at`.
    """
    clause = _recurring.sub("", clause)  # what happens again and again has no day of its own
    for shape, meaning in _shapes:
        match = shape.search(clause)
        if match:
            # What is said after the day is of another time: "I began in May and it's going well".
            told = clause[: match.end()] if match.start() > _LEADING else clause
            try:
                when = meaning(match, at, _is_ahead(told))
            except (ValueError, OverflowError):  # the calendar has no such day
                continue
            if when is not None:
                return when.replace(hour=0, minute=0, second=0, microsecond=0)
    return None


def _is_ahead(clause: str) -> bool:
    if _future.search(clause):
        return True
    return bool(_present.search(clause)) and not _past.search(clause)


def _moved(at: datetime, unit: str, steps: int) -> datetime:
    """`at`, `steps` units later; from months on the start of that month or year."""
    match unit.lower():
        case "minute" | "hour":
            return at
        case "day":
            return at + timedelta(days=steps)
        case "week" | "weekend":
            return at + timedelta(weeks=steps)
        case "month":
            months = at.year * 12 + at.month - 1 + steps
            return at.replace(year=months // 12, month=months % 12 + 1, day=1)
        case "decade":
            return at.replace(year=at.year + 10 * steps, month=1, day=1)
    return at.replace(year=at.year + steps, month=1, day=1)


def _count(words: str) -> int:
    last = words.lower().removesuffix(" of").split()[-1]
    return int(last) if last.isdigit() else _numbers[last]


def _ago(match: re.Match[str], at: datetime, future: bool) -> datetime | None:
    return _moved(at, match["unit"], -_count(match["number"]))


def _ahead(match: re.Match[str], at: datetime, future: bool) -> datetime | None:
    return _moved(at, match["unit"], _count(match["number"]))


_days = {
    "the day before yesterday": -2,
    "yesterday": -1,
    "last night": -1,
    "today": 0,
    "tonight": 0,
    "this morning": 0,
    "this afternoon": 0,
    "this evening": 0,
    "the day after tomorrow": 2,
    "tomorrow": 1,
}


def _day(match: re.Match[str], at: datetime, future: bool) -> datetime | None:
    return at + timedelta(days=_days[match.group().lower()])


_steps = {"last": -1, "past": -1, "this": 0, "this past": -1, "this coming": 1, "next": 1}


def _period(match: re.Match[str], at: datetime, future: bool) -> datetime | None:
    steps = _steps[match["which"].lower()]
    if match["unit"].lower() == "weekend":
        return _near_weekday(at, 5, -1 if steps < 0 else 1) if steps < 1 else _weekend_after(at)
    if steps == 0 and match["unit"].lower() == "week":
        return at - timedelta(days=at.weekday())
    return _moved(at, match["unit"], steps)


def _weekend_after(at: datetime) -> datetime:
    return at + timedelta(days=(5 - at.weekday()) % 7 + (7 if at.weekday() < 5 else 0))


def _near_weekday(at: datetime, weekday: int, direction: int) -> datetime:
    if direction < 0:
        return at - timedelta(days=(at.weekday() - weekday) % 7 or 7)
    return at + timedelta(days=(weekday - at.weekday()) % 7)


def _named_weekday(match: re.Match[str], at: datetime, future: bool) -> datetime | None:
    weekday = _weekdays.index(match["weekday"].lower()[:3])
    which = (match["which"] or "").lower()
    if which == "next":  # the very next day is called tomorrow
        days = (weekday - at.weekday()) % 7 or 7
        return at + timedelta(days=days + 7 if days == 1 else days)
    is_ahead = which in ("this", "this coming") or (which == "" and future)
    return _near_weekday(at, weekday, 1 if is_ahead else -1)


def _named_month(match: re.Match[str], at: datetime, future: bool) -> datetime | None:
    month = _months.index(match["month"].lower()[:3]) + 1
    return _near_month(at, month, (match["which"] or "").lower(), future)


def _season(match: re.Match[str], at: datetime, future: bool) -> datetime | None:
    return _near_month(at, _seasons[match["season"].lower()], match["which"].lower(), future)


def _near_month(at: datetime, month: int, which: str, future: bool) -> datetime:
    year = at.year
    if which == "next" or (which == "" and future):
        year += month <= at.month if which == "next" else month < at.month
    elif which in ("last", "this past"):
        year -= month >= at.month
    elif which == "":
        year -= month > at.month
    return at.replace(year=year, month=month, day=1)


def _calendar(match: re.Match[str], at: datetime, future: bool) -> datetime | None:
    month = _months.index(match["month"].lower()[:3]) + 1
    day, year = int(match["day"]), match["year"]
    when = at.replace(year=int(year) if year else at.year, month=month, day=day)
    if year is None and not future and when - at > timedelta(days=1):
        return when.replace(year=at.year - 1)
    if year is None and future and at - when > timedelta(days=1):
        return when.replace(year=at.year + 1)
    return when


def _day_of_month(match: re.Match[str], at: datetime, future: bool) -> datetime | None:
    """The next such day, or the last one: "on the 1st"."""
    day = int(match["day"])
    for steps in range(12):
        start = _moved(at, "month", steps if future else -steps)
        try:
            when = start.replace(day=day)
        except ValueError:  # a month without such a day
            continue
        if when.date() >= at.date() if future else when.date() <= at.date():
            return when
    return None


def _iso(match: re.Match[str], at: datetime, future: bool) -> datetime | None:
    return at.replace(year=int(match[1]), month=int(match[2]), day=int(match[3]))


def _month_year(match: re.Match[str], at: datetime, future: bool) -> datetime | None:
    month = _months.index(match["month"].lower()[:3]) + 1
    return at.replace(year=int(match["year"]), month=month, day=1)


def _year(match: re.Match[str], at: datetime, future: bool) -> datetime | None:
    return at.replace(year=int(match["year"]), month=1, day=1)


_holidays = {
    "christmas eve": (12, 24),
    "christmas day": (12, 25),
    "boxing day": (12, 26),
    "new year's eve": (12, 31),
    "new year's day": (1, 1),
    "halloween": (10, 31),
    "valentine's day": (2, 14),
}


def _holiday(match: re.Match[str], at: datetime, future: bool) -> datetime | None:
    month, day = _holidays[match[0].lower().replace("’", "'")]
    when = at.replace(month=month, day=day)
    if future:
        return when if when.date() >= at.date() else when.replace(year=at.year + 1)
    return when if when.date() <= at.date() else when.replace(year=at.year - 1)


def _season_year(match: re.Match[str], at: datetime, future: bool) -> datetime | None:
    return at.replace(year=int(match["year"]), month=_seasons[match["season"].lower()], day=1)


def _month_end(match: re.Match[str], at: datetime, future: bool) -> datetime | None:
    start = _moved(at, "month", 2 if match["which"] == "next" else 1)
    return start - timedelta(days=1)


_Meaning = Callable[[re.Match[str], datetime, bool], datetime | None]
_which = r"(?P<which>this past|this coming|last|past|this|next)"
_forms: tuple[tuple[str, _Meaning], ...] = (
    (r"\b(\d{4})-(\d\d)-(\d\d)\b", _iso),
    (
        rf"\b(?P<month>{_month})\.? (?P<day>\d{{1,2}})(?:st|nd|rd|th)?\b(?:,? (?P<year>(?:19|20)\d\d))?",
        _calendar,
    ),
    (
        rf"\b(?P<day>\d{{1,2}})(?:st|nd|rd|th)? (?:of )?(?P<month>{_month})\b"
        r"(?:,? (?P<year>(?:19|20)\d\d))?",
        _calendar,
    ),
    (
        r"\b(?P<season>spring|summer|fall|autumn|winter),? (?:of )?(?P<year>(?:19|20)\d\d)\b",
        _season_year,
    ),
    (
        r"\b(?:christmas (?:eve|day)|boxing day|new year['’]s (?:eve|day)|halloween|valentine['’]s day)\b",
        _holiday,
    ),
    (r"\bend of (?:the|this|(?P<which>next)) month\b", _month_end),
    (rf"\b(?P<month>{_month}),? (?:of )?(?P<year>(?:19|20)\d\d)\b", _month_year),
    (
        r"\b(?:on|by|until|before|from) the (?P<day>\d{1,2})(?:st|nd|rd|th)\b"
        r"(?=[^\w\s]|\s*$| (?:and|but|because|so|at|for|with|to|in|when|if|we|I)\b)",
        _day_of_month,
    ),
    (rf"\b{'|'.join(sorted(map(str, _days), key=len, reverse=True))}\b", _day),
    (rf"\b(?P<number>{_number}) (?P<unit>{_unit})s? (?:ago|back|earlier)\b", _ago),
    (
        rf"\bin (?:about )?(?P<number>{_number}) (?:more )?(?P<unit>{_unit})s?\b(?! ago| time of)",
        _ahead,
    ),
    (rf"\b(?P<number>{_number}) (?P<unit>{_unit})s? from now\b", _ahead),
    (
        r"\bthe (?P<unit>week|weekend|month|year) before last\b",
        lambda m, at, f: _moved(at, m["unit"], -2),
    ),
    (r"\bthe (?P<unit>week|month|year) after next\b", lambda m, at, f: _moved(at, m["unit"], 2)),
    (
        rf"\b(?:{_which} |on |by |until |(?:the )?coming )?\b(?P<weekday>{_weekday})\b(?!s)",
        _named_weekday,
    ),
    (rf"\b{_which} (?P<unit>week|weekend|month|year|decade)\b(?!s)", _period),
    (rf"\b{_which} (?P<season>spring|summer|fall|autumn|winter)\b", _season),
    (
        rf"\b(?:in|during|since|until|by|(?:back )?in|{_which}) (?:early |mid-?|late )?(?P<month>{_month})\b",
        _named_month,
    ),
    (r"\b(?:in|since|back in|during|by|until) (?P<year>(?:19|20)\d\d)\b", _year),
)
_shapes = tuple((re.compile(form, re.IGNORECASE), meaning) for form, meaning in _forms)
