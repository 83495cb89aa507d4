"""Texts to the token ids that the judge was trained on: one way for training and for running."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from tokenizers import Tokenizer

# Most tokens of a part. A message is cut at its end, the one before it at its beginning: what answers follows it.
BELIEF, BEFORE, MESSAGE = 28, 16, 60
LONGEST = BELIEF + BEFORE + MESSAGE + 4
CHARACTERS_OF_A_TOKEN = 16  # at most, of words: what is further behind is cut before it is read


class Tokens(NamedTuple):
    """Ids, and for each the side it stands on: 0 what was there, 1 what is said now."""

    ids: list[int]
    sides: list[int]


def pair_tokens(tokenizer: "Tokenizer", belief: str, said: str, before: str, message: str) -> Tokens:
    """The belief, or the words it was said in where no statement is known, and a message with the one before it."""
    first = [part for part in [_head(tokenizer, belief or said, BELIEF)] if part]
    second = [part for part in (_tail(tokenizer, before), _head(tokenizer, message, MESSAGE)) if part]
    return _joined(tokenizer, first, second)


def line_tokens(tokenizer: "Tokenizer", before: str, line: str) -> Tokens:
    """A sentence or message after the one before it."""
    before_it = _tail(tokenizer, before)
    return _joined(tokenizer, [before_it] if before_it else [], [_head(tokenizer, line, MESSAGE)])


def _head(tokenizer: "Tokenizer", text: str, most: int) -> list[int]:
    return tokenizer.encode(text[: most * CHARACTERS_OF_A_TOKEN], add_special_tokens=False).ids[:most]


def _tail(tokenizer: "Tokenizer", text: str) -> list[int]:
    return tokenizer.encode(text[-BEFORE * CHARACTERS_OF_A_TOKEN :], add_special_tokens=False).ids[-BEFORE:]


def _joined(tokenizer: "Tokenizer", first: Sequence[list[int]], second: Sequence[list[int]]) -> Tokens:
    begin, end = tokenizer.encode("").ids  # of no text: only the marks around it
    ids, sides = [begin], [0]
    for side, parts in enumerate((first, second)):
        for part in parts:
            ids += [*part, end]
            sides += [side] * (len(part) + 1)
    return Tokens(ids, sides)
