"""What a statement may not put in other words: numbers, days, addresses, the script."""

import re
import unicodedata
from collections.abc import Iterator
from datetime import date, datetime

from memories.english.statements.wording import WEEKDAYS, root, words
from memories.ranking import dates

_address = re.compile(
    r"(?:https?://|www\.)[^\s<>\"']+|(?<![\w.+-])[\w.+-]+@[\w-]+(?:\.[\w-]+)+|(?<![\w.])@\w[\w.-]*"
    r"|(?<![\w.@/-])(?:[a-z0-9-]+\.)+[a-z]{2,10}(?:/[^\s<>\"']*)?(?![\w@])",
    re.IGNORECASE,
)
_number = re.compile(r"\d+(?:[.,:]\d+)*|[^\W\d_]+")
_tens = frozenset("20 30 40 50 60 70 80 90".split())
_ends = ".,;:!?)»\"'"
_iso = re.compile(r"\b(\d{4})-(\d\d)-(\d\d)\b")
_clock = re.compile(r"\b(\d{1,2})(?:[:.](\d\d))? ?([ap])\.?m\b", re.IGNORECASE)
_ago = re.compile(r"\b(\w+) (day|week|month|year)s? ago\b", re.IGNORECASE)
_DAYS_OF = {"day": 1, "week": 7, "month": 31, "year": 366}
# Between how many days after a message (before it: less than 0) the day lies that a word means
_MEANT = (
    (re.compile(r"\byesterday\b|\blast night\b", re.I), (-1, -1)),
    (re.compile(r"\b(?:today|tonight|this (?:morning|evening|afternoon))\b", re.I), (0, 0)),
    (re.compile(r"\btomorrow\b", re.I), (1, 1)),
    (re.compile(r"\b(?:(?:mon|tues|wednes|thurs|fri|satur|sun)day|week|weekend)s?\b", re.I),
     (-14, 14)),
    (re.compile(r"\b(?:last|past|next|this|coming|end of the) month\b", re.I), (-62, 62)),
    (re.compile(r"\b(?:last|past) (?:year|spring|summer|autumn|fall|winter)\b", re.I), (-730, 0)),
    (re.compile(r"\bnext (?:year|spring|summer|autumn|fall|winter)\b", re.I), (0, 730)),
    (re.compile(r"\b(?:since|this) (?:year|spring|summer|autumn|fall|winter)\b", re.I), (-366, 366)),
)  # fmt: skip


def addresses(statement: str, evidence: str) -> Iterator[str]:
    """Web and mail addresses and handles of `statement` that `evidence` does not hold."""
    known = {found.lower().rstrip(_ends) for found in _address.findall(evidence)}
    for found in _address.findall(statement):
        if found.lower().rstrip(_ends) not in known:
            yield found


def numbers(statement: str, evidence: str, said_at: datetime) -> Iterator[str]:
    """Numbers of `statement` that `evidence` does not hold, in digits or in words, and that are no
    part of a day which follows from it."""
    told = _address.sub(" ", _without_meant_days(statement, evidence, said_at))
    known = {*_numbers(evidence), *(w.root for w in words(evidence) if w.is_number)}
    for number in _numbers(told):
        if number not in known and number != "1":
            yield number


def days(statement: str, evidence: str, said_at: datetime) -> Iterator[str]:
    """Months and weekdays of `statement` that `evidence` does not name and that do not follow."""
    known = {(anchor.month, anchor.day) for anchor in dates.anchors(evidence, None)}
    months = {month for month, _ in known}
    for anchor in dates.anchors(statement, None):
        if anchor.month and anchor.month not in months and not _is_meant(anchor, evidence, said_at):
            yield f"month {anchor.month}"
    named = {root(word.lower()) for word in _number.findall(evidence)}
    for word in _number.findall(statement):
        day = root(word.lower())
        if day in WEEKDAYS and day not in named and not _reckoned(evidence):
            yield word


def _reckoned(evidence: str) -> bool:
    return any(form.search(evidence) for form, _ in _MEANT[:3])


def _without_meant_days(statement: str, evidence: str, said_at: datetime) -> str:
    """Without the days that follow from "yesterday", or from a day that is named without year."""
    anchors = [a for a in dates.anchors(statement, None) if _is_meant(a, evidence, said_at)]
    for anchor in anchors:
        for part in filter(None, anchor[:3]):
            statement = re.sub(rf"(?<!\d)0?{part}(?:st|nd|rd|th)?(?!\d)", " ", statement)
    return statement


def _is_meant(anchor: dates.Anchor, evidence: str, said_at: datetime) -> bool:
    today = said_at.date()
    if any(_fits(anchor, dates.shifted(today, n)) for n in _meant_days(evidence)):
        return True
    years = {None, said_at.year - 1, said_at.year, said_at.year + 1}
    return any(
        (one.month, one.day) == (anchor.month, anchor.day) and anchor.month
        and anchor.year in years and one.year is None
        for one in dates.anchors(evidence, None)
    )  # fmt: skip


def _fits(anchor: dates.Anchor, day: date) -> bool:
    told = zip(anchor[:3], (day.year, day.month, day.day), strict=True)
    return all(part is None or part == is_part for part, is_part in told)


def _meant_days(evidence: str) -> Iterator[int]:
    for form, (first, last) in _MEANT:
        if form.search(evidence):
            yield from range(first, last + 1)
    for count, unit in _ago.findall(evidence):
        number = root(count.lower())
        length = _DAYS_OF[unit.lower()]
        if number.isdigit() and int(number) < 200:
            middle = int(number) * length
            yield from range(-middle - length, -middle + length + 1)


def _numbers(text: str) -> Iterator[str]:
    """In digits, as they stand and without what only groups or pads them."""
    text = _clock.sub(_in_24_hours, _iso.sub(r" \1 \2 \3 ", text)).replace("-", " ")
    before = ""
    for word in _number.findall(re.sub(r"(?<=\d)[,.](?=\d{3}\b)", "", text)):
        number = root(word.lower())
        if not number[:1].isdigit():
            before = ""
            continue
        number = re.sub(r"\D+$", "", number)
        if before in _tens and len(number) == 1 and not word.isdigit():
            yield str(int(before) + int(number))
        yield _plain(number)
        before = number if not word.isdigit() else ""


def _in_24_hours(match: re.Match[str]) -> str:
    hour = int(match[1]) % 12 + (12 if match[3].lower() == "p" else 0)
    return f"{hour}:{match[2] or '00'}"


def _plain(number: str) -> str:
    number = number.lstrip("0") or "0"
    return re.sub(r"[:.]0+$", "", number)


def scripts(text: str) -> set[str]:
    """The scripts of its letters: LATIN, CYRILLIC, CJK..."""
    return {
        unicodedata.name(sign, "?").partition(" ")[0]
        for sign in set(text)
        if sign.isalpha() and not sign.isascii()
    } | ({"LATIN"} if re.search("[A-Za-z]", text) else set())
