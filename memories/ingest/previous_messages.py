"""What a conversation had said shortly before a request: its context, not its claims."""

import uuid
from dataclasses import dataclass
from datetime import datetime, timedelta

from memories.bounds import READ_CHARACTERS
from memories.extraction import Message, speaker_of
from memories.index import statements
from memories.ingest.store import Kept

LAST = 6  # messages
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
        "last": LAST,
        "most": READ_CHARACTERS,
    }
    rows = statements.rows(BEFORE, values)
    return tuple(
        Message(
            index=-1,
            id=row.id,
            kind=row.kind,
            role=row.role,
            speaker=row.author or speaker_of(row.kind, subject_name),
            text=row.content,
            occurred_at=row.occurred_at,
        )
        for row in reversed(rows)
    )


def before(kept: Kept) -> tuple[Message, ...]:
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
