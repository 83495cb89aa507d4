"""Candidates as columns, what can be seen only among them (conversations, neighbours), and the
rankings by one rule: the merge of cosine and keyword hits, and either side alone."""

from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, fields, replace
from datetime import datetime
from functools import cached_property
from typing import Any, NamedTuple, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from memories.language.english.lexical import K1, LAYERS, ORDINARY_LENGTH, B

BOTH_BONUS = 0.2
KEYWORD_ONLY = 0.3
# A statement says in few words what its message says in many, and would always come before it.
STATEMENT = 0.7


class Candidate(NamedTuple):
    """One row of the candidate statement, its columns in this order.

    `cosine` is that of the best vector, None where there is none. `bm25` is over the
    neighbour-aware document, 0 where no term of the query occurs. `position` counts messages in
    their conversation without gaps. `at` is when it was said, `event` when what it tells
    happens, if it names a date: in seconds since the epoch.
    `assistant` says that the assistant (or a tool) spoke; None: this is not a message.
    `author` is who said it or, of a memory, whom it is about. `length` is in stems, `marks` is
    `ranking.marks` of the text, `item` the id of what is ranked. `around` is the mean cosine of
    the messages around it, where that was looked up; `taught`, too: something was learned from it.
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
    around: float | None = None
    taught: bool = False


class Ranked(NamedTuple):
    """A candidate's id, layer and item, its score from 0 to 1, and the parts that the score sums
    up; `cosine` is that of its vector and the query's, where both are known."""

    id: int
    layer: int
    item: bytes
    score: float
    parts: Mapping[str, float]
    cosine: float | None = None


Array = NDArray[np.float64]
Integers = NDArray[np.int64]

_spread = 0.02  # of cosines: below it, a few alike candidates would be told apart by noise
_reach = 5  # standard deviations that count as a full point
_lowest = -0.4
_pause = 8 * 3600.0  # seconds of silence that end a sitting
_positions = 1 << 32  # more than a conversation has


