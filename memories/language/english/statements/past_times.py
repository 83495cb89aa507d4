"""The time in which a statement about the past was true ("used to", "in 2019 I worked at", "until May"), and from when one about
the future will be. Pure."""

import re
from datetime import datetime
from typing import NamedTuple

from memories.language.english.calendar import DateOrder
from memories.language.english.dates import spans
from memories.language.english.numbers import words_from
from memories.language.english.statements.auxiliaries import is_when
from memories.language.english.statements.read_statement import Reading
from memories.language.english.statements.wording import root

# Verbs of lasting states: in the past tense they are over. An event has no end to tell.
STATES = frozenset(
    map(
        root,
        "live work study own drive play smoke use attend date rent commute teach serve belong "
        "lead manage volunteer sing coach run reside stay train collect call name wear weigh earn "
        "employ base".split(),
    )
)
COPULAS = frozenset({"be", "have"})
_range = re.compile(r"\bfrom\b[^.,;]{1,30}\b(?:to|until|till)\b|\bbetween\b", re.I)
_until = re.compile(rf"\b(?:until|till|up to)\b|{_range.pattern}", re.I)
_childhood = re.compile(
    r"\b(?:as an? (?:student|child|kid|teenager|boy|girl|young|apprentice)|back then|growing up)\b"
    rf"|\bfor (?:an?|some|many|several|{words_from(2, 10)}|\d+) years\b",
    re.I,
)
_named = re.compile(r"\b(?:first|former|old|ex|late|previous)\b[^.,;]{1,40}\bwas (?:called|named)\b", re.I)
_still = re.compile(r"\b(?:since|still|always|ever)\b", re.I)


class PastPeriod(NamedTuple):
    """The period in which a statement about the past was true; without a `begin` nobody knows since
    when. `is_said`: the words name the end, else it had come by the time it was told."""

    begin: datetime | None
    end: datetime
    is_said: bool


def past_period(reading: Reading, told_at: datetime, order: DateOrder = "auto") -> PastPeriod | None:
    """Return the period in which a statement about the past was true; None if it still holds, or is
    about a single event."""
    statement = reading.statement
    if reading.is_plan or reading.is_negated or _still.search(statement):
        return None
    is_over = "past" in reading.change
    is_past = reading.is_past or any(word.is_past for word in reading.words[reading.verb_at :][:1])
    if not is_over and _named.search(statement):
        return PastPeriod(None, told_at, is_said=False)
    if not is_over and not is_past:
        return None
    dated = [span for span in spans(statement, told_at, order) if span.grain != "minute"]
    begun = [span for span in dated if span.start <= told_at]
    is_until = _until.search(statement) is not None
    if not is_over:
        is_bounded = bool(is_until or _childhood.search(statement)) or any(
            span.grain in ("year", "decade", "range") for span in dated
        )
        owned = is_until and any(w.root == "have" for w in reading.words[reading.verb_at :][:1])
        is_state = reading.head in STATES or owned or reading.head in COPULAS and is_bounded
        if not is_state or not (is_bounded or dated):
            return None
    if not begun:
        return PastPeriod(None, told_at, is_said=False)
    end = min([told_at, *(span.end for span in begun)])
    begin = None if is_until and not _range.search(statement) else min(s.start for s in begun)
    return PastPeriod(begin, end, is_said=True)


# A plan that is told with its day: "will start at Equinor on 1 May", "is 900 euros from June".
_planned = re.compile(
    r"\b(?:will|going to|gonna|(?:starting|beginning|effective|from|as of) (?=\w))\b|['’]ll\b"
    r"|\b(?:is|are|am) (?:[a-z]+ing|getting \w+)\b",
    re.I,
)


def true_from(
    reading: Reading, event: datetime | None, told_at: datetime, order: DateOrder = "auto"
) -> datetime | None:
    """Return the future day from which a statement is true; None if it is true already, or only
    gives an event its day."""
    if event is None or event <= told_at or not _planned.search(reading.statement):
        return None
    days = {word.root for word in reading.words if is_when(word)}
    telling = [slot for slot in reading.slots if not set(slot.value.split()) <= days]
    return event if telling or not reading.slots else None
