"""Ends a long command between two steps when it is asked to, instead of in the middle of one."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType

from memories.management.progress import Progress

SIGNALS = (signal.SIGINT, signal.SIGTERM)


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


class StoppableProgress:
    """To be called after each batch with its size; raises Stopped when a person wants an end."""

    def __init__(self, asked: Interruption, shown: Progress) -> None:
        self.asked, self.shown, self.done = asked, shown, 0

    def __call__(self, rows: int) -> None:
        self.done += rows
        self.shown.update(rows)
        if self.asked.is_asked:
            raise Stopped
