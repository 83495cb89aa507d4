"""Progress of long work: a row (`LongJob`) shows how far it is and whether somebody cancelled it.

The work calls `advance` after each batch. A second thread writes the row about once a second, over
its own connection: it never waits for the work's transactions or delays them. A row that nobody
writes any more belongs to a dead process.
"""

import logging
import threading
import time
import uuid
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from datetime import timedelta

from django.core.management.base import CommandError
from django.db import Error, connection, transaction
from django.db.models import F
from django.utils import timezone

from memories.errors import Conflict, ProviderError
from memories.models import LongJob
from memoryproject.postgres import crossings, visible
from memoryproject.postgres.backups import BackupFault
from workspaces.expired import delete_some
from workspaces.scope import Scope

State = LongJob.State
EVERY = 1.0  # seconds between two writes
KEPT = timedelta(days=90)
GONE = "Its process ended before it was through. What was done until then stays."
LONGEST = 300  # characters of an error

log = logging.getLogger(__name__)


class Stopped(Exception):
    """Somebody asked to stop; raised between two batches."""


@dataclass(frozen=True, slots=True)
class NewJob:
    """A job to begin, with the fields of `LongJob`. A job with an `item` continues the row of an
    earlier turn that ended or failed, and leaves no row if it is over at once."""

    kind: LongJob.Kind
    workspace_id: uuid.UUID | None
    total: int | None
    unit: str = "rows"
    by: str = "worker"
    item: uuid.UUID | None = None


class JobRecorder:
    """The progress of a job: reported by the thread of the work, written by another."""

    def __init__(self, row: LongJob) -> None:
        self.row, self.done, self.total = row, row.done, row.total
        self.result: dict[str, int | str] = dict(row.result)
        self.is_cancel_asked = False
        self.outcome: tuple[str, str] = (State.DONE, "")
        self._began = time.monotonic()
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._keep_writing, name="long job", daemon=True)

    def advance(self, number: int) -> None:
        """Count `number` more units as done. Raises Stopped where somebody asked to stop."""
        self.done += number
        if self.is_cancel_asked:
            raise Stopped

    def tell(self, counts: Mapping[str, int | str]) -> None:
        """Add results, by names that people read; kept."""
        self.result |= counts

    def stop(self) -> None:
        """End early because somebody asked for it."""
        self.outcome = (State.CANCELLED, "")

    def fail(self, why: str) -> None:
        self.outcome = (State.FAILED, why[:LONGEST])

    def leave(self) -> None:
        """End the turn, but not the work."""
        self.outcome = (State.RUNNING, "")

    def _keep_writing(self) -> None:
        while not self._over.wait(EVERY):
            try:
                self._write(State.RUNNING, "")
            except Error as error:  # the work goes on without it
                log.warning("How far long work is was not written, and is tried again: %s", error)
                connection.close()
        connection.close()

    def _write(self, state: str, error: str) -> None:
        if self.total is not None:
            self.total = max(self.total, self.done)
        now = timezone.now()
        with _seen(self.row.workspace_id):
            rows = LongJob.objects.filter(pk=self.row.pk)
            rows.update(
                done=self.done,
                total=self.total,
                result=self.result,
                state=state,
                error=error,
                seconds=self.row.seconds + time.monotonic() - self._began,
                updated_at=now,
                finished_at=None if state == State.RUNNING else now,
            )
            self.is_cancel_asked = rows.exclude(cancelled_by="").exists()

    def _end(self) -> None:
        is_short = time.monotonic() - self._began < EVERY and not self.row.seconds
        if self.row.item is not None and is_short and self.outcome[0] == State.DONE:
            with _seen(self.row.workspace_id):
                LongJob.objects.filter(pk=self.row.pk).delete()
        else:
            self._write(*self.outcome)


@contextmanager
def recorded(new: NewJob) -> Iterator[JobRecorder]:
    """Record the work inside; afterwards its row shows the outcome."""
    with _seen(new.workspace_id):
        known = None
        if new.item is not None:
            known = LongJob.objects.filter(kind=new.kind, item=new.item).first()
        if known is None or known.state not in (State.RUNNING, State.FAILED):
            known = LongJob.objects.create(
                kind=new.kind,
                workspace_id=new.workspace_id,
                item=new.item,
                unit=new.unit,
                total=new.total,
                requested_by=new.by,
            )
    job = JobRecorder(known)
    job._thread.start()
    try:
        yield job
    except Stopped:
        job.stop()
        raise
    except BaseException as error:
        job.fail(_words_of(error))
        raise
    finally:
        job._over.set()
        job._thread.join()
        try:
            job._end()
        except Error as error:  # what was done is done, or has an error of its own
            log.warning("What came of long work was not written: %s", error)


def _seen(workspace_id: uuid.UUID | None) -> AbstractContextManager[None]:
    return crossings.everywhere() if workspace_id is None else visible.only(workspace_id)


def _words_of(error: BaseException) -> str:
    """Describe an error without words of rows, which a foreign message may quote."""
    if isinstance(error, ProviderError):
        return error.own_words
    if isinstance(error, CommandError | BackupFault):
        return str(error)
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    if isinstance(error, KeyboardInterrupt | SystemExit):
        return "It was interrupted."
    return f"It failed ({type(error).__name__}); the log of the server says more."


def cancel(scope: Scope, job: LongJob) -> None:
    """Ask to stop between two batches. Raises Conflict where the job is over, or must not be left
    half done."""
    with transaction.atomic():
        rows = LongJob.objects.running().filter(pk=job.pk, workspace=scope.workspace_id)
        mine = rows.filter(cancelled_by="").exclude(kind__in=LongJob.SEEN_THROUGH)
        if not mine.update(cancelled_by=scope.actor):
            raise Conflict("It is over, or cannot be stopped.")
        if scope.workspace_id is not None:
            scope.audit("cancel", job)


def tidy() -> int:
    """Give up the jobs of dead processes, and delete jobs that ended long ago; how many were given
    up."""
    dead = LongJob.objects.filter(state=State.RUNNING).exclude(pk__in=LongJob.objects.running().values("pk"))
    given_up = dead.update(state=State.FAILED, error=GONE, finished_at=F("updated_at"))
    delete_some(LongJob.objects.filter(finished_at__lt=timezone.now() - KEPT))
    return given_up
