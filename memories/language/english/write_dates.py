"""Dates for words that are read on another day than they were said: "last week" becomes a date, or
has one beside it."""

import re
from datetime import date, datetime, timedelta

from memories.language.english.calendar import MONTHS, SEASONS, WEEKDAY, Span
from memories.language.english.dates import relative_phrases, vague_grain
from memories.language.english.numbers import COUNT, count
from memories.language.english.verbs import PAST

_before = re.compile(
    r"\b(?P<word>on|in|at|over|during|for|since|until|till|by|before|after|from|to|of|around|about)(?: the)? $",
    re.IGNORECASE,
)
_end = re.compile(r"(?P<part>end|beginning|start) of (?:the )?(?=\w+ \w+$)", re.IGNORECASE)
# "In ten minutes" is of the moment, whatever the day
_weekday = re.compile(rf"\b{WEEKDAY}\b", re.IGNORECASE)
_kept = frozenset(("minute", "hour"))
# "tomorrow's concert" is the concert on a day
_of_the_day = re.compile(
    r"['’]s (?P<thing>(?:[\w-]+ ){0,4}?[\w-]+)(?= (?:in|on|at|with|for|to|and|but|or|of|from|by|because|since|until"
    r"|is|was|are|were|will|has|had|about|went|goes)\b|[^\w\s'’-]|$)"
)


GRACE = timedelta(days=2)  # zones and late talk of what was
FOR_NOW = timedelta(days=30)


def with_dates(statement: str, said_at: datetime) -> str:
    """Return `statement` with dates in place of words that count from the day on which it was
    said."""
    kept, position = [], 0
    for start, end, span in relative_phrases(statement, said_at):
        is_soon = span.grain in _kept and span.first_day == said_at.date()
        if is_soon or (span.grain == "range" and not span.likely):
            continue
        if part := _end.match(statement, start, end):
            start = part.end()
            inner = relative_phrases(statement[start:end], said_at)
            span = inner[0][2] if inner else span
        before = _before.search(statement, max(position, start - 24), start)
        thing = _of_the_day.match(statement, end)
        is_owner = thing is None and statement.startswith(("'s", "’s"), end)
        stands = thing is None and (before is not None or is_owner)
        name = _vaguely(span) or _named(span, has_preposition=stands)
        if before and before["word"].lower() in ("around", "about"):
            name = name.removeprefix("around ")
        if weekday := _weekday.search(statement, start, end):
            name = f"{weekday[0]} {name}" if stands else name.replace("on ", f"on {weekday[0]} ", 1)
        told = statement[position:start]
        if thing:
            article = "" if told.lower().endswith("the ") else "the "
            name, end = f"{article}{thing['thing']} {name}", thing.end()
        kept += [told, name]
        position = end
    text = "".join([*kept, statement[position:]])
    return text[:1].upper() + text[1:] if kept else statement


# a state, and not something that happens on a day
_state = re.compile(
    r"\b(?:is|are|am|has|have) (?!(?:just |already |now |finally )*(?:been|had|got|done|gone|made|taken|seen|started|finished|moved|bought|joined)\b|\w+ed\b)",
    re.IGNORECASE,
)
_until = re.compile(r"\b(?:until|till|through)(?: the)? $", re.IGNORECASE)
_for_now = re.compile(r"\b(?:right now|at the moment|for now|for the moment|for the time being)\b", re.IGNORECASE)
# How somebody is these days, where nothing else is told with it: not what of, for how long or what
# for
_passing = re.compile(
    r"^[\w' -]{1,60}? (?:is|are|am|feels?|has been|have been) (?:(?:so|really|very|still|super|pretty|quite|a bit|all|currently|feeling|doing|getting) )*(?:busy|swamped|sick|ill|under the weather|sore|exhausted|tired"
    r"|stressed(?: out)?|overwhelmed|nervous|excited|worried|upset|frustrated|thrilled|pumped|stoked|scared|anxious|sad|stuck|well|better|worse|okay|recovering|waiting|drained|homesick)"
    r"(?: (?:today|tonight|now|again|lately|recently|currently|these days|at the moment|with (?:work|school|exams|deadlines)|at work|about work"
    r"|about (?:my|the|their|our|his|her|an?) (?:[\w-]+ )?(?:tests?|exams?|interview|presentation|talk|speech|meeting|game|match|recital|concert|trip|flight|date|deadline|race|audition|show)))*[.! ]*$",
    re.IGNORECASE,
)
_brief = frozenset(("part", "day", "weekend", "week", "range", "hour", "minute"))


# "for a fortnight", "for the next two weeks": of what is so now, not of what has lasted so long
_for_a_time = re.compile(
    rf"\bfor (?:(?:the next|another|about|around|just|only|maybe) )*(?:(?P<count>{COUNT}) )?(?P<unit>day|night|week|fortnight|month)s?\b(?! (?:now|already)\b)",
    re.IGNORECASE,
)
_units = {"day": 1, "night": 1, "week": 7, "fortnight": 14, "month": 30}
# "until the car is back": nobody says which day
_till_then = re.compile(
    r"\b(?:until|till|while) (?:the|my|our|their|his|her|it|they|he|she|I|we|[A-Z][a-z]+)\b[^,;]{2,}", re.IGNORECASE
)
_over = re.compile(
    rf"^\S+(?: and \S+)? (?:\w+ly |just |also |never |once )*(?:{PAST})\b|\b(?:has|have|had|was|were) (?:\w+ )?(?:been|{PAST})\b"
)
_parts = re.compile(r",? (?:and|but)(?= (?:\w+ )?(?:is|are|has|have|[a-z]+s)\b)|, (?=(?:is|are|has|have)\b)")


