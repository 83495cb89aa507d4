"""Long messages, kept as documents and read again as messages."""

import uuid
from collections.abc import Collection, Iterable

from django.utils import timezone

from memories.documents.document_store import queued, some_passages
from memories.file_formats.assembly import Assembly, FileText, headings_of
from memories.index import entries
from memories.language.bounds import WHOLE
from memories.models import (
    Chunk,
    Document,
    DocumentPart,
    Episode,
    Layer,
    MemorySession,
    Revision,
    Visibility,
    WorkspaceIndex,
)
from memories.queue import outbox

# Texts that came as messages and are too long to be one memory: each becomes a document, which is
# cut and searched by its passages. Its text is the message's; it has no file.

SOURCE = "ingest"


def keep_long_texts(session: MemorySession, episodes: Iterable[Episode]) -> int:
    """Documents of the session's long texts, due for the worker, of the same subject, agent and
    visibility; in the caller's transaction. How many there are. Again, nothing happens."""
    made = [
        Document(
            workspace_id=episode.workspace_id,
            subject_id=episode.subject_id,
            agent_id=episode.agent_id,
            visibility=session.visibility or Visibility.PRIVATE,
            source=SOURCE,
            metadata=episode.metadata,
            published_at=episode.occurred_at,
            extract=Document.Extract.NONE,
            requested_by=session.requested_by,
            episode=episode,
        )
        for episode in episodes
        if len(episode.content.strip()) > WHOLE
    ]
    Document.objects.bulk_create(made, ignore_conflicts=True)
    rows = Document.objects.filter(episode__in=[document.episode_id for document in made])
    for document_id in rows.values_list("pk", flat=True):
        outbox.post("run_document", document_id)
    return len(made)


def read_message(episode: Episode) -> FileText:
    """Read a message as a file with these words would be read; without a child process, for it is
    text."""
    made = Assembly()
    made.add(episode.content, tidy=False)
    made.parts = headings_of(made.text)
    return made.done(extractor="message", media_type="text/plain")


def read_plain(data: bytes) -> FileText:
    """Read a program's own notes word for word: as text, whatever their form, and without a child
    process. Raises FileRefused."""
    made = Assembly()
    made.add(data.decode(errors="replace"), tidy=False)
    return made.done(extractor="plain", media_type="text/plain")


def read_anew(space: WorkspaceIndex, episodes: Collection[uuid.UUID]) -> None:
    """Documents of messages whose words were masked or came back: what they said goes, and they are
    due again; in the caller's transaction."""
    rows = Document.objects.filter(episode__in=episodes)
    ids = list(rows.values_list("pk", flat=True))
    revisions = Revision.objects.filter(document__in=ids)
    passages = some_passages(ids)
    if passages is None:  # the words go at once, their places in steps, by the worker
        revisions.filter(superseded_at=None).update(superseded_at=timezone.now())
        gone = {"stage": Revision.Stage.GONE, "indexed": 0}
        revisions.update(text="", title="", author="", **gone)
        DocumentPart.objects.filter(revision__in=revisions).update(label="")
        Chunk.objects.filter(revision__in=revisions).update(heading="")
    elif passages:
        entries.remove(space, Layer.CHUNKS, passages)
    rows.update(**queued(), current_revision=None, title="", summary="")
    if passages is not None:
        revisions.delete()
    for document_id in ids:
        outbox.post("run_document", document_id)
