"""Routes: files of conversations (exports of chats, of assistants, of coding agents) brought in and taken back."""

import json
import re
import uuid
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Annotated, Any

from msgspec import Meta
from pydantic import Field
from rest_framework.parsers import MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response

from memories.errors import NotFound
from memories.exchange.file_survey import Survey
from memories.exchange.import_batches import BATCH_NAME, batches, targets_of
from memories.exchange.import_chat import MOST_BYTES, ImportedFile, UploadedFile, import_file
from memories.exchange.import_without_repeats import ImportOptions
from memories.exchange.who_is_who import WhoIsWho
from memories.models import MemorySession
from memories.privacy import erase
from memories.transcripts import FORMATS
from workspaces.api.json_answers import JsonAnswer
from workspaces.api.json_requests import StrictJSONParser, flaws, read, read_query
from workspaces.api.problems import invalid, too_large
from workspaces.api.schema import operation
from workspaces.api.views import NEEDS, WorkspaceView
from workspaces.models import Capability
from workspaces.request_fields import AnyText, ExternalId, Flag, Metadata, NullIs, OneOf, Text, declared

Name = Annotated[AnyText, Field(min_length=1, max_length=200)]


@declared
@dataclass(frozen=True, slots=True)
class TranscriptOptions:
    """The fields that a caller may give beside the file."""

    user_id: ExternalId = ""
    agent_id: ExternalId = ""
    thread_id: Annotated[ExternalId, Field(description="For a file of one conversation.")] = ""
    format: Annotated[str, OneOf(("", *FORMATS)), Field(description="Told by the content where it is empty.")] = ""
    me: Annotated[tuple[Name, ...], Field(max_length=20, description="Authors in the file who are userId.")] = ()
    authors: Annotated[
        Metadata, Field(description="Other authors who are users here: the user's id by the author's name.")
    ] = field(default_factory=dict)
    batch: Annotated[
        AnyText, Field(max_length=40, description="A name (a-z, 0-9, -) by which all of it is taken back.")
    ] = ""
    extract: Annotated[str, OneOf(MemorySession.Extract)] = MemorySession.Extract.AUTO
    metadata: Annotated[Metadata, NullIs({})] = field(default_factory=dict)
    dry_run: Annotated[Flag, Field(description="Only read it: who says how much, and what is left out.")] = False


@declared
@dataclass(frozen=True, slots=True)
class NewTranscript(TranscriptOptions):
    content: Text = ""
    filename: Annotated[AnyText, Field(max_length=200)] = "upload"


@declared
@dataclass(frozen=True, slots=True)
class TakeBackQuery:
    batch: Annotated[Text, Field(max_length=40)]


class AuthorJson(JsonAnswer):
    name: str
    messages: int
    first: str | None
    last: str | None


class LeftOutJson(JsonAnswer):
    line: int
    reason: str


class TranscriptJson(JsonAnswer):
    """Outcome of an import: what was read of a file, and kept."""

    conversations: int
    messages: int
    authors: list[AuthorJson]
    left_out: Annotated[list[LeftOutJson], Meta(description="The first twenty; each reason names its count.")]
    left_out_count: int
    stored: Annotated[int, Meta(description="Messages that were not here before; 0 for a dry run.")]
    known: int
    changed: Annotated[list[str], Meta(description="Ids of messages that say something else now: kept as they were.")]
    session_ids: Annotated[list[uuid.UUID], Meta(description="The worker learns from these.")]

    @classmethod
    def of_file(cls, file: ImportedFile) -> "TranscriptJson":
        found: Survey = file.survey
        return cls(
            conversations=len(found.threads),
            messages=found.messages,
            authors=[AuthorJson(**row.as_json()) for row in found.authors.most_first()],
            left_out=[LeftOutJson(row.line, row.reason) for row in found.bad_lines],
            left_out_count=found.bad,
            stored=sum(row.stored for row in file.batches),
            known=sum(row.known for row in file.batches),
            changed=[name for row in file.batches for name in row.changed],
            session_ids=[session.pk for row in file.batches for session in row.sessions],
        )


