"""The arguments and answers of tools, short enough for a model's window."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any, Literal, Self
from uuid import UUID

from msgspec import Meta, Struct
from pydantic import ConfigDict, Field, with_config

from memories.bounds import WHOLE
from memories.documents.search_documents import DocumentHit, Tag
from memories.models import Fact, Link, MemorySession
from memories.search import Hit, context
from workspaces.request_fields import Flag, Moment, NullIs, OwnId, Text, Whole


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
            str(row.pk), row.title, str(row.type), row.summary if summary else None,
            round(hit.score, 4),
            [ChunkResult(each.row.content, round(each.score, 4)) for each in hit.passages],
            row.url or None, row.metadata, row.created_at, row.updated_at, text,
        )  # fmt: skip


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


class MemoryResult(Struct):
    memory_id: UUID
    content: str
    user_id: str | None
    score: Annotated[float, Meta(description="0 to 1, among these results.")]
    fact_type: str | None
    version: int
    uncertain: Annotated[bool, Meta(description="Something that it rests on has ended.")]
    believed_since: datetime | None
    quotes: list[QuoteResult]

    @classmethod
    def of_hit(cls, hit: Hit) -> Self:
        row = hit.memory
        quotes = [QuoteResult.of_row(each) for each in hit.citations or ()]
        return cls(
            row.id, row.content, row.user_external or None, round(hit.score, 4),
            row.fact_type or None, row.version, row.is_uncertain, row.valid_from, quotes,
        )  # fmt: skip


class MemoriesAnswer(Struct):
    count: int
    confidence: Annotated[float, Meta(description="0 to 1: the chance that the answer is here.")]
    results: list[MemoryResult]
    reason: Annotated[
        str | None, Meta(description="Where nothing has to do with it: what came nearest.")
    ] = None


class ContextAnswer(Struct):
    text: Annotated[
        str, Meta(description="What is known, ready for a prompt. Empty: see the reason.")
    ]
    tokens: int
    confidence: float
    truncated: bool
    reason: Annotated[
        str | None, Meta(description="Of an empty text: what came nearest, and how near.")
    ] = None


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
    replaced_because: Annotated[
        str | None, Meta(description="The rule by which it took the place of the one before.")
    ]
    decided_by: str | None
    decided_at: datetime | None
    quotes: list[QuoteResult]

    @classmethod
    def of_link(cls, link: Link, facts: Iterable[Fact]) -> Self:
        row, by = link.memory, link.supersession
        cited = [each for fact in facts for each in fact.citations.all()]
        quotes = [QuoteResult.of_model(each) for each in cited]
        return cls(
            row.pk, row.version, row.content, str(row.state), row.valid_from,
            by.rule if by else None, by.decided_by if by else None, by.decided_at if by else None,
            quotes,
        )  # fmt: skip


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


# Arguments of the tools. Names are written with underscores, as in other memory servers;
# those of `searchDatabase` are the knowledge base's own.

arguments = with_config(ConfigDict(extra="forbid"))

Query = Annotated[Text, Field(max_length=10_000, description="The question, in plain words.")]
UserId = Annotated[
    OwnId,
    NullIs(""),
    Field(description="Whom it is about. Leave it out where the connection is of one user."),
]
MemoryId = Annotated[UUID, Field(description="A memory_id of another answer.")]
Limit = Annotated[Whole, Field(ge=1, le=50, description="At most so many results.")]


@arguments
@dataclass(frozen=True, slots=True)
class SearchDatabaseArguments:
    query: Annotated[Text, Field(max_length=10_000, description="The search query.")]
    limit: Annotated[Whole, Field(ge=1, le=50, description="At most so many documents.")] = 20
    includeSummary: Annotated[Flag, Field(description="With each document's summary.")] = True  # noqa: N815
    includeFullDocs: Annotated[Flag, Field(description="With each document's text.")] = False  # noqa: N815
    containerTags: Annotated[  # noqa: N815
        tuple[Tag, ...] | None, Field(description="Only documents with one of these tags.")
    ] = None
    scopedDocumentIds: Annotated[  # noqa: N815
        tuple[OwnId, ...] | None,
        Field(max_length=1000, description="Only these documents, by their ids or your own."),
    ] = None


@arguments
@dataclass(frozen=True, slots=True)
class SearchMemoriesArguments:
    query: Query
    user_id: UserId = ""
    limit: Limit = 10
    valid_at: Annotated[Moment | None, Field(description="What was true then.")] = None
    known_at: Annotated[Moment | None, Field(description="What was believed then.")] = None


@arguments
@dataclass(frozen=True, slots=True)
class GetContextArguments:
    query: Query
    user_id: UserId = ""
    tokens: Annotated[
        Whole,
        Field(ge=context.LEAST, le=context.MOST, description="How long the text may be."),
    ] = context.USUAL


@arguments
@dataclass(frozen=True, slots=True)
class GetProfileArguments:
    user_id: UserId = ""


@arguments
@dataclass(frozen=True, slots=True)
class MessageArguments:
    role: Literal["user", "assistant", "system"]
    content: Text
    name: Annotated[Text, Field(max_length=255), NullIs("")] = ""
    id: Annotated[
        OwnId, NullIs(""), Field(description="Your own: the same id is the same message.")
    ] = ""
    occurred_at: Annotated[Moment | None, Field(description="When it was said.")] = None
    created_at: Annotated[Moment | None, Field(description="The same as occurred_at.")] = None


@arguments
@dataclass(frozen=True, slots=True)
class AddMemoryArguments:
    text: Annotated[Text | None, Field(description="What should be remembered.")] = None
    messages: Annotated[
        tuple[MessageArguments, ...] | None,
        Field(min_length=1, max_length=1000, description="Or a conversation, oldest first."),
    ] = None
    user_id: UserId = ""
    thread_id: Annotated[OwnId, NullIs(""), Field(description="The conversation's own id.")] = ""


@arguments
@dataclass(frozen=True, slots=True)
class ExplainMemoryArguments:
    memory_id: MemoryId


@arguments
@dataclass(frozen=True, slots=True)
class CorrectMemoryArguments:
    memory_id: MemoryId
    content: Annotated[
        Text, Field(max_length=WHOLE, description="The right statement, whole and by itself.")
    ]


@arguments
@dataclass(frozen=True, slots=True)
class ForgetMemoryArguments:
    memory_id: MemoryId
    reason: Annotated[
        Literal["wrong", "outdated", "private"],
        Field(
            description="wrong: it is not learned again; private: said again, it waits for a"
            " person; outdated: it was true."
        ),
    ] = "outdated"
    messages: Annotated[
        Literal["mask", "keep"] | None,
        Field(
            description="mask: its words leave the messages that it stands on, too; keep: they"
            " stay there. Without it, mask for wrong and private, keep for outdated."
        ),
    ] = None
