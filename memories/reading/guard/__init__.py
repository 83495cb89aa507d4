"""Search for what must not be believed or served as it stands: secrets, and orders to its readers.

Pure: a text in, places out. Linear in the text; what becomes of them is not decided here.
"""

from memories.reading.guard.inspect import findings, masked, may_answer, words_in
from memories.reading.guard.rule_forms import (
    ASSISTANT,
    KINDS,
    LABELS,
    ORDER,
    OTHER,
    OWN,
    SECRET,
    TEXT,
    Finding,
    Whose,
    reason_of,
)

__all__ = [
    "ASSISTANT",
    "KINDS",
    "LABELS",
    "ORDER",
    "OTHER",
    "OWN",
    "SECRET",
    "TEXT",
    "Finding",
    "Whose",
    "findings",
    "masked",
    "may_answer",
    "reason_of",
    "words_in",
]
