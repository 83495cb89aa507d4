"""How far a long command is: a bar where a person looks on, else a line every few seconds."""

import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType, TracebackType
from typing import Protocol, Self, TextIO

from tqdm import tqdm

SECONDS_BETWEEN_LINES = 5.0

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
    """To be entered with `with`; `update(n)` says that n more of `total` are done."""
    if out.isatty():
        bar: Progress = tqdm(total=total, unit=f" {unit}", file=out, dynamic_ncols=True)
        return bar
    return Lines(total, unit, out)


class Lines:
    """The same for logs."""

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
                f"{self.done} of {self.total} {self.unit}, {rate:.0f} per second, {left:.0f} s left\n"
            )
            self.out.flush()


@dataclass(slots=True)
class Interruption:
    is_asked: bool = False


@contextmanager
def interruptible() -> Iterator[Interruption]:
    """The first Ctrl-C or SIGTERM is only noted, a second one interrupts at once."""
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


class Stopped(Exception):
    """Asked to stop, between two batches."""


class Steps:
    """To be called after each batch with its size; raises Stopped when a person wants an end."""

    def __init__(self, asked: Interruption, shown: Progress) -> None:
        self.asked, self.shown, self.done = asked, shown, 0

    def __call__(self, rows: int) -> None:
        self.done += rows
        self.shown.update(rows)
        if self.asked.is_asked:
            raise Stopped
