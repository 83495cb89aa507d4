"""Memories that a batch comes to believe: values, until they are written together."""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime

from memories.english import lexical
from memories.index import inserts
from memories.index.entries import Item, texts_of
from memories.index.inserts import Rows
from memories.index.nearest import Placement
from memories.models import SCOPE_CODE, VISIBILITY_CODE, Fact, Layer, Memory
from memories.resolve.claims import Claim, values_of
from memories.resolve.decide import KnownMemory
from workspaces.ids import uuid7

VERBATIM = (Fact.Method.MANUAL, Fact.Method.WHOLE)


@dataclass(slots=True)
class Draft:
    """A new memory; the claims after it in the batch may support it, or end it again.

    `index` is the place of its claim in the batch, `made_at` when that was written.
    """

    claim: Claim
    index: int
    slots: Sequence[int]
    fingerprint: bytes
    valid_from: datetime
    made_at: datetime
    id: uuid.UUID = field(default_factory=uuid7)
    version: int = 1
    source_count: int = 1
    valid_until: datetime | None = None
    superseded_by: uuid.UUID | None = None
    superseded_at: datetime | None = None
    held_at: datetime | None = None

    @classmethod
    def of(cls, claim: Claim, index: int, slots: Sequence[int], at: datetime) -> "Draft":
        mark = lexical.fingerprint(claim.statement)
        return cls(claim, index, slots, mark, claim.valid_from, at)

    @property
    def is_live(self) -> bool:
        return self.superseded_by is None and self.held_at is None

    @property
    def known(self) -> KnownMemory:
        return KnownMemory(
            id=self.id,
            content=self.claim.statement,
            fingerprint=self.fingerprint,
            group=self.claim.visibility,
            pinned=False,
            version=self.version,
            since=min(self.valid_from, self.made_at),
            event_date=self.claim.event_date,
            slots=frozenset(self.slots),
            category=self.claim.category,
            verbatim=self.claim.method in VERBATIM,
        )


def new_memories(placement: Placement, drafts: Sequence[Draft]) -> Rows:
    rows: list[dict[str, object]] = [
        {
            **values_of(draft.claim),
            "id": draft.id,
            "content": draft.claim.statement,
            "source": draft.claim.source,
            "metadata": dict(draft.claim.metadata),
            "fingerprint": draft.fingerprint,
            "slots": list(draft.slots),
            "version": draft.version,
            "source_count": draft.source_count,
            "valid_from": draft.valid_from,
            "valid_until": draft.valid_until,
            "superseded_by_id": draft.superseded_by,
            "superseded_at": draft.superseded_at,
            "held_at": draft.held_at,
        }
        for draft in drafts
    ]
    return inserts.rows_with(
        Memory,
        rows,
        workspace_id=placement.workspace_id,
        subject_id=placement.subject_id,
        agent_id=placement.agent_id,
        conversation_id=placement.conversation_id,
        workflow=placement.workflow,
        scope=placement.scope,
    )


def new_items(placement: Placement, drafts: Sequence[Draft]) -> list[Item]:
    """What the index has of them; as `entries.memory_item` of a memory that is written."""
    return [
        Item(
            id=draft.id,
            layer=Layer.MEMORIES,
            text=draft.claim.statement,
            counts=lexical.counts(lexical.stems(draft.claim.statement)),
            occurred_at=draft.valid_from,
            event_at=draft.claim.event_date,
            subject=placement.subject_id,
            agent=placement.agent_id,
            visibility=VISIBILITY_CODE[draft.claim.visibility],
            scope=SCOPE_CODE[placement.scope],
            place=placement.place,
            conversation=placement.conversation_id,
            live=draft.is_live,
            texts=texts_of(draft.claim.statement),
        )
        for draft in drafts
    ]
