"""Finds the single-valued attributes that a statement gives to a subject."""

from memories.conflicts.forms import forms
from memories.conflicts.noun_phrases import noun_phrase_slots
from memories.conflicts.preferences import counts, preferences
from memories.conflicts.sentence import RENAMED, Parse
from memories.conflicts.states import states
from memories.conflicts.tools import tools
from memories.conflicts.values import Slot


def find(parse: Parse) -> tuple[Slot, ...]:
    """Every single-valued attribute that is told as true now; none of plans, denials or the past
    that is over."""
    if "past" in parse.change or parse.is_plan:
        wishes = () if parse.denials else tuple(preferences(parse))
        return wishes
    if parse.denials:
        return ()
    found = [*states(parse), *tools(parse), *preferences(parse)]
    if not parse.flips:
        found += forms(parse)
    if not parse.is_past or RENAMED in (w.root for w in parse.predicate[:1]) or parse.is_passive:
        found += noun_phrase_slots(parse)
        found += counts(parse)
    return tuple(dict.fromkeys(slot for slot in found if slot.value))
