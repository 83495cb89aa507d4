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
    day_number,
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
from memories.language.english.numbers import COUNT, DAY_ORDINALS, ORDINALS, count
from memories.language.english.verbs import PAST

# Dates counted from the day on which they are said: "yesterday", "two weeks ago", "next Friday".

_days = {"yesterday": -1, "last night": -1, "today": 0, "tonight": 0, "tomorrow": 1, "tmrw": 1, "tmr": 1, "2moro": 1}


def day(match: re.Match[str], clock: Clock) -> Span:
    words = match[0].lower()
    steps = next((n for ending, n in _days.items() if words.endswith(ending)), 0)
    if "before" in words or "after " in words:
        steps *= 2
    day = days_from(later(clock.today, days=steps), 1, relative=True)
    if words.startswith("this") and words.endswith("day"):  # of the year beside it
        return day._replace(any_year=True)
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


def _amount(match: re.Match[str]) -> tuple[float, str]:
    """Return how many of which unit: two weeks for "a fortnight", one day for "the day"."""
    words, unit = match["number"].lower(), match["unit"].lower()
    number = (1 if words == "the" else count(words)) + (0.5 if match.groupdict().get("half") else 0)
    if unit in _of_others:
        times, unit = _of_others[unit]
        number *= times
    return (12 * number, "month") if unit == "year" and number % 1 else (number, unit)


def today(match: re.Match[str], clock: Clock) -> Span:
    """Stand for what counts only beside another time: "two weeks from", "the last Friday of"."""
    return days_from(clock.today, 1, relative=True)


def shifted(match: re.Match[str], base: Span) -> Span | None:
    """Read "a week from Tuesday", "two years ago today", "the day after Easter", of its later part's
    time."""
    number, unit = _amount(match)
    way = (match["end"] or match["side"] or "on").lower()
    if way == "on" and match.string.endswith(("in ", "for "), 0, match.start()):
        return None
    if number % 1 or (base.grain not in ("day", "part", "week", "month") and base.likely is None):
        return None
    start, steps = midnight(base.likely or base.start), int(-number if way in ("ago", "before") else number)
    if unit in ("day", "week"):
        start = later(start, days=steps * (7 if unit == "week" else 1))
    else:
        first = months_later(start, steps * (12 if unit == "year" else 1))
        start = first.replace(day=min(start.day, months_from(first, 1, "month").last_day.day))
    if base.grain == "month":
        return months_from(start, 1, "month")._replace(is_relative=True)
    span = days_from(start, 7, "week") if base.grain == "week" else days_from(start, 1)
    return span._replace(is_relative=base.is_relative or base.any_year or way in ("ago", "from", "on"))


def steps(match: re.Match[str], clock: Clock) -> Span | None:
    """Read "two weeks ago", "in a month", "a few days from now"."""
    words, (number, unit) = match["number"], _amount(match)
    sign = -1 if match["end"] and match["end"].lower().startswith(("ago", "back", "ear")) else 1
    if unit in ("minute", "hour"):
        if clock.tense < 0 and sign > 0:  # "I ran it in 50 minutes"
            return None
        minutes = sign * number * (60 if unit == "hour" else 1)
        start = later(clock.at.replace(second=0, microsecond=0), minutes=minutes)
        length = 60 if unit == "hour" and number >= 1 else 1
        grain: Grain = "hour" if length == 60 else "minute"
        return Span(start, later(start, minutes=length), grain, is_relative=True)
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


_of_others = {"fortnight": (2, "week"), "wk": (1, "week"), "decade": (10, "year"), "yr": (1, "year")}
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
    """Read "by EOM", "at year's end": the last day of this one."""
    letters = {"d": "day", "w": "week", "m": "month", "q": "quarter", "y": "year"}
    return third(
        _unit(clock.at, letters[match["letter"].lower()] if match["letter"] else match["unit"].lower(), 0), "end"
    )


def weekday(match: re.Match[str], clock: Clock) -> Span | None:
    name, which = match["weekday"], which_of(match)
    if len(name) < 6 and not match["which"] and clock.before not in DAY_WORDS:
        return None  # "The cat sat in the sun"
    if name_of_week := match.groupdict().get("number"):  # "two Fridays ago"
        back = (clock.at.weekday() - weekday_number(name)) % 7 or 7
        return days_from(later(clock.today, days=-back - 7 * (count(name_of_week) - 1)), 1, relative=True)
    ahead = (weekday_number(name) - clock.at.weekday()) % 7
    back = (clock.at.weekday() - weekday_number(name)) % 7 or 7
    if match["way"]:
        days = -back - 7 if match["way"].lower() == "before" else (ahead or 7) + 7  # also "Thursday week"
    elif which == "next":  # the very next day is called tomorrow
        days = 8 if ahead == 1 else ahead or 7
    else:
        days = ahead if which == "this" or (which == "" and clock.ahead) else -back
    return days_from(later(clock.today, days=days), 1, relative=True)


