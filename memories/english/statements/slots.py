"""Attributes of which a subject has one value at a time. Data only."""

from memories.english.statements.slots_of_people import OF_PEOPLE
from memories.english.statements.slots_of_things import OF_THINGS

FORMS = (*OF_PEOPLE, *OF_THINGS)

# "switched her bank to DNB", "got a new bank, DNB": the noun is the attribute.
NOUN_FORMS = (
    "{s} change|switch|update|move {k} to {v}",
    "{s} replace {k} with {v}",
    "{s} replace by {v} as {k}",
    "{v} replace {s} as {k}",
    "{v} become as? {k}",
    "{s} get|buy|have|choose new {k} , {v}",
    "{s} get|buy|have|choose new {k} call|name {v}",
)
# Of whom the owner is not the subject of the form
OTHERS_NOUN_FORMS = frozenset(NOUN_FORMS[2:5])
