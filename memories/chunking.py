"""Where to cut a long text so that each piece says one thing."""

import re
from collections.abc import Iterator

PASSAGE = 420
_ENDS = re.compile(r"(?<=[.!?:])\s+|\n+")


def passages(text: str, size: int = PASSAGE) -> list[str]:
    """Passages of about `size` characters, cut at sentences and lines; [] for a short text.

    A text up to 1.4 times `size` is its own passage: the embedding of the whole serves.
    """
    if len(text) <= size * 1.4:
        return []
    found, current = [], ""
    for piece in _pieces(text, size):
        if current and len(current) + len(piece) > size:
            found.append(current)
            current = ""
        current = f"{current} {piece}".strip()
    return [*found, current] if current else found


def _pieces(text: str, size: int) -> Iterator[str]:
    # A sentence without an end (a log, a table, base64) is cut hard, so that no passage is endless.
    for sentence in _ENDS.split(text):
        for start in range(0, len(sentence), size * 3):
            if piece := sentence[start : start + size * 3].strip():
                yield piece
