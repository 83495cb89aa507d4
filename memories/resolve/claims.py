"""What comes in to be resolved, what came of it, and the facts it leaves behind."""

import logging
import uuid
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial

from django.db import transaction
from django.utils import timezone

from memories.index import inserts
from memories.index.inserts import Rows
from memories.index.nearest import Placement
from memories.models import Fact, MemorySession, Visibility
from memories.resolve import cases
from workspaces.ids import uuid7
from workspaces.scope import mates_of

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Quote:
    """The words a claim stands on: `quote` is the episode's `content[start:end]`."""

    episode_id: uuid.UUID
    start: int
    end: int
    quote: str


@dataclass(frozen=True, slots=True)
class Claim:
    """One statement to be resolved, with what it stands on."""

    statement: str
    category: str
    fact_type: str
    visibility: str
    method: str
    rule: str
    source: str
    occurred_at: datetime
    confidence: float = 1.0
    entities: tuple[str, ...] = ()
    event_date: datetime | None = None
    quotes: tuple[Quote, ...] = ()
    metadata: Mapping[str, object] = field(default_factory=dict)

    @property
    def valid_from(self) -> datetime:
        """Of a past event, since then; of a plan, since it was made."""
        return min(self.event_date or self.occurred_at, self.occurred_at)


@dataclass(slots=True)
class ResolveOutcome:
    """What an apply did, by memory id, in the order of the claims; of those rejected, the text.

    `reviewed` are new memories that live while a person is asked what they are to older ones.
    """

    created: list[uuid.UUID] = field(default_factory=list)
    superseded: list[uuid.UUID] = field(default_factory=list)
    reinforced: list[uuid.UUID] = field(default_factory=list)
    held: list[uuid.UUID] = field(default_factory=list)
    reviewed: list[uuid.UUID] = field(default_factory=list)
    rejected: list[str] = field(default_factory=list)
    facts: int = 0


def placement_of(session: MemorySession, claims: Sequence[Claim]) -> Placement:
    """Where the claims of an ingest belong, and what they meet there."""
    team = session.agent.team if session.agent else ""
    shares = any(claim.visibility == Visibility.TEAM for claim in claims)
    return Placement(
        workspace_id=session.workspace_id,
        subject_id=session.subject_id,
        agent_id=session.agent_id,
        team=mates_of(session.workspace_id, team) if shares else (),
        in_default_team=not team,
        scope=session.scope,
        conversation_id=session.conversation_id,
        workflow=session.workflow,
    )


def new_facts(
    placement: Placement, facts: Sequence[Mapping[str, object]], session_id: uuid.UUID | None
) -> Rows:
    """Rows of `fact_values`, and what else a fact has."""
    return inserts.rows_with(
        Fact,
        facts,
        workspace_id=placement.workspace_id,
        session_id=session_id,
        subject_id=placement.subject_id,
        agent_id=placement.agent_id,
    )


def values_of(claim: Claim) -> dict[str, object]:
    """What a fact and its memory have of their claim."""
    return {
        "category": claim.category,
        "fact_type": claim.fact_type,
        "confidence": claim.confidence,
        "entities": list(claim.entities),
        "visibility": claim.visibility,
        "event_date": claim.event_date,
    }


def fact_values(claim: Claim) -> dict[str, object]:
    own = {"statement": claim.statement, "method": claim.method, "rule": claim.rule}
    return {**values_of(claim), **own}


def quarantine(
    placement: Placement, doubted: Sequence[tuple[Claim, str]], session_id: uuid.UUID
) -> None:
    """Keep claims that stand on nothing, each with the reason, for a person to review; they are
    not believed."""
    at = timezone.now()
    facts = [
        {**fact_values(claim), "id": uuid7(), "quarantined_at": at, "quarantine_reason": reason}
        for claim, reason in doubted
    ]
    inserts.insert(new_facts(placement, facts, session_id))
    cases.file_facts(Fact.objects.filter(pk__in=[fact["id"] for fact in facts]).order_by("pk"))
    for reason, number in Counter(reason for _, reason in doubted).items():
        transaction.on_commit(
            partial(
                log.info,
                "workspace %s: session %s has %s claims in quarantine (%s)",
                placement.workspace_id,
                session_id,
                number,
                reason,
            )  # fmt: skip
        )
