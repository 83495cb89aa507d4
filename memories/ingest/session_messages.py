"""The messages of a session as extraction reads them, and what the conversation had said before.

What this server had told is not learned a second time: assistants repeat what they were served, and
prompts carry it. Sentences of theirs that say what a memory says, and blocks that mark served
memories in anybody's message, are not read again. A person who says the same again is heard.
"""

import uuid
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from memories import bounds
from memories.bounds import READ_CHARACTERS
from memories.english import clauses, lexical, pasted_text
from memories.extraction import Message, Span, speaker_of
from memories.index import prepared_sql
from memories.ingest.store import Kept
from memories.masked_text import is_masked
from memories.models import Episode, Memory, MemorySession
from workspaces.scope import Scope, worker_scope

SHORTEST = 3  # characters
MOST_PIECES = 2_000  # of one message; no answer of an assistant has as many sentences

MOST_BEFORE = 6  # messages
RECENT = timedelta(hours=12)  # what is older is another sitting
BEFORE = """
select id, kind, role, author, left(content, %(most)s) as content, occurred_at
from memories_episode
where conversation_id = %(conversation)s and position < %(position)s
  and occurred_at between %(at)s - %(recent)s::interval and %(at)s
  and subject_id is not distinct from %(subject)s::uuid
  and (agent_id = %(agent)s::uuid or %(agent)s::uuid is null)
order by position desc limit %(last)s
"""
END = 2**31 - 1  # behind all positions


def mark_own_output(
    messages: Sequence[Message], asker: Callable[[], Scope], own: Collection[uuid.UUID] = ()
) -> list[Message]:
    """The messages, each with the places in it that were served before.

    `asker` is whoever sent them: only what they may see can have been served to them. It is
    called, and the database asked, only where a message is not a person's. `own` are memories
    that were made of these very messages: they were not served when these were sent.
    """
    pieces = [
        () if m.kind in Episode.OF_PEOPLE else tuple(_pieces(bounds.start_of(m.text)))
        for m in messages
    ]
    marks = {mark for each in pieces for _, mark in each}
    known: set[bytes] = set()
    if any(pieces):
        live = Memory.objects.visible_to(asker()).exclude(pk__in=own)
        # Heads, not only what is live: what has expired may have been served before it did.
        live = live.filter(is_head=True)
        rows = live.filter(fingerprint__in=marks).values_list("fingerprint", flat=True)
        known = {bytes(each) for each in rows}
    marked = []
    for message, pairs in zip(messages, pieces, strict=True):
        served = [span for span, mark in pairs if mark in known]
        spans = (*pasted_text.served_blocks(message.text), *served)
        marked.append(replace(message, served=spans) if spans else message)
    return marked


def _pieces(text: str) -> Iterator[tuple[Span, bytes]]:
    """Sentences and lines of `text`, and the whole of it, with what they say as a fingerprint."""
    lines, start = [], 0
    for line in text.splitlines(keepends=True):
        body = line.lstrip(" \t-*•>")
        lines.append((start + len(line) - len(body), start + len(line.rstrip())))
        start += len(line)
    spans = dict.fromkeys([*clauses.sentences(text), *lines, (0, len(text))])
    for start, end in list(spans)[:MOST_PIECES]:
        if end - start >= SHORTEST:
            yield (start, end), lexical.fingerprint(text[start:end])


@dataclass(frozen=True, slots=True)
class ConversationPlace:
    """A place in a conversation, and whose words there may be read: the agent's own, about the
    subject; without an agent, everybody's."""

    conversation_id: uuid.UUID
    subject_id: uuid.UUID | None
    agent_id: uuid.UUID | None
    at: datetime
    position: int = END


def said_before(place: ConversationPlace, subject_name: str) -> tuple[Message, ...]:
    """The last messages before `place`, oldest first."""
    values = {
        "conversation": place.conversation_id,
        "subject": place.subject_id,
        "agent": place.agent_id,
        "at": place.at,
        "position": place.position,
        "recent": RECENT,
        "last": MOST_BEFORE,
        "most": READ_CHARACTERS,
    }
    rows = prepared_sql.rows(BEFORE, values)
    return tuple(
        Message(
            index=-1,
            id=row.id,
            kind=row.kind,
            role=row.role,
            speaker=speaker_of(row.kind, subject_name, row.author),
            text=row.content,
            occurred_at=row.occurred_at,
        )
        for row in reversed(rows)
    )


def messages_before(kept: Kept) -> tuple[Message, ...]:
    """What was said before the episodes of a session; nothing where they begin a conversation."""
    session, first = kept.session, kept.episodes[0] if kept.episodes else None
    if first is None or first.position == 0 or session.conversation_id is None:
        return ()
    place = ConversationPlace(
        session.conversation_id,
        session.subject_id,
        session.agent_id,
        first.occurred_at,
        first.position,
    )
    return said_before(place, session.subject.name if session.subject else "")


def messages_of(kept: Kept) -> list[Message]:
    unnamed = any(not each.author or is_masked(each.author) for each in kept.episodes)
    subject = kept.session.subject.name if unnamed and kept.session.subject else ""
    return [
        Message(
            index=index,
            id=episode.pk,
            kind=episode.kind,
            role=episode.role,
            speaker=speaker_of(episode.kind, subject, episode.author),
            text=episode.content,
            occurred_at=episode.occurred_at,
        )
        for index, episode in enumerate(kept.episodes)
    ]


def writer_of(session: MemorySession) -> Scope:
    """Who sees what the session's agent sees; without an agent, all of the workspace."""
    scope = worker_scope(session.workspace_id, session.requested_by)
    return scope if session.agent is None else scope.as_agent(session.agent)
