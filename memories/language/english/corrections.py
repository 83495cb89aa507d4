"""A statement with another value in it: "the 12th" becomes "the 14th". Pure."""

import re
from datetime import date, timedelta

from memories.language.bounds import STATEMENT
from memories.language.english.calendar import MONTH, MONTHS, WEEKDAY, month_number, weekday_number
from memories.language.english.numbers import ORDINALS, words_from

_months = rf"{MONTH}\.?"
_number_words = rf"(?:{words_from(1, 20)}|thirty|forty|fifty)(?:[- ](?:{words_from(1, 9)}))?"
_ordinal = (
    rf"(?:{'|'.join(ORDINALS)}|eleventh|twelfth|thirteenth|fourteenth|fifteenth|sixteenth|seventeenth"
    r"|eighteenth|nineteenth|twentieth)"
)
COLOUR = r"red|orange|yellow|green|blue|purple|violet|pink|brown|black|white|gr[ea]y|silver|beige|turquoise|teal"
# Of what there are several, told apart by their numbers.
NUMBERED = r"(?:room|number|floor|gate|platform|seat|flat|apartment|house|bus|line|track|terminal|unit|level|page|table|box|locker|lane|row)"
# Kinds of values, the narrowest first: a value replaces the last one of its own kind.
_kinds = tuple(
    re.compile(rf"(?<![\w$€£]){form}(?!\w)", flags)
    for form, flags in (
        (r"\d{4}-\d{2}-\d{2}", 0),
        (r"\d{1,2}[./]\d{1,2}[./]\d{2,4}", 0),
        (
            rf"(?:\d{{1,2}}(?:st|nd|rd|th)?(?: of)? {_months}|{_months} \d{{1,2}}(?:st|nd|rd|th)?)(?:,? \d{{4}})?",
            re.I,
        ),
        (r"\d{1,2}(?:[:.]\d{2})(?: ?[ap]\.?m\.?)?|\d{1,2} ?[ap]\.?m\.?|noon|midnight", re.I),
        (r"\d{1,2}(?:st|nd|rd|th)", re.I),
        (WEEKDAY, re.I),
        (_months, re.I),
        (r"[$€£]\d[\d,.]*[km]?", re.I),
        (r"[A-Z]+-?\d+\w*|\d+[A-Z]+\w*", 0),
        (_ordinal, re.I),
        (COLOUR, re.I),
        (rf"\d[\d,.]*\d|\d|{_number_words}", re.I),
        (r"(?:(?:Dr|Mr|Mrs|Ms|Prof|St)\. )?[A-Z][\w'’-]+(?: [A-Z][\w'’-]+)*", 0),
    )
)

DATES = 4  # kinds of dates and times, which hold numbers
NAMES = len(_kinds) - 1  # of which the first in a statement is whom it is about
_amount = rf"(?:\d[\d.,]*|{_number_words}|{_ordinal})"
_measure = re.compile(
    rf"(?P<amount>{_amount})(?: |(?<=\d))(?P<unit>[a-z]{{1,20}}(?: [a-z]{{2,20}})?|%)",
    re.IGNORECASE,
)
_numbered = re.compile(rf"(?P<thing>{NUMBERED}) (?P<number>\d[\w.-]*)", re.IGNORECASE)
_day = re.compile(r"(?:[12]?\d|3[01])(?:st|nd|rd|th)?", re.IGNORECASE)
_small = re.compile(r"^(?:(?:the|on|at|in|to|by|from|for|a|an|is|it|was|around|about)\s+)+", re.I)
_verb = re.compile(r"\b(?:is|are|was|were)\s+(?P<value>\S.*?)(?P<end>[.!]?)$")


_weekday_date = re.compile(
    rf"\b(?P<weekday>{WEEKDAY}) (?P<day>\d{{1,2}}) (?P<month>{MONTH}) (?P<year>\d{{4}})\b",
    re.IGNORECASE,
)


def with_value(content: str, old: str, new: str, *, is_named: bool = False) -> str:
    """Do what `_with_value` does, then fit dates to their weekdays, within the same week."""
    return _weekday_date.sub(_of_that_week, _with_value(content, old, new, is_named=is_named))


