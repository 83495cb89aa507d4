"""How an attribute is told that a subject has one of at a time.

A form is a row of words in their normal form (no articles, no auxiliaries, see `wording`):
`{s}` whom it is about, `{v}` the value, `{k}` what tells two values of one attribute apart,
`{x}` up to three words that do not matter; `a|b` either word, `a?` may be missing. Examples are
(statement, (subject, slot, key, value)).
"""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class SlotForm:
    """How an attribute is told. `values`: the value must hold one of these words, if any are
    given ("#" a number, "#1" nothing but a number of years, "$" money, "@" a day or time, "*" a name, "**"
    nothing but a name). `is_change`: the form tells of a change, so that it may stand in the past
    tense. `is_joined`: `{k}` is part of the subject. `of_known`: "the" stands before it."""

    slot: str
    forms: Sequence[str]
    examples: Sequence[tuple[str, tuple[str, str, str, str]]]
    counter_examples: Sequence[str] = ()
    values: str = ""
    is_change: bool = False
    is_joined: bool = False
    of_known: bool = False
