"""Same, newer or different: how two statements about one subject relate to each other.

Pure: no database, no network. Words, attributes and signs of change are rows of data.
"""

from memories.language.english.statements.attributes import NO_WORDS, OwnChange, OwnSlot, OwnWords, Slot
from memories.language.english.statements.compare import (
    Prefilter,
    are_rivals,
    are_strangers,
    is_still,
    prefilter,
    prefilter_of,
    relation,
)
from memories.language.english.statements.duplicates import Relation
from memories.language.english.statements.past_times import PastPeriod, past_period, true_from
from memories.language.english.statements.read_statement import Reading, is_said_by, read, slot_keys
from memories.language.english.statements.replacement import NUMBERED, UNKNOWN, came_before, negates
from memories.language.english.statements.restated import restates

__all__ = [
    "NO_WORDS",
    "Prefilter",
    "NUMBERED",
    "OwnChange",
    "OwnSlot",
    "OwnWords",
    "PastPeriod",
    "Reading",
    "Relation",
    "Slot",
    "UNKNOWN",
    "are_rivals",
    "are_strangers",
    "came_before",
    "prefilter",
    "prefilter_of",
    "is_said_by",
    "is_still",
    "negates",
    "past_period",
    "read",
    "relation",
    "restates",
    "slot_keys",
    "true_from",
]
