"""The words in which two texts differ. Pure: values in, values out."""

import re
from dataclasses import dataclass
from difflib import SequenceMatcher

WORDS = re.compile(r"\s+|\w+|[^\w\s]")
# Beyond this many words a comparison takes seconds and nobody reads it.
MOST_WORDS = 4_000


@dataclass(frozen=True, slots=True)
class Piece:
    """A run of text that is `same`, `added` or `removed`."""

    kind: str
    text: str


def word_diff(old: str, new: str) -> list[Piece]:
    """`new` in order, with what was removed from `old` where it stood."""
    before, after = WORDS.findall(old), WORDS.findall(new)
    if len(before) + len(after) > MOST_WORDS:
        return _told([Piece("removed", old), Piece("added", new)])
    pieces = []
    matcher = SequenceMatcher(None, before, after, autojunk=False)
    for tag, i1, i2, j1, j2 in matcher.get_opcodes():
        if tag == "equal":
            pieces.append(Piece("same", "".join(after[j1:j2])))
        else:
            pieces.append(Piece("removed", "".join(before[i1:i2])))
            pieces.append(Piece("added", "".join(after[j1:j2])))
    return _told(pieces)


def side(pieces: list[Piece], kind: str) -> list[Piece]:
    """One of the two texts again: `removed` gives the old one, `added` the new one."""
    return [piece for piece in pieces if piece.kind in ("same", kind)]


def _told(pieces: list[Piece]) -> list[Piece]:
    return [piece for piece in pieces if piece.text]
