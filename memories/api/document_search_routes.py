"""Routes: search in documents."""

from dataclasses import dataclass
from typing import Annotated, Any, Self
from uuid import UUID

from msgspec import UNSET, Meta, UnsetType
from pydantic import Field
from rest_framework.request import Request
from rest_framework.response import Response

from memories.api.search_routes import NoteJson, Notes
from memories.api.shapes import DocumentJson, PartJson
from memories.documents.search_documents import (
    PATHS,
    DocumentHit,
    DocumentSearch,
    DocumentSearchOptions,
    PassageHit,
    search_documents,
)
from memories.index import workspace_index
from memories.models import AsOf
from memories.search import filters
from workspaces.api.json_answers import JsonAnswer, one_of
from workspaces.api.json_requests import read, values_of
from workspaces.api.schema import operation
from workspaces.api.views import NEEDS, WorkspaceView
from workspaces.models import Capability
from workspaces.request_fields import Flag, Free, Moment, declared

# Route: search in documents.


@declared
@dataclass(frozen=True, slots=True)
class DocumentSearchBody(DocumentSearchOptions):
    filter: Annotated[
        Free | None,
        Field(
            description="As in the search of memories; fields documentId, customId, type, title,"
            " url, source, author, language, publishedAt, userId, agentId, metadata.<key> ..."
        ),
    ] = None
    known_at: Annotated[Moment | None, Field(description="What documents said then.")] = None
    valid_at: Annotated[Moment | None, Field(description="Published by then.")] = None
    scores: Flag = False


class FoundChunkJson(JsonAnswer):
    """A passage of a chunk: `content` is the document's text from `start` to `end`."""

    id: Annotated[UUID, Meta(description="Of the chunk that it is a passage of.")]
    content: str
    start: int
    end: int
    chunk_start: int
    chunk_end: int
    heading: str | None
    score: float
    parts: list[PartJson]
    is_relevant: Annotated[bool, Meta(description="It answers at least half as well as the document's best.")]
    scores: dict[str, float] | UnsetType = UNSET

    @classmethod
    def of_hit(cls, hit: PassageHit, *, scores: bool) -> Self:
        row: Any = hit.row
        return cls(
            row.chunk_id,
            row.content,
            row.start,
            row.end,
            row.chunk_start,
            row.chunk_end,
            row.heading or None,
            hit.score,
            PartJson.of_stored(row.parts),
            hit.is_relevant,
            hit.scores if scores else UNSET,
        )


class DocumentHitJson(JsonAnswer):
    document: DocumentJson
    score: float
    chunks: list[FoundChunkJson]


class DocumentSearchAnswerJson(JsonAnswer):
    results: list[DocumentHitJson]
    count: int
    took_ms: float
    search_path: Annotated[
        str,
        one_of(PATHS),
        Meta(
            description="`keyword` where the embedder does not answer; `recent` where that was"
            " asked for and nothing was found."
        ),
    ]
    cached: bool
    notes: Notes = UNSET


class DocumentSearchView(WorkspaceView):
    beside = workspace_index.BESIDE_KEY
    needs = NEEDS | {"POST": Capability.READ}

    @operation("searchDocuments", request=DocumentSearchBody, answer=DocumentSearchAnswerJson)
    def post(self, request: Request, workspace: str) -> Response:
        """Return the documents that answer a question best, each with its best chunks."""
        body = read(DocumentSearchBody, request.data)
        wanted = DocumentSearch(
            **values_of(body, DocumentSearchOptions),
            filter=None if body.filter is None else filters.parse(body.filter, ("chunks",)),
            at=AsOf(body.valid_at, body.known_at),
        )
        answer = search_documents(self.scope, wanted)
        return Response(
            DocumentSearchAnswerJson(
                results=[hit_json(hit, wanted, scores=body.scores) for hit in answer.hits],
                count=len(answer.hits),
                took_ms=round(answer.took_ms, 3),
                search_path=answer.search_path,
                cached=False,
                notes=NoteJson.of_codes(answer.notes),
            )
        )


def hit_json(hit: DocumentHit, wanted: DocumentSearch, *, scores: bool) -> DocumentHitJson:
    document = DocumentJson.of(hit.document)
    if not wanted.include_summary:
        document.summary = ""
    if wanted.include_full_docs:
        document.include(hit.document, ["content"])
    chunks = [FoundChunkJson.of_hit(each, scores=scores) for each in hit.passages]
    return DocumentHitJson(document, hit.score, chunks)
