"""JSON shapes of rows that several routes show.

A row is an ORM object from `with_names()`, or one of search's own with the same columns.
"""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Annotated, Any, Self
from uuid import UUID

from msgspec import UNSET, Meta, UnsetType

from memories.models import (
    NOW,
    AsOf,
    Category,
    Chunk,
    Document,
    DocumentPart,
    Episode,
    Fact,
    FactType,
    Intent,
    Link,
    MemoryScope,
    MemorySession,
    Source,
    Standing,
    Supersession,
    Touch,
    Visibility,
)
from workspaces.api.json_answers import AgentId, JsonAnswer, ThreadId, UserId, column
from workspaces.models import Audience
from workspaces.request_fields import Free
from workspaces.time_zones import by_clock

# How documents, their parts and chunks look in JSON.

STATUSES = ("pending", "processing", "chunking", "embedding", "completed", "failed")


class PartJson(JsonAnswer):
    """The place of a stretch of text in the file; ordinals count from 1."""

    kind: DocumentPart.Kind
    ordinal: int
    label: str
    start: int
    end: int
    seconds: float | None = None
    seconds_end: float | None = None
    confidence: float | None = None

    @classmethod
    def of_stored(cls, parts: Iterable[dict[str, Any]]) -> list[Self]:
        """Return the parts that search reads beside a passage."""
        return [cls(**part) for part in parts]


class ChunkJson(JsonAnswer):
    """`content` is the document's text from `start` to `end`."""

    id: UUID
    ordinal: int
    content: str
    start: int
    end: int
    heading: str | None
    tokens: int


class RevisionJson(JsonAnswer):
    id: UUID
    number: int
    media_type: str
    extractor: str
    title: str | None
    author: str | None
    language: str | None
    pages: int
    characters: int
    published_at: datetime | None
    created_at: datetime
    superseded_at: datetime | None


class DocumentJson(JsonAnswer):
    id: UUID
    custom_id: str | None
    type: Document.Type
    title: str
    summary: str
    url: str | None
    filename: str | None
    source: str | None
    metadata: Free
    container_tags: list[str]
    user_id: UserId
    agent_id: AgentId
    visibility: Visibility
    episode_id: Annotated[UUID | None, Meta(description="The message that it is the text of, of one of an ingest.")]
    status: Annotated[str, Meta(description=", ".join(STATUSES))]
    step: Annotated[Document.State, column("state"), Meta(description="Finer than `status`.")]
    error_code: str | None
    reason: str | None
    warnings: Annotated[list[Free], Meta(description="{code, part}: what was left out of a file that was read.")]
    attempts: int
    next_attempt_at: datetime | None
    revision: Annotated[int | None, Meta(description="The number of the newest that was read.")]
    session_id: Annotated[UUID | None, Meta(description="The session that reads memories out of that.")]
    pages: int | None
    extract: Document.Extract
    is_apart: Annotated[bool, Meta(description="Found only where a search names it or its space; see there.")]
    published_at: datetime | None
    created_at: datetime
    updated_at: datetime
    content: str | UnsetType = UNSET
    parts: list[PartJson] | UnsetType = UNSET
    chunks: list[ChunkJson] | UnsetType = UNSET
    steps: list[Free] | UnsetType = UNSET

    @classmethod
    def of(cls, row: Any, **given: Any) -> Self:
        revision = row.revision
        if revision is not None and revision.superseded_at:  # as it was then
            given = {"title": revision.title or row.title, "summary": "", **given}
        return super().of(
            row,
            revision=revision.number if revision else None,
            pages=revision.pages if revision else None,
            session_id=revision.session_id if revision else None,
            **given,
        )

    def include(self, row: Document, wanted: Iterable[str]) -> Self:
        """Add content, parts, chunks and steps, as far as these are wanted."""
        if "steps" in wanted:
            self.steps = row.steps
        revision = row.revision
        if "content" in wanted:
            self.content = revision.text if revision else ""
        if "parts" in wanted:
            self.parts = [PartJson.of(part) for part in revision.parts.all()] if revision else []
        if "chunks" in wanted:
            rows = Chunk.cut.filter(revision=revision) if revision else ()
            self.chunks = [ChunkJson.of(chunk) for chunk in rows]
        return self


class LaterSaidJson(JsonAnswer):
    """A message that was said after a memory, and speaks about what it says: `relation` is what it
    says of it, `by` who found so."""

    external_id: str | None
    episode_id: UUID
    occurred_at: datetime
    quote: str
    relation: Touch.Relation
    probability: float
    by: Touch.By


