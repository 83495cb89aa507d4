"""Claims to be resolved, the outcome, and the facts and memories that they make: plain values,
until they are written together."""

import logging
import re
import uuid
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial

from django.db import transaction
from django.utils import timezone

from memories.belief.resolve import file_cases
from memories.belief.resolve.decide import KnownMemory
from memories.index import prepared_sql
from memories.index.entries import Item, texts_of
from memories.index.nearest import Placement
from memories.index.prepared_sql import Rows
from memories.language.english import lexical
from memories.language.english.referents import UNKNOWN
from memories.language.english.statements import PastPeriod
from memories.models import (
    SCOPE_CODE,
    VISIBILITY_CODE,
    Category,
    Citation,
    Fact,
    Layer,
    Memory,
    MemorySession,
    Visibility,
)
from memories.models.memory import is_wish
from workspaces.models import ApiKey
from workspaces.models.workspace import uuid7
from workspaces.scope import mates_of

log = logging.getLogger(__name__)

VERBATIM = (Fact.Method.MANUAL, Fact.Method.WHOLE)


_teams = re.compile(r"(?:The )?team(?:'s)?\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Quote:
    """The words a claim stands on: `quote` is `[start:end]` of the text with this id, an episode's,
    or where `is_of_document` a revision's."""

    text_id: uuid.UUID
    start: int
    end: int
    quote: str
    is_of_document: bool = False

    @property
    def values(self) -> dict[str, object]:
        """The fields that a citation takes from the quote."""
        return {
            "episode_id": None if self.is_of_document else self.text_id,
            "revision_id": self.text_id if self.is_of_document else None,
            "start": self.start,
            "end": self.end,
            "quote": self.quote,
        }


@dataclass(frozen=True, slots=True)
class Claim:
    """A statement to be resolved, with the words it stands on. `speaker`: who said these words, ""
    where nobody did. `about`: the subject whom a document names in it. `accepted`: a person has
    reviewed it and accepts it."""

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
    speaker: str = ""
    metadata: Mapping[str, object] = field(default_factory=dict)
    since: datetime | None = None
    until: datetime | None = None
    forget_after: datetime | None = None
    pinned: bool = False
    about: uuid.UUID | None = None
    accepted: bool = False

    @property
    def is_let_through(self) -> bool:
        """Tell whether a person wrote or accepted it; then earlier rejections do not count."""
        return self.accepted or self.method == Fact.Method.MANUAL

    @property
    def is_of_team(self) -> bool:
        """Tell whether it is a team's statement or a rule for everybody, and so about no person."""
        if self.visibility == Visibility.PRIVATE:
            return False
        if self.category == Category.POLICY and self.method == Fact.Method.PATTERN:
            return self.statement.split()[0].removesuffix("'s") not in (self.speaker, UNKNOWN)
        return _teams.match(self.statement) is not None

    @property
    def is_of_document(self) -> bool:
        """Tell whether only documents say it: then it replaces nothing that a person said."""
        return bool(self.quotes) and all(quote.is_of_document for quote in self.quotes)

    @property
    def valid_from(self) -> datetime:
        """The time since which it is said to hold: a past event since then, a plan since it was
        made."""
        return self.since or min(self.event_date or self.occurred_at, self.occurred_at)


@dataclass(slots=True)
class ResolveOutcome:
    """The outcome of `apply`: memory ids in the order of the claims; for claims that were rejected,
    or are in quarantine until a person decides, their text.

    `reviewed` are new memories that live while a person is asked what they are to older ones.
    """

    created: list[uuid.UUID] = field(default_factory=list)
    superseded: list[uuid.UUID] = field(default_factory=list)
    reinforced: list[uuid.UUID] = field(default_factory=list)
    held: list[uuid.UUID] = field(default_factory=list)
    reviewed: list[uuid.UUID] = field(default_factory=list)
    rejected: list[str] = field(default_factory=list)
    quarantined: list[str] = field(default_factory=list)
    facts: int = 0

    def add(self, other: "ResolveOutcome") -> None:
        self.created += other.created
        self.superseded += other.superseded
        self.reinforced += other.reinforced
        self.held += other.held
        self.reviewed += other.reviewed
        self.rejected += other.rejected
        self.quarantined += other.quarantined
        self.facts += other.facts


def placement_of(session: MemorySession, claims: Sequence[Claim]) -> Placement:
    """Return where the claims of an ingest belong, and which memories they may meet there."""
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
        spaces=spaces_of(session) if claims else None,
    )


def places_of(
    session: MemorySession, placement: Placement, claims: Sequence[Claim]
) -> Iterator[tuple[Placement, list[int]]]:
    """Yield the claims by number with their placement. The team's claims have no person as subject,
    unless the key is limited to subjects. What a document says of a person goes to that person, and
    meets all memories there."""
    if any(claim.is_of_document for claim in claims) and not is_limited(session):
        yield from _places_of_document(placement, claims)
        return
    of_team = [number for number, claim in enumerate(claims) if claim.is_of_team]
    if not of_team or placement.subject_id is None or is_limited(session):
        yield placement, list(range(len(claims)))
        return
    yield placement, [number for number in range(len(claims)) if number not in of_team]
    yield replace(placement, subject_id=None), of_team


