"""Storage of documents: a file on the disk, then the document's row in one short transaction."""

import uuid
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import PurePosixPath
from typing import Any

from django.conf import settings
from django.db import IntegrityError, transaction
from django.db.models import Exists, OuterRef
from django.utils import timezone

from memories.documents import blobs
from memories.documents.blobs import KeptFile
from memories.documents.document_queue import QUEUE
from memories.documents.hidden_words import is_open, keep_hidden, name_without_secrets, without_secrets
from memories.errors import Conflict, Forbidden, Invalid, needed
from memories.index import entries, workspace_index
from memories.models import (
    APART,
    NOW,
    SCOPE_CODE,
    AsOf,
    Blob,
    Document,
    DocumentSpace,
    Fact,
    Layer,
    Memory,
    MemoryScope,
    MemorySession,
    Passage,
    Revision,
    Space,
    Visibility,
    WorkspaceIndex,
)
from memories.models.conversation import TAKEN
from memories.providers.web_fetch import refused_reason
from memories.queue import outbox
from workspaces.scope import NotAllowed, Scope, agent_to_write, subject_to_write, tags_to_write

State = Document.State
LONGEST_NAME = 255
FIELDS = {"subject": "userId", "agent": "agentId", "container_tags": "containerTags"}


# Passages of a document whose entries are changed at once. Of a longer one they are written anew by
# the worker, in steps: its writers would wait as long as all of them take.
MANY = 200


@dataclass(frozen=True, slots=True)
class NewDocument:
    """A document as the caller hands it in; ids are the caller's own. `parts` are the bytes of its
    file, or its text in UTF-8; None where the worker fetches them from `url`. `is_apart` None: as
    it was, False for a new document."""

    parts: Iterable[bytes] | None
    filename: str = ""
    title: str = ""
    type: str = ""
    source: str = ""
    url: str = ""
    custom_id: str = ""
    container_tags: Sequence[str] = ()
    user_id: str = ""
    agent_id: str = ""
    visibility: str = ""
    metadata: Mapping[str, Any] = field(default_factory=dict)
    published_at: datetime | None = None
    extract: str = Document.Extract.AUTO
    is_apart: bool | None = None
    said: Mapping[str, Any] = field(default_factory=dict)  # before secrets were taken out


@dataclass(frozen=True, slots=True)
class Received:
    """`is_unchanged`: the document said exactly this already."""

    document: Document
    is_unchanged: bool = False


def receive(scope: Scope, new: NewDocument) -> Received:
    """Keep a document, or the new words of one whose customId is known, and wake the worker.

    Raises Forbidden, Invalid, Conflict where the customId is that of a document that the asker may
    not see.
    """
    if new.parts is None:
        if reason := refused_reason(new.url, settings.FETCH_ALLOWED_HOSTS):
            raise Invalid("url", reason)
        return _known_or_new(scope, new, None)
    with blobs.kept(scope.workspace_id, new.parts, is_narrow=scope.is_narrow) as file:
        if not file.size:
            raise Invalid("content", "There is nothing in it.", "blank")
        return _known_or_new(scope, new, file)


def _known_or_new(scope: Scope, new: NewDocument, file: KeptFile | None) -> Received:
    new = _screened(scope, new)
    try:
        return _receive(scope, new, file)
    except IntegrityError:
        # Another request brought the same customId in between: now it is known.
        return _receive(scope, new, file)


def allowed_in(workspace_id: uuid.UUID) -> Collection[str]:
    """Labels of guard that the workspace lets through."""
    return allowed_by(workspace_index.index_of(workspace_id))


def allowed_by(space: WorkspaceIndex) -> Collection[str]:
    """The same, of a workspace whose row is at hand."""
    own: Collection[str] = space.guard.get("allowed", ())
    return own


def _screened(scope: Scope, new: NewDocument) -> NewDocument:
    """Return it without what nobody may read in its names and metadata."""
    allowed = allowed_in(scope.workspace_id)
    said: dict[str, Any] = {
        "given_title": new.title,
        "filename": clean_name(new.filename),
        "metadata": dict(new.metadata),
    }
    return replace(
        new,
        title=without_secrets(new.title, allowed),
        filename=name_without_secrets(said["filename"], allowed),
        metadata=without_secrets(said["metadata"], allowed),
        said={name: value for name, value in said.items() if value},
    )


