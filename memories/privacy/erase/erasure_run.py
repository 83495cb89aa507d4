"""An erasure asked for and done, batch after batch: its episodes first, then what is left of a
subject or a conversation without them (sessions, sets, names)."""

import time
import uuid
from collections import Counter
from collections.abc import Callable, Iterator
from datetime import timedelta
from functools import partial
from typing import Any, TypeAlias

from django.db import transaction
from django.db.models import F, Q, QuerySet
from django.utils import timezone

from memories.index import workspace_index
from memories.models import (
    Connection,
    Conversation,
    Document,
    Erasure,
    IdempotentAnswer,
    Layer,
    LongJob,
    Memory,
    MemoryScope,
    MemorySession,
    Passage,
    Speaker,
    WorkspaceIndex,
)
from memories.privacy import irrevocable
from memories.privacy.erase import proof
from memories.privacy.erase.erasure_plan import ErasureTarget, Kind, plan, rejections_of, target_again
from memories.privacy.erase.removal_queue import RemovalQueue
from memories.privacy.erase.remove import (
    TALLY,
    blank,
    forget_traces,
    remove_documents,
    remove_episodes,
    remove_facts,
    remove_features,
    remove_memories,
    unindex,
)
from memories.privacy.legal_holds import refuse_held
from memories.profiles.summaries import talk_summaries
from memories.queue import long_jobs, outbox
from memories.queue.due_rows import DIED
from memories.queue.leases import TakenOver
from memories.queue.long_jobs import JobRecorder, NewJob
from workspaces.models import AuditEntry, Subject
from workspaces.scope import Scope

State = Erasure.State
BATCH = 50  # rows of one transaction; writers of the workspace wait as long as one takes
PIECES = 500  # of documents, which stand in the index and nowhere else
LONGEST = 240.0  # seconds
LOOKED_AGAIN = 0.05  # seconds, while a worker has it
COUNTED = ("documents", "episodes", "facts", "memories")  # by which it is told how far it is
QUEUE = RemovalQueue(Erasure, timedelta(seconds=15), most_attempts=10, states=(State.WAITING, State.RUNNING))
due = QUEUE.due


def stop_sessions(target: ErasureTarget) -> int:
    """Stop its sessions, so that nobody learns from it: a worker finds its claim gone."""
    rows = MemorySession.objects.filter(workspace_id=target.workspace_id)
    own = rows.filter(pk__in=target.episodes.values("session")) | rows.filter(pk__in=target.sessions.values("pk"))
    return own.stop("erased")


def stop_documents(target: ErasureTarget) -> int:
    """Stop the indexing of its documents, like `stop_sessions`: a worker finds its claim gone."""
    return target.documents.exclude(state__in=Document.FINAL).update(
        state=Document.State.FAILED,
        error_code="erased",
        next_attempt_at=None,
        lease_until=None,
        claims=F("claims") + 1,
    )


def remove_passages(space: WorkspaceIndex, ids: list[uuid.UUID]) -> TALLY:
    """Remove the pieces of documents, of which one has thousands, with their index entries."""
    done = unindex(space, Layer.CHUNKS, ids)
    Passage.places.filter(pk__in=ids).delete()
    return done


def remove_sessions(space: WorkspaceIndex, ids: list[uuid.UUID]) -> TALLY:
    done = forget_traces(space, ids)
    gone = MemorySession.objects.filter(pk__in=ids).delete()[1]
    done["sessions"] += gone.get("memories.MemorySession", 0)
    return done


def remove_connections(_: WorkspaceIndex, ids: list[uuid.UUID]) -> TALLY:
    """Sources whose documents are about the subject."""
    gone = Connection.objects.filter(pk__in=ids).delete()
    return +Counter(connections=gone[1].get("memories.Connection", 0))


