"""Decisions about a statement that meets others, and about a batch of statements in turn. Plain
values in, decisions out."""

import uuid
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal

import numpy as np

from memories.belief.resolve.protected_memories import PINNED, held_by
from memories.index.nearest import Pair
from memories.language.english import statements
from memories.language.english.calendar import DateOrder
from memories.language.english.statements import NO_WORDS, OwnWords, Relation

GUARDED, NEAREST = "guarded", "nearest"
RULES = (GUARDED, NEAREST)
EARLIER = "earlier"  # told later, but of a day before what is believed was said
OVERLAP = "overlap"  # two values of one attribute are told to have held at one time
SAME_TALK = timedelta(days=1)  # so long after each other, two may be said in one breath
OLDER = "older"  # said, or come true, before what is believed: a version of the past
# What is said at about the same time is newer by when it arrives, whichever clock was asked.
AT_ONCE = timedelta(minutes=5)
# Ends are told by the year or from memory: so far the earlier of two values gives way.
SLACK = timedelta(days=366)
NEAR = 0.2  # below the threshold
MOST_DOUBTS = 4  # memories beside one statement of which a person is asked what it is to them
Act = Literal["reinforce", "supersede", "hold", "review", "past", "new"]

TOGETHER = 128  # statements whose cosines are made at once
Close = dict[int, list[tuple[int, float]]]
MOST_OF_BATCH = 12  # of one batch, that a statement is compared with beside what was known before


@dataclass(frozen=True, slots=True)
class KnownMemory:
    """A live memory as the resolver sees it. `group` is its visibility: memories meet only within
    one. `verbatim`: it has somebody's own words, written by hand or kept whole from a message."""

    id: uuid.UUID
    content: str
    fingerprint: bytes
    group: str
    pinned: bool
    version: int
    since: datetime | None = None
    event_date: datetime | None = None
    support: int = 1
    slots: frozenset[int] = frozenset()
    category: str = ""
    until: datetime | None = None
    verbatim: bool = False


@dataclass(frozen=True, slots=True)
class Neighbour:
    """A live memory that a statement meets; `similarity` is their cosine, where there is one."""

    memory: KnownMemory
    similarity: float | None


@dataclass(frozen=True, slots=True)
class Decision:
    """The decision on a statement: what is done, with which memories, and by which rule. `doubts`:
    other memories it meets, each with the rule by which it is neither the same, nor newer, nor
    clearly unrelated. `ends`: statements about the past, perhaps this one, each with its end as
    other statements tell it.
    """

    act: Act
    neighbours: tuple[Neighbour, ...] = ()
    rule: str = ""
    doubts: tuple[tuple[Neighbour, str], ...] = ()
    ends: tuple[tuple[uuid.UUID, datetime], ...] = ()

    @property
    def targets(self) -> tuple[KnownMemory, ...]:
        return tuple(each.memory for each in self.neighbours)


NEW = Decision("new")