@transaction.atomic(durable=True)
def _receive(scope: Scope, new: NewDocument, file: KeptFile | None) -> Received:
    known = None
    if new.custom_id:
        rows = Document.objects.filter(workspace_id=scope.workspace_id, custom_id=new.custom_id)
        known = rows.select_for_update().first()
    if known is not None:
        if not Document.objects.visible_to(scope).filter(pk=known.pk).exists():
            raise Conflict("A document of this id is there already.", field="customId")
        return _changed(scope, known, new, file.row() if file else None)
    try:
        agent = agent_to_write(scope, new.agent_id)
        subject = subject_to_write(scope, new.user_id)
    except NotAllowed as error:
        raise Forbidden(error.message, FIELDS[error.field]) from None
    tags = _own_tags(scope, new.container_tags)
    document = Document(
        workspace_id=scope.workspace_id,
        subject=subject,
        agent=agent,
        visibility=new.visibility or (Visibility.PRIVATE if subject else Visibility.TEAM),
        custom_id=new.custom_id or None,
        type=new.type or Document.Type.TEXT,
        source=new.source,
        url=new.url,
        filename=new.filename,
        given_title=new.title,
        title=new.title or new.filename or new.url[:500],
        metadata=dict(new.metadata),
        published_at=new.published_at,
        extract=new.extract,
        requested_by=scope.actor,
        is_apart=bool(new.is_apart),
        blob=file.row() if file else None,
    )
    document.save(force_insert=True)
    title = new.said.get("given_title") or new.said.get("filename", "")
    keep_hidden(document, {**new.said, "title": title})
    put_in_spaces(document, tags)
    _audit(scope, document, "create_document")
    outbox.post("run_document", document.pk)
    return Received(document)


def revise(scope: Scope, document_id: uuid.UUID, new: NewDocument) -> Received:
    """New words of a document by its id, as `receive` takes them by its customId. Raises Invalid,
    NotFound."""
    new = _screened(scope, new)
    parts = new.parts or ()
    with blobs.kept(scope.workspace_id, parts, is_narrow=scope.is_narrow) as file:
        if not file.size:
            raise Invalid("content", "There is nothing in it.", "blank")
        with transaction.atomic(durable=True):
            rows = Document.objects.visible_to(scope).select_for_update()
            document = needed(rows.filter(pk=document_id).first(), "Document")
            return _changed(scope, document, new, file.row())


def _changed(scope: Scope, document: Document, new: NewDocument, blob: Blob | None) -> Received:
    """New words of a known document; nothing happens where they are the same. What is to be fetched
    is fetched again. Who may not know all that it says is not told: then the same words are read as
    others are."""
    if new.container_tags:
        put_in_spaces(document, _own_tags(scope, new.container_tags))
    is_same = blob is not None and document.blob_id == blob.pk and document.state != State.FAILED
    if not scope.may_unmask and not is_open(document):
        is_same = False
        document.revisions.filter(superseded_at=None).update(text_sha256="")
    names = {"title": "given_title", "filename": "filename", "url": "url"}
    values = {to: getattr(new, name) for name, to in names.items() if getattr(new, name)}
    if new.title:
        values["title"] = new.title
    if new.metadata:
        values["metadata"] = dict(new.metadata)
    if new.published_at:
        values["published_at"] = new.published_at
    if new.is_apart not in (None, document.is_apart):
        _put_apart(document, bool(new.is_apart))
    if not is_same:
        values |= queued() | {"blob": blob}
    Document.objects.filter(pk=document.pk).update(**{"updated_at": timezone.now()} | values)
    document = Document.objects.get(pk=document.pk)
    title = new.said.get("given_title")
    keep_hidden(document, {**new.said, "title": title} if title else new.said)
    if not is_same:
        _audit(scope, document, "change_document")
        outbox.post("run_document", document.pk)
    return Received(document, is_unchanged=is_same)


def _put_apart(document: Document, is_apart: bool) -> None:
    """Take it away from what is searched without naming it, or bring it back; in the caller's
    transaction, which has the row. Of a long one the worker does it, in steps."""
    Document.objects.filter(pk=document.pk).update(is_apart=is_apart)
    items = some_passages([document.pk])
    if items is None:
        index_anew([document.pk])
    else:
        scope = APART if is_apart else SCOPE_CODE[MemoryScope.USER]
        entries.change_scope(Layer.CHUNKS, items, scope)


def queued() -> dict[str, Any]:
    """Return the values of a document that the worker has to read."""
    return {
        **QUEUE.fresh(),
        "state": State.QUEUED,
        "error_code": "",
        "reason": "",
        "steps": [],
        "warnings": [],
    }