def end_remainder(space: WorkspaceIndex, target: ErasureTarget) -> TALLY:
    """In the caller's transaction, after all batches. Raises IntegrityError where rows came in."""
    if target.kind in (Kind.EPISODE, Kind.DOCUMENT):
        return Counter()
    sessions = list(target.sessions.values_list("pk", flat=True))
    done = forget_traces(space, sessions)
    done["sessions"] += MemorySession.objects.filter(pk__in=sessions).delete()[1].get("memories.MemorySession", 0)
    done["feature sets"] += target.sets.delete()[1].get("memories.FeatureSet", 0)
    # A conversation in which others spoke too stays, without what it says of whom it was about.
    rows = target.conversations
    own = Q(conversation__in=rows.values("pk"))
    Memory.objects.filter(own).exclude(scope=MemoryScope.THREAD).update(conversation=None)
    if target.kind == Kind.SUBJECT:
        shared = rows.filter(Q(episodes__isnull=False)).values("pk")
        Conversation.objects.filter(pk__in=shared).update(subject=None, title="", metadata={})
    done += blank(AuditEntry.objects.filter(target_id__in=rows.values("pk")))
    # Their summaries went with their words; what was made of them meanwhile goes here.
    done["summaries of talks"] += talk_summaries.drop(space, Q(conversation__in=rows.values("pk")))
    done["conversations"] += rows.delete()[1].get("memories.Conversation", 0)
    if target.kind == Kind.SUBJECT:
        done += _end_subject(space, target)
    return done


def _end_subject(space: WorkspaceIndex, target: ErasureTarget) -> TALLY:
    done: TALLY = Counter()
    done["rejections"] += rejections_of(target, Memory.objects.none()).delete()[0]
    lines = AuditEntry.objects.filter(workspace_id=target.workspace_id)
    done += blank(lines.filter(Q(subject_id=target.id) | Q(target_id=target.id)))
    Speaker.objects.filter(workspace=space.number, subject=target.id).delete()
    for subject in Subject.objects.filter(workspace_id=target.workspace_id, pk=target.id):
        name = {"userId": subject.external_id}
        named = Q(body__contains=name)  # at the top, or in what the answer lists
        for listed in ("results", "memories", "facts"):
            named |= Q(**{f"body__{listed}__contains": [name]})
        answers = IdempotentAnswer.objects.filter(named, workspace_id=target.workspace_id)
        done["kept answers"] += answers.delete()[0]
        done["summaries of talks"] += talk_summaries.drop(space, Q(subject=subject.pk))
        subject.delete()
        done["subjects"] += 1
    return done


def request(scope: Scope, target: ErasureTarget) -> Erasure:
    """Write down that it is to go, and wake the worker; asked twice, it is the same erasure."""
    return _write_down(scope, target, _extent(target))


def _extent(target: ErasureTarget) -> dict[str, Any]:
    """Columns that say what an erasure comes to. It is looked through before anybody waits for
    the lock."""
    texts, shared = proof.probes(target)
    proofs = {"shared": shared} | ({"digests": files} if (files := target.digests) else {})
    return {"plan": plan(target), "probes": texts, "proof": proofs}


@transaction.atomic(durable=True)
def _write_down(scope: Scope, target: ErasureTarget, extent: dict[str, Any]) -> Erasure:
    workspace_index.lock(workspace_index.index_of(scope.workspace_id))
    if known := _open_ones(target).first():
        return known
    refuse_held(target)
    return _ask(target, scope.actor, extent)


def request_again(target: ErasureTarget, actor: str) -> Erasure:
    """Ask after a restore for what was erased before: no hold of that time keeps it."""
    extent = _extent(target)
    with transaction.atomic(durable=True):
        workspace_index.lock(workspace_index.index_of(target.workspace_id))
        _open_ones(target).update(state=State.FAILED, error="begun before a restore", probes=[], due_at=None)
        return _ask(target, actor, extent)


def _open_ones(target: ErasureTarget) -> QuerySet[Erasure]:
    return Erasure.objects.filter(
        workspace_id=target.workspace_id,
        kind=target.kind,
        target_id=target.id,
        state__in=[State.WAITING, State.RUNNING],
    )


def _ask(target: ErasureTarget, actor: str, extent: dict[str, Any]) -> Erasure:
    made = Erasure.objects.create(
        workspace_id=target.workspace_id,
        kind=target.kind,
        target_id=target.id,
        requested_by=actor,
        due_at=timezone.now(),
        **extent,
    )
    _audit(made, actor, "erase", after={"plan": made.plan})
    outbox.post("erase", made.pk)
    return made


