"""The sweep: once a minute it finds all work that is due, whatever was lost, and posts or does
it."""

import logging
import math
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from django.db import transaction
from django.utils import timezone

from memories import ingest, teaching
from memories.belief import resolve, review, touches
from memories.belief.cases import due_words
from memories.documents import blobs, pipeline
from memories.events import deliver_webhooks, read_events
from memories.index import common_terms, due_vectors, hnsw_segments, repair, workspace_index
from memories.meters import breakers, search_counts, stored_metrics
from memories.models import Case, DueVector, IdempotentAnswer, Memory, MemorySession, WorkspaceIndex, expired_memories
from memories.privacy import erase
from memories.privacy.erase import workspace_removal
from memories.profiles.features import set_embedding, set_queue, sets
from memories.profiles.summaries import running_summary, talk_summaries
from memories.quality import golden_runs
from memories.queue import long_jobs, outbox
from memories.sources.connections import sync
from memories.worker import waiting_for_models
from memories.worker.future_times import heal
from memoryproject.postgres import crossings, visible
from workspaces import expired
from workspaces.audit import audit_chain
from workspaces.scope import worker_scope

BATCH = 200
FILL = 2000  # entries between two looks at the clock
# Below the worker's time limit for a task; the rest is due in the next minute.
LONGEST = 240.0  # seconds


def seal_segments() -> None:
    if hnsw_segments.is_due():
        outbox.post("seal")


TIDYING: tuple[Callable[[], object], ...] = (
    repair.ring,
    seal_segments,
    stored_metrics.prune,
    search_counts.prune,
    read_events.prune,
    deliver_webhooks.prune,
    breakers.prune,
    expired.prune,
    long_jobs.tidy,
)
State = MemorySession.State

log = logging.getLogger(__name__)


@dataclass(slots=True)
class Swept:
    """The amount of work of a sweep, in rows. `failed` are rows and steps that raised; see the log.
    `counted` are layers whose common terms were counted;
    `blobs` are files that no row names;
    `talks` are conversations whose searched summaries were made;
    `golden` are workspaces whose golden questions were asked;
    `heads` are workspaces of which so much was decided that their judge is to learn from it;
    `asked` are workspaces of which a language model was asked what the judge is not sure of;
    `touched` are workspaces whose old messages were looked through for what they touch;
    `marks` are workspaces whose audit chain was continued;
    `masked` are those where words were taken out or back that a dead process had left;
    `merges` are workspaces where a process that ended had left subjects half merged;
    `deleted` are feature sets of which such a process had left rows;
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
    heads: int = 0
    asked: int = 0
    touched: int = 0
    marks: int = 0
    masked: int = 0
    merges: int = 0
    deleted: int = 0


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
    with _apart(done, "abandoned sessions"):
        ingest.give_back_abandoned()
    with _apart(done, "models to be tried again"):
        waiting_for_models.try_one()
    # Work that waits for models must not keep all else from its turn.
    _run(SESSIONS, done, tell, time.monotonic() + seconds / 4)
    with _apart(done, "schedules"):
        sync.schedule()
        set_queue.discover_sets()
        done.sets = set_queue.enqueue_due()
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


@dataclass(frozen=True, slots=True)
class _Job:
    """Rows that are due, and how to work on one of them for some seconds: None where another worker
    has it. `count` is the field of Swept."""

    name: str
    count: str
    table: str
    due: Callable[[], Sequence[uuid.UUID]]
    run: Callable[[uuid.UUID, float], object | None]


SESSIONS = _Job("session", "sessions", "memories_memorysession", ingest.due_sessions, ingest.run)
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
        review.merge_people.due_workspaces,
        lambda row, _: review.merge_people.go_on_in(row),
    ),
    _Job(
        "deleted set",
        "deleted",
        "memories_featureset",
        sets.deleted_sets,
        lambda row, _: sets.go_on_deleting(row),
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
        "words to be taken out or back in",
        "masked",
        "",
        due_words.due_workspaces,
        lambda row, _: due_words.go_on(row),
    ),
    _Job("doubts of the judge of", "asked", "", ingest.doubtful_workspaces, ingest.ask_models),
    _Job("old messages of", "touched", "", touches.old_workspaces, touches.go_on),
    _Job("audit of", "marks", "", audit_chain.due_workspaces, lambda row, _: audit_chain.extend(row)),
    _Job("head of the judge of", "heads", "", teaching.workspaces_to_ask, lambda row, _: teaching.ask_due(row)),
    _Job("golden questions of", "golden", "", golden_runs.due, lambda row, _: golden_runs.run_scheduled(row)),
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
        waiting = DueVector.objects.filter(workspace=number, next_attempt_at__lte=timezone.now()).order_by(
            "next_attempt_at"
        )
        return due_vectors.fill_entries(space, list(waiting.values_list("entry_id", flat=True)[:FILL]))


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
                ended += review.forget_expired(worker_scope(workspace_id, "sweep"), ids)
    return ended
