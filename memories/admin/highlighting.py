"""Cutting a text at its citations, so that each span can be marked. Pure: values in, values out."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class CitedSpan:
    """Characters `start` to `end` of a text, and what they are cited for."""

    start: int
    end: int
    cited_for: Any


@dataclass(frozen=True, slots=True)
class MarkedText:
    """A run of text under the same spans; none for plain text."""

    text: str
    spans: tuple[CitedSpan, ...] = ()


def segments(text: str, spans: Sequence[CitedSpan]) -> list[MarkedText]:
    """The whole of `text` in order; spans may overlap, and what lies outside of it is left out."""
    inside = [s for s in spans if 0 <= s.start < s.end <= len(text)]
    cuts = sorted({0, len(text), *(s.start for s in inside), *(s.end for s in inside)})
    result = []
    for start, end in zip(cuts, cuts[1:], strict=False):
        over = tuple(s for s in inside if s.start <= start and end <= s.end)
        result.append(MarkedText(text[start:end], over))
    return result


def excerpt(text: str, start: int, end: int, *, around: int = 240) -> tuple[str, str, str]:
    """What stands before, in and after a span, cut at `around` characters on each side."""
    before, after = text[max(0, start - around) : start], text[end : end + around]
    if start > around:
        before = "…" + before
    if end + around < len(text):
        after += "…"
    return before, text[start:end], after