@dataclass(frozen=True, slots=True)
class Judge:
    """The way a workspace decides: its rule, its model's threshold, its own slots and change words,
    and the order of day and month in its numbers."""

    rule: str = GUARDED
    threshold: float = 2.0
    words: OwnWords = NO_WORDS
    date_order: DateOrder = "auto"

    def decide(self, new: KnownMemory, said_at: datetime, neighbours: Sequence[Neighbour]) -> Decision:
        """Decide a statement. `neighbours`: the nearest first, those without a similarity last."""
        for near in neighbours:
            if near.memory.fingerprint == new.fingerprint and _is_same_day(near.memory, new):
                return Decision("reinforce", (near,))
        if self.rule != NEAREST:
            return self._guarded(new, said_at, neighbours)
        # The seed's rule: the nearest live memory at or over the threshold decides.
        for near in neighbours:
            if (near.similarity or 0) >= self.threshold:
                if near.memory.pinned:
                    return Decision("hold", (near,), held_by(PINNED, NEAREST))
                return Decision("supersede", (near,), NEAREST)
        return NEW

    def _guarded(self, new: KnownMemory, said_at: datetime, neighbours: Sequence[Neighbour]) -> Decision:
        """Decide in this order: the same, newer, in doubt; else it stands beside the others."""
        related = self._related(new, said_at, neighbours)
        pairs = [(near, *self._relation(new, said_at, near)) for near in related]
        for near, relation, _ in pairs:
            if relation.kind == "same" and _is_same_day(near.memory, new):
                # The richer text stays, unless a person pinned the other.
                if relation.richer and not near.memory.pinned:
                    return Decision("supersede", (near,), "richer")
                return Decision("reinforce", (near,))
        updates = [pair for pair in pairs if pair[1].kind == "update"]
        past = next((near for near, _, is_older in updates if is_older), None)
        if past is not None:
            return Decision("past", (past,), OLDER)
        unsure = [(near, relation.rule) for near, relation, _ in pairs if relation.kind == "unsure"]
        met = {near.memory.id for near, relation, _ in pairs if relation.kind != "different"}
        rivals = [near for near in neighbours if near.memory.id not in met and self._are_rivals(near.memory, new)]
        unsure += [(near, OVERLAP) for near in rivals if _overlap(near.memory, new)]
        ends = tuple(end for near in rivals if (end := _given_way(near.memory, new)))
        doubts = tuple(unsure[:MOST_DOUBTS])
        # A machine never supersedes a pinned memory: the newer one waits for a person.
        for near, relation, _ in updates:
            if near.memory.pinned:
                return Decision("hold", (near,), held_by(PINNED, relation.rule), doubts)
        if updates:
            newer = tuple(near for near, *_ in updates)
            return Decision("supersede", newer, updates[0][1].rule, doubts, ends)
        if not doubts:
            return Decision("new", ends=ends)
        (near, rule), *others = doubts
        return Decision("review", (near,), rule, tuple(others), ends)

    def _are_rivals(self, old: KnownMemory, new: KnownMemory) -> bool:
        """Tell whether they are two values of one attribute, one of which is about the past."""
        if (old.until is None and new.until is None) or old.slots.isdisjoint(new.slots):
            return False
        was, told = (statements.read(each.content, self.words) for each in (old, new))
        return statements.are_rivals(was, told, self.words.off)

    def _related(self, new: KnownMemory, said_at: datetime, neighbours: Sequence[Neighbour]) -> Sequence[Neighbour]:
        """Return those that a quick look cannot rule out; the others are not compared."""
        reading = statements.read(new.content, self.words)
        turns = reading.change or reading.is_negated or statements.negates(reading, self.words)
        if not turns:
            # What changes nothing and shares no attribute must be near to matter.
            least = self.threshold - NEAR
            neighbours = [
                near
                for near in neighbours
                if near.similarity is None or near.similarity >= least or not near.memory.slots.isdisjoint(new.slots)
            ]
        if not statements.is_still(reading, self.words):
            return neighbours
        # Their words are all that could make the two related.
        seen = statements.prefilter_of(reading)
        return [
            near
            for near in neighbours
            if (near.similarity or 0) >= self.threshold
            or _is_newer(near.memory, said_at)
            or not statements.are_strangers(statements.prefilter(near.memory.content), seen)
        ]

    def _relation(self, new: KnownMemory, said_at: datetime, near: Neighbour) -> tuple[Relation, bool]:
        """Return the relation of the two, and whether the known memory is the newer one."""
        old = near.memory
        is_older = _is_newer(old, said_at)
        pair = (new, old) if is_older else (old, new)
        readings = [statements.read(each.content, self.words) for each in pair]
        result = statements.relation(*readings, cosine=near.similarity, threshold=self.threshold, words=self.words)
        if is_older and result.kind == "same":
            result = Relation("same", result.rule)  # the poorer or the equal text adds nothing
        if new.verbatim and result.rule == statements.NUMBERED:
            # Who lists lockers means each of them; a claim read out of talk is of the one that
            # somebody has.
            result = Relation("unsure", result.rule)
        if result.kind == "update" and not is_older and old.since and new.event_date:
            # What is said only now may have come true before what is believed, which holds at least
            # since it was said; where no day was named, nobody knows how long before.
            is_dated = old.event_date is not None and old.event_date <= old.since
            told = (readings[1], new.event_date, result.rule, old.since)
            unknown = timedelta(0) if is_dated else statements.UNKNOWN
            is_older = statements.came_before(*told, margin=unknown, order=self.date_order)
            is_late = said_at - old.since > SAME_TALK
            if is_late and not is_older and statements.came_before(*told, order=self.date_order):
                result = Relation("unsure", EARLIER)
        return result, is_older


def _is_newer(old: KnownMemory, said_at: datetime) -> bool:
    return old.since is not None and old.since - said_at > AT_ONCE


def _is_same_day(old: KnownMemory, new: KnownMemory) -> bool:
    """Tell whether they are of one day: "saw the dentist yesterday", said in May and in June, is
    two events."""
    if old.event_date is None or new.event_date is None:
        return True
    return old.event_date.date() == new.event_date.date()


def _in_order(old: KnownMemory, new: KnownMemory) -> tuple[KnownMemory, KnownMemory]:
    """Return the one that was true first, and then the one that ended it."""
    is_turned = old.since is not None and (new.since is None or new.since < old.since)
    return (new, old) if is_turned else (old, new)


def _overlap(old: KnownMemory, new: KnownMemory) -> bool:
    """Tell whether both are said to have held at one time, by more than an inexact day explains."""
    first, then = _in_order(old, new)
    if then.since is None or _is_vague(first):
        return False
    if first.until is None:
        return first.since is not None
    if first.since == then.since:
        return True
    return min(first.until, then.until or first.until) - then.since > SLACK


