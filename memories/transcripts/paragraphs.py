"""Cuts text into pieces of a size that can be cited, at the best place there is."""

from collections.abc import Iterator

LONGEST = 4000


def pieces(text: str, longest: int = LONGEST) -> Iterator[str]:
    """The text in parts of at most `longest` characters: cut at a line, a sentence or a space."""
    rest = text.strip()
    while len(rest) > longest:
        cut = _cut(rest, longest)
        yield rest[:cut].rstrip()
        rest = rest[cut:].lstrip()
    if rest:
        yield rest


def _cut(text: str, longest: int) -> int:
    window = text[:longest]
    for mark in ("\n", ". ", "! ", "? ", " "):
        at = window.rfind(mark)
        if at >= longest // 2:
            return at + len(mark)
    return longest
