"""Texts that came as messages and are too long to be one memory: each becomes a document, which is
cut and searched by its passages. Its text is the message's; it has no file."""

import uuid
from collections.abc import Collection, Iterable

from django.utils import timezone

from memories import outbox
from memories.bounds import WHOLE
from memories.file_formats.assembly import Assembly, FileText, headings_of
from memories.index import entries
from memories.models import (
    Document,
    Episode,
    Layer,
    MemorySession,
    Revision,
    Visibility,
    WorkspaceIndex,
    passages_of,
)

SOURCE = "ingest"


def keep_long_texts(session: MemorySession, episodes: Iterable[Episode]) -> int:
    """Documents of the session's long texts, due for the worker, of the same subject, agent and
    visibility; in the caller's transaction. How many there are. Again, nothing happens."""
    made = [
        Document(
            workspace_id=episode.workspace_id, subject_id=episode.subject_id,
            agent_id=episode.agent_id, visibility=session.visibility or Visibility.PRIVATE,
            source=SOURCE, metadata=episode.metadata, published_at=episode.occurred_at,
            extract=Document.Extract.NONE, requested_by=session.requested_by, episode=episode,
        )
        for episode in episodes
        if len(episode.content.strip()) > WHOLE
    ]  # fmt: skip
    Document.objects.bulk_create(made, ignore_conflicts=True)
    rows = Document.objects.filter(episode__in=[document.episode_id for document in made])
    for document_id in rows.values_list("pk", flat=True):
        outbox.post("run_document", document_id)
    return len(made)


def read_message(episode: Episode) -> FileText:
    """As a file with these words would be read; short of a child process, for they are text."""
    made = Assembly()
    made.add(episode.content, tidy=False)
    made.parts = headings_of(made.text)
    return made.done(extractor="message", media_type="text/plain")


def read_anew(space: WorkspaceIndex, episodes: Collection[uuid.UUID]) -> None:
    """Documents of messages whose words were masked or came back: what they said goes, and they are
    due again; in the caller's transaction."""
    rows = Document.objects.filter(episode__in=episodes)
    ids = list(rows.values_list("pk", flat=True))
    revisions = Revision.objects.filter(document__in=ids)
    passages = passages_of(list(revisions.values_list("pk", flat=True)))
    if passages:
        entries.remove(space, Layer.CHUNKS, passages)
    now = timezone.now()
    rows.update(
        state=Document.State.QUEUED, current_revision=None, title="", summary="", reason="",
        error_code="", steps=[], warnings=[], attempts=0, next_attempt_at=now, lease_until=None,
        updated_at=now,
    )  # fmt: skip
    revisions.delete()
    for document_id in ids:
        outbox.post("run_document", document_id)
