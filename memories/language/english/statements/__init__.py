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
from memories.language.english.statements.implied_ends import PastPeriod, is_life_event, past_period, true_from
from memories.language.english.statements.read_statement import Reading, is_said_by, read, slot_keys
from memories.language.english.statements.replacement import NUMBERED, UNKNOWN, came_before, may_end, negates
from memories.language.english.statements.restated import restates
from memories.language.english.statements.two_values import VALUES

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
    "VALUES",
    "are_rivals",
    "are_strangers",
    "came_before",
    "prefilter",
    "prefilter_of",
    "is_life_event",
    "is_said_by",
    "is_still",
    "may_end",
    "negates",
    "past_period",
    "read",
    "relation",
    "restates",
    "slot_keys",
    "true_from",
]
