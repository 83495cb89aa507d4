"""Progress of a long command: a bar where a person looks on, else a line every few seconds, and the
row that the admin shows. Also a survey of what an import will read, and its results."""

import signal
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import FrameType, TracebackType
from typing import Any, Protocol, Self, TextIO

from django.core.management.base import CommandError
from tqdm import tqdm

from memories import long_jobs
from memories.long_jobs import JobRecorder, NewJob, Stopped
from memories.models import MemorySession
from memories.transcripts import BadLine, Transcript, Unreadable, read
from memories.transfer.transcript_import import ImportedBatch

SECONDS_BETWEEN_LINES = 5.0
STEP = 5.0  # seconds between two looks at whether to stop

SIGNALS = (signal.SIGINT, signal.SIGTERM)


class Progress(Protocol):
    def __enter__(self) -> Self: ...
    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None: ...
    def update(self, n: int) -> object: ...


def progress(total: int, unit: str, out: TextIO) -> Progress:
    """Return a progress display for `with`; `update(n)` says that n more of `total` are done."""
    if out.isatty():
        bar: Progress = tqdm(total=total, unit=f" {unit}", file=out, dynamic_ncols=True)
        return bar
    return Lines(total, unit, out)


class Lines:
    """Progress as lines in a log."""

    def __init__(self, total: int, unit: str, out: TextIO) -> None:
        self.total, self.unit, self.out = total, unit, out
        self.done = 0
        self.begun = self.told = time.monotonic()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.out.flush()

    def update(self, n: int) -> None:
        self.done += n
        now = time.monotonic()
        if now - self.told >= SECONDS_BETWEEN_LINES:
            self.told = now
            rate = self.done / (now - self.begun)
            left = (self.total - self.done) / rate if rate else 0
            self.out.write(
                f"{self.done} of {self.total} {self.unit},"
                f" {rate:.0f} per second, {left:.0f} s left\n"
            )
            self.out.flush()


@dataclass(slots=True)
class Interruption:
    is_asked: bool = False


@contextmanager
def interruptible() -> Iterator[Interruption]:
    """Note the first Ctrl-C or SIGTERM only; a second one interrupts at once."""
    asked = Interruption()

    def note(number: int, frame: FrameType | None) -> None:
        if asked.is_asked:
            raise KeyboardInterrupt
        asked.is_asked = True

    before = {number: signal.signal(number, note) for number in SIGNALS}
    try:
        yield asked
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@dataclass(slots=True)
class Steps:
    """The steps of work, called after each batch with its size; raises Stopped when a person wants
    an end."""

    asked: Interruption
    shown: Progress
    job: JobRecorder
    done: int = 0

    def __call__(self, rows: int) -> None:
        self.done += rows
        self.shown.update(rows)
        self.job.advance(rows)
        if self.asked.is_asked:
            raise Stopped


@contextmanager
def shown_job(asked: Interruption, new: NewJob) -> Iterator[Steps]:
    """Show the work of a command in its terminal and in the admin."""
    with (
        long_jobs.recorded(replace(new, by="shell")) as job,
        progress(new.total or 0, new.unit, sys.stderr) as shown,
    ):
        yield Steps(asked, shown, job)


class Open(Protocol):
    """A row of work that is done in steps, by whoever has it."""

    pk: Any

    @property
    def is_open(self) -> bool: ...
    def refresh_from_db(self) -> None: ...


def see_through(
    row: Open, rows: int, run: Callable[[Any, float, Callable[[int], object]], object]
) -> None:
    """Do the work of `row` until it is over, or a person asks for an end. Raises CommandError."""
    with interruptible() as asked, progress(rows, "rows", sys.stderr) as shown:
        while row.is_open:
            if asked.is_asked:
                raise CommandError("Stopped. The worker goes on with it.", returncode=130)
            if run(row.pk, STEP, shown.update) is None:
                time.sleep(0.5)  # the worker has it
            row.refresh_from_db()


# The survey and the results of an import, for people and for programs.

SHOWN = 20  # bad lines told of each file; all are counted


