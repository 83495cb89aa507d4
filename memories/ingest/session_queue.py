"""The queue of sessions: which worker has a session, and its state: claimed, tried again later,
ended. The row is the queue."""

import logging
import uuid
from collections import defaultdict
from collections.abc import Sequence
from contextlib import suppress
from datetime import timedelta
from operator import itemgetter

from django.db import DatabaseError
from django.db.models import Q, QuerySet
from django.utils import timezone
from psycopg.types.json import Jsonb

from memories import metrics
from memories.errors import CapReached, Conflict, ProviderError, Unasked, UnreadableAnswer
from memories.index import prepared_sql
from memories.ingest.ingest_request import AT_ONCE
from memories.models import MemorySession
from memories.profiles.features import set_queue
from memories.queue import leases, outbox
from memories.queue.due_rows import pause_after
from memories.reading.extraction.fallback_chain import server_model
from memoryproject.postgres import crossings, visible
from workspaces.models import AuditEntry
from workspaces.scope import Scope

log = logging.getLogger(__name__)
State = MemorySession.State
# Workers that may die of it between two steps: more than an unlucky row of restarts takes.
MAX_ATTEMPTS = 6
# Of models that answer others, over about a day. Each time it waits longer, or as long as the provider says.
MAX_FAILURES = 30
MOST_BAD_ANSWERS = 2  # each is paid for
UNASKED = timedelta(minutes=10)
BACK_OFF = timedelta(seconds=20)
LONGEST_PAUSE = timedelta(days=1)
MOST_GIVEN_BACK = 1_000  # sessions whose worker died, in one sweep

CLAIM = f"""
update memories_memorysession
set state = 'extracting', attempts = attempts + 1, claims = claims + 1, updated_at = %(now)s,
    lease_until = %(until)s
where id = %(id)s and ((state = 'received' and next_attempt_at <= %(now)s)
                       or (state in ('extracting', 'resolving') and {leases.FREE}))
returning *
"""


# Workspaces with something due, each looked up behind the one before; then the oldest of the one of
# which the fewest are worked on (among the 500 that are due longest), by chance where several are
# equal.
NEXT = """
with recursive waiting as (
  (select workspace_id from memories_memorysession
   where state = 'received' and next_attempt_at <= %(now)s order by workspace_id limit 1)
  union all
  select (select s.workspace_id from memories_memorysession s
          where s.state = 'received' and s.next_attempt_at <= %(now)s
            and s.workspace_id > w.workspace_id order by s.workspace_id limit 1)
  from waiting w where w.workspace_id is not null
),
working as (
  select workspace_id, count(*) as number
  from (select workspace_id, state from memories_memorysession
        where state in ('received', 'extracting', 'resolving')
        order by next_attempt_at limit 500) oldest
  where state <> 'received' group by workspace_id
),
turns as (
  select (select s.id from memories_memorysession s
          where s.state = 'received' and s.next_attempt_at <= %(now)s
            and s.workspace_id = w.workspace_id {only}
          order by s.workspace_id, s.next_attempt_at limit 1) as id,
         coalesce(k.number, 0) as working
  from waiting w left join working k on k.workspace_id = w.workspace_id
  where w.workspace_id is not null
)
select id from turns where id is not null order by working, random() limit 1
"""
# Of the twenty that a workspace has waiting longest, those for which no network model is asked and
# whose texts are short: none takes longer than about a second.
ONLY_QUICK = """
            and s.id in (
              select q.id
              from (select * from memories_memorysession t
                    where t.state = 'received' and t.next_attempt_at <= %(now)s
                      and t.workspace_id = w.workspace_id
                    order by t.workspace_id, t.next_attempt_at limit 20) q
              join workspaces_workspace c on c.id = q.workspace_id
              left join memories_workspaceindex x on x.workspace_id = q.workspace_id
              left join memories_embeddingmodel m on m.id = x.embedding_model_id
              where coalesce(m.provider, 'none') <> 'openai'
                and q.pathway <> 'document'
                and (q.extract in ('none', 'patterns')
                     or coalesce(c.settings -> 'extractors', 'null') = '[]'
                     or (not %(has_model)s
                         and coalesce(c.settings -> 'extractors', 'null') = 'null'))
                and (select coalesce(sum(octet_length(e.content)), 0) from memories_episode e
                     where e.id = any(q.episode_ids)) <= %(most)s)"""
