"""Answers of tools, short enough for a model's window."""

from collections.abc import Iterable
from datetime import datetime
from typing import Annotated, Any, Self
from uuid import UUID

from msgspec import Meta, Struct

from memories.documents.search_documents import DocumentHit
from memories.models import Fact, Link, MemorySession
from memories.search import Hit


class ChunkResult(Struct):
    content: str
    score: float


class DocumentResult(Struct, rename="camel"):
    document_id: str
    title: str
    type: str
    summary: str | None
    score: float
    chunks: list[ChunkResult]
    url: str | None
    metadata: dict[str, Any]
    created_at: datetime
    updated_at: datetime
    content: str | None = None

    @classmethod
    def of_hit(cls, hit: DocumentHit, *, summary: bool, content: bool) -> Self:
        row = hit.document
        text = row.revision.text if content and row.revision else None
        return cls(
            str(row.pk),
            row.title,
            str(row.type),
            row.summary if summary else None,
            round(hit.score, 4),
            [ChunkResult(each.row.content, round(each.score, 4)) for each in hit.passages],
            row.url or None,
            row.metadata,
            row.created_at,
            row.updated_at,
            text,
        )


class DatabaseAnswer(Struct):
    count: int
    results: list[DocumentResult]


class QuoteResult(Struct):
    """The words that a memory is based on."""

    quote: str
    episode_id: UUID | None
    document_id: UUID | None = None
    part: Annotated[str | None, Meta(description="Its page or the like in a document.")] = None

    @classmethod
    def of_row(cls, row: Any) -> Self:
        """Make the quote from a citation of a hit."""
        part = row.part["label"] if row.part else None
        return cls(row.quote, row.episode_id, row.document_id, part)

    @classmethod
    def of_model(cls, row: Any) -> Self:
        """Make the quote from a `Citation` with its places."""
        document_id = row.revision.document_id if row.revision else None
        return cls(row.quote, row.episode_id, document_id, row.part["label"] if row.part else None)


class LaterResult(Struct):
    """Words that were said after a memory, and speak about what it says."""

    quote: str
    relation: Annotated[str, Meta(description="replaces, ends, exception, restates, adds or unsure.")]
    probability: float
    occurred_at: datetime
    episode_id: UUID


class MemoryResult(Struct):
    memory_id: Annotated[
        UUID | None,
        Meta(description="null: a message, which was said after the memories that follow and speaks against them."),
    ]
    content: str
    user_id: str | None
    score: Annotated[float, Meta(description="0 to 1, among these results.")]
    fact_type: str | None
    version: int | None
    uncertain: Annotated[bool, Meta(description="Something that it rests on has ended.")]
    standing: Annotated[
        str | None, Meta(description="current, past, or questioned: later words may end it, or its day is over.")
    ]
    believed_since: datetime | None
    quotes: list[QuoteResult]
    later_said: list[LaterResult]
    episode_id: Annotated[UUID | None, Meta(description="Of a message.")] = None
    occurred_at: Annotated[datetime | None, Meta(description="Of a message.")] = None

    @classmethod
    def of_hit(cls, hit: Hit) -> Self:
        row = hit.row
        if hit.episode:
            return cls(
                memory_id=None,
                content=row.content,
                user_id=row.user_external or None,
                score=round(hit.score, 4),
                fact_type=None,
                version=None,
                uncertain=False,
                standing=None,
                believed_since=None,
                quotes=[],
                later_said=[],
                episode_id=row.id,
                occurred_at=row.occurred_at,
            )
        quotes = [QuoteResult.of_row(each) for each in hit.citations or ()]
        return cls(
            row.id,
            row.content,
            row.user_external or None,
            round(hit.score, 4),
            row.fact_type or None,
            row.version,
            row.is_uncertain,
            row.standing,
            row.valid_from,
            quotes,
            [
                LaterResult(
                    each.quote,
                    each.relation,
                    round(each.probability, 3),
                    each.occurred_at,
                    each.episode_id,
                )
                for each in hit.later
            ],
        )


class MemoriesAnswer(Struct):
    count: int
    confidence: Annotated[float, Meta(description="0 to 1: the chance that the answer is here.")]
    results: list[MemoryResult]
    reason: Annotated[str | None, Meta(description="Where nothing has to do with it: what came nearest.")] = None


class ContextAnswer(Struct):
    text: Annotated[str, Meta(description="What is known, ready for a prompt. Empty: see the reason.")]
    tokens: int
    confidence: float
    truncated: bool
    reason: Annotated[str | None, Meta(description="Of an empty text: what came nearest, and how near.")] = None


class ProfileMemory(Struct):
    memory_id: UUID
    content: str
    group: str


class ProfileAnswer(Struct):
    user_id: str
    text: Annotated[str, Meta(description="The profile as Markdown, for a prompt.")]
    memories: list[ProfileMemory]


class LearnedMemory(Struct):
    memory_id: UUID
    content: str


class OrderResult(Struct):
    """An order to the memory itself: forget, correct, remember."""

    kind: str
    state: str
    quote: str


class AddedAnswer(Struct):
    session_id: UUID
    status: Annotated[str, Meta(description="done, or received: it is being worked on.")]
    learned: list[LearnedMemory]
    reinforced: Annotated[int, Meta(description="How many were known already.")]
    replaced: Annotated[int, Meta(description="How many older memories this put out of date.")]
    pending_review: Annotated[int, Meta(description="How many wait for a person's decision.")]
    reason: Annotated[str | None, Meta(description="Why nothing more was learned.")]
    orders: list[OrderResult]

    @classmethod
    def of_session(cls, session: MemorySession, learned: list[LearnedMemory]) -> Self:
        counts = session.counts
        return cls(
            session.pk,
            str(session.state),
            learned,
            len(session.reinforced_ids),
            len(session.updated_ids),
            counts.get("held", 0) + counts.get("reviewed", 0),
            session.reason or None,
            [OrderResult(o.kind, o.state, o.quote) for o in session.told_intents()],
        )


class VersionResult(Struct):
    memory_id: UUID
    version: int
    content: str
    state: str
    believed_since: datetime | None
    replaced_because: Annotated[str | None, Meta(description="The rule by which it took the place of the one before.")]
    decided_by: str | None
    decided_at: datetime | None
    quotes: list[QuoteResult]

    @classmethod
    def of_link(cls, link: Link, facts: Iterable[Fact]) -> Self:
        row, by = link.memory, link.supersession
        cited = [each for fact in facts for each in fact.citations.all()]
        quotes = [QuoteResult.of_model(each) for each in cited]
        return cls(
            row.pk,
            row.version,
            row.content,
            str(row.state),
            row.valid_from,
            by.rule if by else None,
            by.decided_by if by else None,
            by.decided_at if by else None,
            quotes,
        )


class ExplainedAnswer(Struct):
    current_id: Annotated[UUID | None, Meta(description="What is believed now; null: nothing.")]
    versions: Annotated[list[VersionResult], Meta(description="Oldest first.")]


class CorrectedAnswer(Struct):
    memory_id: Annotated[UUID, Meta(description="The new version; the old one stays in its chain.")]
    content: str
    version: int
    pending_review: Annotated[bool, Meta(description="It waits for a person's decision.")]


class ForgottenAnswer(Struct):
    memory_id: UUID
    forgotten: bool
    reason: str
