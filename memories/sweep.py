"""Repair of timestamps that a wrong clock once set into the future.

Whatever waits for a time lies no further ahead than its own longest period: anything further was
written by such a clock, and its time has come. No statement or memory is dated anew: it may be the
clock of now that is wrong. What comes later is newer whatever the dates are (`candidates.KNOWN`).

A lease, a queued job, a set's cursor and a key's last use need no repair: readers ignore those that
lie too far ahead (`leases.free`, `queue.enqueue_due`, `queue.count`).
"""

import logging
import math
import time
import uuid
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from operator import itemgetter

from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from memories import (
    breakers,
    erase,
    events,
    golden,
    ingest,
    leases,
    long_jobs,
    outbox,
    resolve,
    search_counts,
    stored_metrics,
    webhooks,
)
from memories.connections import sync
from memories.documents import blobs, pipeline
from memories.erase import workspace_removal
from memories.features import set_embedding, sets
from memories.index import (
    common_terms,
    due_vectors,
    prepared_sql,
    repair,
    segments,
    workspace_index,
)
from memories.leases import FAR
from memories.models import (
    Case,
    DueVector,
    IdempotentAnswer,
    Memory,
    MemorySession,
    WorkspaceIndex,
    expired_memories,
)
from memories.models.conversation_and_summaries import AHEAD
from memories.review import forget_expired, merge_and_separate, taken_words
from memories.summaries import running_summary, talk_summaries
from memoryproject import crossings
from memoryproject.postgres import visible
from workspaces import audit_chain, expired
from workspaces.models.workspace import first_uuid7
from workspaces.scope import worker_scope

HOUR, DAY = timedelta(hours=1), timedelta(days=1)


@dataclass(frozen=True, slots=True)
class _Column:
    """A column of times, how far ahead one may plausibly lie, and where it is reset to; `where`
    leads to its index."""

    table: str
    name: str
    longest: timedelta
    where: str = ""
    rest: timedelta = timedelta(0)

    @property
    def statement(self) -> str:
        where = f" and {self.where}" if self.where else ""
        return (
            f"update {self.table} set {self.name} = %(now)s + %(rest)s::interval"
            f" where {self.name} > %(now)s + %(longest)s::interval{where}"
        )


OPEN = "state in ('received', 'extracting', 'resolving')"
COLUMNS = (
    _Column("memories_memorysession", "next_attempt_at", DAY + HOUR, OPEN),
    _Column("memories_featureset", "due_at", 7 * DAY + HOUR),
    _Column("memories_featureset", "embedding_due_at", DAY + HOUR),
    _Column("memories_conversationsummary", "due_at", HOUR),
    _Column("memories_duesummary", "due_at", HOUR),
    _Column("memories_erasure", "due_at", HOUR),
    _Column("workspaces_workspaceremoval", "due_at", HOUR),
    _Column("memories_duevector", "next_attempt_at", 2 * HOUR),
    _Column("memories_document", "next_attempt_at", HOUR, "state = 'queued'"),
    _Column("memories_syncrun", "next_attempt_at", DAY + HOUR, "state = 'waiting'"),
    _Column("memories_connection", "next_sync_at", 7 * DAY + HOUR),
    _Column("memories_connection", "paused_until", DAY + HOUR),
    _Column("memories_webhookdelivery", "next_attempt_at", DAY + HOUR, "state = 'waiting'"),
    _Column("memories_idempotentanswer", "expires_at", DAY + HOUR, rest=DAY),
)
# Ids contain the time at which they were made. Everything up to this one was seen, but new ones
# would be lower: it is looked through again.
SEEN = "delete from memories_setdiscovery where seen > %(made)s"


def heal() -> int:
    """Reset times that lie too far ahead; the number of rows."""
    now = timezone.now()
    done = outbox.heal(FAR)
    for each in COLUMNS:
        done += prepared_sql.execute(
            each.statement, {"now": now, "longest": each.longest, "rest": each.rest}
        )
    return done + prepared_sql.execute(SEEN, {"made": first_uuid7(now + AHEAD)})


def seal_segments() -> None:
    if segments.is_due():
        outbox.post("seal")