def _own_tags(scope: Scope, tags: Sequence[str]) -> Sequence[str]:
    """The spaces of a document. Raises Forbidden; Conflict where a key that is limited to subjects
    names one in which documents of others alone stand."""
    try:
        own = tags_to_write(scope, tags)
    except NotAllowed as error:
        raise Forbidden(error.message, FIELDS[error.field]) from None
    if scope.subject_ids is not None:
        rows = DocumentSpace.objects.filter(workspace_id=scope.workspace_id, space__container_tag__in=own)
        seen = rows.filter(document__in=Document.objects.visible_to(scope).values("pk"))
        if rows.exclude(space__in=seen.values("space")).exists():
            raise Conflict(TAKEN, field="containerTags")
    return own


def put_in_spaces(
    document: Document,
    tags: Sequence[str],
    *,
    of: Collection[str] | None = (),
) -> None:
    """Spaces are made when they are first named. `of`: in these it stands no more unless they are
    named; None: in all."""
    made = [Space(workspace_id=document.workspace_id, container_tag=tag) for tag in sorted(set(tags))]
    Space.objects.bulk_create(made, ignore_conflicts=True)
    rows = Space.objects.filter(workspace_id=document.workspace_id, container_tag__in=tags)
    DocumentSpace.objects.bulk_create(
        (DocumentSpace(workspace_id=document.workspace_id, document=document, space=space) for space in rows),
        ignore_conflicts=True,
    )
    left = DocumentSpace.objects.filter(document=document).exclude(space__in=rows)
    if of is not None:
        left = left.filter(space__container_tag__in=of)
    left.delete()


def make_space(scope: Scope, tag: str, name: str = "", metadata: dict[str, Any] | None = None) -> Space:
    """A space before anything stands in it. Raises Forbidden where the key is limited to others,
    Conflict where there is one of this tag."""
    try:
        tags_to_write(scope, [tag])
    except NotAllowed as error:
        raise Forbidden(error.message, "containerTag") from None
    made = Space(workspace_id=scope.workspace_id, container_tag=tag, name=name, metadata=metadata or {})
    Space.objects.bulk_create([made], ignore_conflicts=True)
    row = Space.objects.filter(pk=made.pk).first()
    if row is None:
        raise Conflict("There is a space of this tag already.", field="containerTag")
    return row


def change_space(scope: Scope, space: Space, changes: dict[str, Any]) -> None:
    """Another `name` or `metadata`. Raises Forbidden for a narrow key, where documents that it does
    not see stand in it, too."""
    if scope.is_narrow:
        own = Document.objects.visible_to(scope).values("pk")
        if DocumentSpace.objects.filter(space=space).exclude(document__in=own).exists():
            raise Forbidden("Documents of others stand in this space.")
    for name, value in changes.items():
        setattr(space, name, value)
    space.save(update_fields=[*changes, "updated_at"])


def clean_name(name: str) -> str:
    """Return a file's name without its folders and without what no terminal should print."""
    plain = PurePosixPath(name.replace("\\", "/")).name
    return "".join(sign for sign in plain if sign.isprintable())[:LONGEST_NAME]


def document_of(scope: Scope, document_id: uuid.UUID, at: AsOf = NOW) -> Document:
    """Return a document. Raises NotFound, also where the asker may not see it, or where it was not
    there then."""
    rows = Document.objects.visible_to(scope).known(at).with_all(at).select_related("blob")
    return needed(rows.filter(pk=document_id).first(), "Document")


@transaction.atomic(durable=True)
def retry(scope: Scope, document_id: uuid.UUID) -> Document:
    """Read a failed or waiting document again now; Conflict for one that is done or under way."""
    document = document_of(scope, document_id)
    rows = Document.objects.filter(pk=document.pk, state__in=[State.FAILED, State.QUEUED])
    if not rows.update(**queued()):
        raise Conflict(f"A document that is {document.status} cannot be retried.", field="status")
    _audit(scope, document, "retry_document")
    outbox.post("run_document", document.pk)
    return document_of(scope, document_id)


@transaction.atomic(durable=True)
def reprocess(scope: Scope, document_id: uuid.UUID) -> Document:
    """Read and cut a document again, as after a change of the sizes; Conflict while it is under
    way."""
    document = document_of(scope, document_id)
    rows = Document.objects.filter(pk=document.pk).exclude(state__in=Document.WORKING)
    if not rows.update(**queued()):
        raise Conflict("It is being read.", field="status")
    # Its entries go in steps, by the worker: there may be thousands.
    current = Revision.objects.filter(document=document, superseded_at=None)
    current.update(stage=Revision.Stage.RECUT, indexed=0)
    _audit(scope, document, "reprocess_document")
    outbox.post("run_document", document.pk)
    return document_of(scope, document_id)