class MemoryJson(JsonAnswer):
    id: UUID
    content: str
    scope: MemoryScope
    fact_type: FactType | None
    category: Category
    source: Source
    confidence: float
    visibility: Visibility
    user_id: UserId
    agent_id: AgentId
    thread_id: ThreadId
    workflow_id: Annotated[str | None, column("workflow")]
    event_date: datetime | None
    valid_from: datetime | None
    valid_until: datetime | None
    superseded_by_id: UUID | None
    version: int
    is_latest: bool
    is_inference: bool
    source_count: Annotated[int, Meta(description="How many facts stand under it.")]
    pinned: Annotated[bool, Meta(description="No machine supersedes it.")]
    held_at: Annotated[datetime | None, Meta(description="Since when it waits for a person's decision.")]
    uncertain: Annotated[bool, Meta(description="Something that it rests on has ended; nobody has decided yet.")]
    standing: Annotated[
        Standing,
        Meta(
            description="current; questioned: later words may end it, its day is over, or something that it"
            " rests on has ended; past: superseded, forgotten, expired or held for review."
        ),
    ]
    forgotten_at: datetime | None
    forget_after: datetime | None
    forget_reason: str | None
    entities: list[str]
    metadata: Free
    created_at: datetime
    updated_at: datetime
    later_said: Annotated[
        list[LaterSaidJson] | UnsetType,
        Meta(
            description="Messages said after it that speak about what it says, the newest first, as far as the"
            " asker may see them; absent where there are none."
        ),
    ] = UNSET

    @classmethod
    def of(cls, row: Any, at: AsOf = NOW, *, later: Sequence[Any] | None = None, **given: Any) -> Self:
        """Return a memory as it is, or without what was learned of it later than `at`; then the row
        must come from `as_known` of that time. `later`: rows of what was said of it later, where
        the row does not have them."""
        known_at = at.known_at
        memory = super().of(
            row,
            is_latest=_is_latest(row),
            uncertain=not at.columns and row.is_uncertain,
            standing=row.known_standing if at.columns else row.standing,
        )
        if said := getattr(row, "later_said", ()) if later is None else later:
            memory.later_said = [LaterSaidJson.of(each) for each in said]
        if not at.columns:
            return memory
        if (known_at and row.superseded_at and row.superseded_at > known_at) or (
            at.said_before and not row.known_superseded
        ):
            memory.superseded_by_id = None
        if known_at and row.forgotten_at and row.forgotten_at > known_at:
            memory.forgotten_at = memory.forget_reason = None
        if known_at and row.held_at and row.held_at > known_at:
            memory.held_at = None
        memory.valid_until = row.known_valid_until
        memory.source_count = row.known_source_count
        memory.updated_at = row.known_updated_at
        memory.is_latest = _is_latest(memory)
        return memory


def _is_latest(memory: Any) -> bool:
    return memory.superseded_by_id is None and memory.held_at is None


class EpisodeJson(JsonAnswer):
    id: UUID
    external_id: str | None
    kind: Episode.Kind
    role: str
    name: Annotated[str | None, column("author")]
    content: str
    occurred_at: datetime
    thread_id: ThreadId
    user_id: UserId
    agent_id: AgentId
    session_id: UUID | None
    position: int
    payload: Free
    metadata: Free
    created_at: datetime

    @classmethod
    def of(cls, row: Any, **given: Any) -> Self:
        """Return a message with the time of its speaker's clock."""
        return super().of(row, occurred_at=by_clock(row.occurred_at, row.utc_offset), **given)


class CitationJson(JsonAnswer):
    """The words a fact stands on: `quote` is the episode's content from start to end, or the
    document's."""

    fact_id: UUID | None
    episode_id: Annotated[UUID | None, Meta(description="null: a document says it.")]
    external_id: str | None
    chunk_id: Annotated[UUID | None, Meta(description="Of a document, as it is cut now.")]
    start: int
    end: int
    quote: str
    document_id: Annotated[UUID | UnsetType, Meta(description="Of a document alone, as `part` is.")] = UNSET
    part: Annotated[PartJson | None | UnsetType, Meta(description="Its page or the like, where it has any.")] = UNSET

    @classmethod
    def of(cls, row: Any, **given: Any) -> Self:
        """Return the citation of a row of search."""
        document_id = getattr(row, "document_id", None)
        if document_id is None:
            return super().of(row, chunk_id=None, **given)
        part = PartJson(**row.part) if row.part else None
        return super().of(row, document_id=document_id, part=part, **given)

    @classmethod
    def of_model(cls, row: Any, **given: Any) -> Self:
        """Return the citation of a `FeatureCitation` with its episode, or of a `Citation` with its
        places."""
        if row.episode is not None:
            return super().of(row, external_id=row.episode.external_id, chunk_id=None, **given)
        return super().of(
            row,
            external_id=None,
            chunk_id=row.chunk,
            document_id=row.revision.document_id,
            part=PartJson(**row.part) if row.part else None,
            **given,
        )


