"""Queues of rows that are due: who has a row, how often it was tried, and when it is tried again.

A room declares its queue once: its model, the states in which a row is open, the attempts it has
and the first pause after a failure. Then it claims a row, works on it in steps, and gives it back,
fails or closes it. An attempt is counted at the claim, so that a row which kills its worker is given
up at last; a step that was done lets the earlier ones count no more. Each write names the number of
the claim: whoever was taken over (see `leases`) writes nothing.
"""

import uuid
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from typing import Any, Generic, TypeVar

from django.db import models, transaction
from django.db.models import F, QuerySet
from django.utils import timezone

from memories.queue import leases
from memories.queue.leases import TakenOver

LONGEST_PAUSE = timedelta(hours=1)
DIED = "Its worker died too often."
Row = TypeVar("Row", bound=models.Model)


def pause_after(failures: int, first: timedelta, wanted: float = 0.0) -> timedelta:
    """Return the pause after so many failures in a row: `first` doubled with each, up to LONGEST_PAUSE, or
    the seconds that the other side wanted where these are more."""
    return max(min(first * 2 ** min(failures, 20), LONGEST_PAUSE), timedelta(seconds=wanted))


@dataclass(frozen=True, slots=True)
class Queue(Generic[Row]):
    """Rows of `model` that are due at their column `time`; with `states`, only in one of these.

    `attempts` names the column that counts them. Without `most_attempts` no row is given up.
    """

    model: type[Row]
    first_pause: timedelta
    most_attempts: int | None = None
    states: tuple[str, ...] = ()
    time: str = "due_at"
    attempts: str = "attempts"

    def rows(self, now: datetime | None = None) -> QuerySet[Row]:
        """Return rows whose turn it is and those whose worker died, the longest waiting first."""
        now = now or timezone.now()
        rows = self._open().filter(leases.free(now), **{f"{self.time}__lte": now})
        return rows.order_by(self.time)

    def due(self, most: int | None = None) -> list[uuid.UUID]:
        """Return the ids of `rows`, at most so many."""
        return list(self.rows().values_list("pk", flat=True)[:most])

    def fresh(self) -> dict[str, Any]:
        """Return the values of a row that is due now, free, and was never tried."""
        now = timezone.now()
        return {self.time: now, self.attempts: 0, "lease_until": None, "updated_at": now}

    def claim(self, row_id: uuid.UUID, **values: Any) -> Row | None:
        """Claim a row and write `values`; None where another worker has it, or it is not due."""
        now = timezone.now()
        counted = {name: F(name) + 1 for name in ("claims", self.attempts)}
        with transaction.atomic():
            mine = self.rows(now).filter(pk=row_id)
            if not mine.update(**counted, lease_until=leases.end(), updated_at=now, **values):
                return None
            return self.model._default_manager.get(pk=row_id)

    def held(self, row: Row) -> QuerySet[Row]:
        """Return the row, as long as this claim of it stands."""
        own = {"claims": self._number(row, "claims")}
        return self._open().filter(pk=row.pk, lease_until__isnull=False, **own)

    def renewed(self, row: Row) -> AbstractContextManager[leases.Work]:
        """Keep the claim as long as the work inside goes on."""
        return leases.renewed(partial(self.held, row))

    def keep(self, row: Row, **values: Any) -> None:
        """Write what a step has done, in its transaction. Raises TakenOver where the claim is lost."""
        setattr(row, self.attempts, 1)
        values |= {self.attempts: 1, "lease_until": leases.end()}
        if not self.held(row).update(**values):
            raise TakenOver

    def died_too_often(self, row: Row) -> bool:
        """Tell whether the claim is one more than the row has attempts, so that it is to be closed."""
        return self.most_attempts is not None and self._number(row, self.attempts) > self.most_attempts

    def retry_at(self, row: Row, wanted: float = 0.0) -> datetime | None:
        """Return when it is tried again after a failure, later with each; None where its attempts
        are used up. `wanted`: seconds that the other side asks for."""
        if self.most_attempts is not None and self._number(row, self.attempts) >= self.most_attempts:
            return None
        return timezone.now() + pause_after(self._number(row, self.attempts), self.first_pause, wanted)

    def leave(self, row: Row, due_at: datetime | None, **values: Any) -> bool:
        """End the claim and write `values`; without `due_at` the row is due no more. Return
        whether the claim stood."""
        values |= {self.time: due_at, "lease_until": None, "updated_at": timezone.now()}
        return bool(self.held(row).update(**values))

    def give_back(self, row: Row, pause: timedelta = timedelta(0), **values: Any) -> bool:
        """Leave it to be due again after a pause, which is no failure."""
        return self.leave(row, timezone.now() + pause, **{self.attempts: 0} | values)

    def _open(self) -> QuerySet[Row]:
        rows = self.model._default_manager.all()
        return rows.filter(state__in=self.states) if self.states else rows

    def _number(self, row: Row, column: str) -> int:
        return int(getattr(row, column))