@dataclass
class Columns:
    """The candidates' columns as arrays of one length; `Candidate` says what each means.

    What belongs to no conversation has one of its own, -id; without a position it is -2.
    `assistant` is 1, 0, or nan for what is no message. `items` are 16 bytes each.
    A sitting is a conversation, or a stretch of it without a pause of eight hours.
    """

    ids: Integers
    layers: Integers
    cosine: Array  # nan: none
    bm25: Array
    conversations: Integers
    positions: Integers
    at: Array  # nan: unknown
    event: Array  # nan: none
    assistant: Array
    length: Array
    marks: Integers
    authors: NDArray[np.object_]
    items: NDArray[np.void]
    around: Array  # nan: not looked up
    taught: Array  # 1 or 0

    @classmethod
    def of(cls, candidates: "Candidates") -> "Columns":
        """Make columns of rows; columns are returned as they are."""
        if isinstance(candidates, Columns):
            return candidates
        fields = zip(*candidates, strict=True) if candidates else [()] * len(Candidate._fields)
        # fmt: off
        (ids, layers, cosine, bm25, conversations, positions, at, event, assistant, authors,
         length, marks, items, around, taught) = fields
        # fmt: on
        return cls(
            np.array(ids, np.int64),
            np.array(layers, np.int64),
            np.array(cosine, float),  # None becomes nan
            np.array(bm25, float),
            np.array([-i if c is None else c for i, c in zip(ids, conversations, strict=True)], np.int64),
            np.array([-2 if p is None else p for p in positions], np.int64),
            np.array(at, float),
            np.array(event, float),
            np.array(assistant, float),
            np.array(length, float),
            np.array(marks, np.int64),
            np.array(authors, object),
            np.array(items, "V16"),
            np.array(around, float),
            np.array(taught, float),
        )

    @classmethod
    def joined(cls, parts: Sequence["Columns"]) -> "Columns":
        if len(parts) == 1:
            return parts[0]
        if not parts:
            return cls.of(())
        return cls(*(np.concatenate([getattr(p, f.name) for p in parts]) for f in fields(cls)))

    def taken(self, chosen: NDArray[Any]) -> "Columns":
        """Return the columns of the candidates at these places, or where the mask is true."""
        return Columns(*(getattr(self, f.name)[chosen] for f in fields(self)))

    def weighed_for(self, turn: float) -> "Columns":
        """Return columns with the BM25 of messages as if `turn` of the way from an ordinary text's
        length to their own mean were the ordinary length; exact for words that a text holds once.

        A question is answered by a short statement. The next turn of a talk goes on from what
        was said there, in messages as long as they are there.
        """
        long = self.is_message & (self.bm25 > 0)
        if not turn or not long.any():
            return self
        mean = max(float(self.length[long].mean()), ORDINARY_LENGTH)
        ordinary = ORDINARY_LENGTH ** (1 - turn) * mean**turn
        share = _saturation(self.length, ORDINARY_LENGTH) / _saturation(self.length, ordinary)
        return replace(self, bm25=np.where(long, self.bm25 * share, self.bm25))

    def names(self, order: NDArray[np.intp]) -> Iterator[tuple[int, int, bytes]]:
        """Return the id, layer and item of the candidates at these places, in their order."""
        items = self.items[order].tobytes()
        size = self.items.itemsize
        each = [items[at : at + size] for at in range(0, len(items), size)]
        return zip(self.ids[order].tolist(), self.layers[order].tolist(), each, strict=True)

    def ranks(self, top: int) -> Iterator[dict[str, int]]:
        """Yield each candidate's place in its layer by cosine and by BM25, from 1; no place on a
        side that has no score for it, or that brings up `top` better ones."""
        sides = {
            "vector": _places(self.layers, self.cosine),
            "keyword": _places(self.layers, np.where(self.bm25 > 0, self.bm25, np.nan)),
        }
        for i in range(self.size):
            yield {side: int(own[i]) for side, own in sides.items() if 0 < own[i] <= top}

    @property
    def size(self) -> int:
        return self.ids.size

    @property
    def is_message(self) -> NDArray[np.bool_]:
        return ~np.isnan(self.assistant)

    @cached_property
    def keyword(self) -> Array:
        """BM25 divided by the best of the layer: short statements and long turns do not compare."""
        best = np.zeros(LAYERS)
        np.maximum.at(best, self.layers, self.bm25)
        share: Array = self.bm25 / np.where(best > 0, best, 1.0)[self.layers]
        return share

    @cached_property
    def vector(self) -> Array:
        """Cosine against the other candidates' cosines: 0 is average, 1 far above."""
        return _against_others(self.cosine)

    @cached_property
    def vector_around(self) -> Array:
        """The mean cosine of the messages around each, against that of the others."""
        return _against_others(self.around)

    @cached_property
    def time(self) -> Array:
        """Seconds; what has no time is as old as the oldest."""
        unknown = np.isnan(self.at)
        if unknown.all():
            return np.zeros(self.size)
        return np.where(unknown, np.nanmin(self.at), self.at) if unknown.any() else self.at

    @cached_property
    def are_apart(self) -> bool:
        """Tell whether no two can be of one conversation, as with memories of no thread."""
        return bool((self.conversations == -self.ids).all())

    @cached_property
    def _in_time(self) -> tuple[NDArray[np.intp], NDArray[np.bool_]]:
        """The candidates by conversation and time, and where another conversation begins."""
        order = np.lexsort((self.time, self.conversations))
        return order, np.diff(self.conversations[order]) != 0

    @cached_property
    def conversation(self) -> Integers:
        """Dense numbers of the conversations."""
        order, other = self._in_time
        return self._numbered(order, other)

    @cached_property
    def sitting(self) -> Integers:
        """Dense numbers of the sittings."""
        if self.are_apart:
            return np.arange(self.size)
        order, other = self._in_time
        return self._numbered(order, other | (np.diff(self.time[order]) > _pause))

    def _numbered(self, order: NDArray[np.intp], begins: NDArray[np.bool_]) -> Integers:
        number = np.zeros(self.size, np.int64)
        number[order[1:]] = np.cumsum(begins)
        return number

    @cached_property
    def sittings_since(self) -> Array:
        """The number of sittings younger than each candidate's."""
        newest = np.full(self.sitting.max() + 1, -np.inf)
        np.maximum.at(newest, self.sitting, self.time)
        rank = np.empty(newest.size)
        rank[np.argsort(-newest, kind="stable")] = np.arange(newest.size)
        return rank[self.sitting]

    @cached_property
    def _by_sitting(self) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """The candidates by sitting, and where each sitting begins among them."""
        order = np.argsort(self.sitting, kind="stable")
        return order, np.flatnonzero(np.diff(self.sitting[order], prepend=-1))

    def best_of_sitting(self, column: Array) -> Array:
        if self.are_apart:
            return column
        order, starts = self._by_sitting
        each: Array = np.maximum.reduceat(column[order], starts)[self.sitting]
        return each

    def three_best_of_sitting(self, column: Array) -> Array:
        """The sum of the sitting's three best, divided by three."""
        if self.are_apart:
            return column / 3
        order, starts = self._by_sitting
        best_first = np.lexsort((-column, self.sitting))
        place = np.arange(self.size) - starts[self.sitting[order]]
        top = best_first[place < 3]
        each: Array = (np.bincount(self.sitting[top], column[top]) / 3)[self.sitting]
        return each

    def of_neighbour(self, column: Array, step: int) -> Array:
        """The column's value of the message `step` further on; 0 where that is no candidate."""
        if self.are_apart:
            return np.zeros(self.size)
        key, order = self._places
        place = self.positions
        at = np.searchsorted(key[order], key + step).clip(max=self.size - 1)
        found = (key[order][at] == key + step) & (place >= 0) & (place + step >= 0)
        return np.where(found, column[order][at], 0.0)

    @cached_property
    def _places(self) -> tuple[Integers, NDArray[np.intp]]:
        key = (self.conversation * LAYERS + self.layers) * _positions + self.positions
        return key, np.argsort(key, kind="stable")

    def among(self, items: AbstractSet[bytes]) -> Array:
        """1 where the candidate is one of these."""
        return np.array([item.tobytes() in items for item in self.items], float)

    def marked(self, mark: int) -> Array:
        """1 where the message carries the mark."""
        carried: Array = ((self.marks & mark) != 0).astype(float)
        return carried


