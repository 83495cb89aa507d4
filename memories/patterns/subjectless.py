"""Talk without a subject: "Just got back from Rome", "Loving the new job"."""

import re

from memories.patterns import person
from memories.patterns.morphology import ADVERB, PAST

_past = re.compile(rf"{ADVERB}{PAST}\b", re.IGNORECASE)
_going = re.compile(rf"({ADVERB})(\w+ing)\b", re.IGNORECASE)


def completed(statement: str, clause: str, name: str) -> str:
    """`statement` with the subject that `clause` left out."""
    if person.mentions_speaker(clause) and statement.split(maxsplit=1)[0].startswith(
        (name, "Team")
    ):
        return statement
    lowered = clause[0].lower() + clause[1:]
    if _past.match(clause):
        return f"{name} {lowered}"
    return statement