NEXT_DUE, NEXT_QUICK = NEXT.format(only=""), NEXT.format(only=ONLY_QUICK)


OUTCOME = """
update memories_memorysession
set state = %(state)s, reason = %(reason)s, error = %(error)s, counts = %(counts)s,
    timings = %(timings)s, steps = %(steps)s, next_attempt_at = %(next_attempt_at)s::timestamptz,
    lease_until = %(lease_until)s::timestamptz, finished_at = %(finished_at)s::timestamptz,
    created_ids = %(created_ids)s::uuid[], updated_ids = %(updated_ids)s::uuid[],
    reinforced_ids = %(reinforced_ids)s::uuid[], attempts = %(attempts)s,
    failures = %(failures)s, learned = %(learned)s, updated_at = %(now)s
where id = %(id)s and state = 'extracting' and claims = %(claims)s
returning *
"""
PLAIN = (
    "id",
    "claims",
    "attempts",
    "failures",
    "learned",
    "reason",
    "error",
    "next_attempt_at",
    "lease_until",
    "finished_at",
)
LISTS = ("created_ids", "updated_ids", "reinforced_ids")
DOCUMENTS = ("counts", "timings", "steps")


def next_due(*, only_quick: bool = False) -> uuid.UUID | None:
    """Return the next session: from the workspace with the fewest in work, however much another has
    sent; within a workspace the oldest comes first. `only_quick`: none that may wait for a model or
    is long."""
    values: dict[str, object] = {"now": timezone.now()}
    if only_quick:
        values |= {"has_model": server_model() is not None, "most": AT_ONCE}
    with crossings.everywhere():
        rows = prepared_sql.rows(NEXT_QUICK if only_quick else NEXT_DUE, values)
    return rows[0].id if rows else None


def claim(session_id: uuid.UUID) -> MemorySession | None:
    """Take a session whose turn it is; the attempt is counted before the work, so that a
    session which kills its worker is given up at last."""
    values = {"id": session_id, "now": timezone.now(), "until": leases.end()}
    claimed = prepared_sql.rows(CLAIM, values)
    if not claimed:
        return None
    session = _row(claimed[0]._asdict())
    if session.attempts <= MAX_ATTEMPTS:
        return session
    why = f"attempts used up: {session.error}" if session.error else "attempts used up"
    close(session, State.DEAD, why)
    if save(session):
        log.error("%s is dead: %d attempts did not end (%s)", name_of(session), MAX_ATTEMPTS, why)
        metrics.count("sessions_finished", outcome=State.DEAD)
    return None


def due_sessions(limit: int | None = None) -> list[uuid.UUID]:
    """Sessions that are due: the oldest of each workspace, then the second of each."""
    rows = MemorySession.objects.filter(state=State.RECEIVED, next_attempt_at__lte=timezone.now())
    places: dict[uuid.UUID, int] = defaultdict(int)
    turns = []
    for session_id, workspace_id in rows.order_by("next_attempt_at").values_list("pk", "workspace_id"):
        turns.append((places[workspace_id], session_id))
        places[workspace_id] += 1
    return [session_id for _, session_id in sorted(turns, key=itemgetter(0))][:limit]


def give_back_abandoned() -> int:
    """Make sessions whose worker died due again, for all workers at once, and return how many. Their
    attempts count as before."""
    now = timezone.now()
    abandoned = MemorySession.objects.filter(leases.free(now), state__in=[State.EXTRACTING, State.RESOLVING])
    ids = list(abandoned.values_list("pk", flat=True)[:MOST_GIVEN_BACK])
    given = abandoned.filter(pk__in=ids).update(state=State.RECEIVED, next_attempt_at=now, lease_until=None)
    for session_id in ids:
        outbox.post("run_session", session_id)
    return given


def name_of(session: MemorySession) -> str:
    """Return a name for the log, which never has content."""
    return f"session {session.pk} of workspace {session.workspace_id}"


def _row(values: dict[str, object]) -> MemorySession:
    session = MemorySession(**values)
    session._state.adding = False
    return session


def held(session: MemorySession) -> QuerySet[MemorySession]:
    """Return the session's row, as long as this claim of it stands."""
    return MemorySession.objects.filter(pk=session.pk, claims=session.claims, state=State.EXTRACTING)


