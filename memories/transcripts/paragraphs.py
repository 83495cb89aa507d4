"""Cuts text into pieces of a size that can be cited, at the best place there is."""

import re
from collections.abc import Iterator

LONGEST = 4000
_not_blank = re.compile(r"\S")


def pieces(text: str, longest: int = LONGEST) -> Iterator[str]:
    """The text in parts of at most `longest` characters: cut at a line, a sentence or a space."""
    text, start = text.strip(), 0
    while len(text) - start > longest:
        end = start + _cut(text[start : start + longest], longest)
        yield text[start:end].rstrip()
        start = _not_blank.search(text, end).start()  # type: ignore[union-attr]  # it is stripped
    if start < len(text):
        yield text[start:]


def _cut(window: str, longest: int) -> int:
    for mark in ("\n", ". ", "! ", "? ", " "):
        at = window.rfind(mark)
        if at >= longest // 2:
            return at + len(mark)
    return longest
