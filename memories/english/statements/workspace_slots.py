"""Attributes with one value, and words of change, that a workspace adds itself."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from memories.english.statements.function_words import ARTICLES
from memories.english.statements.sentence import Parse, key
from memories.english.statements.slot_values import Slot, text_of
from memories.english.statements.wording import Word, words
from memories.expressions import compiled

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
    """What a workspace adds to the attributes and words of change that ship."""

    slots: tuple[OwnSlot, ...] = ()
    changes: tuple[OwnChange, ...] = ()


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