TIDYING: tuple[Callable[[], object], ...] = (
    repair.ring,
    seal_segments,
    stored_metrics.prune,
    search_counts.prune,
    events.prune,
    webhooks.prune,
    breakers.prune,
    expired.prune,
    long_jobs.tidy,
)
State = MemorySession.State
BATCH = 200
FILL = 2000  # entries between two looks at the clock
# Below the worker's time limit for a task; the rest is due in the next minute.
LONGEST = 240.0  # seconds

log = logging.getLogger(__name__)


@dataclass(slots=True)
class Swept:
    """The amount of work of a sweep, in rows. `failed` are rows and steps that raised; see the log.
    `counted` are layers whose common terms were counted;
    `blobs` are files that no row names;
    `talks` are conversations whose searched summaries were made;
    `golden` are workspaces whose golden questions were asked;
    `marks` are workspaces whose audit chain was continued;
    `masked` are those where words were masked that a dead process had left;
    `merges` are workspaces where a process that ended had left subjects half merged;
    `cases` are items that waited for a person without a case;
    `sets` are feature sets whose worker was woken, `embeddings` those to be embedded anew,
    `episodes` were taken into sets at once."""

    sessions: int = 0
    failed: int = 0
    vectors: int = 0
    expired: int = 0
    counted: int = 0
    answers: int = 0
    sets: int = 0
    embeddings: int = 0
    episodes: int = 0
    summaries: int = 0
    talks: int = 0
    erasures: int = 0
    removals: int = 0
    cases: int = 0
    documents: int = 0
    syncs: int = 0
    blobs: int = 0
    golden: int = 0
    marks: int = 0
    masked: int = 0
    merges: int = 0


@crossings.everywhere()
def sweep(report: Callable[[str], object] | None = None, seconds: float = LONGEST) -> Swept:
    """Do everything that is due, for about `seconds` at most. `report` receives each step.

    Due rows are looked up everywhere; the work on one sees its workspace alone.
    """
    tell = report or log.debug
    until = time.monotonic() + seconds
    done = Swept()
    with _apart(done, "the future"):
        if healed := heal():
            log.warning("%d rows lay in the future, by a clock that was wrong: taken back", healed)
    with _apart(done, "expiry"):
        done.expired = expire(done)
    # Work that waits for models must not keep all else from its turn.
    _run(SESSIONS, done, tell, time.monotonic() + seconds / 4)
    with _apart(done, "schedules"):
        sync.schedule()
        sets.discover_sets()
        done.sets = sets.enqueue_due()
        done.embeddings = set_embedding.enqueue_due()
    with _apart(done, "vectors"):
        due = DueVector.objects.filter(next_attempt_at__lte=timezone.now())
        for number in sorted(set(due.values_list("workspace", flat=True))):
            while time.monotonic() < until and (filled := fill_space(number)):
                done.vectors += filled
            tell(f"{done.vectors} vectors made")
    for job in OTHERS:
        _run(job, done, tell, until)
    with _apart(done, "cases"):
        done.cases = file_cases()
    with _apart(done, "common terms"):
        done.counted = common_terms.count_due()
    for tidy in TIDYING:
        with _apart(done, f"{tidy.__module__}.{tidy.__name__}"):
            tidy()
    with _apart(done, "answers and files"):
        over = IdempotentAnswer.objects.filter(expires_at__lt=timezone.now())
        done.answers = expired.delete_some(over)
        done.blobs = blobs.sweep(blobs.ALL if math.isinf(seconds) else ())
    return done


@contextmanager
def _apart(done: Swept, step: str) -> Iterator[None]:
    """Let the other steps run when one fails: rows of one workspace must not stop the upkeep of
    all."""
    try:
        yield
    except Exception:
        log.exception("the sweep's step %s failed", step)
        done.failed += 1


def due_sessions(limit: int | None = None) -> list[uuid.UUID]:
    """Sessions that are due, and those whose worker died: the oldest of each workspace, then the
    second of each."""
    now = timezone.now()
    due_now = Q(state=State.RECEIVED, next_attempt_at__lte=now)
    abandoned = Q(state__in=[State.EXTRACTING, State.RESOLVING]) & leases.free(now)
    rows = MemorySession.objects.filter(due_now | abandoned).order_by("next_attempt_at")
    places: dict[uuid.UUID, int] = defaultdict(int)
    turns = []
    for session_id, workspace_id in rows.values_list("pk", "workspace_id"):
        turns.append((places[workspace_id], session_id))
        places[workspace_id] += 1
    return [session_id for _, session_id in sorted(turns, key=itemgetter(0))][:limit]


