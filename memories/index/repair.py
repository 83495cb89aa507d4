"""Repair of the marks of rows that other rules made, batch after batch; see index.row_marks.

Meanwhile a statement about somebody must meet what is known of them although its keys are others:
those rows come first (`repair_subject`). The rest is found when the server starts and by the sweep,
and done in the background in slices, so that the worker's other tasks have their turn in between. A
repair is a row (`IndexRepair`) that says how far it is: whoever claims it goes on where the last one
stopped."""

import logging
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from datetime import timedelta
from typing import Any

from django.db.models import Q, QuerySet
from django.utils import timezone

from memories.errors import ProviderError
from memories.index import common_terms, prepared_sql, rebuild, reembedding, workspace_index
from memories.index.rebuild import Rebuilt, alone
from memories.index.row_marks import RULES_VERSION
from memories.models import IndexRepair, Layer, LongJob, WorkspaceIndex
from memories.queue import long_jobs, outbox
from memories.queue.due_rows import Queue
from memories.queue.leases import Work
from memories.queue.long_jobs import JobRecorder, NewJob
from memoryproject.postgres import crossings

FIRST = uuid.UUID(int=0)
STALE = """
from {table} t left join memories_entry e on e.layer = %(layer)s and e.item = t.id
where t.workspace_id = %(owner)s and e.rules is distinct from %(rules)s::int2 {only}"""
PAGE = f"select t.id {STALE} and t.id > %(after)s order by t.id limit %(most)s"
COUNT = f"select count(*) as number {STALE}"
# A feature that ended has no entry: it comes back with a new one.
ONLY = {Layer.FEATURES: "and t.ended_at is null"}
# What a statement about them may meet; held, forgotten and replaced ones come in their turn.
OF_SUBJECT = PAGE.format(
    table="memories_memory",
    only="and t.is_head and t.{subject}",
)
ABOUT_SOMEBODY = OF_SUBJECT.format(subject="subject_id = %(subject)s::uuid")
ABOUT_NOBODY = OF_SUBJECT.format(subject="subject_id is null")
LEAVE_DUE = """
insert into memories_duevector (entry_id, workspace, attempts, next_attempt_at, error)
select id, workspace, 0, now(), %(error)s from memories_entry where id = any(%(ids)s::int8[])
on conflict (entry_id) do nothing
"""
NOT_YET = "update memories_entry set rules = 0 where id = any(%(ids)s::int8[])"


JOB = "repair_index"
SLICE = 5.0  # seconds of one task
UNKNOWN = 0  # of a workspace whose rows have not all their entries
# So long one that was queued or worked on is believed to be on its way.
QUIET = timedelta(seconds=60)
QUEUE = Queue(IndexRepair, timedelta(seconds=15), time="next_attempt_at")


def count_stale(index: WorkspaceIndex) -> int:
    """Count the rows that have marks of another version."""
    number = 0
    for layer, table in rebuild.TABLE.items():
        text = COUNT.format(table=table, only=ONLY.get(layer, ""))
        number += prepared_sql.rows(text, _values(index, layer))[0].number
    return number


def stale(index: WorkspaceIndex, layer: Layer, after: uuid.UUID | None) -> list[uuid.UUID]:
    """Return the next rows of a layer with marks of another version, in the order they came."""
    text = PAGE.format(table=rebuild.TABLE[layer], only=ONLY.get(layer, ""))
    return _page(text, _values(index, layer), after)


def repair(index: WorkspaceIndex, layer: Layer, ids: Sequence[uuid.UUID]) -> None:
    """Make the marks of these rows anew in one transaction, and the vectors that are not those of
    their texts; where the embedder fails, they are due."""
    done = Rebuilt()
    with alone(index):
        rebuild.rebuild_batch(index, layer, ids, done)
    try:
        reembedding.make(index, done.incomplete)
    except ProviderError as error:
        with alone(index):
            values: dict[str, Any] = {"ids": done.incomplete, "model": index.embedding_model_id}
            prepared_sql.execute(reembedding.FORGET_VECTORS, values)
            prepared_sql.execute(LEAVE_DUE, {"ids": done.incomplete, "error": error.message})


def repair_subject(index: WorkspaceIndex, subject: uuid.UUID | None) -> None:
    """Repair what a statement about a subject (None: about nobody) may meet, in steps that let
    other writers in between."""
    for ids in _of_subject(index, subject):
        repair(index, Layer.MEMORIES, ids)


def repair_locked(index: WorkspaceIndex, subject: uuid.UUID | None) -> None:
    """Do what `repair_subject` does in the caller's transaction, which holds the workspace's lock:
    what that left, or everything where nobody called it."""
    for ids in _of_subject(index, subject):
        done = Rebuilt()
        rebuild.rebuild_batch(index, Layer.MEMORIES, ids, done)
        # No embedder is asked here: these come again.
        prepared_sql.execute(NOT_YET, {"ids": done.incomplete})


def _of_subject(index: WorkspaceIndex, subject: uuid.UUID | None) -> Iterator[list[uuid.UUID]]:
    """Yield live memories about a subject with marks of another version."""
    values = _values(index, Layer.MEMORIES) | {"subject": subject}
    text = ABOUT_SOMEBODY if subject else ABOUT_NOBODY
    ids = _page(text, values, None)
    while ids:
        yield ids
        ids = _page(text, values, ids[-1])


def _page(text: str, values: dict[str, Any], after: uuid.UUID | None) -> list[uuid.UUID]:
    asked = {**values, "after": after or FIRST, "most": rebuild.BATCH}
    return [row.id for row in prepared_sql.rows(text, asked)]