def day_of_month(match: re.Match[str], clock: Clock) -> Span | None:
    """Return the next such day, or the last one: "on the 1st"."""
    if clock.before not in ("on", "by", "until", "before", "from", "to"):
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


def weekday_with_day(match: re.Match[str], clock: Clock) -> Span | None:
    """Read "Friday the 13th": the next or the last one, or the nearest where no tense is said."""
    weekday, day = weekday_number(match["weekday"]), day_number(match["day"])
    met = []
    for steps in range(-14, 15):
        first = months_later(clock.today, steps)
        if day <= months_from(first, 1, "month").last_day.day and first.replace(day=day).weekday() == weekday:
            met.append(first.replace(day=day))
    fitting = [at for at in met if (at >= clock.today) == clock.ahead or at == clock.today] if clock.tense else met
    nearest = min(fitting, key=lambda at: abs(at - clock.today), default=None)
    return days_from(nearest, 1, relative=True) if nearest else None


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


_UNIT = r"(?:minute|hour|day|week|wk|fortnight|weekend|month|quarter|year|yr|decade)"
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
    r"|(?:on|at|in|from|off|back|away|set|booked|planned|closed|open)\b)"
    r"|(?:\b(?:have|has)|['’](?:ve|s)) (?:got )?(?:an?|my|our|another|two|three)\b"
    r"|\b(?:do|does) (?:I|we|you|he|she|they|[A-Z]\w+)\b"
    r"|\b(?:I|we|they|you) (?:meet|leave|fly|travel|depart|arrive|move|return|pay)\b"
    r"|\b(?:starts?|ends?|begins?|opens?|closes?|leaves?|departs?|arrives?|expires?|takes? place|happens|falls on|flies|fly|runs from|turns?|meets|visits?|lands|comes)\b"
    rf"|\b(?:is|are|am)\b[^.;!?]{{1,60}}\b(?:from|as of|starting) (?:(?:the )?\d{{1,2}}(?:st|nd|rd|th)? )?(?:{WEEKDAY}|{MONTH})\b",
    re.IGNORECASE,
)
_past = re.compile(
    r"\b(?:was|were|been|did|had|since|ago|last|yesterday|went|came)\b|(?<!have )(?<!has )(?<!['’]ve )(?<!['’]s )\bgot\b",
    re.IGNORECASE,
)
# "We ship in Q3": what people do on a day that they name, unless something in it is past.
_doing = re.compile(
    rf"\b(?:I|we|they|you) (?!(?:{PAST}|am|are|have|do|don|know|remember|love|like|think|miss|hate|recall|mean|believe|feel|need|understand|see|live|work|use)\b)[a-z]+\b",
    re.IGNORECASE,
)
_happened = re.compile(rf"\b{PAST}\b", re.IGNORECASE)
# What was moved is to come, and of two days the later named one counts.
_moved = re.compile(
    r"\b(?:moved|changed|shifted|slipped|slips|postponed|pushed(?: back)?|brought forward|moved up|rescheduled|rebooked"
    r"|delayed|adjourned|bumped)\b(?: [\w']+){0,3}? (?:from|to|until|till) (?:the )?(?:(?:end|start|beginning) of )?"
    rf"(?:{WEEKDAY}|{_SHORT_DAY}|{MONTH}|Q[1-4]|\d{{1,2}}(?:st|nd|rd|th|(?= (?:of )?{MONTH})))\b",
    re.IGNORECASE,
)
_part_of = re.compile(r"\b(?:last|final) [\w-]+ (?:of|in)\b", re.IGNORECASE)  # "the last Friday of May" is no past
_no_more = re.compile(
    r"\b(?:instead of|rather than|not|no longer|originally|formerly|previously|first planned)(?: on| in| at| for)?(?: the)? $",
    re.IGNORECASE,
)
_counted_on = re.compile(
    r"\b(?:day|week|wk|fortnight|month|year|yr)s? (?P<way>from|on|ago) (?:the |this |in )?$", re.IGNORECASE
)
# What somebody was or did until a day is over, in whatever words the day is named.
_ended = re.compile(
    r"\b(?:was|were|had|used to|lived|worked|studied|owned|drove|played|smoked|attended|dated|rented|commuted|taught"
    r"|served|led|managed|volunteered|sang|coached|ran|stayed|trained|kept|wore|earned|paid|weighed|drank|ate|shared)\b"
    r"(?! (?:\w+ed|set|due|put)\b)[^.;!?]*\b(?:until|till|up to)\b",
    re.IGNORECASE,
)
_recurring = re.compile(
    rf"\b(?:{'|'.join(ORDINALS)}|last|\d(?:st|nd|rd|th)) {WEEKDAY}s? (?:of|in) (?:every|each) {_UNIT}\b"
    rf"|\b(?:every|each) (?:(?:single|other|last|{'|'.join(ORDINALS)}) )?(?:{WEEKDAY}|{MONTH}|{_UNIT}|morning|evening|night"
    rf"|{calendar.SEASON})s?\b(?: \d{{1,2}}(?:st|nd|rd|th)?\b)?(?: of (?:the|each|every) {_UNIT}\b)?"
    rf"(?:(?:,|,? and|,? or|,? except|,? but not)(?: on)? (?:every )?{WEEKDAY}s?\b)*",
    re.IGNORECASE,
)
# Most clauses name no time, and need no further reading.
_hint = re.compile(
    rf"\d|day\b|night|tonight|morning|noon|evening|tomorrow|{_UNIT}|spring|summer|\bfall\b|autumn|winter|christmas"
    rf"|new year|halloween|easter|pentecost|epiphany|thanksgiving|\beo[dwmqy]\b|\bwks?\b|\byrs?\b|tmrw|tmr\b|2moro|the \w+ties\b|\b(?:{MONTH}|{_SHORT_DAY})\b",
    re.IGNORECASE,
)
_LEADING = 12  # characters; a day that stands before this opens the clause: "On Friday we fly home"
_AROUND = 200  # characters before a phrase in which its tense is looked for
_sentence_end = re.compile(r"[.!?;\n]\s")
_word_before = re.compile(r"(as of|[a-z]+)[\s-]*(?:the |about |around )?$", re.IGNORECASE)


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
            clock = Clock(at, _tense(text, start, end), before, order)
            try:
                span = meaning(match, clock)
            except (ValueError, OverflowError):  # the calendar has no such day, nor has its month
                free[start:end] = bytes(end - start)
                continue
            if span is not None:
                free[start:end] = bytes(end - start)
                is_over = _no_more.search(text, max(0, start - 24), start)
                result.append(
                    _Phrase(
                        start, end, kind, rank + (len(_forms) if is_over else 0), span, _is_bare(kind, match, before)
                    )
                )
    return _together(text, sorted(result), at)


