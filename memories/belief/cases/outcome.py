"""The outcome of a decision, read back from the rows: which memories are believed, and which no
longer are."""

import uuid
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from memories.language.english.case_words import listed, short_names
from memories.models import Case, Fact, Memory, Supersession

OUTCOME = "outcome"  # the step of a decided case that tells it
Step = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Outcome:
    """Ids of memories. `was` and `now`: the memories believed before and after; `ended`: others
    that the decision was about. `facts`: statements that it rejects."""

    was: frozenset[uuid.UUID] = frozenset()
    now: frozenset[uuid.UUID] = frozenset()
    ended: frozenset[uuid.UUID] = frozenset()
    facts: frozenset[uuid.UUID] = frozenset()

    @property
    def ids(self) -> frozenset[uuid.UUID]:
        return self.was | self.now | self.ended

    def step(self) -> dict[str, object]:
        names = ("was", "now", "ended", "facts")
        return {"act": OUTCOME} | {name: sorted(map(str, getattr(self, name))) for name in names}

    @classmethod
    def of(cls, step: Step) -> "Outcome":
        names = ("was", "now", "ended", "facts")
        return cls(*(frozenset(map(uuid.UUID, step.get(name, ()))) for name in names))


def believed(ids: Iterable[uuid.UUID]) -> frozenset[uuid.UUID]:
    """Those of these memories that are believed now."""
    return frozenset(Memory.objects.live().filter(pk__in=set(ids)).values_list("pk", flat=True))


def of_steps(case: Case, steps: Sequence[Step], was: Collection[uuid.UUID]) -> Outcome:
    """Return the outcome of a decision's steps; `was`: the memories believed before it."""
    named = [uuid.UUID(str(step["memory"])) for step in steps if "memory" in step]
    pairs = [step["pair"] for step in steps if "pair" in step]
    new = Supersession.objects.filter(pk__in=pairs).values_list("new_id", flat=True)
    of_case = [pk for pk in case.items.values_list("memory_id", flat=True) if pk]
    denied = [step["memory"] for step in steps if step["act"] in ("forget", "end")]
    facts = {uuid.UUID(str(step["fact"])) for step in steps if step["act"] == "dismiss"}
    rows = Fact.objects.filter(pk__in=facts, memory=None).values_list("pk", flat=True)
    ended = frozenset(uuid.UUID(str(pk)) for pk in denied)
    now = believed([*of_case, *named, *new])
    return Outcome(frozenset(was), now, ended - now, frozenset(rows))


@dataclass(slots=True)
class OutcomeWords:
    """The words of many outcomes, by two queries for all of them."""

    memories: dict[uuid.UUID, str] = field(default_factory=dict)
    facts: dict[uuid.UUID, str] = field(default_factory=dict)

    @classmethod
    def of(cls, outcomes: Collection[Outcome]) -> "OutcomeWords":
        ids = {pk for each in outcomes for pk in each.ids}
        facts = {pk for each in outcomes for pk in each.facts}
        rows = Memory.objects.filter(pk__in=ids).values_list("pk", "content")
        said = Fact.objects.filter(pk__in=facts).values_list("pk", "statement")
        return cls(dict(rows) if ids else {}, dict(said) if facts else {})

    def sentence(self, outcome: Outcome) -> str:
        """ "Antwerp is believed; Lille and Ghent are not any more."; "" where no row of it is left.
        What was erased since is not named."""
        order = sorted(pk for pk in outcome.ids if pk in self.memories)
        texts = [self.memories[pk] for pk in order]
        names = dict(zip(order, short_names(texts), strict=True)) if order else {}

        def those(ids: Collection[uuid.UUID]) -> list[str]:
            return [names[pk] for pk in order if pk in ids]

        now, gone = those(outcome.now), those(outcome.was - outcome.now)
        never = those(outcome.ended - outcome.was)
        never += short_names([self.facts[pk] for pk in outcome.facts if pk in self.facts])
        is_as_before = outcome.now == outcome.was
        still = "still " if is_as_before and never else ""
        both = "both " if is_as_before and not never and len(now) == 2 else ""
        parts = [
            f"{listed(now)} {_are(now)} {still}{both}believed" if now else "",
            f"{listed(gone)} {_are(gone)} not {'' if now else 'believed '}any more" if gone else "",
            f"{listed(never)} {_are(never)} not{'' if now else ' believed'}" if never else "",
        ]
        told = "; ".join(filter(None, parts))
        return f"{told[0].upper()}{told[1:]}." if told else ""


def outcome_of(case: Case) -> Outcome | None:
    """Return what a case was decided to; None where nobody decided it as a whole, or an older
    version did."""
    step = next((each for each in case.steps if each["act"] == OUTCOME), None)
    return Outcome.of(step) if step else None


def sentence_of(outcome: Outcome) -> str:
    """The sentence about one outcome."""
    return OutcomeWords.of([outcome]).sentence(outcome)


def case_told(case: Case) -> str:
    """The sentence of a case that was decided; "" where it is not known."""
    outcome = outcome_of(case)
    return sentence_of(outcome) if outcome else ""


@dataclass(slots=True)
class ChangeTold:
    """The outcome of an act; its text is complete once the act is done."""

    outcome: Outcome = Outcome()

    def __str__(self) -> str:
        return sentence_of(self.outcome)


@contextmanager
def telling(ids: Collection[uuid.UUID]) -> Iterator[ChangeTold]:
    """Compare these memories before and after the block: at its end the yielded object tells what
    changed."""
    found, was = ChangeTold(), believed(ids)
    yield found
    now = believed(ids)
    found.outcome = Outcome(was, now)


@contextmanager
def telling_pair(decision: Supersession) -> Iterator[ChangeTold]:
    """The same of both memories of a decision, and of the words that one is approved in."""
    ids = [decision.old_id, decision.new_id]
    with telling(ids) as found:
        yield found
    was, now = found.outcome.was, found.outcome.now
    worded = Memory.objects.filter(pk=decision.new_id).values_list("superseded_by", flat=True)
    if new := believed(pk for pk in worded if pk):
        was, now = was - {decision.new_id}, now | new
    found.outcome = Outcome(was, now, frozenset() if new else frozenset(ids) - was - now)


def _are(names: Sequence[str]) -> str:
    return "is" if len(names) == 1 else "are"