class TranscriptBatchJson(JsonAnswer):
    batch: str
    messages: int


class TranscriptBatchesJson(JsonAnswer):
    results: list[TranscriptBatchJson]


class TakenBackJson(JsonAnswer):
    batch: str
    erasure_ids: Annotated[list[uuid.UUID], Meta(description="One for each conversation; the worker does them.")]


class TranscriptsView(WorkspaceView):
    needs = {**NEEDS, "DELETE": Capability.ADMIN}
    parser_classes: Any = (StrictJSONParser, MultiPartParser)

    @operation("importTranscript", request=NewTranscript, answer={200: TranscriptJson, 202: TranscriptJson})
    def post(self, request: Request, workspace: str) -> Response:
        """Keep the conversations of a file: JSON with its `content`, or multipart/form-data with `file`
        and the other fields as JSON in `transcript`. Each message is its author's, at its time.
        `dryRun` reads only: 200 with the authors and what is left out."""
        if request.content_type and request.content_type.startswith("multipart/"):
            file, body = uploaded(request)
        else:
            new = read(NewTranscript, request.data)
            file, body = UploadedFile(new.filename, iter([new.content.encode()]), new.format), new
        options = ImportOptions(
            user_id=body.user_id,
            agent_id=body.agent_id,
            thread_id=body.thread_id,
            extract=body.extract,
            metadata={"file": file.name, **body.metadata},
            who=who_of(body),
        )
        done = import_file(self.scope, file, options, batch_of(body), is_trial=body.dry_run)
        return Response(TranscriptJson.of_file(done), status=200 if body.dry_run else 202)

    @operation("listTranscriptBatches", answer=TranscriptBatchesJson)
    def get(self, request: Request, workspace: str) -> Response:
        """List the named imports, with the messages that each brought."""
        rows = [TranscriptBatchJson(name, count) for name, count in batches(self.scope).items()]
        return Response(TranscriptBatchesJson(rows))

    @operation("takeBackTranscripts", query=TakeBackQuery, answer={202: TakenBackJson})
    def delete(self, request: Request, workspace: str) -> Response:
        """Erase all that an import brought, and all that was learned from it. There is no way back."""
        batch = read_query(TakeBackQuery, request).batch
        targets = targets_of(self.scope, batch)
        if not targets:
            raise NotFound("There is no import of this name.")
        rows = [erase.request(self.scope, target) for target in targets]
        return Response(TakenBackJson(batch, [row.pk for row in rows]), status=202)


def who_of(body: TranscriptOptions) -> WhoIsWho:
    for name, user in body.authors.items():
        if not isinstance(user, str) or not user.strip():
            raise invalid(f"authors.{name}", "The id of a user, as text.")
    if body.me and not body.user_id:
        raise invalid("me", "It says which authors userId is: give both.")
    return WhoIsWho(body.me, dict(body.authors))


def batch_of(body: TranscriptOptions) -> str:
    if body.batch and not re.fullmatch(BATCH_NAME, body.batch):
        raise invalid("batch", "Lower-case letters, digits and hyphens, 40 at most.")
    return body.batch


def uploaded(request: Request) -> tuple[UploadedFile, TranscriptOptions]:
    """Read the file of a form and its fields. Raises a Problem."""
    if int(request.META.get("CONTENT_LENGTH") or 0) > MOST_BYTES:
        raise too_large(MOST_BYTES)
    data: Any = request.data
    if unknown := [name for name in data if name not in ("file", "transcript")]:
        raise invalid(unknown[0], "A form has `file` and `transcript`.", "unknown_field")
    file = request.FILES.get("file")
    if file is None:
        raise invalid("file", "Send the file in a part of this name.", "required")
    try:
        said = json.loads(data.get("transcript") or "{}")
    except (ValueError, TypeError, RecursionError):
        raise invalid("transcript", "Must be JSON.") from None
    for path, message in flaws({"name": file.name, "transcript": said}):
        raise invalid(path, message)
    body = read(TranscriptOptions, said)
    parts: Iterator[bytes] = file.chunks()
    return UploadedFile(file.name or "upload", parts, body.format), body