def _tense(text: str, start: int, end: int) -> int:
    """Tell whether the event beside a date at this place is to come (1) or past (-1), by the words around
    it; 0 where they do not say."""
    if counted := _counted_on.search(text, max(0, start - 24), start):  # "a week from Tuesday"
        return -1 if counted["way"].lower() == "ago" else 1
    begun = max(0, start - _AROUND)
    for stop in _sentence_end.finditer(text, begun, start):
        begun = stop.end()
    stop_after = _sentence_end.search(text, end, end + _AROUND)
    # Words after the day may be about another time: "I began in May and it's going well".
    until = end if start - begun > _LEADING else stop_after.start() if stop_after else end + _AROUND
    sentence = _part_of.sub("", text[begun:until])
    if _ended.search(sentence):
        return -1
    if _future.search(sentence) or _moved.search(sentence):
        return 1
    if _past.search(sentence):
        return -1
    happened = bool(_happened.search(_part_of.sub("", f"{text[begun:start]} {text[end:until]}")))  # not "sat the 2nd"
    return 1 if _present.search(sentence) or (not happened and _doing.search(sentence)) else -happened


_YEAR_WORDS = frozenset("in during since until till by from".split()) | {"as of"}


def _is_bare(kind: str, match: re.Match[str], before: str) -> bool:
    groups = match.groupdict()
    match kind:
        case "stretch":  # "in the next two weeks" has no day of its own
            return bool(groups["number"])
        case "year" | "decade":
            return before not in _YEAR_WORDS
        case "month":
            return not (groups.get("which") or groups["year"]) and before not in MONTH_WORDS
    return False