def end_of_state(statement: str, said_at: datetime) -> datetime | None:
    """Return when a temporary state is over: "is in Vienna this week", "is away until Friday", "works
    from home for a fortnight". None if it lasts, happens on a day, or nobody says how long; and where
    something that lasts is told beside it."""
    phrases = relative_phrases(statement, said_at)
    if _for_now.search(statement) or (_passing.match(statement) and not phrases):
        return said_at + FOR_NOW
    places = [match.start() for match in _parts.finditer(statement)]
    parts = [statement[start:end] for start, end in zip([0, *places], [*places, len(statement)], strict=True)]
    ends = [_end_of_part(part, said_at) for part in parts]
    return max((end for end in ends if end), default=None) if all(ends) else None


def _end_of_part(statement: str, said_at: datetime) -> datetime | None:
    phrases = relative_phrases(statement, said_at)
    for start, _, span in phrases:
        is_on = span.first_day <= said_at.date() <= span.last_day and span.grain in _brief
        is_until = _until.search(statement, max(0, start - 12), start)
        if (is_on and _state.search(statement)) or (is_until and not _over.search(statement)):
            return span.end + GRACE
    if _over.search(statement):
        return None
    if lasts := _for_a_time.search(statement):
        return said_at + timedelta(days=count(lasts["count"] or "a") * _units[lasts["unit"].lower()]) + GRACE
    return said_at + FOR_NOW if not phrases and _till_then.search(statement) else None


def _vaguely(span: Span) -> str:
    """Return the month or year of "a few weeks ago"; empty if a day is meant."""
    day, grain = (span.likely or span.start).date(), vague_grain(span)
    if grain is None:
        return ""
    return f"around {f'{day:%B} ' if grain == 'month' else ''}{day.year}"


def _named(span: Span, *, has_preposition: bool) -> str:
    """Return the time of `span` in words, with a preposition unless one stands before it."""
    day = (span.likely or span.start).date()
    match span.grain:
        case "part":
            hour = span.start.hour
            part = "morning" if hour < 12 else "afternoon" if hour < 17 else "evening"
            preposition, name = "on ", f"the {part} of {_day(day)}"
        case "week" | "range" if span.likely:
            preposition, name = "around ", _day(day)
        case "week":
            preposition, name = "in ", f"the week of {_day(day)}"
        case "weekend":
            preposition, name = "on ", f"the weekend of {_day(day)}"
        case "month":
            preposition, name = "in ", f"{MONTHS[day.month - 1].capitalize()} {day.year}"
        case "quarter":
            preposition, name = "in ", f"Q{(day.month - 1) // 3 + 1} {day.year}"
        case "season":
            season = next(name for name, first in SEASONS.items() if first == day.month)
            preposition, name = "in ", f"{season} {day.year}"
        case "year" | "decade":
            preposition, name = "in ", str(day.year)
        case "hour" | "minute":
            preposition, name = "on ", f"{_day(day)} at {span.start:%H:%M}"
        case _:
            preposition, name = "on ", _day(day)
    return name if has_preposition else f"{preposition}{name}"


def _day(day: date) -> str:
    return f"{day.day} {MONTHS[day.month - 1].capitalize()} {day.year}"


def dated(text: str, at: datetime) -> str:
    """Return `text` with the day, month or year behind each word that means another one on another
    day: "yesterday (7 May)". The year is added if it is not that of `at`."""
    kept, position = [], 0
    for _, end, span in relative_phrases(text, at):
        day = (span.likely or span.start).date()
        if span.grain in _kept or (span.grain in ("day", "part") and day == at.date()):
            continue
        kept += [text[position:end], f" ({_short_name(span, at)})"]
        position = end
    return "".join([*kept, text[position:]])


def _short_name(span: Span, at: datetime) -> str:
    first, last = span.first_day, span.last_day
    if span.grain in ("day", "part"):
        first = last = (span.likely or span.start).date()
    if span.grain == "year":
        return f"{first:%Y}"
    if span.grain == "decade":
        return f"{first:%Y}s"
    year = "" if last.year == at.year else f" {last.year}"
    begun = "" if first.year == last.year else f" {first.year}"
    if span.grain in ("month", "quarter", "season"):
        same = (first.year, first.month) == (last.year, last.month)
        return f"{last:%B}{year}" if same else f"{first:%B}{begun} to {last:%B}{year}"
    if first == last:
        return f"{last.day} {last:%B}{year}"
    if (first.year, first.month) == (last.year, last.month):
        return f"{first.day}-{last.day} {last:%B}{year}"
    return f"{first.day} {first:%B}{begun} to {last.day} {last:%B}{year}"
