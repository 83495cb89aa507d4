"""What becomes of one statement that meets others. Plain values in, a decision out."""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal

from memories.english import statements as conflicts
from memories.english.statements import NO_WORDS, Glance, OwnWords, Relation
from memories.english.statements.policy import PINNED, held_by

GUARDED, NEAREST = "guarded", "nearest"
RULES = (GUARDED, NEAREST)
OLDER = "older"  # said, or come true, before what is believed: a version of the past
# What is said at about the same time is newer by when it arrives, whichever clock was asked.
AT_ONCE = timedelta(minutes=5)
NEAR = 0.2  # below the threshold
Act = Literal["reinforce", "supersede", "hold", "review", "past", "new"]


@dataclass(frozen=True, slots=True)
class Belief:
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
class Met:
    """A live memory that a statement meets; `similarity` is their cosine, where there is one."""

    belief: Belief
    similarity: float | None


@dataclass(frozen=True, slots=True)
class Decision:
    """What becomes of a statement, which memories it concerns, and by which rule."""

    act: Act
    met: tuple[Met, ...] = ()
    rule: str = ""

    @property
    def targets(self) -> tuple[Belief, ...]:
        return tuple(each.belief for each in self.met)


NEW = Decision("new")


@dataclass(frozen=True, slots=True)
class Judge:
    """How a workspace decides: its rule, its model's threshold, its own slots and change words."""

    rule: str = GUARDED
    threshold: float = 2.0
    words: OwnWords = NO_WORDS

    def decide(self, new: Belief, said_at: datetime, met: Sequence[Met]) -> Decision:
        """`met`: the nearest first, those without a similarity last."""
        same = next((m for m in met if _is_same_text(m.belief, new)), None)
        if same is not None:
            return Decision("reinforce", (same,))
        if self.rule == NEAREST:
            return self._nearest(met)
        return self._guarded(new, said_at, met)

    def _nearest(self, met: Sequence[Met]) -> Decision:
        """The seed's rule: the nearest live memory at or over the threshold decides."""
        near = next((m for m in met if (m.similarity or 0) >= self.threshold), None)
        if near is None:
            return NEW
        if near.belief.pinned:
            return Decision("hold", (near,), held_by(PINNED, NEAREST))
        return Decision("supersede", (near,), NEAREST)

    def _guarded(self, new: Belief, said_at: datetime, met: Sequence[Met]) -> Decision:
        """Same before newer before in doubt; what none of these is stands beside the rest."""
        told = conflicts.read(new.content, self.words)
        turns = bool(told.change or told.is_negated or conflicts.negates(told, self.words))
        met = [m for m in met if turns or self._is_close(m, new)]
        if conflicts.is_still(told, self.words):
            seen = conflicts.glance_of(told)
            met = [m for m in met if self._may_be_same(m, seen, said_at)]
        found = [(m, *self._relation(new, said_at, m)) for m in met]
        for m, relation, _ in found:
            if relation.kind == "same" and _is_same_day(m.belief, new):
                return _same(m, relation)
        updates = [(m, relation) for m, relation, is_older in found if _is(relation) and is_older]
        if updates:
            return Decision("past", (updates[0][0],), OLDER)
        updates = [(m, relation) for m, relation, _ in found if _is(relation)]
        if updates:
            return _update(updates)
        for m, relation, _ in found:
            if relation.kind == "unsure":
                return Decision("review", (m,), relation.rule)
        return NEW

    def _is_close(self, met: Met, new: Belief) -> bool:
        """A quick look: what changes nothing and shares no attribute must be near to matter."""
        if met.similarity is None or met.similarity >= self.threshold - NEAR:
            return True
        return not met.belief.slots.isdisjoint(new.slots)

    def _may_be_same(self, met: Met, seen: Glance, said_at: datetime) -> bool:
        """A quicker look at its words, where theirs are all that could make the two related."""
        if (met.similarity or 0) >= self.threshold or _is_newer(met.belief, said_at):
            return True
        return not conflicts.are_strangers(conflicts.glance(met.belief.content), seen)

    def _relation(self, new: Belief, said_at: datetime, met: Met) -> tuple[Relation, bool]:
        """How the two stand to each other, and whether what is believed is the newer one."""
        old = met.belief
        is_older = _is_newer(old, said_at)
        pair = (new, old) if is_older else (old, new)
        readings = [conflicts.read(each.content, self.words) for each in pair]
        found = conflicts.relation(
            *readings, cosine=met.similarity, threshold=self.threshold, words=self.words
        )
        if is_older and found.kind == "same":
            found = Relation("same", found.rule)  # the poorer or the equal text adds nothing
        if new.verbatim and found.rule == conflicts.NUMBERED:
            # Who lists lockers means each of them; a claim read out of talk is of the one that
            # somebody has.
            found = Relation("unsure", found.rule)
        if not is_older and _is(found):
            is_older = _came_before(old, new, readings[1], found.rule)
        return found, is_older


def _is(relation: Relation) -> bool:
    return relation.kind == "update"


def _is_newer(old: Belief, said_at: datetime) -> bool:
    return old.since is not None and old.since - said_at > AT_ONCE


def _came_before(old: Belief, new: Belief, told: conflicts.Reading, rule: str) -> bool:
    """Whether what is told only now came true before what is believed."""
    if old.since is None or new.event_date is None:
        return False
    dated = old.event_date is not None and old.event_date <= old.since
    return conflicts.came_before(told, new.event_date, rule, old.since, dated=dated)


def _is_same_text(old: Belief, new: Belief) -> bool:
    return old.fingerprint == new.fingerprint and _is_same_day(old, new)


def _is_same_day(old: Belief, new: Belief) -> bool:
    """ "saw the dentist yesterday", said in May and in June, is two events."""
    if old.event_date is None or new.event_date is None:
        return True
    return old.event_date.date() == new.event_date.date()


def _same(met: Met, relation: Relation) -> Decision:
    """The richer text stays, unless a person pinned the other."""
    if relation.richer and not met.belief.pinned:
        return Decision("supersede", (met,), "richer")
    return Decision("reinforce", (met,))


def _update(updates: Sequence[tuple[Met, Relation]]) -> Decision:
    """A machine never supersedes a pinned memory: the newer one waits for a person."""
    for met, relation in updates:
        if met.belief.pinned:
            return Decision("hold", (met,), held_by(PINNED, relation.rule))
    return Decision("supersede", tuple(met for met, _ in updates), updates[0][1].rule)