# ---- what phrases mean together

_beside_gap = re.compile(r"[\s,]*(?:(?:of|on|in|during|at|the)\s+){0,2}", re.IGNORECASE)
_range_gap = re.compile(r"\s*(?P<word>to|until|till|through|and|[-–])\s*(?:the )?", re.IGNORECASE)
_side_gap = re.compile(r" (?P<side>before|after) (?:the )?")
_clause_gap = re.compile(r"\b(?:and|but|then|because|when|while)\b|[;.!?]", re.IGNORECASE)
_DAYS = frozenset(("day", "weekday", "relative day", "day of month", "any day"))
_BESIDE = frozenset(("time", "part", "week of", "shift", "place", "whole"))  # these count only beside another


def _together(text: str, phrases: Sequence[_Phrase], at: datetime) -> list[_Phrase]:
    result: list[_Phrase] = []
    for phrase in phrases:
        if result and (whole := _joined(text, result[-1], phrase, at)):
            result[-1] = whole
        elif result and _is_moved(text, result[-1], phrase):
            result[-1] = result[-1]._replace(rank=result[-1].rank + len(_forms))
            result.append(phrase._replace(is_bare=False))
        elif not result or phrase.first >= result[-1].last:
            result.append(phrase)
    result = _with_years(text, result)
    return [phrase for phrase in result if phrase.kind not in _BESIDE]


def _is_moved(text: str, one: _Phrase, other: _Phrase) -> bool:
    """Tell whether something went from one day to another: "moved from Monday to Thursday"."""
    gap, begun = text[one.last : other.first], max(0, one.first - 60)
    return bool(
        len(gap) < 24
        and _range_gap.match(gap)
        and _moved.search(text, begun, other.last)
        and text[begun : one.first].rstrip("the ").endswith("from")
    )


def _joined(text: str, one: _Phrase, other: _Phrase, at: datetime) -> _Phrase | None:
    gap = text[one.last : other.first]
    if len(gap) > 24 or _is_moved(text, one, other):
        return None
    try:
        span = _of_another(text, one, other, at)
    except ValueError:  # there is no fifth Monday
        return None
    if span:
        rank = other.rank if span.grain == "range" else one.rank
        return _Phrase(one.first, other.last, "day" if span.grain == "day" else "dated", rank, span)
    if one.kind in ("place", "shift"):
        return None
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


def _of_another(text: str, one: _Phrase, other: _Phrase, at: datetime) -> Span | None:
    """Read what is counted from the time behind it, or is a part of it; ValueError if there is none."""
    gap = text[one.last : other.first]
    if one.kind == "place" and not gap and (match := _place.match(text, one.first)):
        return _place_in(match, other.span, at, _tense(text, one.first, other.last))
    if one.kind == "shift" and _beside_gap.fullmatch(gap) and (match := _shift.match(text, one.first)):
        return shifted(match, other.span)
    if one.kind == "weekday" and other.kind in _DAYS and (match := _side_gap.fullmatch(gap)):
        base, wanted = midnight(other.span.likely or other.span.start), one.span.start.weekday()
        is_before = match["side"] == "before"
        days = -((base.weekday() - wanted - 1) % 7 + 1) if is_before else (wanted - base.weekday() - 1) % 7 + 1
        return days_from(later(base, days=days), 1, relative=True)
    return None


