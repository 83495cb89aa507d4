"""When a plan with a date is over: dates name the first day of what is meant, words how long it is."""

import calendar
import re
from datetime import date, timedelta

_month = re.compile(
    r"\b(?:jan|feb|mar|apr|may|june?|july?|aug|sept?|oct|nov|dec)[a-z]*\b", re.IGNORECASE
)
_numbered = re.compile(r"\b(?:1|01|1st|first)\b|\d{4}-\d{2}-\d{2}", re.IGNORECASE)
_lengths = (
    (re.compile(r"\bdecade\b", re.IGNORECASE), 3660),
    (re.compile(r"\byear\b", re.IGNORECASE), 365),
    (re.compile(r"\b(?:spring|summer|fall|autumn|winter)\b", re.IGNORECASE), 92),
    (re.compile(r"\bmonth\b", re.IGNORECASE), 30),
    (re.compile(r"\bweekend\b", re.IGNORECASE), 1),
    (re.compile(r"\bweeks?\b", re.IGNORECASE), 6),
)


def last_day(statement: str, first: date) -> date:
    """The last day that a statement about what begins on `first` may mean; rather too late."""
    for words, days in _lengths:
        if words.search(statement):
            return first + timedelta(days=min(days, (date.max - first).days))
    names_month = _month.search(statement) and not _numbered.search(statement)
    if first.day == 1 and names_month:
        return first.replace(day=calendar.monthrange(first.year, first.month)[1])
    return first
