"""Repair of timestamps that a wrong clock once set into the future.

Whatever waits for a time lies no further ahead than its own longest period: anything further was
written by such a clock, and its time has come. No statement or memory is dated anew: it may be the
clock of now that is wrong. What comes later is newer whatever the dates are (`candidates.KNOWN`).

A lease, a queued job, a set's cursor and a key's last use need no repair: readers ignore those that
lie too far ahead (`leases.free`, `queue.enqueue_due`, `queue.count`).
"""

from dataclasses import dataclass
from datetime import timedelta

from django.utils import timezone

from memories.index import prepared_sql
from memories.models.conversation import AHEAD
from memories.queue import outbox
from memories.queue.leases import FAR
from workspaces.models.workspace import first_uuid7

HOUR, DAY = timedelta(hours=1), timedelta(days=1)


@dataclass(frozen=True, slots=True)
class _Column:
    """A column of times, how far ahead one may plausibly lie, and where it is reset to; `where`
    leads to its index."""

    table: str
    name: str
    longest: timedelta
    where: str = ""
    rest: timedelta = timedelta(0)

    @property
    def statement(self) -> str:
        where = f" and {self.where}" if self.where else ""
        return (
            f"update {self.table} set {self.name} = %(now)s + %(rest)s::interval"
            f" where {self.name} > %(now)s + %(longest)s::interval{where}"
        )


OPEN = "state in ('received', 'extracting', 'resolving')"
COLUMNS = (
    _Column("memories_memorysession", "next_attempt_at", DAY + HOUR, OPEN),
    _Column("memories_featureset", "due_at", 7 * DAY + HOUR),
    _Column("memories_featureset", "embedding_due_at", DAY + HOUR),
    _Column("memories_conversationsummary", "due_at", HOUR),
    _Column("memories_duesummary", "due_at", DAY + HOUR),
    _Column("memories_erasure", "due_at", HOUR),
    _Column("workspaces_workspaceremoval", "due_at", HOUR),
    _Column("memories_duevector", "next_attempt_at", 2 * HOUR),
    _Column("memories_document", "next_attempt_at", HOUR, "state not in ('done', 'failed')"),
    _Column("memories_syncrun", "next_attempt_at", DAY + HOUR, "state in ('waiting', 'running')"),
    _Column("memories_connection", "next_sync_at", 7 * DAY + HOUR),
    _Column("memories_connection", "paused_until", DAY + HOUR),
    _Column("memories_indexrepair", "next_attempt_at", 2 * HOUR),
    _Column("memories_webhookdelivery", "next_attempt_at", DAY + HOUR, "state = 'waiting'"),
    _Column("memories_idempotentanswer", "expires_at", DAY + HOUR, rest=DAY),
)
# Ids contain the time at which they were made. Everything up to this one was seen, but new ones
# would be lower: it is looked through again.
SEEN = "delete from memories_setdiscovery where seen > %(made)s"


def heal() -> int:
    """Reset times that lie too far ahead; the number of rows."""
    now = timezone.now()
    done = outbox.heal(FAR)
    for each in COLUMNS:
        done += prepared_sql.execute(each.statement, {"now": now, "longest": each.longest, "rest": each.rest})
    return done + prepared_sql.execute(SEEN, {"made": first_uuid7(now + AHEAD)})
