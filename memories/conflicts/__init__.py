"""Same, newer or different: what two statements about one subject have to do with each other.

Pure: no database, no network. Words, attributes and signs of change are rows of data.
"""

from memories.conflicts.earlier import came_before
from memories.conflicts.glance import Glance, are_strangers, glance, glance_of, is_still
from memories.conflicts.own import NO_WORDS, OwnChange, OwnSlot, OwnWords
from memories.conflicts.reading import Reading, read, slot_keys
from memories.conflicts.relation import relation
from memories.conflicts.replacement import NUMBERED, negates
from memories.conflicts.restated import restates
from memories.conflicts.values import Slot
from memories.conflicts.verdict import Relation

__all__ = [
    "NO_WORDS",
    "Glance",
    "NUMBERED",
    "OwnChange",
    "OwnSlot",
    "OwnWords",
    "Reading",
    "Relation",
    "Slot",
    "are_strangers",
    "came_before",
    "glance",
    "glance_of",
    "is_still",
    "negates",
    "read",
    "relation",
    "restates",
    "slot_keys",
]
