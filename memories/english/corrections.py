"""A statement with another value in it: "the 12th" becomes "the 14th". Pure."""

import re
from datetime import date, timedelta

from memories.english.calendar import MONTH, MONTHS, WEEKDAY, month_number, weekday_number
from memories.english.numbers import words_from

_months = rf"{MONTH}\.?"
_number_words = rf"(?:{words_from(1, 20)}|thirty|forty|fifty)(?:[- ](?:{words_from(1, 9)}))?"
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
        (rf"\d[\d,.]*\d|\d|{_number_words}", re.I),
        (r"(?:(?:Dr|Mr|Mrs|Ms|Prof|St)\. )?[A-Z][\w'’-]+(?: [A-Z][\w'’-]+)*", 0),
    )
)
_amount = rf"(?:\d[\d.,]*|{_number_words})"
_measure = re.compile(
    rf"(?P<amount>{_amount})(?: |(?<=\d))(?P<unit>[a-z]{{1,20}}(?: [a-z]{{2,20}})?|%)",
    re.IGNORECASE,
)
_day = re.compile(r"\d{1,2}(?:st|nd|rd|th)", re.IGNORECASE)
_small = re.compile(r"^(?:(?:the|on|at|in|to|by|from|for|a|an|is|it|was|around|about)\s+)+", re.I)
_verb = re.compile(r"\b(?:is|are|was|were)\s+(?P<value>\S.*?)(?P<end>[.!]?)$")


_weekday_date = re.compile(
    rf"\b(?P<weekday>{WEEKDAY}) (?P<day>\d{{1,2}}) (?P<month>{MONTH}) (?P<year>\d{{4}})\b",
    re.IGNORECASE,
)


def with_value(content: str, old: str, new: str, *, is_named: bool = False) -> str:
    """As `_with_value`; a date beside a weekday that changes is that of the same week."""
    return _weekday_date.sub(_of_that_week, _with_value(content, old, new, is_named=is_named))


def _of_that_week(match: re.Match[str]) -> str:
    day = date(int(match["year"]), month_number(match["month"]), int(match["day"]))
    day += timedelta(days=weekday_number(match["weekday"]) - day.weekday())
    return f"{match['weekday']} {day.day} {MONTHS[day.month - 1].capitalize()} {day.year}"


def _with_value(content: str, old: str, new: str, *, is_named: bool = False) -> str:
    """`content` with `new` in the place of `old`, or, without it, of the last value of the same kind;
    where the thing `is_named`, of whatever it is said to be. "" where nothing fits."""
    value = _small.sub("", new).strip() or new
    if old:
        place = _find(content, old)
        return _put(content, place, value) if place else ""
    if measured := _measure.fullmatch(value):
        unit = re.escape(measured["unit"].removesuffix("s"))
        same = re.compile(rf"(?<![\w.,]){_amount}(?= ?{unit}s?(?!\w))", re.I)
        amounts = list(same.finditer(content))
        if amounts:
            return _put(content, amounts[-1].span(), measured["amount"])
    for number, kind in enumerate(_kinds):
        if not kind.fullmatch(value):
            continue
        found = [match.span() for match in kind.finditer(content) if match.start() or number < 10]
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
