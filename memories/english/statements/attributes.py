"""Finds the single-valued attributes that a statement gives to a subject."""

from memories.english.statements.forms import forms
from memories.english.statements.noun_phrases import noun_phrase_slots
from memories.english.statements.preferences import counts, preferences
from memories.english.statements.sentence import RENAMED, Parse
from memories.english.statements.slot_values import Slot
from memories.english.statements.states import states
from memories.english.statements.tools import tools


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