def _place_in(match: re.Match[str], whole: Span, at: datetime, tense: int) -> Span | None:
    """Return a part of a time, in another year where the nearest one does not fit the tense."""
    if whole.grain not in ("week", "weekend", "month", "quarter", "season", "year", "range"):
        return None
    span = calendar.place(match, whole)
    if (
        span
        and whole.any_year
        and (tense > 0 and span.end <= midnight(at) or tense < 0 and span.start > later(at, days=1))
    ):
        span = calendar.place(match, in_year(whole, whole.start.year + tense))
    if span and whole.any_year and (match["what"] or "").lower() not in ("", "day", "week", "half"):
        return span._replace(any_year=False, is_relative=True)  # its Fridays are others every year
    return span


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
        end = in_year(end, end.start.year + 1)._replace(any_year=True)
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
    years = [
        phrase
        for phrase in phrases
        if phrase.span.grain == "year" and ("year" in phrase.kind or phrase.kind == "steps")
    ]
    if len(years) != 1 or len(phrases) < 2:
        return phrases
    (year,) = years
    result, used = [], False
    for phrase in phrases:
        gap = text[min(phrase.last, year.last) : max(phrase.first, year.first)]
        if year.kind == "steps" and len(gap) > 8:
            gap = ";"
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
    {*calendar.HOLIDAYS, *calendar.BY_EASTER, *calendar.BY_WEEKDAY, *calendar.AFTER_THANKSGIVING}
    - {"christmas", "easter", "new year's"},
    key=len,
    reverse=True,
)
_ORDINALS = rf"(?P<ordinal>{'|'.join(ORDINALS)}|\d(?:st|nd|rd|th)|last|final|penultimate|(?:second|next)[- ]to[- ]last)"
_WHOLE = rf"(?:(?:this|next|last|the) (?:week|month|quarter|year)|(?:(?:this|next|last) )?(?:{MONTH}|{calendar.SEASON})|{_YEAR}|Q[1-4]|H[12])\b"
# the part of a time that is named behind it
_place = re.compile(
    rf"\b(?:(?:the )?{_ORDINALS} (?P<what>(?:working |business |week )?day|week(?:end)?|half|{WEEKDAY}|{_SHORT_DAY}) (?:of|in) "
    rf"|(?:the )?(?P<part>early|later?|mid|middle|beginning|start|end)(?: of| in)?[ -])(?={_WHOLE})",
    re.IGNORECASE,
)
_NEAR = rf"(?:today|yesterday|tomorrow|tmrw|to the day|this (?:week|month|{MONTH})|{WEEKDAY}|{_SHORT_DAY})"
_BASE = (
    rf"(?:christmas|easter"
    rf"|\d{{1,2}}(?:st|nd|rd|th)? (?:of )?{MONTH}|{MONTH} \d{{1,2}}|{'|'.join(_HOLIDAYS)})"
)
# so many days or weeks before or after the time behind it
_shift = re.compile(
    rf"\b(?P<number>{COUNT}|the) (?P<unit>day|week|wk|fortnight|month|year|yr|decade)s? (?:(?P<end>ago|from) (?=(?:on |the )?{_NEAR}\b)"
    rf"|(?P<side>before|after) (?=(?:the )?{_BASE}\b)|on (?={WEEKDAY}\b))",
    re.IGNORECASE,
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
            "any day",
            rf"\bthe (?P<day>{'|'.join(sorted(DAY_ORDINALS, key=len, reverse=True))}) of (?P<month>{MONTH})\b(?:,? (?P<year>{_YEAR})\b)?",
            calendar.named_day,
        ),
        (
            "season",
            rf"\b(?:{_WHICH} |(?:in|during|over|since|until|till|from|by|before|after|as of) (?:the )?|(?<=\bend of )|(?:the )?(?=\w+,? (?:of )?{_YEAR}))"
            rf"(?P<season>{calendar.SEASON})\b(?:,? (?:of )?(?P<year>{_YEAR})\b)?",
            calendar.season,
        ),
        ("quarter", rf"\b(?P<year>{_YEAR})[ -]?Q(?P<digit>[1-4])\b", calendar.quarter),
        (
            "quarter",
            rf"\bQ(?P<digit>[1-4])(?:[ /-]?(?:of )?(?P<year>{_YEAR})\b|['’/](?P<short>\d\d)\b|\b(?! ?(?:of )?(?:FY|fiscal)))",
            calendar.quarter,
        ),
        ("quarter", r"\b(?P<digit>[1-4])Q['’]?(?P<short>\d\d)\b", calendar.quarter),
        ("quarter", rf"\bH(?P<half>[12])[ /-]?(?:of )?(?P<year>{_YEAR})\b", calendar.quarter),
        ("quarter", rf"\bthe {_ORDINAL} quarter\b(?! of (?!(?:the|this|next|last) year|{_YEAR}))", calendar.quarter),
        ("fiscal", rf"\bFY ?['’]?(?P<year>{_YEAR})\b", calendar.fiscal_year),
        ("fiscal", r"\bFY ?['’]?(?P<short>\d\d)\b", calendar.fiscal_year),
        (
            "fiscal",
            rf"\b(?:fiscal|financial|tax|school|academic)(?: year)? (?P<year>{_YEAR})(?:[-/–](?P<until>\d\d)\b)?",
            calendar.fiscal_year,
        ),
        ("fiscal", rf"(?<=\bin )(?P<year>{_YEAR})/(?P<until>\d\d)\b(?!/)", calendar.fiscal_year),
        ("fiscal", r"(?<=\bin )['’](?P<short>\d\d)\b(?!['’]?s)", calendar.fiscal_year),
        (
            "any day",
            rf"\b(?:{_WHICH} )?(?P<holiday>{'|'.join(_HOLIDAYS)})\b(?:,? (?:of |in )?(?P<year>{_YEAR})\b)?".replace(
                "'", "['’]"
            ),
            calendar.holiday,
        ),
        (
            "any day",  # not "at the Christmas market", nor "I love Easter"
            rf"\b(?:(?:{_WHICH}|at|on|over|by|for|until|till|since|around) |(?<=\bbefore )|(?<=\bafter ))(?P<holiday>christmas|easter|new year's)"
            rf"(?:,? (?:of |in )?(?P<year>{_YEAR})\b)?(?=[^\w\s'-]|\s*$| (?:and|but|in|with|at|because|when|I|we|my|our|he|she|they|it|the|was|is|last|this)\b)".replace(
                "'s", "['’]s"
            ),
            calendar.holiday,
        ),
        (
            "end",
            r"\b(?:EO(?P<letter>[DWMQY])|(?:(?<=at )|(?<=by )|(?<=until ))(?P<unit>month|quarter|year)(?:['’]s)?[ -]end)\b",
            end_of,
        ),
        ("place", _place.pattern, today),
        (
            "week of",
            rf"\b(?P<unit>week|weekend) (?:of|from|beginning|starting) (?:on )?(?:(?:the )?{WEEKDAY},? )?(?=(?:the )?(?:\d|{MONTH}))",
            week_of,
        ),
        (
            "month",
            rf"\b(?:{_WHICH} )?(?P<month>{MONTH})\b"
            rf"(?:,? (?:of )?(?P<year>{_YEAR})\b)?",
            calendar.month,
        ),
        ("whole", r"(?<=\bof )the (?P<which>)(?P<unit>week|month|quarter|year)\b", period),
        (
            "day",
            rf"\b(?P<weekday>{WEEKDAY}|{_SHORT_DAY}(?=,? the )),? (?:the )?(?P<day>\d{{1,2}}(?:st|nd|rd|th)|{'|'.join(sorted(DAY_ORDINALS, key=len, reverse=True))})"
            r"(?=[^\w\s-]|\s*$| (?:and|but|because|so|at|for|with|to|in|when|if|we|I|is|was|will)\b)",
            weekday_with_day,
        ),
        (
            "day of month",
            r"\bthe (?P<day>\d{1,2})(?:st|nd|rd|th)\b"
            r"(?=[^\w\s]|\s*$| (?:and|but|because|so|at|for|with|to|in|when|if|we|I|of (?:last|this|next) month)\b)",
            day_of_month,
        ),
        (
            "relative day",
            r"\b(?:the day before yesterday|the day after (?:tomorrow|tmrw|2moro)|yesterday|tomorrow|tmrw?|2moro|last night|tonight|today"
            rf"|(?<=ago )to the day|this (?:very )?day(?=,? (?:last year|in {_YEAR}|\S+ (?:\S+ )?years? ago))|this (?:morning|afternoon|evening))\b",
            day,
        ),
        ("shift", _shift.pattern, today),
        (
            "steps",
            rf"\b(?P<exact>exactly )?(?P<number>{COUNT}) (?P<unit>{_UNIT})s? (?P<end>ago|back|earlier|from now)\b",
            steps,
        ),
        (
            "steps",
            rf"\bin (?:about |(?P<exact>exactly ))?(?P<number>{COUNT}) (?:more )?(?P<unit>{_UNIT})s?\b(?P<half> and a half)?['’]?s?(?P<end> time)?(?! ago| of\b| time)",
            steps,
        ),
        (
            "months",
            r"\bthe (?P<unit>week|weekend|month|quarter|year) (?P<way>before|after) (?:last|next)\b",
            before_last,
        ),
        ("weekday", rf"\b(?P<number>{COUNT}) (?P<weekday>{WEEKDAY})s ago\b(?P<which>)(?P<way>)", weekday),
        (
            "weekday",
            rf"\b(?P<weekday>{WEEKDAY}) (?P<way>week)\b(?=[^\w\s-]|\s*$| (?:at|for|and|but)\b)(?P<which>)",
            weekday,
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
            rf"\b(?P<year>{_YEAR})\b(?![-/]\d)",
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
