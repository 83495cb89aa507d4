"""The steps of a long command: shown as they are done, and the last one when that is asked for."""

from memories.management.interruption import Interruption
from memories.management.progress import Progress


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
