"""Which summaries have fallen behind. The row is the queue; the worker is woken for it."""

import uuid
from collections.abc import Iterable

from django.db.models import F
from django.utils import timezone

from memories import outbox
from memories.index import statements
from memories.models import ConversationSummary, Episode

STEP = 20  # messages that may come in before a summary is made anew

# Of several who want it at once one wakes the worker.
WANT = """
insert into memories_conversationsummary as s
  (id, workspace_id, conversation_id, agent_id, method, rule, lines, tokens, episodes,
   upto_position, seen, due_at, attempts, claims, error, created_at, updated_at)
values (gen_random_uuid(), %(workspace)s, %(conversation)s, %(agent)s::uuid, 'extractive', '',
        '[]', 0, 0, 0, -1, %(now)s, 0, 0, '', %(now)s, %(now)s)
on conflict (conversation_id, agent_id) do update set due_at = %(now)s, attempts = 0
  where s.due_at is null
returning id
"""
# A conversation that nobody has asked for has no summary, and costs nothing.
BEHIND = """
update memories_conversationsummary set due_at = %(now)s, attempts = 0
where conversation_id = %(conversation)s and due_at is null
  and seen + greatest(%(step)s, episodes / 10) <= %(positions)s
returning id
"""


def want(episode: Episode, agent_id: uuid.UUID | None) -> None:
    """Somebody asked for the conversation of this one: let its summary be made, or made anew."""
    values = {
        "workspace": episode.workspace_id,
        "conversation": episode.conversation_id,
        "agent": agent_id,
        "now": timezone.now(),
    }
    _ring(row.id for row in statements.rows(WANT, values))


def grown(conversation_id: uuid.UUID | None, before: int, after: int) -> None:
    """The conversation had `before` positions and has `after` now, in the caller's transaction."""
    if conversation_id is None or before // STEP == after // STEP:
        return
    values = {"conversation": conversation_id, "positions": after, "step": STEP}
    _ring(row.id for row in statements.rows(BEHIND, values | {"now": timezone.now()}))


def start_again(conversations: Iterable[uuid.UUID]) -> int:
    """What they were made of has changed: the summaries are emptied at once, and made anew.

    One that is just being written finds its lease gone, and is not kept.
    """
    return ConversationSummary.objects.filter(conversation__in=conversations).update(
        lines=[], tokens=0, episodes=0, upto_at=None, upto_position=0, seen=-1, rule="",
        method=ConversationSummary.Method.EXTRACTIVE, due_at=timezone.now(), lease_until=None,
        error="", attempts=0, claims=F("claims") + 1,
    )  # fmt: skip


def _ring(ids: Iterable[uuid.UUID]) -> None:
    for each in ids:
        outbox.post("summarize", each)
