"""The cuts of a text: into passages, which are searched, and chunks, which are counted and shown.

Sizes are tokens of the embedded vocabulary. A passage crosses no page, slide or sheet, and ends
before a heading, between paragraphs, lines, sentences or words, the best place first.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from memories.file_formats.assembly import TextPlace
from memories.language import bounds
from memories.providers.count_tokens import tokens_of

# The size that answers questions best at equal cost for the reader; see bench/documents.
PASSAGE = 200
SAMPLE, SAMPLES = 4_000, 4  # characters by which a text's tokens are estimated
LEAST_DENSITY = 0.05  # tokens a character: a text of blanks has none
HARD = frozenset(("page", "slide", "sheet", "file", "message", "segment", "cell"))
_BOUNDS = tuple(map(re.compile, (r"\n(?=#{1,6} )", r"\n\s*\n", r"\n", r"(?<=[.!?])\s+|(?<=[。！？])", r"\s+")))


@dataclass(frozen=True, slots=True)
class ChunkSizes:
    """In tokens: of a chunk, what two neighbours share, and the least that is one by itself."""

    chunk: int = bounds.CHUNK
    shared: int = bounds.CHUNK_SHARED
    least: int = bounds.CHUNK_LEAST


@dataclass(slots=True)
class ChunkPlace:
    """The place of a chunk in the text, and the passages in it that belong to it."""

    start: int
    end: int
    heading: str
    tokens: int
    passages: list[tuple[int, int]] = field(default_factory=list)


def cut(text: str, parts: Sequence[TextPlace], sizes: ChunkSizes) -> list[ChunkPlace]:
    """The chunks of a text in their order; every passage is that of one of them."""
    density = density_of(text)
    room = {name: max(1, int(getattr(sizes, name) / density)) for name in ("chunk", "shared")}
    least = int(sizes.least / density)
    definitions = [part for part in parts if part.kind == "definition"]
    if definitions:
        units = _definitions(text, definitions, room["chunk"], least)
        groups = [[unit] for unit in units]
    else:
        size = min(int(PASSAGE / density), room["chunk"])
        # No passage goes over the beginning of a page or the like.
        edges = sorted({0, len(text), *(part.start for part in parts if part.kind in HARD)})
        units = [place for start, end in pairwise(edges) for place in _stretches(text, start, end, max(40, size))]
        groups = _grouped(units, room["chunk"], room["shared"], least)
    headings = [part for part in parts if part.kind in ("heading", "definition")]
    starts = [part.start for part in headings]
    made, done = [], 0
    for group in groups:
        start, end = group[0][0], group[-1][1]
        at = bisect_right(starts, start) - 1
        label = headings[at].label if at >= 0 and headings[at].end > start else ""
        place = ChunkPlace(start, end, label, round(density * (end - start)))
        place.passages = [unit for unit in group if unit[0] >= done]
        done = max(done, end)
        made.append(place)
    return made


def density_of(text: str) -> float:
    """Tokens a character, by a few samples."""
    step = max(SAMPLE, len(text) // SAMPLES)
    pieces = [text[at : at + SAMPLE] for at in range(0, len(text), step)][:SAMPLES]
    length = sum(map(len, pieces))
    return max(LEAST_DENSITY, sum(map(tokens_of, pieces)) / length) if length else 1.0


def _stretches(text: str, start: int, end: int, size: int) -> Iterator[tuple[int, int]]:
    """Parts of at most `size` characters without blank ends, as even as their bounds allow."""
    while end - start > size:
        low, high = start + size // 2, start + size
        lasts = ([m.end() for m in form.finditer(text, low, high)] for form in _BOUNDS)
        edge = next((ends[-1] for ends in lasts if ends), high)
        yield from _trimmed(text, start, edge)
        start = edge
    yield from _trimmed(text, start, end)


def _trimmed(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    piece = text[start:end]
    if piece.strip():
        yield start + len(piece) - len(piece.lstrip()), end - len(piece) + len(piece.rstrip())


def _grouped(units: Sequence[tuple[int, int]], size: int, shared: int, least: int) -> list[list[tuple[int, int]]]:
    """Units that follow each other, up to `size` characters together; each group begins with the
    last of the one before, up to `shared` characters of them. A rest below `least` joins."""
    groups: list[list[tuple[int, int]]] = []
    at = 0
    while at < len(units):
        end = at + 1
        while end < len(units) and units[end][1] - units[at][0] <= size:
            end += 1
        rest = units[-1][1] - units[end][0] if end < len(units) else 0
        if 0 < rest < least:
            end = len(units)
        groups.append(list(units[at:end]))
        if end == len(units):
            break
        back = end
        while back - 1 > at and units[end - 1][1] - units[back - 1][0] <= shared:
            back -= 1
        at = back
    return groups


def _definitions(text: str, parts: Sequence[TextPlace], size: int, least: int) -> list[tuple[int, int]]:
    """A unit for each definition; small ones with those that follow, long ones cut."""
    edges = sorted({0, len(text), *(part.start for part in parts)})
    units: list[tuple[int, int]] = []
    start = 0
    for edge in edges[1:]:
        if edge - start < least and edge != len(text):
            continue
        units += _stretches(text, start, edge, size)
        start = edge
    return units
