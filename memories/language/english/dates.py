"""Dates in English words, read against a clock: one grammar for the dates of facts and queries, for
when a plan is over, and for what a statement may repeat.

Each form at the end reads one way of naming a time. Neighbouring times are then put together:
"Friday" and "at 3pm", "in May" and "of last year", "from March" and "to May".
"""

import re
from collections.abc import Callable, Sequence
from datetime import UTC, date, datetime, timedelta
from typing import NamedTuple

from memories.language.english import calendar
from memories.language.english.calendar import (
    DAY_WORDS,
    MONTH,
    MONTH_WORDS,
    PARTS,
    RANGE_WORDS,
    WEEKDAY,
    Clock,
    DateOrder,
    Grain,
    Span,
    at_time,
    days_from,
    in_year,
    later,
    midnight,
    months_from,
    months_later,
    third,
    weekday_number,
    which_of,
)
from memories.language.english.numbers import COUNT, ORDINALS, count

# Dates counted from the day on which they are said: "yesterday", "two weeks ago", "next Friday".

_days = {"yesterday": -1, "last night": -1, "today": 0, "tonight": 0, "tomorrow": 1}


def day(match: re.Match[str], clock: Clock) -> Span:
    words = match[0].lower()
    steps = next((n for ending, n in _days.items() if words.endswith(ending)), 0)
    if "before" in words or "after " in words:
        steps *= 2
    day = days_from(later(clock.today, days=steps), 1, relative=True)
    if words == "tonight":
        return day._replace(
            start=later(day.start, minutes=17 * 60), end=later(day.start, minutes=28 * 60), grain="part"
        )
    part = words.split()[-1]
    return _in_part(day, part) if part in PARTS else day


def _in_part(day: Span, part: str) -> Span:
    first, last = PARTS[part]
    return day._replace(
        start=later(day.start, minutes=60 * first), end=later(day.start, minutes=60 * last), grain="part"
    )


def _unit(at: datetime, unit: str, steps: int) -> Span:
    """Return the day, week, month and so on that is so many of them from that of `at`."""
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


def steps(match: re.Match[str], clock: Clock) -> Span | None:
    """Read "two weeks ago", "in a month", "a few days from now"."""
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
    if match["exact"] and unit in ("week", "month", "year") and not number % 1:
        return _same_day(clock, unit, int(sign * number))
    if "few" in words.lower():
        ends = sorted((_unit(clock.at, unit, sign * 2), _unit(clock.at, unit, sign * 5)))
        span = Span(ends[0].start, ends[1].end, "range", is_relative=True)
        middle = _unit(clock.at, unit, 3 * sign).start if unit != "week" else likely
        return span._replace(likely=middle)
    if unit == "month" and number == 1 and sign < 0:  # about this day of the month before
        day = months_later(clock.today, -1) + timedelta(days=clock.today.day - 1)
        return days_from(later(day, days=-4), 9, "range", relative=True)._replace(likely=day)
    if unit != "week":
        return _unit(clock.at, unit, int(sign * number))
    if sign > 0:  # the same day of that week, or one near it
        return days_from(later(likely, days=-3), 7, "week", relative=True)._replace(likely=likely)
    return _unit(clock.at, unit, -int(number))._replace(likely=likely)


def _same_day(clock: Clock, unit: str, steps: int) -> Span:
    """Return this day in last year for "exactly a year ago"; ValueError if there is no such day."""
    if unit == "week":
        return days_from(later(clock.today, days=7 * steps), 1, relative=True)
    first = months_later(clock.today, steps * (12 if unit == "year" else 1))
    return days_from(first.replace(day=clock.today.day), 1, relative=True)


_in_days = {"day": 1, "week": 7, "weekend": 7, "month": 30.44, "year": 365.25}


def stretch(match: re.Match[str], clock: Clock) -> Span:
    """Read "the last three days", "in the past week", "over the next two months"."""
    days = round(count(match["number"] or "one") * _in_days[match["unit"].lower()])
    if match["which"].lower() in ("last", "past"):
        start, end = later(clock.today, days=-days), later(clock.today, days=1)
    else:
        start, end = clock.today, later(clock.today, days=days + 1)
    return Span(start, end, "range", is_relative=True)