def _places_of_document(placement: Placement, claims: Sequence[Claim]) -> Iterator[tuple[Placement, list[int]]]:
    by_subject: dict[uuid.UUID | None, list[int]] = {}
    for number, claim in enumerate(claims):
        own = None if claim.is_of_team else placement.subject_id
        by_subject.setdefault(claim.about or own, []).append(number)
    # An agent meets what it may see: what waits would tell it of what it may not.
    meets_all = placement.agent_id is None
    for subject, numbers in by_subject.items():
        about = replace(placement, subject_id=subject, meets_all=meets_all and subject is not None)
        yield about, numbers


def is_limited(session: MemorySession) -> bool:
    """Tell whether the session's key may write only about the subjects it is limited to."""
    kind, _, key_id = session.requested_by.partition(":")
    rows = ApiKey.objects.filter(workspace_id=session.workspace_id, limited_to_subjects=True)
    return kind == "key" and rows.filter(pk=key_id).exists()


def spaces_of(session: MemorySession) -> tuple[str, ...] | None:
    """Return the tags of the spaces that the session's key is limited to; None if unlimited."""
    kind, _, key_id = session.requested_by.partition(":")
    rows = ApiKey.objects.filter(workspace_id=session.workspace_id, container_tags__isnull=False)
    for (tags,) in rows.filter(pk=key_id).values_list("container_tags") if kind == "key" else ():
        return tuple(tags or ())
    return None


def new_facts(placement: Placement, facts: Sequence[Mapping[str, object]], session_id: uuid.UUID | None) -> Rows:
    """Return rows of facts from `fact_values` and the other fields of a fact."""
    return prepared_sql.rows_with(
        Fact,
        facts,
        workspace_id=placement.workspace_id,
        session_id=session_id,
        subject_id=placement.subject_id,
        agent_id=placement.agent_id,
    )


def values_of(claim: Claim) -> dict[str, object]:
    """Return the fields that a fact and its memory take from their claim."""
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


def quarantine(placement: Placement, doubted: Sequence[tuple[Claim, str]], session_id: uuid.UUID) -> None:
    """Keep claims that are not believed, each with the reason, for a person to review. Claims of
    patterns keep their citations; of a model's claim a person says which words it stands on."""
    if not doubted:
        return
    at = timezone.now()
    ids = [uuid7() for _ in doubted]
    facts = [
        {**fact_values(claim), "id": pk, "quarantined_at": at, "quarantine_reason": reason}
        for pk, (claim, reason) in zip(ids, doubted, strict=True)
    ]
    prepared_sql.insert(new_facts(placement, facts, session_id))
    Citation.objects.bulk_create(
        Citation(workspace_id=placement.workspace_id, fact_id=pk, **quote.values)
        for pk, (claim, _) in zip(ids, doubted, strict=True)
        if claim.method != Fact.Method.LLM
        for quote in dict.fromkeys(claim.quotes)
    )
    file_cases.file_facts(Fact.objects.filter(pk__in=ids).order_by("pk"))
    for reason, number in Counter(reason for _, reason in doubted).items():
        transaction.on_commit(
            partial(
                log.info,
                "workspace %s: session %s has %s claims in quarantine (%s)",
                placement.workspace_id,
                session_id,
                number,
                reason,
            )
        )


@dataclass(slots=True)
class Draft:
    """A new memory; the claims after it in the batch may support it, or end it again.

    `index` is the place of its claim in the batch, `made_at` when that was written. `is_dated`: it
    is known since when it was true; what somebody "used to do" is not.
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
    is_dated: bool = True

    @classmethod
    def of(
        cls,
        claim: Claim,
        index: int,
        slots: Sequence[int],
        at: datetime,
        past: PastPeriod | None = None,
    ) -> "Draft":
        """Make the draft of a claim. `past`: the period of what it tells of the past."""
        mark = lexical.fingerprint(claim.statement)
        if past is None:
            return cls(claim, index, slots, mark, claim.valid_from, at, valid_until=claim.until)
        begin = claim.since or past.begin
        is_dated = begin is not None and begin < past.end
        return cls(
            claim,
            index,
            slots,
            mark,
            begin or claim.valid_from,
            at,
            valid_until=past.end,
            is_dated=is_dated,
        )

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
            pinned=self.claim.pinned,
            version=self.version,
            since=min(self.valid_from, self.claim.occurred_at, self.made_at) if self.is_dated else None,
            until=self.valid_until,
            event_date=self.claim.event_date,
            slots=frozenset(self.slots),
            category=self.claim.category,
            verbatim=self.claim.method in VERBATIM,
        )


def new_memories(placement: Placement, drafts: Sequence[Draft], resting: Collection[object] = ()) -> Rows:
    """Return the rows of new memories. `resting`: the ids of those that rest on other memories, and
    are inferences so far."""
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
            "valid_from": draft.valid_from if draft.is_dated else None,
            "valid_until": draft.valid_until,
            "forget_after": draft.claim.forget_after,
            "pinned": draft.claim.pinned,
            "superseded_by_id": draft.superseded_by,
            "superseded_at": draft.superseded_at,
            "held_at": draft.held_at,
            "is_inference": draft.id in resting,
        }
        for draft in drafts
    ]
    return prepared_sql.rows_with(
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
    """Return the index items of new memories, as `entries.memory_item` returns that of a written
    one."""
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
            is_wish=is_wish(draft.claim.fact_type, draft.claim.category),
            texts=texts_of(draft.claim.statement),
        )
        for draft in drafts
    ]
