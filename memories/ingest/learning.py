"""Learn from a session that is due: extract, embed, resolve. It can run twice, from the rows."""

import time
import uuid
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

from django.db import transaction
from django.db.models import Q
from django.utils import timezone
from psycopg.types.json import Jsonb

from memories import extraction, metrics, misses, outbox, served, supersession, verdicts
from memories.bounds import AT_ONCE
from memories.errors import CapReached, Conflict, ProviderError
from memories.extraction import Extraction, Message, Wish
from memories.features import waiting
from memories.indexing import due, entries, inserts, spaces, statements
from memories.ingest.before import before
from memories.ingest.keeping import LEASE, LEASE_WITH_MODEL, Kept, State, keep
from memories.ingest.request import IngestRequest
from memories.ladder import ALWAYS, Ladder, ladder_from
from memories.models import (
    Episode,
    Fact,
    MemorySession,
    WorkspaceIndex,
    WorkspacePattern,
)
from memories.supersession import Claim, Outcome
from workspaces.models import AuditEntry
from workspaces.scope import Scope, worker_scope

MAX_ATTEMPTS = 3
ASKING = (MemorySession.Extract.AUTO, MemorySession.Extract.LLM)  # these may ask a model
MATCHING = (MemorySession.Extract.AUTO, MemorySession.Extract.PATTERNS)
LONGEST_NOTE = 500  # characters
BACK_OFF = timedelta(seconds=20)


def ingest(scope: Scope, request: IngestRequest) -> MemorySession:
    """Keep, and learn at once where that is asked and no network model stands in the way.

    Else the session is still to be run: an async one has woken the worker already.
    """
    space = spaces.space_for(scope)
    here = request.mode == MemorySession.Mode.SYNC and _is_quick(request, space)
    kept = keep(scope, request, space, claimed=here)
    # What is quick asks no model.
    return (_learn(kept, None) or kept.session) if here else kept.session


def _is_quick(request: IngestRequest, space: WorkspaceIndex) -> bool:
    if sum(len(message.content) for message in request.said) > AT_ONCE:
        return False
    if spaces.embedder_of(space).is_remote:
        return False
    return _ladder(request.extract, space) is None


def _ladder(extract: str, space: WorkspaceIndex) -> Ladder | None:
    if extract not in ASKING:
        return None
    return ladder_from(space.workspace_id, space.extractors)


def run(session_id: uuid.UUID) -> MemorySession | None:
    """Extract and resolve a session that is due; None where another worker has it, or is done."""
    session = _claim(session_id)
    if session is None:
        return None
    rows = Episode.objects.filter(pk__in=session.episode_ids).order_by("position", "pk")
    space = spaces.space_of(session.workspace_id)
    learned = _learn(Kept(session, space, tuple(rows)), _ladder(session.extract, space))
    if learned is not None:
        due.fill(space, learned.episode_ids)
    return learned


def _learn(kept: Kept, ladder: Ladder | None) -> MemorySession | None:
    """Do the work of a claimed session; None where another worker took it meanwhile."""
    session, started = kept.session, time.perf_counter()
    is_long = sum(len(episode.content) for episode in kept.episodes) > AT_ONCE
    if is_long or ladder is not None or spaces.embedder_of(kept.space).is_remote:
        until = timezone.now() + LEASE_WITH_MODEL
        MemorySession.objects.filter(pk=session.pk).update(lease_until=until)
    if is_long:
        due.make_keys(kept.space, items=session.episode_ids)
    matching = session.extract in MATCHING
    asked = matching and kept.space.has_patterns
    own = WorkspacePattern.objects.in_use(session.workspace_id) if asked else ()
    context = before(kept) if matching else ()
    always = kept.space.llm == ALWAYS
    subject = session.subject.external_id if session.subject else ""
    wish = Wish(
        session.extract, session.is_whole_text, session.visibility, own, context, always, subject
    )
    messages = served.marked(messages_of(kept), lambda: writer_of(session))
    found = extraction.extract(messages, wish, ladder)
    return _finish(session, kept.space, found, started)


CLAIM = """
update memories_memorysession
set state = 'extracting', attempts = attempts + 1, updated_at = %(now)s,
    lease_until = %(now)s + %(lease)s::interval
where id = %(id)s and ((state = 'received' and next_attempt_at <= %(now)s)
                       or (state in ('extracting', 'resolving') and lease_until < %(now)s))
returning *
"""


def _claim(session_id: uuid.UUID) -> MemorySession | None:
    """Take a session whose turn it is; the attempt is counted before the work, so that a
    session which kills its worker is given up at last."""
    claimed = statements.rows(CLAIM, {"id": session_id, "lease": LEASE, "now": timezone.now()})
    if not claimed:
        return None
    session = MemorySession(**claimed[0]._asdict())
    session._state.adding = False
    if session.attempts <= MAX_ATTEMPTS:
        return session
    _close(session, State.DEAD, "attempts used up")
    _save(session)
    return None


def messages_of(kept: Kept) -> list[Message]:
    unnamed = not all(episode.author for episode in kept.episodes)
    subject = kept.session.subject.name if unnamed and kept.session.subject else ""
    return [
        Message(
            index=index,
            id=episode.pk,
            kind=episode.kind,
            role=episode.role,
            speaker=episode.author or extraction.speaker_of(episode.kind, subject),
            text=episode.content,
            occurred_at=episode.occurred_at,
        )
        for index, episode in enumerate(kept.episodes)
    ]