class FactJson(JsonAnswer):
    id: UUID
    statement: str
    category: Category
    fact_type: FactType | None
    confidence: float
    method: Fact.Method
    rule: str
    entities: list[str]
    visibility: Visibility
    event_date: datetime | None
    memory_id: UUID | None
    session_id: UUID | None
    user_id: UserId
    agent_id: AgentId
    quarantined_at: datetime | None
    quarantine_reason: str | None
    citations: list[CitationJson]
    created_at: datetime

    @classmethod
    def of(cls, row: Any, **given: Any) -> Self:
        return super().of(row, citations=[CitationJson.of_model(c) for c in row.citations.all()])


class ConversationJson(JsonAnswer):
    id: UUID
    thread_id: Annotated[str, column("external_id")]
    user_id: UserId
    agent_id: AgentId
    workflow_id: Annotated[str | None, column("workflow")]
    title: str
    audience: Annotated[Audience | None, Meta(description="Whom it speaks for, where that was said.")]
    metadata: Free
    created_at: datetime
    updated_at: datetime


class IntentJson(JsonAnswer):
    """A person's order to the memory, and what was done about it."""

    id: UUID
    kind: Intent.Kind
    message_index: int
    external_id: str | None
    quote: Annotated[str, Meta(description="Its words; what was masked since is masked here.")]
    state: Intent.State
    memory_ids: Annotated[
        list[UUID],
        Meta(description="What was forgotten, changed or kept; of a case, what it may be about."),
    ]
    case_id: UUID | None
    reason: Annotated[str | None, Meta(description="Why a person has to decide.")]
    created_at: datetime


class OutcomeJson(JsonAnswer):
    """The outcome of a session, in the words of an ingest's answer."""

    session_id: Annotated[UUID, column("id")]
    status: Annotated[MemorySession.State, column("state")]
    memories_created: int
    memories_updated: Annotated[int, Meta(description="How many were superseded.")]
    memories_reinforced: int
    facts_extracted: int
    pending_review: int
    reason: Annotated[str | None, Meta(description="Why there are no more facts.")]
    error: str | None
    intents: Annotated[list[IntentJson], Meta(description="What was said to the memory in it.")]

    @classmethod
    def of(cls, row: Any, **given: Any) -> Self:
        return super().of(
            row,
            memories_created=len(row.created_ids),
            memories_updated=len(row.updated_ids),
            memories_reinforced=len(row.reinforced_ids),
            facts_extracted=row.counts.get("facts", 0),
            pending_review=row.counts.get("held", 0) + row.counts.get("reviewed", 0),
            intents=[IntentJson.of(each) for each in row.told_intents()],
            **given,
        )


class SessionJson(OutcomeJson):
    id: UUID
    mode: MemorySession.Mode
    pathway: MemorySession.Pathway
    extract: MemorySession.Extract
    scope: MemoryScope
    visibility: Visibility | None
    user_id: UserId
    agent_id: AgentId
    thread_id: ThreadId
    workflow_id: Annotated[str | None, column("workflow")]
    attempts: Annotated[int, column("tried")]
    next_attempt_at: datetime | None
    episode_ids: list[UUID]
    created_ids: list[UUID]
    updated_ids: list[UUID]
    reinforced_ids: list[UUID]
    counts: Free
    timings: Free
    steps: Annotated[
        list[Free],
        Meta(description="What was tried, in order: rule, model, tokens, outcome."),
    ]
    metadata: Free
    created_at: datetime
    finished_at: datetime | None


class DecisionJson(JsonAnswer):
    """A supersession without its memories, as it stands in a chain."""

    id: UUID
    state: Supersession.State
    rule: str
    method: str | None
    similarity: float | None
    model: Annotated[str | None, Meta(description="The embedding model of whose vectors it is the cosine.")]
    decided_by: str
    decided_at: datetime
    note: str | None


class SupersessionJson(DecisionJson):
    """A recorded decision that one memory replaces another."""

    old: MemoryJson
    new: MemoryJson

    @classmethod
    def of(cls, row: Any, **given: Any) -> Self:
        return super().of(row, old=MemoryJson.of(row.old), new=MemoryJson.of(row.new))


class LinkJson(JsonAnswer):
    memory: MemoryJson
    supersession: DecisionJson | None

    @classmethod
    def of_link(cls, link: Link, known_at: datetime | None = None) -> Self:
        by = link.supersession
        return cls(MemoryJson.of(link.memory, AsOf(known_at=known_at)), DecisionJson.of(by) if by else None)