def period(match: re.Match[str], clock: Clock) -> Span:
    """Read "last week", "this month", "next weekend"."""
    which, unit = which_of(match), match["unit"].lower()
    steps = {"last": -1, "this": 0, "next": 1, "": 0}[which]
    return _unit(clock.at, unit, steps)


def before_last(match: re.Match[str], clock: Clock) -> Span:
    """Read "the week before last", "the month after next"."""
    return _unit(clock.at, match["unit"].lower(), 2 if match["way"].lower() == "after" else -2)


def week_of(match: re.Match[str], clock: Clock) -> Span:
    """Read "the week of 16 November"; it counts only beside a day."""
    return around(clock.at, match["unit"].lower())


def around(day: datetime, unit: str) -> Span:
    """Return the week around a span, or the weekend of that week."""
    return _unit(day, unit, 0)


def the_weekend(match: re.Match[str], clock: Clock) -> Span:
    """Read "over the weekend": the present weekend, else the next or the last."""
    is_on = clock.at.weekday() >= 5
    return _unit(clock.at, "weekend", 0 if clock.ahead or is_on else -1)


def end_of(match: re.Match[str], clock: Clock) -> Span:
    """Read "by the end of next month", which is its last day; the beginning of it is its first
    third."""
    span = period(match, clock)
    if match["part"].lower() == "end" or span.grain == "week":
        return third(span, "end")
    return third(span, match["part"])


def weekday(match: re.Match[str], clock: Clock) -> Span | None:
    name, which = match["weekday"], which_of(match)
    if len(name) < 6 and not match["which"] and clock.before not in DAY_WORDS:
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


def day_of_month(match: re.Match[str], clock: Clock) -> Span | None:
    """Return the next such day, or the last one: "on the 1st"."""
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


def time_of_day(match: re.Match[str], clock: Clock) -> Span | None:
    """Return the time as one of today; it is a date only beside a day."""
    if match["noon"]:
        minutes, grain = 720, "hour"
    elif match["half"]:
        hour = int(match["hour"]) % 12 + (12 if match["half"].lower() == "p" else 0)
        minutes, grain = (60 * hour + int(match["minute"] or 0), "minute" if match["minute"] else "hour")
    else:
        minutes, grain = 60 * int(match["hour24"]) + int(match["minute24"]), "minute"
    day = days_from(clock.today, 1, relative=True)
    return at_time(day, minutes, "minute" if grain == "minute" else "hour")


def part_of_day(match: re.Match[str], clock: Clock) -> Span:
    return _in_part(days_from(clock.today, 1, relative=True), match["part"].lower())


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
    rf" (?:{WEEKDAY}|{MONTH})\b"
    rf"|\b(?:is|are|am)\b[^.;!?]{{1,60}}\b(?:from|as of|starting) (?:(?:the )?\d{{1,2}}(?:st|nd|rd|th)? )?(?:{WEEKDAY}|{MONTH})\b",
    re.IGNORECASE,
)
_past = re.compile(
    r"\b(?:was|were|been|did|had|since|ago|last|yesterday|went|came)\b|(?<!have )(?<!has )(?<!['’]ve )(?<!['’]s )\bgot\b",
    re.IGNORECASE,
)
# What somebody was or did until a day is over, in whatever words the day is named.
_ended = re.compile(
    r"\b(?:was|were|had|used to|lived|worked|studied|owned|drove|played|smoked|attended|dated|rented|commuted|taught"
    r"|served|led|managed|volunteered|sang|coached|ran|stayed|trained|kept|wore|earned|paid|weighed|drank|ate|shared)\b"
    r"(?! (?:\w+ed|set|due|put)\b)[^.;!?]*\b(?:until|till|up to)\b",
    re.IGNORECASE,
)
_recurring = re.compile(
    rf"\b(?:every|each) (?:(?:single|other|second|third) )?(?:{WEEKDAY}|{MONTH}|{_UNIT}|morning|evening|night"
    rf"|{calendar.SEASON})s?\b(?: \d{{1,2}}(?:st|nd|rd|th)?\b)?(?:(?:,|,? and|,? or|,? except|,? but not)(?: on)? (?:every )?{WEEKDAY}s?\b)*",
    re.IGNORECASE,
)
# Most clauses name no time, and need no further reading.
_hint = re.compile(
    rf"\d|day\b|night|tonight|morning|noon|evening|tomorrow|{_UNIT}|spring|summer|\bfall\b|autumn|winter|christmas"
    rf"|new year|halloween|easter|pentecost|epiphany|the \w+ties\b|\b(?:{MONTH}|{_SHORT_DAY})\b",
    re.IGNORECASE,
)
_LEADING = 12  # characters; a day that stands before this opens the clause: "On Friday we fly home"
_AROUND = 200  # characters before a phrase in which its tense is looked for
_sentence_end = re.compile(r"[.!?;\n]\s")
_word_before = re.compile(r"(as of|[a-z]+)\s*(?:the |about |around )?$", re.IGNORECASE)