@dataclass(frozen=True, slots=True)
class _Job:
    """Rows that are due, and how to work on one of them for some seconds: None where another worker
    has it. `count` is the field of Swept."""

    name: str
    count: str
    table: str
    due: Callable[[], Sequence[uuid.UUID]]
    run: Callable[[uuid.UUID, float], object | None]


SESSIONS = _Job("session", "sessions", "memories_memorysession", due_sessions, ingest.run)
OTHERS = (
    _Job("erasure", "erasures", "memories_erasure", erase.due, erase.run),
    _Job(
        "removal",
        "removals",
        "workspaces_workspaceremoval",
        workspace_removal.due,
        workspace_removal.run,
    ),
    _Job(
        "document",
        "documents",
        "memories_document",
        pipeline.due,
        pipeline.run_in_turns,
    ),
    _Job(
        "merges of",
        "merges",
        "",
        merge_and_separate.due_workspaces,
        lambda row, _: merge_and_separate.go_on_in(row),
    ),
    _Job("sync", "syncs", "memories_syncrun", sync.due, sync.run),
    _Job(
        "summary",
        "summaries",
        "memories_conversationsummary",
        running_summary.due,
        lambda row, _: running_summary.summarize(row),
    ),
    _Job(
        "summaries of talk",
        "talks",
        "memories_duesummary",
        talk_summaries.due_rows,
        talk_summaries.make,
    ),
    _Job(
        "words to be taken out in",
        "masked",
        "",
        taken_words.due_workspaces,
        lambda row, _: taken_words.go_on(row),
    ),
    _Job(
        "audit of", "marks", "", audit_chain.due_workspaces, lambda row, _: audit_chain.extend(row)
    ),
    _Job("golden questions of", "golden", "", golden.due, lambda row, _: golden.run_scheduled(row)),
)


def _run(job: _Job, done: Swept, tell: Callable[[str], object], until: float) -> None:
    due: Sequence[uuid.UUID] = ()
    with _apart(done, f"{job.name}: what is due"):
        due = job.due()
    for row_id in due:
        if time.monotonic() >= until:
            return
        tell(f"{job.name} {row_id}")
        try:
            # A workspace is represented by its id.
            with crossings.of_row(job.table, row_id) if job.table else visible.only(row_id):
                ran = job.run(row_id, until - time.monotonic()) is not None
            setattr(done, job.count, getattr(done, job.count) + ran)
        except Exception:
            # A row that breaks its worker must not keep the others from their turn. It is tried
            # again when its lease has run out: a session's claim counted the attempt, so it is
            # given up at last.
            log.exception("%s %s failed", job.name, row_id)
            done.failed += 1


# ---- vectors --------------------------------------------------------------------------------


def fill_space(number: int) -> int:
    """Make the due vectors of a workspace; the number of entries done."""
    with crossings.everywhere():
        space = WorkspaceIndex.objects.select_related("embedding_model").get(pk=number)
    with visible.only(space.workspace_id):
        waiting = DueVector.objects.filter(
            workspace=number, next_attempt_at__lte=timezone.now()
        ).order_by("next_attempt_at")
        return due_vectors.fill_entries(
            space, list(waiting.values_list("entry_id", flat=True)[:FILL])
        )


# ---- cases -----------------------------------------------------------------------------------


def file_cases() -> int:
    """Put items that wait for a person without a case into one; those postponed until now wait
    again. The number of items filed."""
    Case.objects.wake(timezone.now())
    filed = 0
    for workspace_id in resolve.unfiled():
        with visible.only(workspace_id), transaction.atomic(durable=True):
            index = workspace_index.index_of(workspace_id)
            workspace_index.lock(index)
            filed += resolve.file_unfiled(index)
    return filed


# ---- expiry ---------------------------------------------------------------------------------


def expire(done: Swept) -> int:
    """End the memories whose `forget_after` has passed; the number of memories."""
    ended = 0
    over = Memory.objects.filter(expired_memories(), forgotten_at=None)
    for workspace_id in set(over.values_list("workspace_id", flat=True)):
        with _apart(done, f"expiry in {workspace_id}"), visible.only(workspace_id):
            due = over.filter(workspace=workspace_id)
            while ids := list(due.values_list("pk", flat=True)[:BATCH]):
                ended += forget_expired(worker_scope(workspace_id, "sweep"), ids)
    return ended