def change(scope: Scope, document_id: uuid.UUID, changes: Mapping[str, Any]) -> Document:
    """Change title, metadata, containerTags or visibility; what is not named stays."""
    document = document_of(scope, document_id)
    is_shown = changes.get("visibility", document.visibility) != document.visibility
    if is_shown:
        # The memories first, some at a time: who is cut off here has shown the document to nobody.
        while _show_memories(document, changes["visibility"]):
            pass
    return _change(scope, document, changes, is_shown)


@transaction.atomic(durable=True)
def _change(scope: Scope, document: Document, changes: Mapping[str, Any], is_shown: bool) -> Document:
    space = workspace_index.index_of(document.workspace_id)
    if is_shown:  # before the document: whoever writes its entries comes in this order
        workspace_index.lock(space)
    allowed = allowed_in(scope.workspace_id)
    said: dict[str, Any] = {name: changes[name] for name in ("title", "metadata") if name in changes}
    changes = {**changes, **{name: without_secrets(value, allowed) for name, value in said.items()}}
    values: dict[str, Any] = {name: changes[name] for name in ("metadata", "visibility") if name in changes}
    if "title" in changes:
        values |= {"title": changes["title"], "given_title": changes["title"]}
    if values:
        Document.objects.filter(pk=document.pk).update(**values, updated_at=timezone.now())
        if "title" in said:
            said["given_title"] = said["title"]
        keep_hidden(Document.objects.get(pk=document.pk), said)
    if "container_tags" in changes:
        tags = _own_tags(scope, changes["container_tags"])
        put_in_spaces(document, tags, of=scope.container_tags)
    if is_shown:
        items = some_passages([document.pk])
        if items is None:
            index_anew([document.pk])
        else:
            entries.change_visibility(Layer.CHUNKS, items, changes["visibility"])
    workspace_index.note_change(space)
    _audit(scope, document, "change_document", after=dict(changes))
    return document_of(scope, document.pk)


def _show_memories(document: Document, visibility: str) -> int:
    """Some of the memories that stand on this document alone, and of what was read out of it, are
    seen by whom it is to be seen, as far as nobody showed them to others; how many rows."""
    with transaction.atomic(durable=True):
        workspace_index.lock(workspace_index.index_of(document.workspace_id))
        sessions = MemorySession.objects.filter(revision__document=document)
        sessions.exclude(visibility=visibility).update(visibility=visibility)
        facts = Fact.objects.filter(citations__revision__document=document).values("pk")
        others = Fact.objects.filter(memory=OuterRef("pk")).exclude(pk__in=facts)
        rows = Memory.objects.filter(
            ~Exists(others),
            pk__in=Fact.objects.filter(pk__in=facts).values("memory"),
            visibility=document.visibility,
        )
        ids = list(rows.order_by("pk").values_list("pk", flat=True)[:MANY])
        Memory.objects.filter(pk__in=ids).update(visibility=visibility, updated_at=timezone.now())
        entries.change_visibility(Layer.MEMORIES, ids, visibility)
        read = Fact.objects.filter(pk__in=facts, visibility=document.visibility)
        read_ids = list(read.order_by("pk").values_list("pk", flat=True)[:MANY])
        Fact.objects.filter(pk__in=read_ids).update(visibility=visibility)
    return len(ids) + len(read_ids)


def some_passages(documents: Collection[uuid.UUID]) -> list[uuid.UUID] | None:
    """The passages of all revisions of these, where they are few; else None."""
    rows = Passage.places.filter(revision__document__in=documents)
    found = list(rows.values_list("pk", flat=True)[: MANY + 1])
    return found if len(found) <= MANY else None


def index_anew(documents: Collection[uuid.UUID]) -> None:
    """Let the worker write the entries of these documents anew, in steps, as their rows are by now;
    until then nobody finds their passages. In the caller's transaction, under the workspace's
    lock."""
    stage = Revision.Stage
    revisions = Revision.objects.filter(document__in=documents)
    revisions.filter(stage__in=Revision.WRITING).update(indexed=0)
    revisions.filter(stage__in=("", stage.GOING)).update(stage=stage.REFILL, indexed=0)
    Document.objects.filter(pk__in=documents).update(**QUEUE.fresh(), state=State.QUEUED, error_code="", reason="")
    for document_id in documents:
        outbox.post("run_document", document_id)


def _audit(scope: Scope, document: Document, action: str, **details: object) -> None:
    scope.audit(action, document, subject_id=document.subject_id, **details)