class _Phrase(NamedTuple):
    """One phrase in its place. `rank`: the lower, the more exact its form; `is_bare`: a month or
    year that no word makes a date, which may be one in a query and need not be in a statement."""

    first: int
    last: int
    kind: str
    rank: int
    span: Span
    is_bare: bool = False


def spans(text: str, at: datetime | None, order: DateOrder = "auto") -> list[Span]:
    """Return every time that is named, the most exact first. Without a clock: only those that need
    none, of any year if they name no year."""
    phrases = sorted(_phrases(text, at or datetime(2000, 1, 1), order), key=lambda p: p.rank)
    return [p.span for p in phrases if at is not None or not p.span.is_relative]


def places(text: str, at: datetime | None, order: DateOrder = "auto") -> list[tuple[int, int]]:
    """Return the places in `text` of the times that `spans` reads."""
    phrases = _phrases(text, at or datetime(2000, 1, 1), order)
    return [(phrase.first, phrase.last) for phrase in phrases if at is not None or not phrase.span.is_relative]


_counted = re.compile(rf"{_WHICH}\b", re.IGNORECASE)


def relative_phrases(text: str, at: datetime) -> list[tuple[int, int, Span]]:
    """Return the phrases that mean another time on another day, with their places in `text`."""
    return [
        (phrase.first, phrase.last, phrase.span)
        for phrase in _phrases(text, at, "auto")
        if not phrase.is_bare and (phrase.span.is_relative or _counted.match(text, phrase.first, phrase.last))
    ]


# "a novel from the 1920s" was found on another day
_of_a_thing = re.compile(r"(?<=\w) (?:from|of) (?:the )?(?:early |late |mid[- ])?(?:1[0-9]|20)?\d0['’]?s\b")


def event_date(clause: str, at: datetime, order: DateOrder = "auto") -> datetime | None:
    """Return the date of the event that `clause` tells; None if its words give none.

    It is the start of the day, month, season or year that is meant by the clock of `at`, as days are
    stored: at midnight in UTC.
    """
    clause = _of_a_thing.sub(lambda match: " " * len(match[0]), clause)
    named = [phrase for phrase in _phrases(clause, at, order) if not phrase.is_bare]
    if not named:
        return None
    span = min(named, key=lambda phrase: (phrase.rank, phrase.first)).span
    day = midnight(span.likely or span.start).replace(tzinfo=UTC)
    match vague_grain(span):
        case "year":
            return day.replace(month=1, day=1)
        case "month":
            return day.replace(day=1)
    return day


WEEKS, YEAR = 21, 366  # days, from which a range is told by its month, and by its year


def vague_grain(span: Span) -> Grain | None:
    """Return the grain by which to tell a time like "a few weeks ago"; None if its day will do."""
    if span.grain != "range" or span.likely is None:
        return None
    days = (span.end - span.start).days
    return "year" if days > YEAR else "month" if days > WEEKS else None


# A statement that is read on another day than it was said: how many days its words may take.
_lengths = tuple(
    (re.compile(rf"\b(?:{words})\b", re.IGNORECASE), days)
    for words, days in (
        ("decade", 3660),
        ("year", 365),
        (f"{calendar.SEASON}|quarter", 92),
        ("month", 30),
        ("weekend", 1),
        ("weeks?", 6),
    )
)
_month_name = re.compile(rf"\b{MONTH}\b", re.IGNORECASE)


