"""Routes: documents."""

import json
import uuid
from dataclasses import dataclass, field, replace
from typing import Annotated, Any

from django.conf import settings
from django.db.models import QuerySet
from django.shortcuts import get_object_or_404
from msgspec import Meta
from pydantic import Field
from rest_framework.parsers import MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response
from typing_extensions import TypedDict

from memories.api.shapes import STATUSES, DocumentJson
from memories.documents import document_store, hidden_words, pipeline
from memories.documents.document_store import NewDocument, Received
from memories.documents.search_documents import Tag
from memories.errors import Conflict, Forbidden, Invalid, NoRoom
from memories.ingest.ingest_request import AT_ONCE
from memories.models import AsOf, Document, Visibility
from workspaces.api.json_answers import JsonAnswer
from workspaces.api.json_requests import StrictJSONParser, flaws, read, read_query
from workspaces.api.paging import PageQuery, narrowing, paged
from workspaces.api.problems import invalid, too_large
from workspaces.api.schema import operation
from workspaces.api.views import NEEDS, WorkspaceView
from workspaces.models import Capability
from workspaces.request_fields import AnyText, ExternalId, Flag, Maybe, Metadata, Moment, NullIs, OneOf, Text, declared
from workspaces.scope import Scope

MOST_AT_ONCE = 100
MODES = ("async", "sync")
INCLUDES = ("content", "parts", "chunks", "steps")
Title = Annotated[AnyText, Field(max_length=500)]
Tags = Annotated[tuple[Tag, ...], Field(max_length=100)]
STATES_OF = {status: [state for state, name in Document.STATUS.items() if name == status] for status in STATUSES}
NARROWING = {
    "type": "type",
    "user_id": "subject__external_id",
    "custom_id": "custom_id",
    "connection_id": "item__connection",
    "container_tag": "shelves__space__container_tag",
    "q": "title__icontains",
}


@declared
@dataclass(frozen=True, slots=True)
class DocumentOptions:
    """The fields that a caller may give a document beside its content."""

    title: Title = ""
    type: Annotated[str, OneOf(Document.Type), NullIs("")] = ""
    source: Annotated[AnyText, Field(max_length=20)] = ""
    url: Annotated[AnyText, Field(max_length=2000)] = ""
    custom_id: Annotated[
        ExternalId,
        Field(description="The caller's own: the same id is the same document, newer."),
    ] = ""
    container_tags: Tags = ()
    user_id: ExternalId = ""
    agent_id: ExternalId = ""
    visibility: Annotated[str, OneOf(Visibility), NullIs("")] = ""
    metadata: Metadata = field(default_factory=dict)
    published_at: Moment | None = None
    extract: Annotated[str, OneOf(Document.Extract)] = Document.Extract.AUTO
    is_apart: Annotated[
        Flag | None,
        Field(
            description="What a program keeps for itself: found only where a search names the"
            " document or its space, told in no context, and not learned from."
        ),
    ] = None


@declared
@dataclass(frozen=True, slots=True)
class NewDocumentBody(DocumentOptions):
    content: (
        Annotated[
            Text,
            Field(description="Text, Markdown or HTML. Without it the worker fetches what `url` has."),
        ]
        | None
    ) = None
    filename: Annotated[AnyText, Field(max_length=255)] = ""
    mode: Annotated[
        str,
        OneOf(MODES),
        Field(description=f"sync: the answer comes when it is read, for texts of up to {AT_ONCE:,} characters."),
    ] = "async"


@declared
@dataclass(frozen=True, slots=True)
class BatchBody:
    documents: Annotated[tuple[NewDocumentBody, ...], Field(min_length=1, max_length=MOST_AT_ONCE)]


@declared
class DocumentChanges(TypedDict, total=False):
    content: Annotated[Text, Field(min_length=1, description="What it says now: a new revision.")]
    title: Title
    metadata: Metadata
    container_tags: Tags
    visibility: Annotated[str, OneOf(Visibility)]


@declared
@dataclass(frozen=True, slots=True)
class DocumentQuery(PageQuery):
    status: Maybe[Annotated[str, OneOf(STATUSES)]] = None
    type: Maybe[Annotated[str, OneOf(Document.Type)]] = None
    container_tag: Maybe[Text] = None
    user_id: Maybe[Text] = None
    custom_id: Maybe[Text] = None
    connection_id: Maybe[uuid.UUID] = None
    q: Maybe[Annotated[Text, Field(max_length=500)]] = None


