"""Progress of a long command: a bar where a person looks on, else a line every few seconds, and the
row that the admin shows."""

import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from types import FrameType, TracebackType
from typing import Any, Protocol, Self, TextIO

from django.core.management.base import CommandError
from tqdm import tqdm

from memories.queue import long_jobs
from memories.queue.long_jobs import JobRecorder, NewJob, Stopped

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
            self.out.write(f"{self.done} of {self.total} {self.unit}, {rate:.0f} per second, {left:.0f} s left\n")
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


def see_through(row: Open, rows: int, run: Callable[[Any, float, Callable[[int], object]], object]) -> None:
    """Do the work of `row` until it is over, or a person asks for an end. Raises CommandError."""
    with interruptible() as asked, progress(rows, "rows", sys.stderr) as shown:
        while row.is_open:
            if asked.is_asked:
                raise CommandError("Stopped. The worker goes on with it.", returncode=130)
            if run(row.pk, STEP, shown.update) is None:
                time.sleep(0.5)  # the worker has it
            row.refresh_from_db()