def last_day(statement: str, first: date, order: DateOrder = "auto") -> date:
    """Return the last day that a statement beginning on `first` may mean; rather too late than too
    early."""
    at = datetime(first.year, first.month, first.day, 12)
    ends = [span.last_day for span in spans(statement, at, order) if span.first_day == first]
    length = next((days for words, days in _lengths if words.search(statement)), 0)
    if not ends and not length and first.day == 1 and _month_name.search(statement):
        ends.append(months_from(at, 1, "month").last_day)
    return max([first + timedelta(days=min(length, (date.max - first).days)), *ends])


def _phrases(text: str, at: datetime, order: DateOrder) -> list[_Phrase]:
    """Return the phrases in the order of the text, none overlapping another."""
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
            clock = Clock(at, _is_ahead(text, start, end), before, order)
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
    """Tell whether the event beside a date at this place is to come, by the words around it."""
    begun = max(0, start - _AROUND)
    for stop in _sentence_end.finditer(text, begun, start):
        begun = stop.end()
    stop_after = _sentence_end.search(text, end, end + _AROUND)
    # Words after the day may be about another time: "I began in May and it's going well".
    until = end if start - begun > _LEADING else stop_after.start() if stop_after else end + _AROUND
    sentence = text[begun:until]
    if _ended.search(sentence):
        return False
    if _future.search(sentence):
        return True
    return bool(_present.search(sentence)) and not _past.search(sentence)


_YEAR_WORDS = frozenset("in during since until till by from".split()) | {"as of"}


def _is_bare(kind: str, match: re.Match[str], before: str) -> bool:
    groups = match.groupdict()
    match kind:
        case "stretch":  # "in the next two weeks" has no day of its own
            return bool(groups["number"])
        case "year" | "decade":
            return not groups.get("part") and before not in _YEAR_WORDS
        case "month":
            is_named = groups.get("which") or groups.get("part") or groups["year"]
            return not is_named and before not in MONTH_WORDS
    return False


# ---- what phrases mean together

_beside_gap = re.compile(r"[\s,]*(?:(?:of|on|in|during|at|the)\s+){0,2}", re.IGNORECASE)
_range_gap = re.compile(r"\s*(?P<word>to|until|till|through|and|[-–])\s*(?:the )?", re.IGNORECASE)
_clause_gap = re.compile(r"\b(?:and|but|then|because|when|while)\b|[;.!?]", re.IGNORECASE)
_DAYS = frozenset(("day", "weekday", "relative day", "day of month", "any day"))


def _together(text: str, phrases: Sequence[_Phrase], at: datetime) -> list[_Phrase]:
    result: list[_Phrase] = []
    for phrase in phrases:
        if result and (whole := _joined(text, result[-1], phrase, at)):
            result[-1] = whole
        elif not result or phrase.first >= result[-1].last:
            result.append(phrase)
    result = _with_years(text, result)
    return [phrase for phrase in result if phrase.kind not in ("time", "part", "week of")]


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
        is_opened = word is not None and word[1].lower() in RANGE_WORDS
        if is_opened or (match["word"] != "and" and not one.is_bare):
            span = _range(one, other, at)
            is_range = span is not None
    if span is None:
        return None
    exact = min(one, other, key=lambda phrase: phrase.rank)
    kind = "days" if is_range else "day" if span.grain in ("day", "hour", "minute", "part") else "dated"
    return _Phrase(one.first, other.last, kind, exact.rank, span)


def _beside_each_other(one: _Phrase, other: _Phrase) -> Span | None:
    """Join the day with its hour, the weekday or the day with its week, the 5th with its month."""
    day, more = one.span, other.span
    if one.kind == "week of" and other.kind in _DAYS and one.first < other.first:
        week = around(more.start, one.span.grain)
        return week._replace(any_year=more.any_year, is_relative=more.is_relative)
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
    """Give each time its year: "In 2022, what did I do in June?" asks about June 2022."""
    years = [phrase for phrase in phrases if phrase.span.grain == "year" and "year" in phrase.kind]
    if len(years) != 1 or len(phrases) < 2:
        return phrases
    (year,) = years
    result, used = [], False
    for phrase in phrases:
        gap = text[min(phrase.last, year.last) : max(phrase.first, year.first)]
        if phrase.span.any_year and not _clause_gap.search(gap[:_AROUND]):
            used = True
            span = in_year(phrase.span, year.span.start.year)._replace(is_relative=year.span.is_relative)
            phrase = phrase._replace(span=span, is_bare=False)
        result.append(phrase)
    return [phrase for phrase in result if phrase is not year] if used else result


