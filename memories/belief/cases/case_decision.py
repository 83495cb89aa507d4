"""A person's decision on each memory and fact in a case, and the meaning of approve, keep both and
reject."""

import uuid
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Self

from pydantic import Field

from memories.belief.resolve.file_cases import ASKED, DRAWN, GROUND, QUESTIONED, UNSAID
from memories.models import CaseItem, Memory, MemoryState
from workspaces.request_fields import AnyText, Flag, Maybe, NullIs, OneOf, Text, Whole, declared

DO, LEAVE = "do", "leave"
# Reasons to ask about a memory that nothing new speaks against.
DOUBTED = frozenset({GROUND, UNSAID, ASKED, QUESTIONED, DRAWN})
IDS = ("keep", "forget", "end", "accept", "dismiss")
Ids = Annotated[tuple[uuid.UUID, ...], Field(max_length=100), NullIs(())]


@declared
@dataclass(frozen=True, slots=True)
class Replaced:
    old: uuid.UUID
    new: uuid.UUID


@declared
@dataclass(frozen=True, slots=True)
class Reworded:
    memory_id: uuid.UUID
    content: Text


@declared
@dataclass(frozen=True, slots=True)
class CaseDecision:
    """The decision on each memory and fact. `forget` also prevents it from being learned again;
    `end`: it was true and no longer is. Memories that are not named stay as they are; held-back
    memories and facts in quarantine must be named."""

    keep: Ids = ()
    replace: Annotated[tuple[Replaced, ...], Field(max_length=100), NullIs(())] = ()
    forget: Ids = ()
    end: Annotated[Ids, Field(description="Was true and is no more: it may be learned again.")] = ()
    edit: Annotated[Reworded | None, Field(description="Say it in these words instead.")] = None
    accept: Ids = ()
    dismiss: Ids = ()
    unmask: Annotated[Flag, Field(description="Show what is masked for the sake of what is accepted.")] = False
    intent: Annotated[str, OneOf([DO, LEAVE]), NullIs("")] = ""
    note: Annotated[AnyText, Field(max_length=2000), NullIs("")] = ""
    version: Maybe[
        Annotated[
            Whole,
            Field(description="Of the case as it was read: 409 where it has changed since."),
        ]
    ] = None

    @property
    def named(self) -> Iterator[tuple[str, uuid.UUID]]:
        """Each memory that it names, with the place where it does."""
        for name in ("keep", "forget", "end"):
            for place, memory_id in enumerate(getattr(self, name)):
                yield f"{name}[{place}]", memory_id
        for place, pair in enumerate(self.replace):
            yield f"replace[{place}].old", pair.old
            yield f"replace[{place}].new", pair.new
        if self.edit:
            yield "edit.memoryId", self.edit.memory_id

    @property
    def ids(self) -> dict[str, object]:
        """The same without its words, to be kept until it is carried out."""
        ids = {name: [str(pk) for pk in getattr(self, name)] for name in IDS}
        pairs = [[str(pair.old), str(pair.new)] for pair in self.replace]
        rest = {"unmask": self.unmask, "intent": self.intent, "edits": self.edit is not None}
        return {**ids, "replace": pairs, **rest}

    @classmethod
    def of_ids(cls, kept: Mapping[str, Any], note: str) -> Self:
        """Return what was kept, with its note, for the version of the case that it was about."""
        ids: dict[str, Any] = {name: tuple(map(uuid.UUID, kept[name])) for name in IDS}
        pairs = tuple(Replaced(uuid.UUID(old), uuid.UUID(new)) for old, new in kept["replace"])
        rest = {name: kept[name] for name in ("unmask", "intent", "version")}
        return cls(**ids, replace=pairs, note=note, **rest)


def is_waiting(item: CaseItem) -> bool:
    return item.fact is not None and item.fact.quarantined_at is not None


