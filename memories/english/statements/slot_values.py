"""Attributes with one value, and where in a statement a value ends."""

from collections.abc import Sequence
from dataclasses import dataclass

from memories.english.statements.function_words import PREPOSITIONS
from memories.english.statements.wording import WEEKDAYS, Word

CONDITIONS = frozenset("for in on at during with without".split())
# "Paris" of "Paris last week", and all of "Monday next week"
DAYS = frozenset("last next yesterday today tonight tomorrow".split())
CUT = PREPOSITIONS | {"'s", "'insteadof", "insteadof", "infavorof", "very", "be"}


@dataclass(frozen=True, slots=True)
class Slot:
    """An attribute with one value at a time. All four are normal forms, lower case."""

    subject: str
    name: str
    key: str
    value: str


def value_of(phrase: Sequence[Word]) -> list[Word]:
    """The value without what follows it: "Paris" of "Paris with her sister"."""
    kept: list[Word] = []
    for word in phrase:
        if word.text in CUT:
            if kept:
                break
            continue
        if word.text in DAYS and kept and kept[-1].root not in WEEKDAYS:
            break
        if not word.is_function:
            kept.append(word)
    return kept[:6]


def condition_of(phrase: Sequence[Word]) -> list[Word]:
    """When or for whom the value holds: "adults" of "20 dollars for adults"."""
    start = next((i for i, word in enumerate(phrase) if i and word.text in CONDITIONS), len(phrase))
    return value_of(phrase[start:])


def text_of(value: Sequence[Word]) -> str:
    return " ".join([word.root for word in value])
