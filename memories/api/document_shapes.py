"""How documents, their parts and chunks look in JSON."""

from collections.abc import Iterable
from datetime import datetime
from typing import Annotated, Any, Self
from uuid import UUID

from msgspec import UNSET, Meta, UnsetType

from memories.models import Chunk, Document, DocumentPart, Visibility
from workspaces.api.json_answers import AgentId, JsonAnswer, UserId, column
from workspaces.request_fields import Free

STATUSES = ("pending", "processing", "chunking", "embedding", "completed", "failed")


class PartJson(JsonAnswer):
    """Where a stretch of the text stands in the file; ordinals count from 1."""

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
        """Of what search reads beside a passage."""
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
    episode_id: Annotated[
        UUID | None, Meta(description="The message that it is the text of, of one of an ingest.")
    ]
    status: Annotated[str, Meta(description=", ".join(STATUSES))]
    step: Annotated[Document.State, column("state"), Meta(description="Finer than `status`.")]
    error_code: str | None
    reason: str | None
    warnings: Annotated[
        list[Free], Meta(description="{code, part}: what was left out of a file that was read.")
    ]
    attempts: int
    next_attempt_at: datetime | None
    revision: Annotated[int | None, Meta(description="The number of the newest that was read.")]
    session_id: Annotated[
        UUID | None, Meta(description="The session that reads memories out of that.")
    ]
    pages: int | None
    extract: Document.Extract
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
        """With content, parts, chunks and steps, as far as these are wanted."""
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
