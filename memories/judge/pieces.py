"""The pieces in which a long text is shown to the judge, which reads little at once."""

from collections.abc import Iterator, Sequence

SHORT = 240  # characters that the judge reads at once: of a longer message its sentences, in pieces
PIECES = 4  # of a message, at most
GAP = 3  # characters between two sentences that are read together
STEP = 160  # characters from one piece of a longer sentence to the next: they overlap


def pieces_of(text: str, places: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Join sentences that follow each other, as many as are read at once; part those that are longer."""
    joined: list[tuple[int, int]] = []
    for start, end in (part for place in places for part in _parted(text, place)):
        if joined and start - joined[-1][1] <= GAP and end - joined[-1][0] <= SHORT:
            joined[-1] = (joined[-1][0], end)
        elif len(joined) < PIECES:
            joined.append((start, end))
    return joined


def _parted(text: str, place: tuple[int, int]) -> Iterator[tuple[int, int]]:
    """Yield parts of a sentence, each short enough to be read at once and begun at a word: who dictates sets few
    full stops."""
    start, end = place
    while end - start > SHORT:
        space = text.rfind(" ", start + STEP, start + SHORT)
        yield start, space if space > 0 else start + SHORT
        start = text.rfind(" ", start, start + STEP) + 1 or start + STEP
    yield start, end
