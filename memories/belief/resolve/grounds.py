"""Grounds, the memories that others rest on: found while these are written, and followed when a
ground ends or comes back."""

import uuid
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from django.utils import timezone

from memories.belief.resolve import file_cases
from memories.belief.resolve.claims import Claim, Draft
from memories.belief.resolve.decide import KnownMemory
from memories.index import prepared_sql, row_marks
from memories.index.nearest import Pair, Placement
from memories.language.english.reasons import NAMED_PLACE, GroundWords, ground_words, rests_on
from memories.language.english.statements import Reading
from memories.models import Case, CaseItem, Ground, Memory, WorkspaceIndex

MOST = 3  # memories that one rests on
TOUCHED = """
select id from memories_ground
where (on_id = any(%(ids)s::uuid[]) or memory_id = any(%(ids)s::uuid[])) and kept_at is null
"""
NEWEST = 50  # of the same batch, that a reason is looked for in


@dataclass(slots=True)
class BatchGrounds:
    """The reasons that the claims of a batch give, by their places in it. `keys` of attributes and
    `terms` of reasons lead to the memories that may be meant."""

    reasons: dict[int, tuple[GroundWords, ...]] = field(default_factory=dict)
    keys: dict[int, frozenset[int]] = field(default_factory=dict)
    near: dict[int, list[uuid.UUID]] = field(default_factory=dict)

    @classmethod
    def of(cls, placement: Placement, claims: Sequence[Claim], readings: Sequence[Reading]) -> "BatchGrounds":
        about = placement.subject_id or placement.workspace_id
        batch = cls()
        for index, (claim, reading) in enumerate(zip(claims, readings, strict=True)):
            if reasons := ground_words(claim.statement):
                names = {
                    f"{person}|{slot}|"
                    for reason in reasons
                    for slot in reason.slots
                    for person in {reading.person or "user", "user"}
                }
                batch.reasons[index] = reasons
                batch.keys[index] = frozenset(row_marks.keys_of(about, names))
        return batch

    @property
    def terms(self) -> dict[int, tuple[str, ...]]:
        """Return the words of each claim's reasons, by claim."""
        return {
            index: tuple(dict.fromkeys(word for reason in reasons for word in reason.words))
            for index, reasons in self.reasons.items()
        }

    def take(self, pairs: Iterable[Pair], first: int) -> None:
        """Take the memories that hold one of the words of a reason: the pairs numbered from `first`
        on."""
        for pair in pairs:
            if pair.index >= first:
                self.near.setdefault(pair.index - first, []).append(pair.memory_id)

    def rows(self, drafts: Collection[Draft], live: Mapping[uuid.UUID, KnownMemory]) -> list[dict[str, object]]:
        """Return the values of a `Ground` for each live memory that a new one rests on."""
        fresh = [draft.known for draft in drafts if draft.is_live][-NEWEST:]
        result: list[dict[str, object]] = []
        for draft in drafts:
            reasons = self.reasons.get(draft.index)
            if not reasons or draft.superseded_by is not None:
                continue
            keys = self.keys[draft.index]
            candidates = {m.id: m for m in fresh}
            candidates |= {i: live[i] for i in self.near.get(draft.index, ()) if i in live}
            candidates |= {m.id: m for m in live.values() if not keys.isdisjoint(m.slots)}
            own = 0
            # What one has in a place rests on being there, not on what else one has there.
            is_in_place = all(reason.cue == NAMED_PLACE for reason in reasons)
            for memory in candidates.values():
                if memory.id == draft.id or own == MOST:
                    continue
                if any(is_in_place or each.cue != NAMED_PLACE for each in ground_words(memory.content)):
                    continue
                # By which of its words the statement rests on the memory.
                is_of_slot = not keys.isdisjoint(memory.slots)
                cues = (
                    reason.cue
                    for reason in reasons
                    if (reason.slots and is_of_slot) or rests_on(reason, memory.content)
                )
                words = next(cues, "")
                if words:
                    own += 1
                    result.append({"memory_id": draft.id, "on_id": memory.id, "words": words})
        return result


def follow(space: WorkspaceIndex, changed: Collection[uuid.UUID]) -> None:
    """Ask about memories that rest on ones no longer live; stop asking about those whose grounds
    are live again, or that have ended themselves."""
    ids = [row.id for row in prepared_sql.rows(TOUCHED, {"ids": list(changed)})]
    if not ids:
        return
    ended, settled = [], set()
    rows = Ground.objects.filter(pk__in=ids).select_related("memory", "on")
    for row in rows.order_by("pk"):
        if row.memory.is_head and not row.on.is_live:
            ended.append(row)
        else:
            settled.add(row.memory_id)
    if ended:
        file_cases.file_uncertain(ended, row_marks.words_of(space))
    if settled:
        items = CaseItem.objects.filter(memory__in=settled, case__state__in=Case.UNDECIDED)
        file_cases.settle(list(items.values_list("case", flat=True)), "grounds")


def move(old: uuid.UUID, new: uuid.UUID, *, also_own: bool = False) -> None:
    """Let the memories that rest on `old` rest on `new`, which says the same; `also_own`: and let
    `new` rest on the grounds of `old`."""
    Ground.objects.filter(on=old).update(on=new)
    if also_own:
        Ground.objects.filter(memory=old).update(memory=new)


def move_back(new: Memory, to: Memory) -> None:
    """Move to `to` the grounds that `new` took over from the version before it, on either side."""
    Ground.objects.filter(on=new, made_at__lt=new.created_at).exclude(memory=to).update(on=to)
    Ground.objects.filter(memory=new, made_at__lt=new.created_at).exclude(on=to).update(memory=to)


def keep(memory_id: uuid.UUID) -> list[int]:
    """Keep a memory whose grounds have ended, as a person says; return the ids of the grounds."""
    ids = list(Ground.objects.ended().filter(memory=memory_id).values_list("pk", flat=True))
    Ground.objects.filter(pk__in=ids).update(kept_at=timezone.now())
    return ids


def doubt(ids: Sequence[int]) -> None:
    """Undo `keep` for these grounds."""
    Ground.objects.filter(pk__in=ids).update(kept_at=None)
