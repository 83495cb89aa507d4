"""Dates in English words, read against a clock: one grammar for what facts tell of, what queries ask
for, when a plan is over and what a statement may repeat.

Each form below finds one way of naming a time; what stands beside each other is then put together:
"Friday" and "at 3pm", "in May" and "of last year", "from March" and "to May".
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Literal, NamedTuple

from memories.english.numbers import COUNT, ORDINALS, count
from memories.english.time_spans import (
    MONTH,
    PARTS,
    SEASONS,
    WEEKDAY,
    Grain,
    Span,
    Which,
    days_from,
    in_year,
    later,
    midnight,
    month_number,
    months_from,
    months_later,
    nearest,
    weekday_number,
)

Order = Literal["day_first", "month_first", "auto"]
"""Of day and month in 3/4/2026; auto: 3.4. and 3-4 are day first, 3/4 month first where it can be."""

_UNIT = r"(?:minute|hour|day|week|fortnight|weekend|month|quarter|year|decade)"
_YEAR = r"(?:19|20)\d\d"
_WHICH = r"(?P<which>this past|this coming|the coming|coming|last|past|this|next)"
_SHORT_DAY = r"(?:mon|tues?|wed|thu(?:rs)?|fri|sat|sun)"
_future = re.compile(
    r"\b(?:will|going to|gonna|plan|planning|next|soon|shall|hope|hoping|want|upcoming|by|until|due"
    r"|deadline|can't wait|looking forward|scheduled|appointment|intend|off to)\b|['’]ll\b",
    re.IGNORECASE,
)
# the present tense with a date tells of what is to come, unless something in it is past
_present = re.compile(
    r"(?:\b(?:am|are|is)|['’](?:m|re|s)) (?:not |only |also |both |all |just |I |we |you |he |she |they )?(?:[a-z]{2,}ing\b"
    r"|(?:on|at|in|from|away|set|booked|planned|closed|open)\b)"
    r"|(?:\b(?:have|has)|['’](?:ve|s)) (?:got )?(?:an?|my|our|another|two|three)\b"
    r"|\b(?:do|does) (?:I|we|you|he|she|they|[A-Z]\w+)\b"
    r"|\b(?:I|we|they|you) (?:meet|leave|fly|travel|depart|arrive|move|return|pay)\b"
    r"|\b(?:starts?|ends?|begins?|opens?|closes?|leaves?|departs?|arrives?|expires?|takes? place|happens|falls on|flies|fly)\b"
    r"|\b(?:moved|slipped|slips|postponed|pushed(?: back)?|brought forward|rescheduled|delayed) (?:to|until)"
    rf" (?:{WEEKDAY}|{MONTH})\b",
    re.IGNORECASE,
)
_past = re.compile(
    r"\b(?:was|were|been|did|had|since|ago|last|yesterday|went|came)\b|(?<!have )(?<!has )(?<!['’]ve )(?<!['’]s )\bgot\b",
    re.IGNORECASE,
)
_recurring = re.compile(
    rf"\b(?:every|each) (?:(?:single|other|second|third) )?(?:{WEEKDAY}|{MONTH}|{_UNIT}|morning|evening|night"
    rf"|spring|summer|fall|autumn|winter)s?\b(?: \d{{1,2}}(?:st|nd|rd|th)?\b)?(?:(?:,|,? and|,? or|,? except|,? but not)(?: on)? (?:every )?{WEEKDAY}s?\b)*",
    re.IGNORECASE,
)
# Most clauses name no time, and are read no further.
_hint = re.compile(
    rf"\d|day\b|night|tonight|morning|noon|evening|tomorrow|{_UNIT}|spring|summer|\bfall\b|autumn|winter|christmas"
    rf"|new year|halloween|the \w+ties\b|\b(?:{MONTH}|{_SHORT_DAY})\b",
    re.IGNORECASE,
)
_LEADING = 12  # characters; a day that stands before this opens the clause: "On Friday we fly home"
_AROUND = 200  # characters before a phrase in which its tense is looked for
_sentence_end = re.compile(r"[.!?;\n]\s")
_word_before = re.compile(r"([a-z]+)\s*(?:the |about |around )?$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class _Clock:
    """What a form needs beside its words: the time, the tense, the word before, the order."""

    at: datetime
    ahead: bool
    before: str
    order: Order

    @property
    def today(self) -> datetime:
        return midnight(self.at)


class _Phrase(NamedTuple):
    """One phrase in its place. `rank`: the lower, the more exact its form; `is_bare`: a month or
    year that no word makes a date, which a query may mean and a statement need not."""

    first: int
    last: int
    kind: str
    rank: int
    span: Span
    is_bare: bool = False


def spans(text: str, at: datetime | None, order: Order = "auto") -> list[Span]:
    """Every time that is named, the most exact first; without a clock those alone that need none,
    of any year where they name no year."""
    phrases = sorted(_phrases(text, at or datetime(2000, 1, 1), order), key=lambda p: p.rank)
    return [p.span for p in phrases if at is not None or not p.span.is_relative]


def event_date(clause: str, at: datetime, order: Order = "auto") -> datetime | None:
    """When that is what `clause` tells of, as far as its words say; None: they do not say.

    The start of the day, month, season or year that is meant, in the zone of `at`.
    """
    named = [phrase for phrase in _phrases(clause, at, order) if not phrase.is_bare]
    if not named:
        return None
    span = min(named, key=lambda phrase: (phrase.rank, phrase.first)).span
    return midnight(span.likely or span.start)


# A statement that is read on another day than it was said: how many days its words may take.
_lengths = tuple(
    (re.compile(rf"\b(?:{words})\b", re.IGNORECASE), days)
    for words, days in (
        ("decade", 3660), ("year", 365), ("spring|summer|fall|autumn|winter|quarter", 92),
        ("month", 30), ("weekend", 1), ("weeks?", 6),
    )
)  # fmt: skip
_month_name = re.compile(rf"\b{MONTH}\b", re.IGNORECASE)


def last_day(statement: str, first: date, order: Order = "auto") -> date:
    """The last day that a statement about what begins on `first` may mean; rather too late."""
    at = datetime(first.year, first.month, first.day, 12)
    ends = [span.last_day for span in spans(statement, at, order) if span.first_day == first]
    length = next((days for words, days in _lengths if words.search(statement)), 0)
    if not ends and not length and first.day == 1 and _month_name.search(statement):
        ends.append(months_from(at, 1, "month").last_day)
    return max([first + timedelta(days=min(length, (date.max - first).days)), *ends])


def _phrases(text: str, at: datetime, order: Order) -> list[_Phrase]:
    """In the order of the text, none over another."""
    if not _hint.search(text):
        return []
    text = _recurring.sub(lambda match: " " * len(match[0]), text)  # it has no day of its own
    free = bytearray(b"\1") * len(text)
    result = []
    for rank, (kind, form, meaning) in enumerate(_forms):
        for match in form.finditer(text):
            start, end = match.span()
            if not all(free[start:end]):
                continue
            word = _word_before.search(text, max(0, start - 24), start)
            before = word[1].lower() if word else ""
            clock = _Clock(at, _is_ahead(text, start, end), before, order)
            try:
                span = meaning(match, clock)
            except (ValueError, OverflowError):  # the calendar has no such day, nor has its month
                free[start:end] = bytes(end - start)
                continue
            if span is not None:
                free[start:end] = bytes(end - start)
                is_bare = _is_bare(kind, match, before)
                result.append(_Phrase(start, end, kind, rank, span, is_bare))
    return _together(text, sorted(result), at)


def _is_ahead(text: str, start: int, end: int) -> bool:
    """Whether what is told with a date at this place is to come, by the words up to it."""
    begun = max(0, start - _AROUND)
    for stop in _sentence_end.finditer(text, begun, start):
        begun = stop.end()
    stop_after = _sentence_end.search(text, end, end + _AROUND)
    # What is said after the day is of another time: "I began in May and it's going well".
    until = end if start - begun > _LEADING else stop_after.start() if stop_after else end + _AROUND
    sentence = text[begun:until]
    if _future.search(sentence):
        return True
    return bool(_present.search(sentence)) and not _past.search(sentence)


_MONTH_WORDS = frozenset("in during since until till by before after".split())
_YEAR_WORDS = frozenset("in during since until till by".split())
_RANGE_WORDS = frozenset("from between".split())
_DAY_WORDS = frozenset("on by until till since before after from between dated to at".split())
_VERBS = frozenset("may mar march".split())


def _is_bare(kind: str, match: re.Match[str], before: str) -> bool:
    groups = match.groupdict()
    match kind:
        case "stretch":  # "in the next two weeks" has no day of its own
            return bool(groups["number"])
        case "year" | "decade":
            return not groups.get("part") and before not in _YEAR_WORDS
        case "month":
            is_named = groups.get("which") or groups.get("part") or groups["year"]
            return not is_named and before not in _MONTH_WORDS
    return False


# ---- what a phrase alone means


def _which(match: re.Match[str]) -> Which:
    word = (match["which"] or "").lower()
    if word in ("last", "past", "this past"):
        return "last"
    if word == "next":
        return "next"
    return "this" if word else ""


def _iso(match: re.Match[str], clock: _Clock) -> Span:
    year, month = int(match["year"]), int(match["month"])
    if not match["day"]:
        return months_from(clock.today.replace(year=year, month=month, day=1), 1, "month")
    day = days_from(clock.today.replace(year=year, month=month, day=int(match["day"])), 1)
    if not match["hour"]:
        return day
    return _at_time(day, int(match["hour"]) * 60 + int(match["minute"]), "minute")


def _numeric(match: re.Match[str], clock: _Clock) -> Span | None:
    """14.11.2026, 11/14/26, "on 14.11.": by the order of the workspace, where there is such a day."""
    first, second, year = int(match["first"]), int(match["second"]), match["year"]
    if (year is None or len(year) == 2) and clock.before not in _DAY_WORDS:
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


def _any_day(month: int, day: int, clock: _Clock) -> Span | None:
    span = nearest(
        lambda year: days_from(clock.today.replace(year=year, month=month, day=day), 1),
        clock.at, "", ahead=clock.ahead,
    )  # fmt: skip
    return span and span._replace(any_year=True)


def _named_day(match: re.Match[str], clock: _Clock) -> Span | None:
    month, day = month_number(match["month"]), int(match["day"])
    if match["year"]:
        return days_from(clock.today.replace(year=int(match["year"]), month=month, day=day), 1)
    return _any_day(month, day, clock)


def _days_of_month(match: re.Match[str], clock: _Clock) -> Span | None:
    """From 3 to 5 May, May 3-5."""
    if match["join"].strip() == "and" and clock.before not in _RANGE_WORDS:
        return None
    month, first, last = month_number(match["month"]), int(match["day"]), int(match["until"])
    if last < first:
        return None

    def of_year(year: int) -> Span:
        start = clock.today.replace(year=year, month=month, day=first)
        return Span(start, later(start.replace(day=last), days=1), "range")

    if match["year"]:
        return of_year(int(match["year"]))
    span = nearest(of_year, clock.at, "", ahead=clock.ahead)
    return span and span._replace(any_year=True)


_holidays = {
    "christmas eve": (12, 24),
    "christmas day": (12, 25),
    "boxing day": (12, 26),
    "new year's eve": (12, 31),
    "new year's day": (1, 1),
    "halloween": (10, 31),
    "valentine's day": (2, 14),
}


def _holiday(match: re.Match[str], clock: _Clock) -> Span | None:
    return _any_day(*_holidays[match[0].lower().replace("’", "'")], clock)


def _month(match: re.Match[str], clock: _Clock) -> Span | None:
    """In May, last May, mid-May, at the beginning of May, in May 2019."""
    name, number = match["month"].lower(), month_number(match["month"])
    is_named = match["which"] or match["part"] or match["year"]
    if (
        name in _VERBS
        and not is_named
        and clock.before not in _MONTH_WORDS | _RANGE_WORDS | _BESIDE
    ):
        return None

    def of_year(year: int) -> Span:
        return months_from(clock.today.replace(year=year, month=number, day=1), 1, "month")

    if match["year"]:
        span: Span | None = of_year(int(match["year"]))
    else:
        span = nearest(of_year, clock.at, _which(match), ahead=clock.ahead)
        span = span and span._replace(any_year=not match["which"])
    return _third(span, match["part"]) if span and match["part"] else span


_BESIDE = frozenset("of on early late mid to and through for around".split())


def _third(span: Span, part: str) -> Span:
    """Early, mid or late in it; its last day at the end of it."""
    small = part.lower()
    if small.startswith("end"):
        return span._replace(start=midnight(later(span.end, days=-1)), grain="day")
    place = 1 if small.startswith("mid") else 2 if small.startswith("late") else 0
    if span.grain == "year":
        steps = [months_later(span.start, 4 * place), months_later(span.start, 4 * place + 4)]
    else:
        steps = [later(span.start, days=10 * place), later(span.start, days=10 * place + 10)]
    end = span.end if place == 2 else steps[1]
    return span._replace(start=steps[0], end=end, grain="range")


def _season(match: re.Match[str], clock: _Clock) -> Span | None:
    first = SEASONS[match["season"].lower()]

    def of_year(year: int) -> Span:
        return months_from(clock.today.replace(year=year, month=first, day=1), 3, "season")

    if match["year"]:
        return of_year(int(match["year"]))
    which = _which(match)
    span = nearest(of_year, clock.at, which, ahead=clock.ahead)
    return span and span._replace(any_year=not which)


def _quarter(match: re.Match[str], clock: _Clock) -> Span | None:
    number = int(match["digit"] or ORDINALS[match["ordinal"].lower()])

    def of_year(year: int) -> Span:
        return months_from(
            clock.today.replace(year=year, month=3 * number - 2, day=1), 3, "quarter"
        )

    span = nearest(of_year, clock.at, "", ahead=clock.ahead)
    return span and span._replace(any_year=True)


def _year(match: re.Match[str], clock: _Clock) -> Span:
    span = months_from(clock.today.replace(year=int(match["year"]), month=1, day=1), 12, "year")
    return _third(span, match["part"]) if match["part"] else span


_nineties = "twenties thirties forties fifties sixties seventies eighties nineties".split()


def _decade(match: re.Match[str], clock: _Clock) -> Span:
    year = int(match["year"] or 0) or 10 * (_nineties.index(match["name"].lower()) + 2)
    if year < 100:
        year += 2000 if 2000 + year <= clock.at.year else 1900
    return months_from(clock.today.replace(year=year, month=1, day=1), 120, "decade")


_days = {"yesterday": -1, "last night": -1, "today": 0, "tonight": 0, "tomorrow": 1}


def _day(match: re.Match[str], clock: _Clock) -> Span:
    words = match[0].lower()
    steps = next((n for ending, n in _days.items() if words.endswith(ending)), 0)
    if "before" in words or "after " in words:
        steps *= 2
    day = days_from(later(clock.today, days=steps), 1, relative=True)
    if words == "tonight":
        return day._replace(start=later(day.start, minutes=17 * 60),
                            end=later(day.start, minutes=28 * 60), grain="part")  # fmt: skip
    part = words.split()[-1]
    return _in_part(day, part) if part in PARTS else day


def _in_part(day: Span, part: str) -> Span:
    first, last = PARTS[part]
    return day._replace(
        start=later(day.start, minutes=60 * first),
        end=later(day.start, minutes=60 * last),
        grain="part",
    )


def _unit(at: datetime, unit: str, steps: int) -> Span:
    """The day, week, month... so many of them from that of `at`."""
    today = midnight(at)
    match unit:
        case "day":
            return days_from(later(today, days=steps), 1, relative=True)
        case "week" | "weekend":
            monday = later(today, days=7 * steps - today.weekday())
            if unit == "week":
                return days_from(monday, 7, "week", relative=True)
            return days_from(later(monday, days=5), 2, "weekend", relative=True)
        case "month":
            span = months_from(months_later(today, steps), 1, "month")
        case "quarter":
            start = today.replace(month=(today.month - 1) // 3 * 3 + 1, day=1)
            span = months_from(months_later(start, 3 * steps), 3, "quarter")
        case "decade":
            start = today.replace(year=today.year // 10 * 10 + 10 * steps, month=1, day=1)
            span = months_from(start, 120, "decade")
        case _:
            span = months_from(today.replace(year=today.year + steps, month=1, day=1), 12, "year")
    return span._replace(is_relative=True)


def _steps(match: re.Match[str], clock: _Clock) -> Span | None:
    """ "Two weeks ago", "in a month", "a few days from now"."""
    words, unit = match["number"], match["unit"].lower()
    sign = -1 if match["end"] and match["end"].lower().startswith(("ago", "back", "ear")) else 1
    number, unit = (2 * count(words), "week") if unit == "fortnight" else (count(words), unit)
    if unit in ("minute", "hour"):
        minutes = sign * number * (60 if unit == "hour" else 1)
        start = later(clock.at.replace(second=0, microsecond=0), minutes=minutes)
        length = 60 if unit == "hour" and number >= 1 else 1
        grain: Grain = "hour" if length == 60 else "minute"
        return Span(start, later(start, minutes=length), grain, is_relative=True)
    if unit == "decade":
        number, unit = 10 * number, "year"
    if unit == "year" and number % 1:
        number, unit = 12 * number, "month"
    if unit == "week":
        likely = later(clock.today, days=7 * sign * number)
    if "few" in words.lower():
        ends = sorted((_unit(clock.at, unit, sign * 2), _unit(clock.at, unit, sign * 5)))
        span = Span(ends[0].start, ends[1].end, "range", is_relative=True)
        middle = _unit(clock.at, unit, 3 * sign).start if unit != "week" else likely
        return span._replace(likely=middle)
    if unit != "week":
        return _unit(clock.at, unit, int(sign * number))
    if sign > 0:  # the same day of that week, or one near it
        return days_from(later(likely, days=-3), 7, "week", relative=True)._replace(likely=likely)
    return _unit(clock.at, unit, -int(number))._replace(likely=likely)


_in_days = {"day": 1, "week": 7, "weekend": 7, "month": 30.44, "year": 365.25}


def _stretch(match: re.Match[str], clock: _Clock) -> Span:
    """ "The last three days", "in the past week", "over the next two months"."""
    days = round(count(match["number"] or "one") * _in_days[match["unit"].lower()])
    if match["which"].lower() in ("last", "past"):
        start, end = later(clock.today, days=-days), later(clock.today, days=1)
    else:
        start, end = clock.today, later(clock.today, days=days + 1)
    return Span(start, end, "range", is_relative=True)


def _period(match: re.Match[str], clock: _Clock) -> Span:
    """Last week, this month, next weekend."""
    which, unit = _which(match), match["unit"].lower()
    steps = {"last": -1, "this": 0, "next": 1, "": 0}[which]
    return _unit(clock.at, unit, steps)


def _beside(match: re.Match[str], clock: _Clock) -> Span:
    """The week before last, the month after next."""
    return _unit(clock.at, match["unit"].lower(), 2 if match["way"].lower() == "after" else -2)


def _this_weekend(match: re.Match[str], clock: _Clock) -> Span:
    """ "Over the weekend": the one that is, else the next or the last."""
    is_on = clock.at.weekday() >= 5
    return _unit(clock.at, "weekend", 0 if clock.ahead or is_on else -1)


def _end_of(match: re.Match[str], clock: _Clock) -> Span:
    """ "By the end of next month" is its last day; the beginning of it is its first third."""
    span = _period(match, clock)
    if match["part"].lower() == "end" or span.grain == "week":
        return _third(span, "end")
    return _third(span, match["part"])


def _weekday(match: re.Match[str], clock: _Clock) -> Span | None:
    name, which = match["weekday"], _which(match)
    if len(name) < 6 and not match["which"] and clock.before not in _DAY_WORDS:
        return None  # "The cat sat in the sun"
    ahead = (weekday_number(name) - clock.at.weekday()) % 7
    back = (clock.at.weekday() - weekday_number(name)) % 7 or 7
    if match["way"]:
        days = -back - 7 if match["way"].lower() == "before" else (ahead or 7) + 7
    elif which == "next":  # the very next day is called tomorrow
        days = 8 if ahead == 1 else ahead or 7
    else:
        days = ahead if which == "this" or (which == "" and clock.ahead) else -back
    return days_from(later(clock.today, days=days), 1, relative=True)


def _day_of_month(match: re.Match[str], clock: _Clock) -> Span | None:
    """The next such day, or the last one: "on the 1st"."""
    if clock.before not in ("on", "by", "until", "before", "from"):
        return None
    day = int(match["day"])
    for steps in range(12):
        try:
            when = months_later(clock.at, steps if clock.ahead else -steps).replace(day=day)
        except ValueError:  # a month without such a day
            continue
        if when >= clock.today if clock.ahead else when <= clock.today:
            return days_from(when, 1, relative=True)
    return None


def _time(match: re.Match[str], clock: _Clock) -> Span | None:
    """Of today; it is a date only beside a day."""
    if match["noon"]:
        minutes, grain = 720, "hour"
    elif match["half"]:
        hour = int(match["hour"]) % 12 + (12 if match["half"].lower() == "p" else 0)
        minutes, grain = (
            60 * hour + int(match["minute"] or 0),
            "minute" if match["minute"] else "hour",
        )
    else:
        minutes, grain = 60 * int(match["hour24"]) + int(match["minute24"]), "minute"
    day = days_from(clock.today, 1, relative=True)
    return _at_time(day, minutes, "minute" if grain == "minute" else "hour")


def _at_time(day: Span, minutes: int, grain: Grain) -> Span:
    start = later(midnight(day.start), minutes=minutes)
    return day._replace(
        start=start, end=later(start, minutes=60 if grain == "hour" else 1), grain=grain
    )


def _part(match: re.Match[str], clock: _Clock) -> Span:
    return _in_part(days_from(clock.today, 1, relative=True), match["part"].lower())


# ---- what phrases mean together

_beside_gap = re.compile(r"[\s,]*(?:(?:of|on|in|during|at|the)\s+){0,2}", re.IGNORECASE)
_range_gap = re.compile(r"\s*(?P<word>to|until|till|through|and|[-–])\s*(?:the )?", re.IGNORECASE)
_clause_gap = re.compile(r"\b(?:and|but|then|because|when|while)\b|[;.!?]", re.IGNORECASE)
_DAYS = frozenset(("day", "weekday", "relative day", "day of month", "any day"))
_OPEN = frozenset(("month", "any day", "season", "quarter", "days"))


def _together(text: str, phrases: Sequence[_Phrase], at: datetime) -> list[_Phrase]:
    result: list[_Phrase] = []
    for phrase in phrases:
        if result and (whole := _joined(text, result[-1], phrase, at)):
            result[-1] = whole
        elif not result or phrase.first >= result[-1].last:
            result.append(phrase)
    result = _with_years(text, result)
    return [phrase for phrase in result if phrase.kind not in ("time", "part")]


def _joined(text: str, one: _Phrase, other: _Phrase, at: datetime) -> _Phrase | None:
    gap = text[one.last : other.first]
    if len(gap) > 24:
        return None
    span: Span | None = None
    if _beside_gap.fullmatch(gap):
        span = _beside_each_other(one, other) or _beside_each_other(other, one)
    is_range = False
    if span is None and (match := _range_gap.fullmatch(gap)):
        word = _word_before.search(text, max(0, one.first - 24), one.first)
        is_opened = word is not None and word[1].lower() in _RANGE_WORDS
        if is_opened or (match["word"] != "and" and not one.is_bare):
            span = _range(one, other, at)
            is_range = span is not None
    if span is None:
        return None
    exact = min(one, other, key=lambda phrase: phrase.rank)
    kind = (
        "days"
        if is_range
        else "day"
        if span.grain in ("day", "hour", "minute", "part")
        else "dated"
    )
    return _Phrase(one.first, other.last, kind, exact.rank, span)


def _beside_each_other(one: _Phrase, other: _Phrase) -> Span | None:
    """The day with its hour, the weekday with its week, the 5th with its month."""
    day, more = one.span, other.span
    if one.kind in _DAYS and other.kind in ("time", "part") and day.grain == "day":
        shift = more.start - midnight(more.start)
        start = later(day.start, minutes=shift.total_seconds() / 60)
        return day._replace(start=start, end=start + (more.end - more.start), grain=more.grain)
    if one.kind == "weekday" and other.kind == "week":
        return days_from(later(more.start, days=day.start.weekday()), 1, relative=True)
    if one.kind == "weekday" and other.kind in ("day", "any day"):
        return more
    if one.kind == "day of month" and other.kind in ("months", "month") and more.grain == "month":
        moved = more.start.replace(day=day.start.day)
        return days_from(moved, 1)._replace(any_year=more.any_year, is_relative=more.is_relative)
    return None


def _range(one: _Phrase, other: _Phrase, at: datetime) -> Span | None:
    start, end = one.span, other.span
    if "time" in (one.kind, other.kind) or "part" in (one.kind, other.kind):
        return None
    if start.any_year and not end.any_year:
        start = in_year(start, end.start.year)
        start = in_year(start, end.start.year - 1) if start.start > end.start else start
    if end.start < start.start and end.any_year:
        end = in_year(end, end.start.year + 1)
    if end.start < start.start and one.kind == other.kind == "weekday":
        if start.start < midnight(at) <= later(end.start, days=7):
            start = days_from(later(start.start, days=-7), 1)
        else:
            end = days_from(later(end.start, days=7), 1)
    if end.end <= start.start:
        return None
    return Span(start.start, end.end, "range", start.any_year and end.any_year, end.is_relative)


def _with_years(text: str, phrases: list[_Phrase]) -> list[_Phrase]:
    """ "In 2022, what did I do in June?" asks of June 2022."""
    years = [phrase for phrase in phrases if phrase.span.grain == "year" and "year" in phrase.kind]
    if len(years) != 1 or len(phrases) < 2:
        return phrases
    (year,) = years
    result, used = [], False
    for phrase in phrases:
        gap = text[min(phrase.last, year.last) : max(phrase.first, year.first)]
        if phrase.span.any_year and not _clause_gap.search(gap[:_AROUND]):
            used = True
            span = in_year(phrase.span, year.span.start.year)._replace(
                is_relative=year.span.is_relative
            )
            phrase = phrase._replace(span=span, is_bare=False)
        result.append(phrase)
    return [phrase for phrase in result if phrase is not year] if used else result


# ---- the forms

_Meaning = Callable[[re.Match[str], _Clock], Span | None]
_ORDINAL = rf"(?P<ordinal>{'|'.join(list(ORDINALS)[:4])})"
_TH = r"(?:st|nd|rd|th)?"
_forms: Sequence[tuple[str, re.Pattern[str], _Meaning]] = tuple(
    (kind, re.compile(form, re.IGNORECASE), meaning)
    for kind, form, meaning in (
        ("day",
         r"(?<![\w.-])(?P<year>\d{4})(?P<sign>[-/])(?P<month>\d\d)(?P=sign)(?P<day>\d\d)"
         r"(?:[T ](?P<hour>[01]\d|2[0-3]):(?P<minute>[0-5]\d)(?::\d\d\S*)?)?(?![\d-])", _iso),
        ("day",
         r"(?<![\w./-])(?P<first>\d{1,2})(?P<sign>[./-])(?P<second>\d{1,2})(?:(?P=sign)(?P<year>(?:\d\d)?\d\d)|(?P<dot>\.))?"
         r"(?![\w/-]|\.\d)", _numeric),
        ("month", rf"(?<![\w.-])(?P<year>{_YEAR})-(?P<month>0[1-9]|1[0-2])(?P<day>)?(?P<hour>)?(?![\w-])", _iso),
        ("days",
         rf"\b(?P<day>\d{{1,2}}){_TH}(?P<join> (?:to|until|till|through|and) (?:the )?|\s?[-–]\s?)(?P<until>\d{{1,2}}){_TH}"
         rf"(?: of)? (?P<month>{MONTH})\b\.?(?:,? (?P<year>{_YEAR}))?", _days_of_month),
        ("days",
         rf"\b(?P<month>{MONTH})\.? (?P<day>\d{{1,2}}){_TH}(?P<join> (?:to|until|till|through|and) (?:the )?|\s?[-–]\s?)"
         rf"(?P<until>\d{{1,2}}){_TH}(?![:\w])(?:,? (?P<year>{_YEAR}))?", _days_of_month),
        ("any day",
         rf"\b(?P<month>{MONTH})\.? (?:the )?(?P<day>\d{{1,2}}){_TH}\b(?![:\d])(?:,? (?P<year>{_YEAR})\b)?", _named_day),
        ("any day",
         rf"\b(?P<day>\d{{1,2}}){_TH}(?: of)? (?P<month>{MONTH})\b(?:,? (?P<year>{_YEAR})\b)?", _named_day),
        ("season",
         rf"\b(?:{_WHICH} |in (?:the )?|during (?:the )?|since |(?:the )?(?=\w+,? (?:of )?{_YEAR}))"
         rf"(?P<season>spring|summer|fall|autumn|winter)\b(?:,? (?:of )?(?P<year>{_YEAR})\b)?", _season),
        ("quarter", rf"\bQ(?P<digit>[1-4])\b|\bthe {_ORDINAL} quarter\b", _quarter),
        ("any day", rf"\b(?:{'|'.join(_holidays)})\b".replace("'", "['’]"), _holiday),
        ("end",
         r"\b(?P<part>end|beginning|start) of (?:the |(?=last|this|next))(?:(?P<which>last|this|next) )?"
         r"(?P<unit>week|month|quarter|year)\b", _end_of),
        ("month",
         rf"\b(?:{_WHICH} )?(?:(?P<part>early|mid|late|(?:beginning|start|end) of)[ -])?(?P<month>{MONTH})\b"
         rf"(?:,? (?:of )?(?P<year>{_YEAR})\b)?", _month),
        ("day of month",
         r"\bthe (?P<day>\d{1,2})(?:st|nd|rd|th)\b"
         r"(?=[^\w\s]|\s*$| (?:and|but|because|so|at|for|with|to|in|when|if|we|I|of (?:last|this|next) month)\b)", _day_of_month),
        ("relative day",
         r"\b(?:the day before yesterday|the day after tomorrow|yesterday|tomorrow|last night|tonight|today|this (?:morning|afternoon|evening))\b",
         _day),
        ("steps", rf"\b(?P<number>{COUNT}) (?P<unit>{_UNIT})s? (?P<end>ago|back|earlier|from now|from today)\b", _steps),
        ("steps",
         rf"\bin (?:about )?(?P<number>{COUNT}) (?:more )?(?P<unit>{_UNIT})s?\b['’]?s?(?P<end> time)?(?! ago| of\b| time)", _steps),
        ("months", r"\bthe (?P<unit>week|weekend|month|quarter|year) (?P<way>before|after) (?:last|next)\b", _beside),
        ("weekday",
         rf"\b(?:{_WHICH} )?(?P<weekday>{WEEKDAY}|{_SHORT_DAY})\b(?: (?P<way>before|after) (?:last|next)\b)?", _weekday),
        ("stretch",
         rf"\b(?P<which>last|past|next|coming) (?P<number>{COUNT}) (?P<unit>day|week|weekend|month|year)s\b(?! of\b)", _stretch),
        ("stretch", r"\b(?:the|this) (?P<which>past) (?P<number>)?(?P<unit>day|week|month|year)\b(?! of\b)", _stretch),
        ("week", rf"\b{_WHICH} (?P<unit>week)\b(?! of\b)", _period),
        ("months", rf"\b{_WHICH} (?P<unit>weekend|month|quarter|decade)\b(?! of\b)", _period),
        ("relative year", rf"\b{_WHICH} (?P<unit>year)\b", _period),
        ("months", r"\b(?:over|at|on|during) the weekend\b", _this_weekend),
        ("decade", rf"\b(?P<year>(?:19|20)?\d0)['’]?s\b|\bthe (?P<name>{'|'.join(_nineties)})\b", _decade),
        ("year", rf"\b(?:(?P<part>early|mid|late|(?:beginning|start|end) of)[ -])?(?P<year>{_YEAR})\b(?![-/]\d)", _year),
        ("time",
         r"\b(?:at )?(?:(?P<hour>\d{1,2})(?:[:.](?P<minute>[0-5]\d))? ?(?P<half>[ap])\.?m\b\.?|(?P<hour24>[01]?\d|2[0-3]):(?P<minute24>[0-5]\d)\b"
         r"|(?P<noon>noon)\b)", _time),
        ("part", r"\b(?:in the |at )?(?P<part>morning|afternoon|evening|night)\b", _part),
    )
)  # fmt: skip
