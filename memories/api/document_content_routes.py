"""Routes: a document's file, chunks, parts and revisions."""

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
from memories.api.shapes import ChunkJson, PartJson, RevisionJson
from memories.documents import blobs, document_store, hidden_words
from memories.errors import Conflict, NotFound
from memories.models import Chunk, DocumentPart, Revision
from workspaces.api.json_answers import JsonAnswer
from workspaces.api.json_requests import read_query
from workspaces.api.schema import operation
from workspaces.api.views import WorkspaceView
from workspaces.request_fields import declared

# Routes: what a document is made of: its chunks, parts, revisions and file.

# No browser may show an uploaded file as a page of this server.
FILE_HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Content-Security-Policy": "sandbox; default-src 'none'",
    "Cache-Control": "private, no-store",
}

FILE_CLOSED = "It was not read, or words of it are masked: with unmask=true a curator may have the file."


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
        """List the chunks of the newest revision, or of the one at `knownAt`, in their order."""
        query = read_query(PieceQuery, request)
        document = document_store.document_of(self.scope, row, query.at)
        rows = Chunk.cut.filter(revision=document.revision).order_by("ordinal")
        page = rows[query.offset : query.offset + query.limit]
        return Response(ChunkListJson([ChunkJson.of(each) for each in page], rows.count()))


class PartsView(WorkspaceView):
    @operation("listParts", query=PieceQuery, answer=PartListJson)
    def get(self, request: Request, workspace: str, row: uuid.UUID) -> Response:
        """List the pages, slides, sheets and headings: where the text stands in the file."""
        query = read_query(PieceQuery, request)
        document = document_store.document_of(self.scope, row, query.at)
        rows = DocumentPart.objects.filter(revision=document.revision)
        page = rows[query.offset : query.offset + query.limit]
        return Response(PartListJson([PartJson.of(each) for each in page], rows.count()))


class RevisionsView(WorkspaceView):
    @operation("listRevisions", answer=RevisionListJson)
    def get(self, request: Request, workspace: str, row: uuid.UUID) -> Response:
        """List the revisions of a document, the newest first, up to 1,000."""
        document = document_store.document_of(self.scope, row)
        rows = Revision.objects.filter(document=document).defer("text")
        rows = rows.annotate(characters=Length("text")).order_by("-number")[:1000]
        return Response(RevisionListJson([RevisionJson.of(each) for each in rows]))


@declared
@dataclass(frozen=True, slots=True)
class FileQuery:
    unmask: Annotated[
        bool,
        Field(
            description="Also where it was not read yet or words of it are masked; needs the"
            " capability curate, of a key without an agent."
        ),
    ] = False


class FileView(WorkspaceView):
    @operation(
        "readDocumentFile",
        query=FileQuery,
        answer={(200, "application/octet-stream"): OpenApiTypes.BINARY},
    )
    def get(self, request: Request, workspace: str, row: uuid.UUID) -> FileResponse:
        """Download the file as it came. Where it is unread or has masked words, this is 409 unless
        the caller may unmask it and sends `unmask=true`; the audit log keeps who did."""
        document = document_store.document_of(self.scope, row)
        if not hidden_words.is_open(document):
            if not (self.scope.may_unmask and read_query(FileQuery, request).unmask):
                raise Conflict(FILE_CLOSED, "masked", "unmask")
            hidden_words.audit_reveal(self.scope, document)
        blob = document.blob
        path = blobs.path_of(blob.workspace_id, blob.digest) if blob else None
        if path is None or not path.is_file():
            raise NotFound("File")
        name = document.filename or f"{document.pk}.txt"
        response = FileResponse(
            path.open("rb"),
            as_attachment=True,
            filename=name,
            content_type="application/octet-stream",
            headers=FILE_HEADERS,
        )
        return response
