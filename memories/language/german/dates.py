"""Dates in German words: "gestern", "vor zwei Wochen", "am 3. Mai 2024", "letzten Sommer"."""

import re
from datetime import datetime

from memories.language.english.calendar import (
    Grain,
    Span,
    days_from,
    later,
    midnight,
    months_from,
    months_later,
    nearest,
)

_months = (
    "januar",
    "februar",
    "märz",
    "april",
    "mai",
    "juni",
    "juli",
    "august",
    "september",
    "oktober",
    "november",
    "dezember",
)
_days = {
    "vorgestern": -2,
    "gestern": -1,
    "heute": 0,
    "morgen": 1,
    "übermorgen": 2,
}
_numbers = {
    word: number
    for number, words in enumerate(
        (
            "",
            "ein einem einer einen",
            "zwei",
            "drei",
            "vier",
            "fünf",
            "sechs",
            "sieben",
            "acht",
            "neun",
            "zehn",
            "elf",
            "zwölf",
        )
    )
    for word in words.split()
}
_unit = r"(?P<unit>Tag|Woche|Monat|Jahr)(?:en|e|n)?"
_count = rf"(?P<number>{'|'.join(_numbers)}|\d{{1,3}})"
_month = rf"(?P<month>{'|'.join(_months)})"
_forms = tuple(
    re.compile(form, re.IGNORECASE)
    for form in (
        r"(?<![\w.])(?P<day>\d{1,2})\.\s?(?P<number>\d{1,2})\.\s?(?P<year>(?:19|20)\d\d)\b",
        rf"\b(?P<day>\d{{1,2}})\. {_month}\b(?: (?P<year>(?:19|20)\d\d)\b)?",
        rf"\b(?:im |seit )?{_month}\b(?: (?P<year>(?:19|20)\d\d)\b)?",
        rf"\b(?P<word>{'|'.join(sorted(_days, key=len, reverse=True))})\b(?! früh)",
        rf"\b(?P<way>vor|in) {_count} {_unit}\b",
        rf"\b(?P<which>letzte|vorige|diese|nächste|kommende)[nrms]? {_unit}\b",
        r"\b(?:seit|im Jahr|im Jahre) (?P<year>(?:19|20)\d\d)\b",
    )
)
_grains: dict[str, Grain] = {"tag": "day", "woche": "week", "monat": "month", "jahr": "year"}


def spans(text: str, at: datetime) -> list[Span]:
    """Return every time that is named, like `english.dates.spans`; day before month in numbers."""
    free = bytearray(b"\1") * len(text)
    result = []
    for form in _forms:
        for match in form.finditer(text):
            start, end = match.span()
            if not all(free[start:end]):
                continue
            free[start:end] = bytes(end - start)
            try:
                span = _meaning({k: v for k, v in match.groupdict().items() if v}, at)
            except (ValueError, OverflowError):  # the calendar has no such day
                continue
            if span is not None:
                result.append(span)
    return result


def event_date(clause: str, at: datetime) -> datetime | None:
    """Return the date of what the clause tells: the start of the first time that it names."""
    return next((midnight(span.likely or span.start) for span in spans(clause, at)), None)


def _meaning(said: dict[str, str], at: datetime) -> Span | None:
    today = midnight(at)
    if "word" in said:
        return days_from(later(today, days=_days[said["word"].lower()]), 1, relative=True)
    if "unit" in said:
        return _counted(said, at)
    if "month" not in said and "number" not in said:
        return months_from(today.replace(year=int(said["year"]), month=1, day=1), 12, "year")
    number = int(said.get("number") or _months.index(said["month"].lower()) + 1)
    day = int(said.get("day", 0))

    def of_year(year: int) -> Span:
        start = today.replace(year=year, month=number, day=day or 1)
        return days_from(start, 1) if day else months_from(start, 1, "month")

    if "year" in said:
        return of_year(int(said["year"]))
    span = nearest(of_year, at, "", ahead=False)
    return span and span._replace(any_year=True)


def _counted(said: dict[str, str], at: datetime) -> Span:
    """Read "vor zwei Wochen", "in drei Tagen", "letztes Jahr"."""
    today, grain = midnight(at), _grains[said["unit"].lower()]
    if "which" in said:
        word = said["which"].lower()
        steps = -1 if word in ("letzte", "vorige") else 0 if word == "diese" else 1
    else:
        number = said["number"].lower()
        steps = int(number) if number.isdigit() else _numbers[number]
        steps = -steps if said["way"].lower() == "vor" else steps
    match grain:
        case "day":
            return days_from(later(today, days=steps), 1, relative=True)
        case "week":
            monday = later(today, days=7 * steps - today.weekday())
            likely = None if "which" in said else later(today, days=7 * steps)
            return days_from(monday, 7, "week", relative=True)._replace(likely=likely)
        case "month":
            span = months_from(months_later(today, steps), 1, "month")
        case _:
            start = today.replace(year=today.year + steps, month=1, day=1)
            span = months_from(start, 12, "year")
    return span._replace(is_relative=True)