def run(
    erasure_id: uuid.UUID,
    seconds: float = LONGEST,
    advance: Callable[[int], object] | None = None,
) -> Erasure | None:
    """Go on with an erasure for about `seconds`; None where another worker has it, or it is done.

    `advance` hears how many rows each step took. What is left is due again.
    """
    row = QUEUE.claim(erasure_id, state=State.RUNNING)
    if row is None:
        return None
    if QUEUE.died_too_often(row):
        return QUEUE.leave_turn(row, None, DIED)
    with long_jobs.recorded(
        NewJob(
            LongJob.Kind.ERASURE,
            row.workspace_id,
            sum(row.plan.get(name, 0) for name in COUNTED),
            by=row.requested_by,
            item=row.pk,
        )
    ) as job:
        ended = QUEUE.turn(row, _counted(row, job, advance), _finish, time.monotonic() + seconds)
        if ended is None or ended.state == State.RUNNING:
            job.leave()
        else:
            job.tell(ended.removed)
            if ended.error:
                job.fail(ended.error)
        return ended


def run_or_wait(erasure_id: uuid.UUID, seconds: float) -> Erasure:
    """The erasure after about `seconds`, in which this process took part, or waited for the worker
    that was there first: who asked hears that it is gone when it is."""
    until = time.monotonic() + seconds
    while (row := run(erasure_id, max(0.0, until - time.monotonic()))) is None:
        row = Erasure.objects.get(pk=erasure_id)
        if row.state != Erasure.State.RUNNING or time.monotonic() >= until:
            break
        time.sleep(LOOKED_AGAIN)
    return row


def _counted(row: Erasure, job: JobRecorder, advance: Callable[[int], object] | None) -> Iterator[None]:
    for done in _steps(row):
        job.advance(sum(done[name] for name in COUNTED))
        if advance:
            advance(sum(done.values()))
        yield


Remove: TypeAlias = Callable[[WorkspaceIndex, list[uuid.UUID]], TALLY]


def _steps(row: Erasure) -> Iterator[TALLY]:
    target, space = target_again(row), workspace_index.index_of(row.workspace_id)
    stop_sessions(target)
    stop_documents(target)
    # Before their documents: they would bring others.
    yield from _emptied(row, space, lambda: target.connections, remove_connections)
    # The many pieces of a document go before it, so that each step is short.
    yield from _emptied(row, space, lambda: target.passages, remove_passages, PIECES)
    yield from _emptied(row, space, lambda: target.read_facts, remove_facts)
    # Some of them are long messages, known by these.
    yield from _emptied(row, space, lambda: target.documents, remove_documents)
    yield from _emptied(row, space, lambda: target.episodes, remove_episodes)
    yield from _emptied(row, space, lambda: target.facts, remove_facts)
    yield from _emptied(row, space, lambda: target.memories, remove_memories)
    yield from _emptied(row, space, lambda: target.features, remove_features)
    if target.kind in (Kind.SUBJECT, Kind.CONVERSATION):
        yield from _emptied(row, space, lambda: target.sessions, remove_sessions)
    yield _batch(row, space, lambda: end_remainder(space, target))


def _emptied(
    row: Erasure,
    space: WorkspaceIndex,
    rows: Callable[[], QuerySet[Any]],
    remove: Remove,
    most: int = 0,
) -> Iterator[TALLY]:
    while ids := list(rows().order_by("pk").values_list("pk", flat=True)[: most or BATCH]):
        yield _batch(row, space, partial(remove, space, ids))


def _batch(row: Erasure, space: WorkspaceIndex, act: Callable[[], TALLY]) -> TALLY:
    """One step in one transaction, counted with what it takes away."""
    with transaction.atomic(durable=True):
        workspace_index.lock(space)
        done = act()
        row.removed = dict(Counter(row.removed) + done)
        QUEUE.keep(row, removed=row.removed)
    return done


def _finish(row: Erasure) -> Erasure:
    """Look for it once more, and keep the proof: nothing was found, or where it still stands."""
    row.proof |= proof.prove(target_again(row), row.probes, row.proof.pop("digests", ()))
    is_clean = row.proof["clean"]
    ended = {
        "state": State.DONE if is_clean else State.FAILED,
        "error": "" if is_clean else "something of it was found",
        "finished_at": timezone.now(),
    }
    with transaction.atomic():
        if not QUEUE.leave(row, None, proof=row.proof, probes=[], **ended):
            raise TakenOver
        if is_clean:  # before anybody is told so: no restore makes it untrue
            irrevocable.note_row(irrevocable.ERASED, Erasure._meta.db_table, row.pk)
        _audit(row, "worker", "erased", after={"removed": row.removed, "clean": is_clean})
    row.refresh_from_db()
    return row


def _audit(row: Erasure, actor: str, action: str, **details: object) -> None:
    AuditEntry.line(row.workspace_id, actor, action, row, **details).save()
