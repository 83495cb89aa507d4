"""Attributes of which a subject has one value at a time: how they are told, where a value ends, and
those that a workspace adds itself, with its words of change.

A form is a row of words in their normal form (no articles, no auxiliaries, see `wording`):
`{s}` whom it is about, `{v}` the value, `{k}` what tells two values of one attribute apart,
`{x}` up to three words that do not matter; `a|b` either word, `a?` may be missing. Examples are
(statement, (subject, slot, key, value)).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from memories.english.statements.auxiliaries import Parse, key
from memories.english.statements.word_lists import ARTICLES, PREPOSITIONS
from memories.english.statements.wording import WEEKDAYS, Word, words
from memories.expressions import compiled

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


@dataclass(frozen=True, slots=True)
class SlotForm:
    """How an attribute is told. `values`: the value must hold one of these words, if any are
    given ("#" a number, "#1" nothing but a number of years, "nth" an ordinal, "no #" none, "no work" what oneself does but "works", "$" money, "@" a
    day or time, "*" a name, "**" nothing but a name). `is_change`: the form tells of a change, so that it may stand in the past
    tense. `is_joined`: `{k}` is part of the subject. `of_known`: "the" stands before it."""

    slot: str
    forms: Sequence[str]
    examples: Sequence[tuple[str, tuple[str, str, str, str]]]
    counter_examples: Sequence[str] = ()
    values: str = ""
    is_change: bool = False
    is_joined: bool = False
    of_known: bool = False


SUBJECT, KEY, VALUE = "subject", "key", "value"


@dataclass(frozen=True, slots=True)
class OwnSlot:
    """`regex` is RE2's syntax, searched in a statement. Its group `value` is the value; `subject`
    whom it is about, and `key` what tells two values of one attribute apart, may be named too.
    """

    name: str
    regex: str


@dataclass(frozen=True, slots=True)
class OwnChange:
    """`verbs` end what `ended` words say of the same thing ("*": whatever is said of it)."""

    name: str
    verbs: str
    ended: str = "*"


@dataclass(frozen=True, slots=True)
class OwnWords:
    """What a workspace adds to the attributes and words of change that ship; `off` are names of
    those (`shipped_rules`) that decide nothing in it."""

    slots: tuple[OwnSlot, ...] = ()
    changes: tuple[OwnChange, ...] = ()
    off: frozenset[str] = frozenset()


NO_WORDS = OwnWords()


def own_slots(slots: Sequence[OwnSlot], statement: str, parse: Parse) -> Iterator[Slot]:
    """What is told as true now; nothing of plans, denials or what is over."""
    if parse.is_plan or parse.denials or "past" in parse.change:
        return
    for slot in slots:
        match = compiled(slot.regex).search(statement)
        said = match.groupdict() if match else {}
        if value := _said(said.get(VALUE)):
            subject = key(_said(said.get(SUBJECT))) or key(parse.noun_phrase)
            about = key(_said(said.get(KEY)))
            yield Slot(subject, f"own:{slot.name}", about, text_of(value))


def _said(text: str | None) -> list[Word]:
    found = words(text or "")
    return [word for word in found if not word.is_function and word.text not in ARTICLES]