def _given_way(old: KnownMemory, new: KnownMemory) -> tuple[uuid.UUID, datetime] | None:
    """Return the one that was over when the other began, and when that was."""
    first, then = _in_order(old, new)
    if then.since is None or first.until is None or first.until <= then.since:
        return None
    if _is_vague(first):
        # "Used to live in Rome": before what is so now, and nobody knows what else it was before.
        return (first.id, then.since) if then.until is None else None
    return None if _overlap(old, new) else (first.id, then.since)


def _is_vague(memory: KnownMemory) -> bool:
    """Tell whether nobody said when it began or when it ended."""
    if memory.since is not None or memory.until is None:
        return False
    past = statements.past_period(statements.read(memory.content), memory.until)
    return past is None or not past.is_said


class Resolver:
    """The live memories while a batch is decided. `vectors`: one per statement, or none at all.
    `open_to`: memories that a statement meets though others may see them."""

    def __init__(
        self,
        judge: Judge,
        known: Iterable[KnownMemory],
        pairs: Iterable[Pair],
        *,
        vectors: Sequence[np.ndarray | None],
        floor: float,
        open_to: frozenset[uuid.UUID] = frozenset(),
    ) -> None:
        self.judge, self.floor, self.open_to = judge, floor, open_to
        self.live: dict[uuid.UUID, KnownMemory] = {}
        self.texts: dict[bytes, list[uuid.UUID]] = {}
        self.slots: dict[int, list[uuid.UUID]] = {}
        self.near: dict[int, dict[uuid.UUID, float | None]] = {}
        # The vectors as rows; of a statement without one, zeros.
        dimensions = next((len(vector) for vector in vectors if vector is not None), 0)
        empty = np.zeros(dimensions, dtype=np.float32)
        rows = [empty if vector is None else vector for vector in vectors]
        self.vectors = vectors
        self.matrix = np.array(rows) if len(vectors) > 1 and dimensions else None
        self.block: tuple[int, Close] | None = None
        self.places: dict[int, uuid.UUID] = {}
        self.indexes: dict[uuid.UUID, int] = {}
        for memory in known:
            self.add(memory)
        for pair in pairs:
            self.near.setdefault(pair.index, {}).setdefault(pair.memory_id, pair.similarity)

    def decide(self, index: int, new: KnownMemory, said_at: datetime) -> Decision:
        """Decide statement number `index`, after all that the statements before it did."""
        similarities = dict(self.near.get(index, {}))
        if self.matrix is not None:
            start = index - index % TOGETHER
            if self.block is None or self.block[0] != start:
                # Of each of the next statements those before it that are near.
                block = self.matrix[start : start + TOGETHER]
                cosines = block @ self.matrix[: start + len(block)].T
                found: Close = {}
                near = np.nonzero(np.tril(cosines >= self.floor, start - 1))
                for row, before, cosine in zip(*near, cosines[near], strict=True):
                    found.setdefault(start + int(row), []).append((int(before), float(cosine)))
                self.block = (start, found)
            close = [each for each in self.block[1].get(index, ()) if each[0] in self.places]
            close.sort(key=lambda each: -each[1])
            similarities |= {self.places[i]: cosine for i, cosine in close[:MOST_OF_BATCH]}
        for same in self.texts.get(new.fingerprint, ()):
            similarities.setdefault(same, None)
        for owner in (owner for key in new.slots for owner in self.slots.get(key, ())):
            similarities.setdefault(owner, None)
        neighbours = [
            Neighbour(memory, similarity)
            for each, similarity in similarities.items()
            if (memory := self.live.get(each)) and (memory.group == new.group or memory.id in self.open_to)
        ]
        neighbours.sort(key=lambda n: -1.0 if n.similarity is None else n.similarity)
        return self.judge.decide(new, said_at, neighbours[::-1])

    def vector(self, index: int) -> np.ndarray | None:
        """Return the vector of statement number `index`; None while it is still to be made."""
        return self.vectors[index] if self.vectors else None

    def similarities(self, index: int, memories: Sequence[uuid.UUID]) -> dict[uuid.UUID, float]:
        """Return the cosines with those of `memories` that came with this batch."""
        if self.matrix is None:
            return {}
        similar, wanted = self.matrix @ self.matrix[index], set(memories)
        places = {i: each for i, each in self.places.items() if each in wanted}
        return {each: float(similar[i]) for i, each in places.items() if self.vector(i) is not None}

    def add(self, memory: KnownMemory, index: int | None = None) -> None:
        """Add a memory that is live from now on; `index` is its place in the batch, if any."""
        self.live[memory.id] = memory
        self.texts.setdefault(memory.fingerprint, []).append(memory.id)
        for key in memory.slots:
            self.slots.setdefault(key, []).append(memory.id)
        if index is not None:
            self.places[index] = memory.id
            self.indexes[memory.id] = index

    def end(self, memory_id: uuid.UUID) -> None:
        """End a memory: as in the index, it takes no place from live ones any more."""
        del self.live[memory_id]
        self.places.pop(self.indexes.get(memory_id, -1), None)
