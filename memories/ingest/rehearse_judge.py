"""Rehearsals of the judge on the messages of the last week: its probabilities are kept, so that any thresholds can be
tried on them at once. No memory is written.

The row is the queue. It is worked on in turns of a few seconds, where nothing else waits for the judge; a turn that is
lost is done again.
"""

import time
import uuid
from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from memories import teaching
from memories.belief import touches
from memories.index import workspace_index
from memories.ingest.judge_scores import score_messages
from memories.judge.judge import TrainedJudge, shipped
from memories.models import Episode, JudgeRehearsal, LongJob
from memories.queue import long_jobs
from memories.queue.due_rows import Queue
from memories.queue.long_jobs import NewJob, Stopped
from memories.settings.workspace_settings import settings_of
from workspaces.models import Workspace
from workspaces.models.workspace import first_uuid7
from workspaces.scope import Scope

WEEK = timedelta(days=7)
MOST = 1_000  # messages, the newest
AT_ONCE = 4  # of them
TURN = 3.0  # seconds; whoever says something meanwhile waits so long for the judge
FAILED = "The judge did not answer."
State = JudgeRehearsal.State
QUEUE = Queue(JudgeRehearsal, timedelta(seconds=30), most_attempts=3, states=(State.WAITING,))


def request(scope: Scope) -> JudgeRehearsal:
    """Have the judge look through the last week of a workspace, or return the row that waits for it already."""
    since = timezone.now() - WEEK
    number = _messages(scope.workspace_id, since)[:MOST].count()
    new = {"requested_by": scope.actor, "since": since, "total": number, "due_at": timezone.now()}
    row, _ = JudgeRehearsal.objects.get_or_create(workspace_id=scope.workspace_id, state=State.WAITING, defaults=new)
    return row


def due(judge: TrainedJudge = shipped) -> tuple[uuid.UUID, uuid.UUID] | None:
    """Return the rehearsal that waits longest, and its workspace; None where there is none, or no model."""
    row = QUEUE.rows().values_list("pk", "workspace_id").first()
    return row if row and judge.name else None


def go_on(row_id: uuid.UUID, seconds: float = TURN, judge: TrainedJudge = shipped) -> JudgeRehearsal | None:
    """Look through some more messages, for about `seconds`; None where another process has the row."""
    end, row = time.monotonic() + min(seconds, TURN), QUEUE.claim(row_id)
    if row is None:
        return None
    if QUEUE.died_too_often(row):
        QUEUE.leave(row, None, state=State.FAILED)
        return row
    space = workspace_index.index_of(row.workspace_id)
    learns = settings_of(Workspace.objects.only("settings").get(pk=row.workspace_id)).judge.learn
    of_changes = teaching.taught(row.workspace_id, judge) if learns else judge
    rows = _messages(row.workspace_id, row.since).order_by("-pk")
    number = row.total - row.done
    new = NewJob(LongJob.Kind.REHEARSAL, row.workspace_id, row.total, "messages", row.requested_by, row.pk)
    try:
        with long_jobs.recorded(new) as job, QUEUE.renewed(row):
            job.done = row.done
            while True:  # once at least, however late it is
                left = rows.filter(pk__lt=row.after) if row.after else rows
                episodes = list(left[: min(AT_ONCE, number)])
                scores = score_messages(space, episodes, judge, of_changes)
                if scores is None:
                    again = QUEUE.retry_at(row)
                    QUEUE.leave(row, again, state=State.WAITING if again else State.FAILED)
                    if again:
                        job.leave()
                    else:
                        job.fail(FAILED)
                    return row
                row.scores += [score.row for score in scores]
                row.done += len(episodes)
                row.after = episodes[-1].pk if episodes else row.after
                number = row.total - row.done if episodes else 0
                job.advance(len(episodes))
                if number <= 0 or time.monotonic() >= end:
                    break
            _write(row, str(of_changes.name), is_over=number <= 0)
            if number > 0:
                job.leave()
    except Stopped:
        QUEUE.held(row).delete()
    return row


@transaction.atomic(durable=True)
def _write(row: JudgeRehearsal, model: str, *, is_over: bool) -> None:
    """Write what a turn has found, unless the claim was lost; the one that is over takes the place of earlier ones."""
    found = {"scores": row.scores, "done": row.done, "after": row.after, "model": model}
    if not is_over:
        QUEUE.give_back(row, **found)
    elif QUEUE.leave(row, None, state=State.DONE, **found):
        JudgeRehearsal.objects.filter(workspace=row.workspace_id, pk__lt=row.pk).delete()


def _messages(workspace_id: uuid.UUID, since: datetime) -> QuerySet[Episode]:
    """Return the messages of that time that the judge is asked about, once they are learned from."""
    rows = Episode.objects.filter(workspace_id=workspace_id, kind__in=Episode.OF_PEOPLE, pk__gte=first_uuid7(since))
    return rows.exclude(session__state__in=touches.OPEN)