@declared
@dataclass(frozen=True, slots=True)
class ThenQuery:
    known_at: Maybe[
        Annotated[
            Moment,
            Field(
                description="What it said then: `revision`, `title`, `pages` and the text with what"
                " it was cut into. All else is as it is; 404 where it was not there yet."
            ),
        ]
    ] = None

    @property
    def at(self) -> AsOf:
        return AsOf(known_at=self.known_at)


@declared
@dataclass(frozen=True, slots=True)
class IncludeQuery(ThenQuery):
    include: Annotated[str, Field(description=f"Separated by commas, of {', '.join(INCLUDES)}.")] = ""

    @property
    def names(self) -> list[str]:
        names = [name for name in self.include.split(",") if name]
        if unknown := [name for name in names if name not in INCLUDES]:
            raise Invalid("include", f'"{unknown[0]}" is not known. Known: {", ".join(INCLUDES)}.')
        return names


class ReceivedDocumentJson(JsonAnswer):
    id: uuid.UUID
    status: str
    revision: Annotated[int | None, Meta(description="The newest that was read.")]
    unchanged: Annotated[bool, Meta(description="It said exactly this already.")]


class BatchItemJson(JsonAnswer):
    status: Annotated[int, Meta(description="As if it had been sent alone: 202, 200, 400 ...")]
    document: ReceivedDocumentJson | None
    error: str | None
    field: str | None


class BatchJson(JsonAnswer):
    results: list[BatchItemJson]


def rows_for(scope: Scope) -> QuerySet[Document]:
    return Document.objects.visible_to(scope).with_all()


def received(scope: Scope, body: NewDocumentBody) -> Received:
    if body.content and body.url:
        other = Invalid("url", "Give this or content, not both.")
        raise Invalid("content", "Give this or url, not both.", others=[other])
    if not body.content and not body.url:
        raise Invalid("content", "Give the words of the document, or its `url`.", "blank")
    own = {name: getattr(body, name) for name in DocumentOptions.__dataclass_fields__}
    parts = [body.content.encode()] if body.content else None
    kept = document_store.receive(scope, NewDocument(parts, filename=body.filename, **own))
    if not body.content:
        return kept  # the worker fetches it
    # A longer one is the worker's: reading it would hold a process that serves others.
    if body.mode == "sync" and not kept.is_unchanged and len(body.content) <= AT_ONCE:
        done = pipeline.run(kept.document.pk)
        return replace(kept, document=done or kept.document)
    return kept


def shape_of(kept: Received) -> ReceivedDocumentJson:
    document = kept.document
    revision = document.revision.number if document.revision else None
    return ReceivedDocumentJson(document.pk, document.status, revision, kept.is_unchanged)


class DocumentsView(WorkspaceView):
    parser_classes: Any = (StrictJSONParser, MultiPartParser)

    @operation(
        "createDocument",
        request=NewDocumentBody,
        answer={202: ReceivedDocumentJson, 200: ReceivedDocumentJson},
    )
    def post(self, request: Request, workspace: str) -> Response:
        """Keep a document; the worker reads it. Send JSON with its content, or multipart/form-data
        with `file` and the other fields as JSON in `document`. 200 where the customId is known and
        the content is the same."""
        if request.content_type and request.content_type.startswith("multipart/"):
            kept = document_store.receive(self.scope, uploaded(request))
        else:
            kept = received(self.scope, read(NewDocumentBody, request.data))
        return Response(shape_of(kept), status=200 if kept.is_unchanged else 202)

    @operation("listDocuments", query=DocumentQuery, page=DocumentJson)
    def get(self, request: Request, workspace: str) -> Response:
        """List documents with their status, the newest first; parameters narrow the list."""
        query = read_query(DocumentQuery, request)
        rows = rows_for(self.scope).filter(**narrowing(query, NARROWING))
        if query.status is not None:
            rows = rows.filter(state__in=STATES_OF[query.status])
        return paged(request, rows, DocumentJson.of)


