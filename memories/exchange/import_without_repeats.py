"""Import of conversations from elsewhere, through the same verbs as the API.

Messages carry ids that stay the same from run to run, so a second import of the same conversation
adds nothing, and one that was interrupted goes on where it was.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from memories import ingest
from memories.errors import Conflict
from memories.exchange.who_is_who import WhoIsWho
from memories.ingest import IngestRequest, NewMessage
from memories.models import Conversation, Episode, MemorySession
from memories.models.conversation import check_thread
from memories.privacy import masks
from memories.transcripts import Transcript, TranscriptMessage
from workspaces.scope import Scope

State = MemorySession.State


@dataclass(frozen=True, slots=True)
class ImportOptions:
    """Settings for storing an import. Empty names: the transcript's own; `batch` in messages; `who`
    tells which authors are users here."""

    user_id: str = ""
    agent_id: str = ""
    thread_id: str = ""
    mode: str = MemorySession.Mode.SYNC
    extract: str = MemorySession.Extract.AUTO
    batch: int = 100
    occurred_at: datetime | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)
    who: WhoIsWho = field(default_factory=WhoIsWho)


@dataclass(frozen=True, slots=True)
class ImportedBatch:
    """The outcome of up to `ImportOptions.batch` messages.

    `known` were there already. `changed` are ids stored with words other than their present ones:
    the words said first stay. `sessions` are those that this batch began or finished, as they now
    stand.
    """

    messages: int
    stored: int
    known: int
    changed: tuple[str, ...]
    sessions: tuple[MemorySession, ...]


def import_transcript(scope: Scope, transcript: Transcript, options: ImportOptions) -> Iterator[ImportedBatch]:
    """Store a transcript batch by batch; whoever stops asking for batches stops between two.

    Raises Conflict where its thread is known and about another subject.
    """
    thread = options.thread_id or transcript.thread
    user = options.user_id or transcript.subject or ""
    conversations = Conversation.objects.filter(workspace_id=scope.workspace_id, external_id=thread)
    known = conversations.select_related("subject").first()
    about = known.subject.external_id if known and known.subject else ""
    if known is not None:
        check_thread(scope, known)
    if known is not None and about != user:
        raise Conflict(
            f"The thread {thread!r} is there already, and is about "
            f"{about or 'nobody in particular'}, not about {user or 'nobody in particular'}."
        )
    for at in range(0, len(transcript.messages), options.batch):
        messages = transcript.messages[at : at + options.batch]
        own = replace(options, thread_id=thread, user_id=user)
        yield _import_batch(scope, messages, own)
    conversations.filter(title="").update(title=transcript.title)


def _import_batch(scope: Scope, messages: Sequence[TranscriptMessage], options: ImportOptions) -> ImportedBatch:
    words = {message.id: content_of(message) for message in messages}
    # What the asker may not see is refused by `receive`, which tells only that an id is taken.
    there = Episode.objects.visible_to(scope).filter(
        workspace_id=scope.workspace_id, conversation__external_id=options.thread_id
    )
    rows = there.filter(external_id__in=list(words)).select_related("session")
    known = {row.external_id or "": row for row in rows}
    # An episode without a session was recorded without learning: now it is learned from.
    fresh = [m for m in messages if m.id not in known or known[m.id].session_id is None]
    original = masks.originals(list(known.values()))
    changed = tuple(name for name, row in known.items() if words[name] not in (row.content, original[row.pk]))
    new = [m for m in fresh if m.id not in changed]
    begun = {row.session_id: row.session for row in known.values() if row.session}
    sessions = []
    for session in begun.values():
        if session.state in (State.FAILED, State.DEAD):
            session = ingest.retry(scope, session)
        if session.state != State.DONE:
            sessions.append(_run(session, options))
    for user, said in options.who.by_user(new, options.user_id).items():
        request = _request_of(said, replace(options, user_id=user))
        sessions.append(_run(ingest.receive(scope, request), options))
    old = len(messages) - len(new) - len(changed)
    return ImportedBatch(len(messages), len(new), old, changed, tuple(sessions))


def _request_of(messages: Sequence[TranscriptMessage], options: ImportOptions) -> IngestRequest:
    kept = [
        NewMessage(
            content_of(m),
            m.role,
            m.name,
            created_at=m.created_at,
            id=m.id,
            kind=m.kind,
            metadata=m.metadata,
            payload=payload_of(m),
        )
        for m in messages
    ]
    return IngestRequest(
        messages=tuple(kept),
        user_id=options.user_id,
        agent_id=options.agent_id,
        thread_id=options.thread_id,
        occurred_at=options.occurred_at,
        metadata=dict(options.metadata),
        mode=options.mode,
        extract=options.extract,
    )


def _run(session: MemorySession, options: ImportOptions) -> MemorySession:
    """Run the session, if its import is synchronous. Where another worker has it, or its next
    attempt is not due, it is returned as it stands."""
    if options.mode != MemorySession.Mode.SYNC:
        return session
    finished = ingest.run(session.pk)
    if finished is None:
        session.refresh_from_db()
    return finished or session


def content_of(message: TranscriptMessage) -> str:
    """Return a message's words; for a tool call, which has none, the call as one would write it."""
    if message.content or message.kind != Episode.Kind.TOOL_USE:
        return message.content
    given = message.input
    written = given if isinstance(given, str) else json.dumps(given, ensure_ascii=False)
    return f"{message.tool_name}: {written}" if given is not None else message.tool_name


def payload_of(message: TranscriptMessage) -> dict[str, Any]:
    """Return what a tool's episode keeps beside its words, in the API's names; empty for others."""
    if message.kind not in (Episode.Kind.TOOL_USE, Episode.Kind.TOOL_RESULT):
        return {}
    kept = {
        "toolName": message.tool_name,
        "toolUseId": message.tool_use_id,
        "input": message.input,
        "output": message.output,
        "isError": message.is_error,
    }
    return {key: value for key, value in kept.items() if value not in ("", None)}
