"""What goes into a ranking and what comes out."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple


class Candidate(NamedTuple):
    """One row of the candidate statement, its columns in this order.

    `cosine` is that of the best vector, None where there is none. `bm25` is over the
    neighbour-aware document, 0 where no term of the query occurs. `position` counts messages in
    their conversation without gaps. `at` is when it was said, `event` when what it tells
    happens, if it names a date: in seconds since the epoch.
    `assistant` says that the assistant (or a tool) spoke; None: this is not a message.
    `author` is who said it or, of a memory, whom it is about. `length` is in stems, `marks` is
    `ranking.marks` of the text, `item` the id of what is ranked.
    """

    id: int
    layer: int
    cosine: float | None
    bm25: float
    conversation: int | None = None
    position: int | None = None
    at: float | None = None
    event: float | None = None
    assistant: bool | None = False
    author: str | None = None
    length: int = 0
    marks: int = 0
    item: bytes = b""


@dataclass(frozen=True, slots=True)
class Ranked:
    """A candidate's id, layer and item, its score from 0 to 1, and the parts that the score sums up."""

    id: int
    layer: int
    item: bytes
    score: float
    parts: Mapping[str, float]
