"""What a clock that was wrong once has left in the future, taken back.

Whatever waits for a time lies no further ahead than its own longest period: what does was written by
such a clock, and its time has come. Nothing that was said or believed is dated anew: it may be the
clock of now that is wrong. What comes later is newer whatever the dates are (`candidates.KNOWN`).

A lease, a bell, a set's cursor and a key's last use are no matter of this: whoever reads one counts
it for nothing where it lies too far ahead (`leases.free`, `queue.enqueue_due`, `queue.count`).
"""

from dataclasses import dataclass
from datetime import timedelta

from django.utils import timezone

from memories import outbox
from memories.index import statements
from memories.leases import FAR
from memories.models.conversation import AHEAD
from workspaces.ids import first_uuid7

HOUR, DAY = timedelta(hours=1), timedelta(days=1)


@dataclass(frozen=True, slots=True)
class _Column:
    """A column of times, how far ahead one honestly lies, and where it is taken back to; `where`
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
    _Column("memories_erasure", "due_at", HOUR),
    _Column("workspaces_workspaceremoval", "due_at", HOUR),
    _Column("memories_duevector", "next_attempt_at", 2 * HOUR),
    _Column("memories_idempotentanswer", "expires_at", DAY + HOUR, rest=DAY),
)
# Ids have the time at which they were made. Up to this one all was seen, and what comes now would
# have lower ones: it is looked through again.
SEEN = "delete from memories_setdiscovery where seen > %(made)s"


def heal() -> int:
    """Take back what lies too far ahead; the number of rows."""
    now = timezone.now()
    done = outbox.heal(FAR)
    for each in COLUMNS:
        done += statements.execute(
            each.statement, {"now": now, "longest": each.longest, "rest": each.rest}
        )
    return done + statements.execute(SEEN, {"made": first_uuid7(now + AHEAD)})