def uploaded(request: Request) -> NewDocument:
    """Read the file of a form and its fields. Raises a Problem."""
    if int(request.META.get("CONTENT_LENGTH") or 0) > settings.MAX_UPLOAD_BYTES:
        raise too_large(settings.MAX_UPLOAD_BYTES)
    data: Any = request.data
    if unknown := [name for name in data if name not in ("file", "document")]:
        raise invalid(unknown[0], "A form has `file` and `document`.", "unknown_field")
    file = request.FILES.get("file")
    if file is None:
        raise invalid("file", "Send the file in a part of this name.", "required")
    text = data.get("document") or "{}"
    try:
        said = json.loads(text)
    except (ValueError, TypeError, RecursionError):
        raise invalid("document", "Must be JSON.") from None
    for path, message in flaws({"name": file.name, "document": said}):
        raise invalid(path, message)
    body = read(DocumentOptions, said)
    own = {name: getattr(body, name) for name in DocumentOptions.__dataclass_fields__}
    return NewDocument(parts=file.chunks(), filename=file.name or "", **own)


class DocumentBatchView(WorkspaceView):
    @operation("createDocuments", request=BatchBody, answer=BatchJson)
    def post(self, request: Request, workspace: str) -> Response:
        """Keep up to 100 documents, each kept or refused by itself; results are in their order."""
        bodies = read(BatchBody, request.data).documents
        items: list[BatchItemJson] = []
        for body in bodies:
            try:
                kept = received(self.scope, replace(body, mode="async"))
            except Invalid as error:
                items.append(BatchItemJson(400, None, error.message, error.field))
            except Forbidden as error:
                items.append(BatchItemJson(403, None, error.message, error.field))
            except NoRoom as error:
                items.append(BatchItemJson(507, None, error.message, None))
            except Conflict as error:
                items.append(BatchItemJson(409, None, error.message, error.field))
            else:
                status = 200 if kept.is_unchanged else 202
                items.append(BatchItemJson(status, shape_of(kept), None, None))
        return Response(BatchJson(items))


class DocumentView(WorkspaceView):
    @operation("readDocument", query=IncludeQuery, answer=DocumentJson)
    def get(self, request: Request, workspace: str, row: uuid.UUID) -> Response:
        """Return a document with its status; `include` adds text, parts, chunks and steps."""
        query = read_query(IncludeQuery, request)
        names, document = query.names, document_store.document_of(self.scope, row, query.at)
        return Response(DocumentJson.of(document).include(document, names))

    @operation("changeDocument", request=DocumentChanges, answer=DocumentJson)
    def patch(self, request: Request, workspace: str, row: uuid.UUID) -> Response:
        """Change title, metadata, spaces or visibility. New `content` makes a new revision, which
        the worker reads, as after a POST of the same customId."""
        changes = dict(read(DocumentChanges, request.data))
        content = changes.pop("content", None)
        if changes or content is None:
            document_store.change(self.scope, row, changes)
        if content is not None:
            document_store.revise(self.scope, row, NewDocument([str(content).encode()]))
        return Response(DocumentJson.of(get_object_or_404(rows_for(self.scope), pk=row)))


class RetryDocumentView(WorkspaceView):
    @operation("retryDocument", answer=DocumentJson)
    def post(self, request: Request, workspace: str, row: uuid.UUID) -> Response:
        """Read a failed document again, in the worker; 409 where it is done or under way."""
        document_store.retry(self.scope, row)
        return Response(DocumentJson.of(get_object_or_404(rows_for(self.scope), pk=row)))


class ReprocessView(WorkspaceView):
    needs = NEEDS | {"POST": Capability.CURATE}

    @operation("reprocessDocument", answer=DocumentJson)
    def post(self, request: Request, workspace: str, row: uuid.UUID) -> Response:
        """Read the document and cut it into chunks again, as after a change of the chunk sizes."""
        document_store.reprocess(self.scope, row)
        return Response(DocumentJson.of(get_object_or_404(rows_for(self.scope), pk=row)))


class UnmaskDocumentView(WorkspaceView):
    needs = NEEDS | {"POST": Capability.CURATE}

    @operation("unmaskDocument", answer=DocumentJson)
    def post(self, request: Request, workspace: str, row: uuid.UUID) -> Response:
        """Return the document with its masked words, in its title, file name and metadata, too: for
        people and the workspace's own backend, never for an agent. The audit log keeps who looked;
        the document stays masked."""
        if self.scope.is_bound:
            raise Forbidden("An agent's key sees no masked words.")
        document = get_object_or_404(rows_for(self.scope), pk=row)
        content = hidden_words.reveal(self.scope, document)
        shown = DocumentJson.of(document)
        shown.content = content
        return Response(shown)
