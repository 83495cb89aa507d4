"""Whose a session is, and how it stands: claimed, tried again later, ended. The row is the queue."""

import uuid
from collections.abc import Sequence
from datetime import timedelta

from django.db.models import Q, QuerySet
from django.utils import timezone
from psycopg.types.json import Jsonb

from memories import leases, metrics, outbox
from memories.errors import CapReached, Conflict, ProviderError
from memories.features import pending
from memories.index import inserts, statements
from memories.models import MemorySession
from workspaces.models import AuditEntry
from workspaces.scope import Scope

State = MemorySession.State
MAX_ATTEMPTS = 3  # workers that may die of it, between two steps
# Of models, over about a day. Each time it waits longer, or as long as the provider says.
MAX_FAILURES = 30
BACK_OFF, LONGEST_BACK_OFF = timedelta(seconds=20), timedelta(hours=1)
LONGEST_PAUSE = timedelta(days=1)

CLAIM = f"""
update memories_memorysession
set state = 'extracting', attempts = attempts + 1, claims = claims + 1, updated_at = %(now)s,
    lease_until = %(until)s
where id = %(id)s and ((state = 'received' and next_attempt_at <= %(now)s)
                       or (state in ('extracting', 'resolving') and {leases.FREE}))
returning *
"""


# Workspaces with something due, each looked up behind the one before; then the oldest of one of them.
NEXT = """
with recursive waiting as (
  (select workspace_id from memories_memorysession
   where state = 'received' and next_attempt_at <= %(now)s order by workspace_id limit 1)
  union all
  select (select s.workspace_id from memories_memorysession s
          where s.state = 'received' and s.next_attempt_at <= %(now)s
            and s.workspace_id > w.workspace_id order by s.workspace_id limit 1)
  from waiting w where w.workspace_id is not null
)
select (select s.id from memories_memorysession s
        where s.state = 'received' and s.next_attempt_at <= %(now)s
          and s.workspace_id = w.workspace_id
        order by s.workspace_id, s.next_attempt_at limit 1) as id
from waiting w where w.workspace_id is not null order by random() limit 1
"""


def next_due() -> uuid.UUID | None:
    """A session whose turn it is. Workspaces take turns by chance, however much one of them sent;
    within one the oldest is first."""
    rows = statements.rows(NEXT, {"now": timezone.now()})
    return rows[0].id if rows else None


def claim(session_id: uuid.UUID) -> MemorySession | None:
    """Take a session whose turn it is; the attempt is counted before the work, so that a
    session which kills its worker is given up at last."""
    values = {"id": session_id, "now": timezone.now(), "until": leases.end()}
    claimed = statements.rows(CLAIM, values)
    if not claimed:
        return None
    session = _row(claimed[0]._asdict())
    if session.attempts <= MAX_ATTEMPTS:
        return session
    close(session, State.DEAD, "attempts used up")
    if save(session):
        metrics.count("sessions_finished", outcome=State.DEAD)
    return None


def _row(values: dict[str, object]) -> MemorySession:
    session = MemorySession(**values)
    session._state.adding = False
    return session


def held(session: MemorySession) -> QuerySet[MemorySession]:
    """The session, as long as this claim of it stands."""
    return MemorySession.objects.filter(
        pk=session.pk, claims=session.claims, state=State.EXTRACTING
    )


def go_on(session: MemorySession) -> None:
    """A step is done, and the next one follows: those whose worker died before count no more."""
    session.attempts, session.lease_until = 1, leases.end()


def hand_over(session: MemorySession) -> None:
    """A step is done, and another worker does the next."""
    session.state, session.attempts = State.RECEIVED, 0
    session.next_attempt_at, session.lease_until = timezone.now(), None
    outbox.post("run_session", session.pk)


def settle(session: MemorySession, error: ProviderError | None, *, kept_whole: bool) -> None:
    """Done, also where the day's calls of the models are used up; or, where a model failed and
    what it did not read waits for it, due again, failed or dead. What was kept whole is not lost
    by that: of a failure for good it is done."""
    if error is None or isinstance(error, CapReached):
        close(session, State.DONE, "" if error is None else error.message)
        return
    session.attempts, session.failures = 0, session.failures + 1
    if error.permanent:
        close(session, State.DONE if kept_whole else State.FAILED, error.message)
    elif session.failures >= MAX_FAILURES:
        close(session, State.DONE if kept_whole else State.DEAD, error.message)
    else:
        session.state, session.error = State.RECEIVED, error.message
        session.next_attempt_at = timezone.now() + _pause(session, error)
        session.lease_until = None


def _pause(session: MemorySession, error: ProviderError) -> timedelta:
    grown = min(BACK_OFF * 2 ** min(session.failures, 10), LONGEST_BACK_OFF)
    wanted = timedelta(seconds=min(error.retry_after or 0.0, LONGEST_PAUSE.total_seconds()))
    return max(grown, wanted)


def close(session: MemorySession, state: str, error: str) -> None:
    session.state, session.error = state, error
    session.finished_at = timezone.now()
    session.next_attempt_at = session.lease_until = None
    line = AuditEntry.line(
        session.workspace_id,
        session.requested_by,
        "ingest",
        session,
        subject_id=session.subject_id,
        reason=session.reason,
        after={"state": state, **session.counts},
    )
    inserts.insert([line])


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
    "id", "claims", "attempts", "failures", "learned", "reason", "error", "next_attempt_at",
    "lease_until", "finished_at",
)  # fmt: skip
LISTS = ("created_ids", "updated_ids", "reinforced_ids")
DOCUMENTS = ("counts", "timings", "steps")


def save(session: MemorySession) -> MemorySession | None:
    """Write how a session stands; the row as it is then, None where another worker has taken it."""
    values = {name: getattr(session, name) for name in (*PLAIN, *LISTS)}
    values |= {name: Jsonb(getattr(session, name)) for name in DOCUMENTS}
    values |= {"state": str(session.state), "now": timezone.now()}
    written = statements.rows(OUTCOME, values)
    return _row(written[0]._asdict()) if written else None


def settled_among(ids: Sequence[str]) -> list[str]:
    """Those of the sessions for which it makes no sense to wait on: final, or tried again later."""
    rows = MemorySession.objects.filter(pk__in=ids).only("state", "failures")
    return [str(row.pk) for row in rows if row.is_final or row.is_postponed]


def retry(scope: Scope, session: MemorySession) -> MemorySession:
    """Make due now what failed, is dead or waits, or was kept whole because a model failed.

    Conflict for a session with nothing to try again.
    """
    waits = Q(state__in=[State.FAILED, State.DEAD, State.RECEIVED])
    changed = (
        MemorySession.objects.filter(waits | Q(state=State.DONE) & ~Q(error=""), pk=session.pk)
        .filter(workspace_id=scope.workspace_id)
        .update(
            state=State.RECEIVED, attempts=0, failures=0, learned=0, error="",
            next_attempt_at=timezone.now(),
        )
    )  # fmt: skip
    if not changed:
        raise Conflict(f"A session that is {session.state} cannot be retried.", field="status")
    pending.unmark(session.workspace_id, session.episode_ids)
    outbox.post("run_session", session.pk)
    session.refresh_from_db()
    return session
