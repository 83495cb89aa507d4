"""Ends a long command between two steps when it is asked to, instead of in the middle of one."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType

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
