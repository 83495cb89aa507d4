"""Touches by the messages of a server that kept none before: found in steps, the oldest message first.

The job's row is the queue: it says behind which message to go on, and up to which. Whoever stops it keeps
what was found; what it has not reached counts as untouched.
"""

import time
import uuid
from collections.abc import Iterable, Sequence
from itertools import groupby

from django.db import transaction

from memories.belief.touches.meet import Meeting, PersonsMessage
from memories.belief.touches.touch_rows import write_touches
from memories.index import workspace_index
from memories.models import Episode, LongJob, MemorySession, WorkspaceIndex
from memories.queue import long_jobs
from memories.queue.long_jobs import NewJob, Stopped

BATCH = 100  # messages of a step
TURN = 20.0  # seconds of the sweep
FIRST = uuid.UUID(int=0)
AFTER, UNTIL = "after", "until"

State = LongJob.State


def due_workspaces() -> list[uuid.UUID]:
    rows = LongJob.objects.filter(kind=LongJob.Kind.TOUCHING, state__in=(State.RUNNING, State.FAILED))
    return [pk for pk in rows.order_by("pk").values_list("workspace_id", flat=True) if pk is not None]


def go_on(workspace_id: uuid.UUID, seconds: float = TURN) -> int:
    """Go on in a workspace for about `seconds`; return how many messages were looked at."""
    end = time.monotonic() + min(seconds, TURN)
    space, done = workspace_index.index_of(workspace_id), 0
    new = NewJob(LongJob.Kind.TOUCHING, workspace_id, None, "messages", item=workspace_id)
    try:
        with long_jobs.recorded(new) as job:
            after = uuid.UUID(str(job.result.get(AFTER, FIRST)))
            rows = Episode.objects.filter(workspace_id=workspace_id, kind__in=Episode.OF_PEOPLE)
            rows = rows.filter(pk__lte=uuid.UUID(str(job.result[UNTIL]))) if UNTIL in job.result else rows
            rows = rows.select_related("subject", "agent").order_by("pk")
            while episodes := list(rows.filter(pk__gt=after)[:BATCH]):
                _find(space, episodes)
                after, done = episodes[-1].pk, done + len(episodes)
                job.tell({AFTER: str(after)})
                job.advance(len(episodes))
                if time.monotonic() >= end:
                    job.leave()
                    break
    except Stopped:
        pass
    return done


def _find(space: WorkspaceIndex, episodes: Iterable[Episode]) -> None:
    def place(one: Episode) -> tuple[str, ...]:
        return tuple(map(str, (one.subject_id, one.agent_id, one.scope, one.conversation_id, one.workflow)))

    for _, group in groupby(sorted(episodes, key=place), key=place):
        _find_in(space, list(group))


@transaction.atomic(durable=True)
def _find_in(space: WorkspaceIndex, episodes: Sequence[Episode]) -> None:
    one = episodes[0]
    session = MemorySession(
        workspace_id=space.workspace_id,
        subject=one.subject,
        agent=one.agent,
        conversation_id=one.conversation_id,
        scope=one.scope,
        workflow=one.workflow,
    )
    name = one.subject.name if one.subject else ""
    meeting = Meeting.of(
        space, session, [PersonsMessage(row.pk, row.content, row.believed_at, row.author or name) for row in episodes]
    )
    if meeting is not None:
        write_touches(space.workspace_id, meeting.touches())
