"""What becomes of one statement that meets others. Plain values in, a decision out."""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal

from memories.english import statements
from memories.english.statements import NO_WORDS, OwnWords, Relation
from memories.resolve.review_policy import PINNED, held_by

GUARDED, NEAREST = "guarded", "nearest"
RULES = (GUARDED, NEAREST)
OLDER = "older"  # said, or come true, before what is believed: a version of the past
# What is said at about the same time is newer by when it arrives, whichever clock was asked.
AT_ONCE = timedelta(minutes=5)
NEAR = 0.2  # below the threshold
Act = Literal["reinforce", "supersede", "hold", "review", "past", "new"]


@dataclass(frozen=True, slots=True)
class KnownMemory:
    """A live memory as the resolver sees it. `group` is its visibility: only one meets itself.
    `verbatim`: it is what somebody wrote, by hand or in a message kept whole; nothing read it."""

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
    verbatim: bool = False


@dataclass(frozen=True, slots=True)
class Neighbour:
    """A live memory that a statement meets; `similarity` is their cosine, where there is one."""

    memory: KnownMemory
    similarity: float | None


@dataclass(frozen=True, slots=True)
class Decision:
    """What becomes of a statement, which memories it concerns, and by which rule."""

    act: Act
    neighbours: tuple[Neighbour, ...] = ()
    rule: str = ""

    @property
    def targets(self) -> tuple[KnownMemory, ...]:
        return tuple(each.memory for each in self.neighbours)


NEW = Decision("new")


@dataclass(frozen=True, slots=True)
class Judge:
    """How a workspace decides: its rule, its model's threshold, its own slots and change words."""

    rule: str = GUARDED
    threshold: float = 2.0
    words: OwnWords = NO_WORDS

    def decide(
        self, new: KnownMemory, said_at: datetime, neighbours: Sequence[Neighbour]
    ) -> Decision:
        """`neighbours`: the nearest first, those without a similarity last."""
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

    def _guarded(
        self, new: KnownMemory, said_at: datetime, neighbours: Sequence[Neighbour]
    ) -> Decision:
        """Same before newer before in doubt; what none of these is stands beside the rest."""
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
        # A machine never supersedes a pinned memory: the newer one waits for a person.
        for near, relation, _ in updates:
            if near.memory.pinned:
                return Decision("hold", (near,), held_by(PINNED, relation.rule))
        if updates:
            return Decision("supersede", tuple(near for near, *_ in updates), updates[0][1].rule)
        unsure = (pair for pair in pairs if pair[1].kind == "unsure")
        return next(
            (Decision("review", (near,), relation.rule) for near, relation, _ in unsure), NEW
        )

    def _related(
        self, new: KnownMemory, said_at: datetime, neighbours: Sequence[Neighbour]
    ) -> Sequence[Neighbour]:
        """Those that a quick look cannot tell from what is new; the others are not compared."""
        reading = statements.read(new.content, self.words)
        turns = reading.change or reading.is_negated or statements.negates(reading, self.words)
        if not turns:
            # What changes nothing and shares no attribute must be near to matter.
            least = self.threshold - NEAR
            neighbours = [
                near
                for near in neighbours
                if near.similarity is None
                or near.similarity >= least
                or not near.memory.slots.isdisjoint(new.slots)
            ]
        if not statements.is_still(reading, self.words):
            return neighbours
        # Their words are all that could make the two related.
        seen = statements.glance_of(reading)
        return [
            near
            for near in neighbours
            if (near.similarity or 0) >= self.threshold
            or _is_newer(near.memory, said_at)
            or not statements.are_strangers(statements.glance(near.memory.content), seen)
        ]

    def _relation(
        self, new: KnownMemory, said_at: datetime, near: Neighbour
    ) -> tuple[Relation, bool]:
        """How the two stand to each other, and whether what is believed is the newer one."""
        old = near.memory
        is_older = _is_newer(old, said_at)
        pair = (new, old) if is_older else (old, new)
        readings = [statements.read(each.content, self.words) for each in pair]
        result = statements.relation(
            *readings, cosine=near.similarity, threshold=self.threshold, words=self.words
        )
        if is_older and result.kind == "same":
            result = Relation("same", result.rule)  # the poorer or the equal text adds nothing
        if new.verbatim and result.rule == statements.NUMBERED:
            # Who lists lockers means each of them; a claim read out of talk is of the one that
            # somebody has.
            result = Relation("unsure", result.rule)
        if result.kind == "update" and not is_older and old.since and new.event_date:
            # What is said only now may have come true before what is believed.
            dated = old.event_date is not None and old.event_date <= old.since
            is_older = statements.came_before(
                readings[1], new.event_date, result.rule, old.since, dated=dated
            )
        return result, is_older


def _is_newer(old: KnownMemory, said_at: datetime) -> bool:
    return old.since is not None and old.since - said_at > AT_ONCE


def _is_same_day(old: KnownMemory, new: KnownMemory) -> bool:
    """ "saw the dentist yesterday", said in May and in June, is two events."""
    if old.event_date is None or new.event_date is None:
        return True
    return old.event_date.date() == new.event_date.date()