def _of_that_week(match: re.Match[str]) -> str:
    day = date(int(match["year"]), month_number(match["month"]), int(match["day"]))
    day += timedelta(days=weekday_number(match["weekday"]) - day.weekday())
    return f"{match['weekday']} {day.day} {MONTHS[day.month - 1].capitalize()} {day.year}"


def _with_value(content: str, old: str, new: str, *, is_named: bool = False) -> str:
    """Return `content` with `new` in place of `old`; without `old`, in place of the last value of
    the same kind or, if the thing `is_named`, of whatever it is said to be. "" if nothing fits."""
    value = _small.sub("", new).strip() or new
    if old and _find(content, value):
        return ""  # it says so already: "Dutch, not German"
    if old:
        place = _find(content, old)
        return _put(content, place, value) if place else ""
    if counted := _of_unit(content, value):
        return counted
    for number, kind in enumerate(_kinds):
        if not kind.fullmatch(value):
            continue
        found = [match.span() for match in _values(content, number)]
        if found:
            return _put(content, found[-1], value)
        if _day.fullmatch(value) and (dates := list(_kinds[2].finditer(content))):
            day = re.search(r"\d{1,2}(?:st|nd|rd|th)?(?!\d)", dates[-1].group())
            if day:
                at = dates[-1].start()
                return _put(content, (at + day.start(), at + day.end()), value)
    if is_named and (match := _verb.search(content)):
        return _put(content, match.span("value"), value)
    return ""


def _values(text: str, number: int) -> list[re.Match[str]]:
    """Return the values of a kind in a statement, except parts of dates and times, and its
    subject."""
    wider = [match.span() for kind in _kinds[: min(number, DATES)] for match in kind.finditer(text)]
    return [
        match
        for match in _kinds[number].finditer(text)
        if (match.start() or number < NAMES) and not any(start <= match.start() < end for start, end in wider)
    ]


def _of_unit(content: str, value: str) -> str:
    """Replace the number of the same thing: "room 310", "21 kilometres"."""
    if numbered := _numbered.fullmatch(value):
        same = re.compile(rf"(?<=\b{numbered['thing']} )\d[\w.-]*", re.I)
        if numbers := list(same.finditer(content)):
            return _put(content, numbers[-1].span(), numbered["number"])
    if measured := _measure.fullmatch(value):
        unit = re.escape(measured["unit"].removesuffix("s"))
        same = re.compile(rf"(?<![\w.,]){_amount}(?= ?{unit}s?(?!\w))", re.I)
        if amounts := list(same.finditer(content)):
            return _put(content, amounts[-1].span(), measured["amount"])
    return ""


def has_value(said: str) -> bool:
    """Tell whether the text holds a value that can replace another."""
    return any(match.start() for kind in _kinds for match in kind.finditer(said[:STATEMENT]))


def anew(content: str, said: str) -> tuple[str, str]:
    """Return `content` with the one value replaced by which `said` differs, and `said` without that
    value. Both are empty if they differ by more than one value, or by none."""
    if max(len(content), len(said)) > STATEMENT:
        return "", ""
    for number in range(len(_kinds)):
        old = [each.span() for each in _values(content, number) if not _find(said, each[0])]
        new = [each for each in _values(said, number) if not _find(content, each[0])]
        if len(old) == len(new) == 1:
            start, end = new[0].span()
            return _put(content, old[0], new[0][0]), f"{said[:start]} {said[end:]}"
    return "", ""


def without_denied(content: str, old: str) -> str:
    """Return "My manager is Olena, not Olga" without what it denies; "" if it does not deny
    `old`."""
    if len(content) > STATEMENT:
        return ""
    form = rf",?\s+(?:and )?(?:not|instead of|rather than|as opposed to)\s+{re.escape(old)}(?=[\s.!]*$)"
    said = re.sub(form, "", content, flags=re.IGNORECASE)
    return said if said != content else ""


def _find(content: str, old: str) -> tuple[int, int] | None:
    for words in dict.fromkeys((old, _small.sub("", old))):
        match = re.search(rf"(?<!\w){re.escape(words)}(?!\w)", content, re.IGNORECASE)
        if words and match:
            return match.span()
    return None


def _put(content: str, place: tuple[int, int], value: str) -> str:
    start, end = place
    if content[:start] == "":
        value = value[:1].upper() + value[1:]
    return content[:start] + value + content[end:]
