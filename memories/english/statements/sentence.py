"""A statement taken apart: its words, where its verb stands, and how it is said."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from memories.english.statements.wording import MONTHS, RELATIVE_DATES, WEEKDAYS, Word, root

MODIFIERS = frozenset("new current latest old updated own".split())
RENAMED = "@"  # stands for "was changed to", "rose to" and their like
DAY_PARTS = frozenset("morning evening afternoon night summer winter spring autumn".split())
QUARTERS = frozenset("q1 q2 q3 q4".split())


@dataclass(slots=True)
class Parse:
    """What the statement says, in normal words, and how it says so."""

    words: list[Word] = field(default_factory=list)
    verb: int = 1
    verbs: set[int] = field(default_factory=set)
    denials: int = 0
    flips: int = 0
    negated: list[str] = field(default_factory=list)
    change: set[str] = field(default_factory=set)
    replaced: list[str] = field(default_factory=list)
    is_past: bool = False
    is_plan: bool = False
    is_passive: bool = False
    is_definite: bool = False
    is_ongoing: bool = False
    passives: set[str] = field(default_factory=set)
    known: set[str] = field(default_factory=set)  # roots that "the" stands before

    @property
    def noun_phrase(self) -> Sequence[Word]:
        return self.words[: self.verb]

    @property
    def predicate(self) -> Sequence[Word]:
        return self.words[self.verb :]

    @property
    def form(self) -> str:
        """The roots, each followed by a space; templates are matched against it."""
        return "".join([word.root + " " for word in self.words])


def key(phrase: Sequence[Word]) -> str:
    """A noun phrase without regard to order: "rate of the API" and "API rate" are one."""
    parts, direction = set(), ""
    if len(phrase) > 2 and phrase[0].text == "team" and phrase[1].root == "'s":
        phrase = phrase[2:]  # "our standup" is the standup
    for word in phrase:
        if word.text in ("from", "to", "before", "after"):
            direction = word.text + ":"
        elif not word.is_function and word.text not in MODIFIERS:
            parts.add(direction + word.root)
            direction = ""
    return "-".join(sorted(parts))


def plain(text: str) -> Word:
    return Word(text, root(text))


def is_when(word: Word) -> bool:
    is_year = word.is_number and len(word.root) == 4
    return is_year or is_date(word) or word.text in DAY_PARTS


def is_date(word: Word) -> bool:
    return (
        "_" in word.root
        or is_time(word)
        or word.text in MONTHS
        or word.root in WEEKDAYS
        or word.text in RELATIVE_DATES
        or word.text in QUARTERS
    )


def is_time(word: Word) -> bool:
    return word.root[:1].isdigit() and ":" in word.root
