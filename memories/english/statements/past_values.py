"""Until when a statement about the past was true: "used to", "in 2019 I worked at", "until May"."""

import re
from datetime import datetime

from memories.english.calendar import DateOrder
from memories.english.dates import spans
from memories.english.statements.read_statement import Reading
from memories.english.statements.wording import root

# Verbs of what lasts: in the past tense it is over. Of what happened there is no end to tell.
STATES = frozenset(
    map(
        root,
        "live work study own drive play smoke use attend date rent commute teach serve belong "
        "lead manage volunteer sing coach run reside stay train collect call name wear".split(),
    )
)
COPULAS = frozenset({"be", "have"})
_until = re.compile(r"\b(?:until|till|up to)\b|\bfrom\b[^.,;]{1,30}\b(?:to|until|till)\b", re.I)
_childhood = re.compile(
    r"\b(?:as an? (?:student|child|kid|teenager|boy|girl|young|apprentice)|back then|growing up)\b"
    r"|\bfor (?:an?|some|many|several|two|three|four|five|six|seven|eight|nine|ten|\d+) years\b",
    re.I,
)
_named = re.compile(
    r"\b(?:first|former|old|ex|late|previous)\b[^.,;]{1,40}\bwas (?:called|named)\b", re.I
)
_still = re.compile(r"\b(?:since|still|always|ever)\b", re.I)


def true_until(reading: Reading, told_at: datetime, order: DateOrder = "auto") -> datetime | None:
    """When what it tells had ended, at the latest when it was told; None of what holds or happened."""
    if reading.is_plan or reading.is_negated or _still.search(reading.statement):
        return None
    is_past = reading.is_past or any(word.is_past for word in reading.words[reading.verb_at :][:1])
    dated = [span for span in spans(reading.statement, told_at, order) if span.grain != "minute"]
    if "past" not in reading.change:
        is_bounded = bool(
            _until.search(reading.statement) or _childhood.search(reading.statement)
        ) or any(span.grain in ("year", "decade", "range") for span in dated)
        is_state = reading.head in STATES or reading.head in COPULAS and is_bounded
        if _named.search(reading.statement):
            return told_at
        if not is_past or not is_state or not (is_bounded or dated):
            return None
    ends = [span.end for span in dated if span.start <= told_at]
    return min([told_at, *ends])