@dataclass(slots=True)
class Survey:
    """One file, read through before anything is stored. `refused` says why it cannot be read."""

    path: Path
    refused: str = ""
    threads: set[str] = field(default_factory=set)
    subjects: set[str] = field(default_factory=set)
    messages: int = 0
    bad: int = 0
    bad_lines: list[BadLine] = field(default_factory=list)

    @property
    def is_usable(self) -> bool:
        return self.messages > 0

    def add(self, part: Transcript | BadLine) -> None:
        if isinstance(part, Transcript):
            self.threads.add(part.thread)
            self.subjects |= {part.subject} if part.subject else set()
            self.messages += len(part.messages)
            return
        self.bad += 1
        if len(self.bad_lines) < SHOWN:
            self.bad_lines.append(part)

    def lines(self) -> Iterator[str]:
        if self.refused:
            yield f"{self.path}: not read, {self.refused}"
        for bad in self.bad_lines:
            yield f"{self.path}:{bad.line}: {bad.reason}"
        if self.bad > len(self.bad_lines):
            yield f"{self.path}: and {self.bad - len(self.bad_lines)} more"

    def as_json(self) -> dict[str, Any]:
        return {
            "file": str(self.path),
            "refused": self.refused or None,
            "conversations": len(self.threads),
            "subjects": sorted(self.subjects),
            "messages": self.messages,
            "badLines": self.bad,
            "badLinesShown": [{"line": b.line, "reason": b.reason} for b in self.bad_lines],
        }


def survey(path: Path, form: str | None) -> Survey:
    found = Survey(path)
    try:
        for part in read(path, form):
            found.add(part)
    except Unreadable as error:
        found.refused = str(error)
    return found


@dataclass(slots=True)
class Tally:
    """Counts of what was stored so far. `problems` are sessions that did not end well, and why;
    `refused` is why transcripts were not stored."""

    messages: int = 0
    stored: int = 0
    known: int = 0
    facts: int = 0
    created: int = 0
    updated: int = 0
    reinforced: int = 0
    held: int = 0
    changed: list[str] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    problems: Counter[str] = field(default_factory=Counter)
    is_stopped: bool = False

    def add(self, batch: ImportedBatch, thread: str) -> None:
        self.messages += batch.messages
        self.stored += batch.stored
        self.known += batch.known
        self.changed += [f"{thread}: {name}" for name in batch.changed]
        for session in batch.sessions:
            self.facts += session.counts.get("facts", 0)
            self.held += session.counts.get("held", 0) + session.counts.get("quarantined", 0)
            self.created += len(session.created_ids)
            self.updated += len(session.updated_ids)
            self.reinforced += len(session.reinforced_ids)
            if session.state != MemorySession.State.DONE:
                waits = "waits for the worker" if not session.is_final else session.state
                self.problems[f"{waits}: {session.error}" if session.error else waits] += 1

    def counts(self) -> dict[str, int]:
        """Return the counts in words, as the admin shows them."""
        return {
            "messages": self.messages, "stored": self.stored, "known": self.known,
            "memories": self.created, "replaced": self.updated, "not stored": len(self.refused),
        }  # fmt: skip

    def lines(self) -> Iterator[str]:
        yield f"{self.stored} messages stored, {self.known} were there already."
        yield (
            f"{self.created} memories created, {self.updated} superseded,"
            f" {self.reinforced} reinforced, from {self.facts} facts."
        )
        if self.held:
            yield f"{self.held} of them wait in the Inbox for a person's word."
        for name in self.changed[:SHOWN]:
            yield f"kept as it was first said, though the file says otherwise now: {name}"
        if len(self.changed) > SHOWN:
            yield f"and {len(self.changed) - SHOWN} more that changed"
        yield from self.refused
        for problem, times in self.problems.items():
            yield f"{times} sessions: {problem}"

    def as_json(self) -> dict[str, Any]:
        return {
            "messages": self.messages,
            "stored": self.stored,
            "known": self.known,
            "changed": self.changed,
            "factsExtracted": self.facts,
            "memoriesCreated": self.created,
            "memoriesUpdated": self.updated,
            "memoriesReinforced": self.reinforced,
            "pendingReview": self.held,
            "refused": self.refused,
            "problems": dict(self.problems),
            "stopped": self.is_stopped,
        }
