"""The words in which two texts differ. Pure: values in, values out."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Any

WORDS = re.compile(r"\s+|\w+|[^\w\s]")
# Beyond this many words a comparison takes seconds and nobody reads it.
MOST_WORDS = 4_000


@dataclass(frozen=True, slots=True)
class Piece:
    """A run of text that is `same`, `added` or `removed`."""

    kind: str
    text: str


def word_diff(old: str, new: str) -> list[Piece]:
    """Return `new` in order, with the words removed from `old` where they stood."""
    before, after = WORDS.findall(old), WORDS.findall(new)
    if len(before) + len(after) > MOST_WORDS:
        return _without_empty([Piece("removed", old), Piece("added", new)])
    pieces = []
    matcher = SequenceMatcher(None, before, after, autojunk=False)
    for tag, i1, i2, j1, j2 in matcher.get_opcodes():
        if tag == "equal":
            pieces.append(Piece("same", "".join(after[j1:j2])))
        else:
            pieces.append(Piece("removed", "".join(before[i1:i2])))
            pieces.append(Piece("added", "".join(after[j1:j2])))
    return _without_empty(pieces)


def side(pieces: list[Piece], kind: str) -> list[Piece]:
    """One of the two texts again: `removed` gives the old one, `added` the new one."""
    return [piece for piece in pieces if piece.kind in ("same", kind)]


def changes(before: Any, after: Any) -> list[tuple[str, list[Piece]]]:
    """Compare two states of a row as JSON, field by field, by their words; equal fields are left
    out. A state that is no object counts as a field without a name."""
    old, new = _fields(before), _fields(after)
    return [
        (name, word_diff(_text(old.get(name)), _text(new.get(name))))
        for name in dict.fromkeys([*old, *new])
        if old.get(name) != new.get(name)
    ]


def _fields(state: Any) -> Mapping[str, Any]:
    if isinstance(state, Mapping):
        return state
    return {} if state is None else {"": state}


def _text(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False, indent=2)


def _without_empty(pieces: list[Piece]) -> list[Piece]:
    return [piece for piece in pieces if piece.text]
