"""The queue of documents. The rows are the queue: they tell which documents wait, which are being
worked on, and how many of these there may be."""

import uuid
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.db import connection, transaction
from django.db.models import Case, F, Value, When
from django.utils import timezone

from memories.models import Document, WorkerBeat
from memories.queue import leases, outbox
from memories.queue.due_rows import Queue
from memories.queue.workers_seen import LOST
from memoryproject.postgres import crossings

State = Document.State
TURN = 2.0  # seconds that a worker stays with one document before others have theirs
SHORT = 100_000  # bytes of a text that is read in less than a second
LOCK = "document turns"
OPEN = "state not in ('done', 'failed')"
AT_WORK = "state in ('extracting', 'chunking', 'embedding', 'indexing')"
WAITS = f"d.next_attempt_at <= %(now)s and {leases.FREE}"
MAX_ATTEMPTS = 4
QUEUE = Queue(
    Document,
    timedelta(seconds=20),
    most_attempts=MAX_ATTEMPTS,
    states=(State.QUEUED, *Document.WORKING),
    time="next_attempt_at",
)
due = QUEUE.due
# What was begun goes on where it was.
BEGUN = Case(When(state=State.QUEUED, then=Value(State.EXTRACTING)), default=F("state"))
# Workspaces with something open, each looked up behind the one before; then the document that waits
# longest of one on which nobody is at work: by chance, and rather one that nobody has begun. One
# workspace that waits alone has all the places there are.
NEXT = f"""
with recursive waiting as (
  (select workspace_id from memories_document where {OPEN} order by workspace_id limit 1)
  union all
  select (select d.workspace_id from memories_document d
          where d.{OPEN} and d.workspace_id > w.workspace_id order by d.workspace_id limit 1)
  from waiting w where w.workspace_id is not null
),
turns as (
  select of_it.id, of_it.state,
         exists (select 1 from memories_document k
                 where k.workspace_id = w.workspace_id and k.lease_until is not null
                   and k.{AT_WORK} and not {leases.FREE.replace("lease_until", "k.lease_until")}
                ) as is_at_work
  from waiting w
  cross join lateral (
    select d.id, d.state from memories_document d
    where d.workspace_id = w.workspace_id and d.{OPEN} and {WAITS} {{only}}
    order by d.workspace_id, d.next_attempt_at limit 1) of_it
  where w.workspace_id is not null
)
select id from turns
where not is_at_work or (select count(*) from turns) = 1
order by is_at_work, random() + case when state = 'queued' then 0 else 0.5 end limit 1
"""
# None of them takes longer than about a second.
ONLY_SHORT = r"""
      and coalesce((select b.size from memories_blob b where b.id = d.blob_id),
                   (select octet_length(e.content) from memories_episode e
                    where e.id = d.episode_id)) <= %(short)s
      and (d.filename = '' or d.filename ~* '\.(txt|md|markdown|json|csv|html?)$')"""
NEXT_DUE, NEXT_SHORT = NEXT.format(only=""), NEXT.format(only=ONLY_SHORT)


def waits(document_id: uuid.UUID) -> bool:
    return QUEUE.rows().filter(pk=document_id).exists()


def claim(document_id: uuid.UUID) -> Document | None:
    """Take a document that is due, whoever else is at work; the attempt is counted before it."""
    return QUEUE.claim(document_id, state=BEGUN)


@crossings.everywhere()
def claim_next() -> Document | None:
    """Take the one whose turn it is: of a workspace on which nobody is at work, as long as others
    wait too. One worker stays free of long ones, for sessions and for short texts."""
    with transaction.atomic(), connection.cursor() as cursor:
        # One who chooses at a time: two would choose of the same workspace.
        cursor.execute("select pg_advisory_xact_lock(hashtextextended(%s, 0))", [LOCK])
        leased = Document.objects.filter(state__in=Document.WORKING, lease_until__isnull=False)
        at_work = leased.exclude(leases.free(timezone.now())).count()
        free = _workers() - at_work
        if free < 1:
            return None
        values: dict[str, Any] = {"now": timezone.now(), "short": SHORT}
        is_last = free == 1 and _workers() > 1
        cursor.execute(NEXT_SHORT if is_last else NEXT_DUE, values)
        row = cursor.fetchone()
        return claim(row[0]) if row else None


@crossings.everywhere()
def ring() -> None:
    """Wake the worker for what waits: the task that came for it may have come in vain."""
    for document_id in due(1):
        outbox.post("run_document", document_id)


def _workers() -> int:
    """Processes that take tasks, of all machines that were seen lately."""
    own: Any = settings.Q_CLUSTER["workers"]
    lately = timezone.now() - timedelta(seconds=LOST)
    hosts = WorkerBeat.objects.filter(kind="worker", seen_at__gt=lately).values("host")
    return int(own) * max(1, hosts.distinct().count())
