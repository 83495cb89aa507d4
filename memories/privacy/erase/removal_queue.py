"""The queue of what is taken away in steps, and waits for a person where that is given up."""

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import IntegrityError
from django.utils import timezone

from memories.queue.due_rows import Queue, Row
from memories.queue.leases import TakenOver


@dataclass(frozen=True, slots=True)
class RemovalQueue(Queue[Row]):
    def leave_turn(self, row: Row, due_at: datetime | None, error: str, **values: Any) -> Row | None:
        """Make it due again, or let it wait for a person; None where another worker has it."""
        state = "running" if due_at else "failed"
        if not self.leave(row, due_at, state=state, error=error, **values):
            return None
        row.refresh_from_db()
        return row

    def turn(self, row: Row, steps: Iterable[object], finish: Callable[[Row], Row], until: float) -> Row | None:
        """Take steps until the clock says `until`, and finish when none is left; None where another
        worker has taken it over."""
        try:
            with self.renewed(row) as work:
                for _ in steps:
                    work.advance()
                    if time.monotonic() >= until:
                        return self.leave_turn(row, timezone.now(), "", attempts=0)
                return finish(row)
        except IntegrityError:
            # Somebody wrote about it meanwhile: what came is taken away with the rest.
            error = "the database refused a step, as when rows come in meanwhile"
            return self.leave_turn(row, self.retry_at(row), error)
        except TakenOver:
            return None