def _against_others(cosine: Array) -> Array:
    known = cosine[~np.isnan(cosine)]
    if not known.size:
        return np.zeros(cosine.size)
    score = (cosine - known.mean()) / (_reach * max(float(known.std()), _spread))
    clipped: Array = score.clip(_lowest, 1.0)
    return np.where(np.isnan(clipped), 0.0, clipped)


def _saturation(length: Array, ordinary: float) -> Array:
    return 1 + K1 * (1 - B + B * length / ordinary)


def _places(layers: Integers, scores: Array) -> Integers:
    """Return each candidate's place in its layer, from 1; equal ones by id. Without a score: 0."""
    places = np.zeros(scores.size, np.int64)
    for layer in range(LAYERS):
        own = np.flatnonzero((layers == layer) & ~np.isnan(scores))
        places[own[np.argsort(-scores[own], kind="stable")]] = np.arange(1, own.size + 1)
    return places


Candidates: TypeAlias = Columns | Sequence[Candidate]


Key = TypeVar("Key", int, str)


def linea(
    vector_hits: Sequence[tuple[Key, float]],
    keyword_ids: Sequence[Key],
    created: Mapping[Key, datetime] | None = None,
) -> list[tuple[Key, float]]:
    """Vector only: its cosine; both: cosine + 0.2; keyword only: 0.3. Best first.

    Ties: newest first by `created`, then by id. The caller has cut both lists to 20.
    """
    keyword = set(keyword_ids)
    scores = {key: cosine + BOTH_BONUS * (key in keyword) for key, cosine in vector_hits}
    scores |= {key: KEYWORD_ONLY for key in keyword_ids if key not in scores}
    born = created or {}
    by_id = sorted(scores.items())
    by_age = sorted(by_id, key=lambda hit: born[hit[0]].timestamp() if born else 0.0, reverse=True)
    return sorted(by_age, key=lambda hit: hit[1], reverse=True)


def by_vector(candidates: Candidates) -> list[Ranked]:
    """Rank by cosine alone, scores cut to 0..1; candidates without a vector are left out."""
    columns = Columns.of(candidates)
    known = columns.taken(~np.isnan(columns.cosine))
    return _ranked(known, known.cosine.clip(0.0, 1.0), "vector")


def by_keyword(candidates: Candidates) -> list[Ranked]:
    """Rank by BM25 alone, all layers together, divided by the best; candidates without a term of
    the query are left out."""
    columns = Columns.of(candidates)
    found = columns.taken(columns.bm25 > 0)
    scores = found.bm25 * np.where(found.is_message, 1.0, STATEMENT)
    return _ranked(found, scores / scores.max(initial=0.0) if found.size else scores, "keyword")


def _ranked(found: Columns, scores: Array, part: str) -> list[Ranked]:
    order = np.lexsort((-found.ids, -scores))
    best = zip(found.names(order), scores[order].tolist(), strict=True)
    return [Ranked(*who, score, {part: score}) for who, score in best]