# ---- the forms

_Meaning = Callable[[re.Match[str], Clock], Span | None]
_ORDINAL = rf"(?P<ordinal>{'|'.join(list(ORDINALS)[:4])})"
_TH = r"(?:st|nd|rd|th)?"
_HOLIDAYS = sorted(
    {*calendar.HOLIDAYS, *calendar.BY_EASTER} - {"christmas", "easter", "new year's"}, key=len, reverse=True
)
_forms: Sequence[tuple[str, re.Pattern[str], _Meaning]] = tuple(
    (kind, re.compile(form, re.IGNORECASE), meaning)
    for kind, form, meaning in (
        (
            "day",
            r"(?<![\w.-])(?P<year>\d{4})(?P<sign>[-/])(?P<month>\d\d)(?P=sign)(?P<day>\d\d)"
            r"(?:[T ](?P<hour>[01]\d|2[0-3]):(?P<minute>[0-5]\d)(?::\d\d\S*)?)?(?![\d-])",
            calendar.iso,
        ),
        (
            "day",
            r"(?<![\w./-])(?P<first>\d{1,2})(?P<sign>[./-])(?P<second>\d{1,2})(?:(?P=sign)(?P<year>(?:\d\d)?\d\d)|(?P<dot>\.))?"
            r"(?![\w/-]|\.\d)",
            calendar.numeric,
        ),
        (
            "month",
            rf"(?<![\w.-])(?P<year>{_YEAR})-(?P<month>0[1-9]|1[0-2])(?P<day>)?(?P<hour>)?(?![\w-])",
            calendar.iso,
        ),
        (
            "days",
            rf"\b(?P<day>\d{{1,2}}){_TH}(?P<join> (?:to|until|till|through|and) (?:the )?|\s?[-–]\s?)(?P<until>\d{{1,2}}){_TH}"
            rf"(?: of)? (?P<month>{MONTH})\b\.?(?:,? (?P<year>{_YEAR}))?",
            calendar.days_of_month,
        ),
        (
            "days",
            rf"\b(?P<month>{MONTH})\.? (?P<day>\d{{1,2}}){_TH}(?P<join> (?:to|until|till|through|and) (?:the )?|\s?[-–]\s?)"
            rf"(?P<until>\d{{1,2}}){_TH}(?![:\w])(?:,? (?P<year>{_YEAR}))?",
            calendar.days_of_month,
        ),
        (
            "any day",
            rf"\b(?P<month>{MONTH})\.? (?:the )?(?P<day>\d{{1,2}}){_TH}\b(?![:\d])(?:,? (?P<year>{_YEAR})\b)?",
            calendar.named_day,
        ),
        (
            "any day",
            rf"\b(?P<day>\d{{1,2}}){_TH}(?: of)? (?P<month>{MONTH})\b(?:,? (?P<year>{_YEAR})\b)?",
            calendar.named_day,
        ),
        (
            "season",
            rf"\b(?:{_WHICH} |(?:in|during|over|since|until|till|from|by|before|after|as of) (?:the )?|(?:the )?(?=\w+,? (?:of )?{_YEAR}))"
            rf"(?P<season>{calendar.SEASON})\b(?:,? (?:of )?(?P<year>{_YEAR})\b)?",
            calendar.season,
        ),
        ("quarter", rf"\bQ(?P<digit>[1-4])\b|\bthe {_ORDINAL} quarter\b", calendar.quarter),
        (
            "any day",
            rf"\b(?:{_WHICH} )?(?P<holiday>{'|'.join(_HOLIDAYS)})\b(?:,? (?:of )?(?P<year>{_YEAR})\b)?".replace(
                "'", "['’]"
            ),
            calendar.holiday,
        ),
        (
            "any day",  # not "at the Christmas market", nor "I love Easter"
            rf"\b(?:{_WHICH}|at|on|over|by|for|until|till|since|before|after|around) (?P<holiday>christmas|easter|new year's)"
            rf"(?:,? (?:of )?(?P<year>{_YEAR})\b)?(?=[^\w\s'-]|\s*$| (?:and|but|in|with|at|because|when|I|we|my|our|he|she|they|it|the|was|is|last|this)\b)".replace(
                "'s", "['’]s"
            ),
            calendar.holiday,
        ),
        (
            "end",
            r"\b(?P<part>end|beginning|start) of (?:the |(?=last|this|next))(?:(?P<which>last|this|next) )?"
            r"(?P<unit>week|month|quarter|year)\b",
            end_of,
        ),
        (
            "part of month",
            rf"\b(?P<ordinal>{'|'.join(list(ORDINALS)[:5])}|last) (?P<what>week|half|{WEEKDAY}) (?:of|in) (?P<month>{MONTH})\b"
            rf"(?:,? (?:of )?(?P<year>{_YEAR})\b)?",
            calendar.part_of_month,
        ),
        (
            "week of",
            rf"\b(?P<unit>week|weekend) (?:of|from|beginning|starting) (?:on )?(?:(?:the )?{WEEKDAY},? )?(?=(?:the )?(?:\d|{MONTH}))",
            week_of,
        ),
        (
            "month",
            rf"\b(?:{_WHICH} )?(?:(?P<part>early|mid|late|(?:beginning|start|end) of)[ -])?(?P<month>{MONTH})\b"
            rf"(?:,? (?:of )?(?P<year>{_YEAR})\b)?",
            calendar.month,
        ),
        (
            "day of month",
            r"\bthe (?P<day>\d{1,2})(?:st|nd|rd|th)\b"
            r"(?=[^\w\s]|\s*$| (?:and|but|because|so|at|for|with|to|in|when|if|we|I|of (?:last|this|next) month)\b)",
            day_of_month,
        ),
        (
            "relative day",
            r"\b(?:the day before yesterday|the day after tomorrow|yesterday|tomorrow|last night|tonight|today|this (?:morning|afternoon|evening))\b",
            day,
        ),
        (
            "steps",
            rf"\b(?P<exact>exactly )?(?P<number>{COUNT}) (?P<unit>{_UNIT})s? (?P<end>ago|back|earlier|from now|from today)\b",
            steps,
        ),
        (
            "steps",
            rf"\bin (?:about |(?P<exact>exactly ))?(?P<number>{COUNT}) (?:more )?(?P<unit>{_UNIT})s?\b['’]?s?(?P<end> time)?(?! ago| of\b| time)",
            steps,
        ),
        (
            "months",
            r"\bthe (?P<unit>week|weekend|month|quarter|year) (?P<way>before|after) (?:last|next)\b",
            before_last,
        ),
        (
            "weekday",
            rf"\b(?:{_WHICH} )?(?P<weekday>{WEEKDAY}|{_SHORT_DAY})\b(?: (?P<way>before|after) (?:last|next)\b)?",
            weekday,
        ),
        (
            "stretch",
            rf"\b(?P<which>last|past|next|coming) (?P<number>{COUNT}) (?P<unit>day|week|weekend|month|year)s\b(?! of\b)",
            stretch,
        ),
        ("stretch", r"\b(?:the|this) (?P<which>past) (?P<number>)?(?P<unit>day|week|month|year)\b(?! of\b)", stretch),
        ("week", rf"\b{_WHICH} (?P<unit>week)\b(?! of\b)", period),
        ("months", rf"\b{_WHICH} (?P<unit>weekend|month|quarter|decade)\b(?! of\b)", period),
        ("relative year", rf"\b{_WHICH} (?P<unit>year)\b", period),
        ("months", r"\b(?:over|at|on|during) the weekend\b", the_weekend),
        (
            "decade",
            rf"\b(?P<year>(?:19|20)?\d0)['’]?s\b|\bthe (?P<name>{'|'.join(calendar.NINETIES)})\b",
            calendar.decade,
        ),
        (
            "year",
            rf"\b(?:(?P<part>early|mid|late|(?:beginning|start|end) of)[ -])?(?P<year>{_YEAR})\b(?![-/]\d)",
            calendar.year,
        ),
        (
            "time",
            r"\b(?:at )?(?:(?P<hour>\d{1,2})(?:[:.](?P<minute>[0-5]\d))? ?(?P<half>[ap])\.?m\b\.?|(?P<hour24>[01]?\d|2[0-3]):(?P<minute24>[0-5]\d)\b"
            r"|(?P<noon>noon)\b)",
            time_of_day,
        ),
        ("part", r"\b(?:in the |at )?(?P<part>morning|afternoon|evening|night)\b", part_of_day),
    )
)