def note_fault(session: MemorySession, fault: Exception) -> None:
    """Note which fault ended an attempt whose process lives; no words of it, which may be those of
    the text. Where the database is the fault, nothing is noted."""
    with suppress(DatabaseError):
        held(session).update(error=type(fault).__name__)


def go_on(session: MemorySession) -> None:
    """Note that a step is done and the next follows: earlier deaths of workers count no more."""
    session.attempts, session.lease_until = 1, leases.end()


def hand_over(session: MemorySession) -> None:
    """Note that a step is done, and leave the next one to another worker."""
    session.state, session.attempts = State.RECEIVED, 0
    session.next_attempt_at, session.lease_until = timezone.now(), None
    outbox.post("run_session", session.pk)


def settle(session: MemorySession, error: ProviderError | None, *, kept_whole: bool) -> None:
    """Settle the state: done, also where the day's calls of the models are used up, or a model's answer
    was of no use: a bad answer fails nobody's messages. After a model's failure it is due again. A model that
    is away costs it nothing; after a permanent failure, or too many while the model answers others, it is
    failed or dead, or done if the text was kept whole."""
    is_bad = isinstance(error, UnreadableAnswer) and (error.permanent or session.failures >= MOST_BAD_ANSWERS - 1)
    if error is None or is_bad or isinstance(error, CapReached):
        close(session, State.DONE, "" if error is None else error.message)
        return
    session.attempts = 0
    # The first failure says nothing of the question, nor do those without an answer in between.
    is_its_own = not error.is_outage or (error.follows_answer and session.error != "")
    session.failures += is_its_own
    if error.permanent:
        close(session, State.DONE if kept_whole else State.FAILED, error.message)
    elif is_its_own and session.failures >= MAX_FAILURES:
        close(session, State.DONE if kept_whole else State.DEAD, error.message)
    else:
        session.state, session.error = State.RECEIVED, error.message
        wanted = min(error.retry_after or 0.0, LONGEST_PAUSE.total_seconds())
        if isinstance(error, Unasked) and error.retry_after is not None:
            wanted = UNASKED.total_seconds()  # nobody was asked: it is woken when the model answers again
        session.next_attempt_at = timezone.now() + pause_after(session.failures, BACK_OFF, wanted)
        session.lease_until = None


def close(session: MemorySession, state: str, error: str) -> None:
    session.state, session.error = state, error
    session.finished_at = timezone.now()
    session.next_attempt_at = session.lease_until = None


def save(session: MemorySession) -> MemorySession | None:
    """Write the state of a session, and a line in the audit log if it was closed; return the row as
    it is then, None where another worker has taken it."""
    values = {name: getattr(session, name) for name in (*PLAIN, *LISTS)}
    values |= {name: Jsonb(getattr(session, name)) for name in DOCUMENTS}
    values |= {"state": str(session.state), "now": timezone.now()}
    line = AuditEntry.line(
        session.workspace_id,
        session.requested_by,
        "ingest",
        session,
        subject_id=session.subject_id,
        reason=session.reason,
        after={"state": session.state, **session.counts},
    )
    lines = prepared_sql.inserts([line] if session.is_final else [])
    *_, written = prepared_sql.rows_of_each([*lines, (OUTCOME, values)])
    return _row(written[0]._asdict()) if written else None


def settled_among(ids: Sequence[str]) -> list[str]:
    """Return the sessions that need not be waited for any more: final, tried again later, or erased
    meanwhile."""
    with visible.only(*crossings.workspaces_of_sessions([uuid.UUID(each) for each in ids])):
        rows = MemorySession.objects.filter(pk__in=ids).only("state", "error")
        under_way = {str(row.pk) for row in rows if not (row.is_final or row.is_postponed)}
    return [each for each in ids if each not in under_way]


def retry(scope: Scope, session: MemorySession) -> MemorySession:
    """Make a session due now that failed, is dead or waits, or was kept whole after a failure.

    Raises Conflict for a session with nothing to try again.
    """
    waits = Q(state__in=[State.FAILED, State.DEAD, State.RECEIVED])
    changed = (
        MemorySession.objects.filter(waits | Q(state=State.DONE) & ~Q(error=""), pk=session.pk)
        .filter(workspace_id=scope.workspace_id)
        .start_again()
    )
    if not changed:
        raise Conflict(f"A session that is {session.state} cannot be retried.", field="status")
    set_queue.unmark(session.workspace_id, session.episode_ids)
    outbox.post("run_session", session.pk)
    session.refresh_from_db()
    return session