def _finish(
    session: MemorySession, space: WorkspaceIndex, found: Extraction, started: float
) -> MemorySession | None:
    claims = [
        replace(claim, metadata=session.metadata) for claim in _unwritten(session, found.claims)
    ]
    embedding = time.perf_counter()
    texts = [entries.texts_of(claim.statement) for claim in claims]
    vectors = due.embed_or_leave(space, texts)
    found.milliseconds["embed"] = round((time.perf_counter() - embedding) * 1e3, 2)
    try:
        _apply(session, space, claims, vectors, found, started)
    except _TakenOver:
        return None
    return session


def _unwritten(session: MemorySession, claims: Sequence[Claim]) -> list[Claim]:
    """Claims that an earlier attempt of this session did not write already."""
    if not session.counts.get("facts"):
        return list(claims)
    known = set(
        Fact.objects.filter(session=session).values_list(
            "statement", "citations__episode_id", "citations__start"
        )
    )
    return [
        claim
        for claim in claims
        if (claim.statement, claim.quotes[0].episode_id, claim.quotes[0].start) not in known
    ]


@transaction.atomic(durable=True)
def _apply(
    session: MemorySession,
    space: WorkspaceIndex,
    claims: Sequence[Claim],
    vectors: Sequence[entries.Vectors] | None,
    found: Extraction,
    started: float,
) -> None:
    placement = supersession.placement_of(session, claims)
    outcome = supersession.apply(
        space,
        placement,
        claims,
        vectors,
        actor=f"session:{session.pk}",
        session_id=session.pk,
    )
    supersession.quarantine(placement, found.quarantined, session.pk)
    misses.record(session, found.missed)
    _note(session, outcome, found)
    session.timings = found.milliseconds | {
        "total": round((time.perf_counter() - started) * 1e3, 2)
    }
    session.steps = [*session.steps, *found.steps]
    _settle(session, found.error)
    if not _save(session):
        raise _TakenOver


class _TakenOver(Exception):
    """The lease ran out and another worker has the session: what this one did is rolled back."""


def writer_of(session: MemorySession) -> Scope:
    """Who sees what the session's agent sees; without an agent, all of the workspace."""
    scope = worker_scope(session.workspace_id)
    return scope if session.agent is None else scope.as_agent(session.agent)


def _note(session: MemorySession, outcome: Outcome, found: Extraction) -> None:
    session.created_ids = [*session.created_ids, *outcome.created]
    session.updated_ids = [*session.updated_ids, *outcome.superseded]
    session.reinforced_ids = [*session.reinforced_ids, *outcome.reinforced]
    counts = session.counts
    session.counts = counts | {
        "facts": counts.get("facts", 0) + outcome.facts,
        "held": counts.get("held", 0) + len(outcome.held),
        "reviewed": counts.get("reviewed", 0) + len(outcome.reviewed),
        "rejected": counts.get("rejected", 0) + len(outcome.rejected),
        "skipped": len(found.skipped),
        "quarantined": len(found.quarantined),
        "tooLong": found.too_long,
        **Counter(f"{verdicts.KEY}{skip.label}" for skip in found.skipped),
    }
    notes = [found.reason] if found.reason else []
    if outcome.rejected:
        told = "; ".join(outcome.rejected)[:LONGEST_NOTE]
        notes.append(f"{len(outcome.rejected)} rejected before by a person: {told}")
    if not session.episode_ids:
        notes.append("all messages are known already")
    session.reason = "; ".join(notes)


def _settle(session: MemorySession, error: ProviderError | None) -> None:
    """Done, also where the day's calls of the models are used up; or, where a model failed and
    messages wait for it, due again, failed or dead."""
    is_final = session.is_whole_text or isinstance(error, CapReached)
    if error is None or is_final:
        _close(session, State.DONE, "" if error is None else error.message)
    elif error.permanent:
        _close(session, State.FAILED, error.message)
    elif session.attempts >= MAX_ATTEMPTS:
        _close(session, State.DEAD, error.message)
    else:
        session.state, session.error = State.RECEIVED, error.message
        pause = max(BACK_OFF * 2**session.attempts, timedelta(seconds=error.retry_after or 0))
        session.next_attempt_at, session.lease_until = timezone.now() + pause, None


def _close(session: MemorySession, state: str, error: str) -> None:
    session.state, session.error = state, error
    session.finished_at = timezone.now()
    metrics.count("sessions_finished", outcome=state)
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
    reinforced_ids = %(reinforced_ids)s::uuid[], updated_at = %(now)s
where id = %(id)s and state = 'extracting' and attempts = %(attempts)s
"""
PLAIN = ("id", "attempts", "reason", "error", "next_attempt_at", "lease_until", "finished_at")
LISTS = ("created_ids", "updated_ids", "reinforced_ids")
DOCUMENTS = ("counts", "timings", "steps")


def _save(session: MemorySession) -> bool:
    """Write a session's outcome, unless another worker has taken it since."""
    values = {name: getattr(session, name) for name in (*PLAIN, *LISTS)}
    values |= {name: Jsonb(getattr(session, name)) for name in DOCUMENTS}
    values |= {"state": str(session.state), "now": timezone.now()}
    return statements.execute(OUTCOME, values) == 1


def retry(scope: Scope, session: MemorySession) -> MemorySession:
    """Make due now what failed, is dead or waits, or was kept whole because a model failed.

    Conflict for a session with nothing to try again.
    """
    waits = Q(state__in=[State.FAILED, State.DEAD, State.RECEIVED])
    changed = (
        MemorySession.objects.filter(waits | Q(state=State.DONE) & ~Q(error=""), pk=session.pk)
        .filter(workspace_id=scope.workspace_id)
        .update(state=State.RECEIVED, attempts=0, error="", next_attempt_at=timezone.now())
    )
    if not changed:
        raise Conflict(f"A session that is {session.state} cannot be retried.", field="status")
    waiting.unmark(session.workspace_id, session.episode_ids)
    outbox.post("run_session", session.pk)
    session.refresh_from_db()
    return session