def _values(index: WorkspaceIndex, layer: Layer) -> dict[str, Any]:
    return {"owner": index.workspace_id, "layer": int(layer), "rules": RULES_VERSION}


log = logging.getLogger(__name__)


def leave(index: WorkspaceIndex) -> None:
    """Leave rows without an entry to the worker, which writes entries in steps; in the caller's
    transaction."""
    WorkspaceIndex.objects.filter(pk=index.pk).update(rules=UNKNOWN)
    # A process that is at a repair of it finds it changed, and stops: it may be past these rows.
    IndexRepair.objects.update_or_create(workspace_id=index.workspace_id, defaults=_fresh())
    outbox.post(JOB, index.workspace_id)


def begin() -> int:
    """Note a repair for each workspace whose rows other rules made; return how many are to be
    done."""
    fresh = _fresh()
    old = WorkspaceIndex.objects.exclude(rules=RULES_VERSION)
    for workspace_id in old.values_list("workspace_id", flat=True):
        row, is_new = IndexRepair.objects.get_or_create(workspace_id=workspace_id, defaults=fresh)
        if not is_new and (row.version != RULES_VERSION or row.finished_at is not None):
            IndexRepair.objects.filter(pk=row.pk, updated_at=row.updated_at).update(**fresh)
    return _open().count()


def _fresh() -> dict[str, Any]:
    """Return the values of a repair that begins."""
    now = timezone.now()
    return QUEUE.fresh() | {
        "version": RULES_VERSION,
        "layer": int(Layer.MEMORIES),
        "after": None,
        "rows": None,
        "done": 0,
        "seconds": 0.0,
        "error": "",
        "started_at": now,
        "updated_at": now - 2 * QUIET,
        "finished_at": None,
    }


def ring() -> int:
    """Queue the repair whose turn it is for the worker, one at a time; return how many are to be
    done.

    A repair that is under way queues itself again, slice after slice.
    """
    waiting, now = begin(), timezone.now()
    recent = Q(updated_at__gt=now - QUIET, updated_at__lt=now + QUIET)
    if waiting and not _open().filter(recent, error="").exists():
        for row in QUEUE.rows(now)[:1]:
            mine = IndexRepair.objects.filter(pk=row.pk, updated_at=row.updated_at)
            if mine.update(updated_at=now):  # of two that queue it, one does
                outbox.post(JOB, row.pk)
    return waiting


def _open() -> QuerySet[IndexRepair]:
    return IndexRepair.objects.filter(finished_at=None)


def run(workspace_id: uuid.UUID, seconds: float = SLICE) -> bool:
    """Go on with a repair for about `seconds`; return whether this process had it. What is left is
    queued again, and so is the next workspace's."""
    row = QUEUE.claim(workspace_id)
    if row is None:
        return False
    if _go_on(row, time.monotonic() + seconds):
        with crossings.everywhere():
            ring()
    elif QUEUE.give_back(row):
        outbox.post(JOB, row.pk)
    return True


def run_all(until: float, report: Callable[[str], object]) -> None:
    """Do all repairs that are due, in this process, until the clock says `until`."""
    begin()
    while time.monotonic() < until:
        due = QUEUE.due(1)
        if not due or (row := QUEUE.claim(due[0])) is None:
            break
        if not _go_on(row, until):
            QUEUE.give_back(row)
        report(f"{row}: {row.done} of {row.rows} rows")


def _go_on(row: IndexRepair, until: float) -> bool:
    """Go on with a repair; return True at its end. A failure is noted and logged, and due again
    later."""
    new = NewJob(LongJob.Kind.REPAIR, row.workspace_id, row.rows, item=row.workspace_id)
    try:
        with long_jobs.recorded(new) as job, QUEUE.renewed(row) as work:
            is_whole = _work(row, job, work, until)
            if not is_whole:
                job.leave()
    except Exception as error:
        name = type(error).__name__  # alone: what it says may quote a row
        log.error("%s failed: %s", row, name)
        QUEUE.leave(row, QUEUE.retry_at(row), error=name)
        return False
    log.info("%s: %s of %s rows, %.0f a second", row, row.done, row.rows, row.rate)
    return is_whole


def _work(row: IndexRepair, job: JobRecorder, work: Work, until: float) -> bool:
    """Repair batch after batch; return True when nothing is left. Stops where another process took
    over."""
    space = workspace_index.index_of(row.workspace_id)
    if row.rows is None:
        _save(row, rows=count_stale(space))
        job.total = row.rows
    for layer in (layer for layer in rebuild.TABLE if layer >= row.layer):
        while ids := stale(space, layer, row.after):
            started = time.monotonic()
            repair(space, layer, ids)
            job.advance(len(ids))
            work.advance()
            now = time.monotonic()
            kept = _save(
                row,
                after=ids[-1],
                done=row.done + len(ids),
                attempts=1,
                error="",
                seconds=row.seconds + now - started,
            )
            if not kept or now > until:
                return False
        _save(row, layer=int(layer) + 1, after=None)
    rebuild.finish(space, rebuild.Rebuilt())
    common_terms.count_in(space)
    row.finished_at = timezone.now()
    is_whole = QUEUE.leave(row, None, finished_at=row.finished_at, error="")
    if not is_whole:  # more was left meanwhile
        WorkspaceIndex.objects.filter(pk=space.pk).update(rules=UNKNOWN)
    return is_whole


def _save(row: IndexRepair, **values: object) -> bool:
    """Write progress, unless another process has taken the repair since."""
    if not QUEUE.held(row).update(**values, updated_at=timezone.now()):
        return False
    for name, value in values.items():
        setattr(row, name, value)
    return True