def standing(items: Sequence[CaseItem]) -> list[Memory]:
    """Memories that can still be decided about, the oldest first."""
    ended = (MemoryState.SUPERSEDED, MemoryState.FORGOTTEN)
    return [item.memory for item in items if item.memory and item.memory.state not in ended]


def newest_of(items: Sequence[CaseItem], waiting: Sequence[uuid.UUID]) -> Memory | None:
    """The newest memory that waits to replace another, or that is held back."""
    rows = [m for m in standing(items) if m.pk in waiting or m.held_at is not None]
    return max(rows, key=lambda memory: memory.pk, default=None)


def doubted(items: Sequence[CaseItem]) -> list[Memory]:
    """Memories that can still be decided about and that may no longer hold, as only the person
    asked knows: their grounds have ended, their document no longer says it, something said later speaks
    against them, or somebody asks."""
    standing_ids = {memory.pk for memory in standing(items)}
    rows = {each.memory_id: each.memory for each in items if each.why in DOUBTED and each.memory}
    return [memory for pk, memory in rows.items() if pk in standing_ids]


def is_about_an_end(items: Sequence[CaseItem], new: Memory | None) -> bool:
    """Tell whether nothing in the case waits but the question whether something still holds."""
    waits = any(is_waiting(each) or each.intent for each in items)
    return new is None and not waits and bool(doubted(items))


def decision_by(
    verb: str,
    items: Sequence[CaseItem],
    new: Memory | None,
    named: Collection[uuid.UUID],
    *,
    content: str,
    chosen: Mapping[str, str],
) -> CaseDecision:
    """Return the decision that a button makes on everything in the case. Approve: the newest
    replaces all others, and what is doubted is asked about by itself; where nothing else is asked,
    it no longer holds. Keep both: all are believed. Reject: what waits is forgotten, the others
    stay. `chosen`: by memory id, for `decide`. An order to the memory, on the memories `named`, is
    done where it is approved, except for those that are chosen to be kept. `content`: the new
    wording of `new`."""
    memories = standing(items)
    facts = tuple(item.fact_id for item in items if is_waiting(item) and item.fact_id)
    waits = {m.pk for m in memories if m.held_at is not None} | ({new.pk} if new else set())
    in_doubt = {m.pk for m in doubted(items)}
    ways = dict.fromkeys((m.pk for m in memories), "keep")
    if verb == "approve" and new is not None:
        ways |= {m.pk: "replace" for m in memories if m.pk != new.pk}
        ways |= dict.fromkeys(in_doubt - {new.pk}, "leave")
    elif verb == "approve" and is_about_an_end(items, new):
        ways |= dict.fromkeys(in_doubt, "end")
    elif verb == "reject":
        ways |= dict.fromkeys(waits, "forget")
    elif verb == "decide":
        ways |= {m.pk: chosen.get(str(m.pk), "keep") for m in memories}
    if verb == "approve":
        ways |= dict.fromkeys((m.pk for m in memories if m.pk in named), "order")
    elif verb == "decide":
        asked = [m.pk for m in memories if m.pk in named and ways[m.pk] == "forget"]
        ways |= dict.fromkeys(asked, "order")
    kept = [m for m in memories if ways[m.pk] == "keep"]
    heir = max(kept, key=lambda m: m.pk, default=None)
    return CaseDecision(
        keep=tuple(m.pk for m in kept),
        replace=tuple(Replaced(m.pk, heir.pk) for m in memories if ways[m.pk] == "replace" and heir),
        forget=tuple(m.pk for m in memories if ways[m.pk] == "forget"),
        end=tuple(m.pk for m in memories if ways[m.pk] == "end"),
        edit=_reworded(new, content),
        accept=() if verb == "reject" else facts,
        dismiss=facts if verb == "reject" else (),
        intent=DO if verb in ("approve", "decide") else LEAVE,
    )


def _reworded(memory: Memory | None, content: str) -> Reworded | None:
    if memory is None or not content or content == memory.content:
        return None
    return Reworded(memory.pk, content)
