"""Routes: what a document is made of: its chunks, parts, revisions and file."""

import uuid
from dataclasses import dataclass
from typing import Annotated

from django.db.models.functions import Length
from django.http import FileResponse
from drf_spectacular.types import OpenApiTypes
from pydantic import Field
from rest_framework.request import Request
from rest_framework.response import Response

from memories.api.document_routes import ThenQuery
from memories.api.document_shapes import (
    ChunkJson,
    PartJson,
    RevisionJson,
)
from memories.documents import blobs, document_store, hidden_words
from memories.errors import Forbidden, NotFound
from memories.models import Chunk, DocumentPart, Revision
from workspaces.api.json_answers import JsonAnswer
from workspaces.api.json_requests import read_query
from workspaces.api.schema import operation
from workspaces.api.views import WorkspaceView
from workspaces.models import Capability
from workspaces.request_fields import (
    declared,
)

# A file of somebody's is shown by no browser as a page of ours.
FILE_HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Content-Security-Policy": "sandbox; default-src 'none'",
    "Cache-Control": "private, no-store",
}


@declared
@dataclass(frozen=True, slots=True)
class PieceQuery(ThenQuery):
    limit: Annotated[int, Field(ge=1, le=1000)] = 100
    offset: Annotated[int, Field(ge=0, le=10_000_000)] = 0


class ChunkListJson(JsonAnswer):
    results: list[ChunkJson]
    total: int


class PartListJson(JsonAnswer):
    results: list[PartJson]
    total: int


class RevisionListJson(JsonAnswer):
    results: list[RevisionJson]


class ChunksView(WorkspaceView):
    @operation("listChunks", query=PieceQuery, answer=ChunkListJson)
    def get(self, request: Request, workspace: str, row: uuid.UUID) -> Response:
        """What the newest revision was cut into, in its order."""
        query = read_query(PieceQuery, request)
        document = document_store.document_of(self.scope, row, query.at)
        rows = Chunk.cut.filter(revision=document.revision).order_by("ordinal")
        page = rows[query.offset : query.offset + query.limit]
        return Response(ChunkListJson([ChunkJson.of(each) for each in page], rows.count()))


class PartsView(WorkspaceView):
    @operation("listParts", query=PieceQuery, answer=PartListJson)
    def get(self, request: Request, workspace: str, row: uuid.UUID) -> Response:
        """Pages, slides, sheets, headings: where its text stands in the file."""
        query = read_query(PieceQuery, request)
        document = document_store.document_of(self.scope, row, query.at)
        rows = DocumentPart.objects.filter(revision=document.revision)
        page = rows[query.offset : query.offset + query.limit]
        return Response(PartListJson([PartJson.of(each) for each in page], rows.count()))


class RevisionsView(WorkspaceView):
    @operation("listRevisions", answer=RevisionListJson)
    def get(self, request: Request, workspace: str, row: uuid.UUID) -> Response:
        """What it said, the newest first."""
        document = document_store.document_of(self.scope, row)
        rows = Revision.objects.filter(document=document).defer("text")
        rows = rows.annotate(characters=Length("text")).order_by("-number")[:1000]
        return Response(RevisionListJson([RevisionJson.of(each) for each in rows]))


@declared
@dataclass(frozen=True, slots=True)
class FileQuery:
    unmask: Annotated[
        bool, Field(description="Also where words of it are masked; needs the capability curate.")
    ] = False


class FileView(WorkspaceView):
    @operation(
        "readDocumentFile",
        query=FileQuery,
        answer={(200, "application/octet-stream"): OpenApiTypes.BINARY},
    )
    def get(self, request: Request, workspace: str, row: uuid.UUID) -> FileResponse:
        """The file as it came, to be saved. Where words of it are masked, for those alone who may
        unmask it and say so; the audit keeps who did."""
        document = document_store.document_of(self.scope, row)
        if hidden_words.has_masks(document):
            may = self.scope.may(Capability.CURATE) and not self.scope.is_bound
            if not (may and read_query(FileQuery, request).unmask):
                raise Forbidden("Words of it are masked: with unmask=true a curator may have it.")
            hidden_words.audit_reveal(self.scope, document)
        blob = document.blob
        path = blobs.path_of(blob.workspace_id, blob.digest) if blob else None
        if path is None or not path.is_file():
            raise NotFound("File")
        name = document.filename or f"{document.pk}.txt"
        response = FileResponse(
            path.open("rb"), as_attachment=True, filename=name,
            content_type="application/octet-stream", headers=FILE_HEADERS,
        )  # fmt: skip
        return response
