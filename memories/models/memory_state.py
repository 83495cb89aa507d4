"""What state a memory is in: the one place, for rows, querysets and SQL.

A *head* is what stands of its chain: neither superseded nor forgotten nor held for review. The
table has that as a column that the database keeps (`Memory.is_head`), for querysets and SQL; a row
in hand is asked for its `state`. *Live* is a head whose `forget_after` has not come, which only a
clock tells: what has expired stays a head until the sweep forgets it, and so stays in the index.
Whoever leaves expiry out says why.
"""

from django.db import models
from django.db.models import Q


class MemoryState(models.TextChoices):
    LIVE = "live"
    SUPERSEDED = "superseded"
    FORGOTTEN = "forgotten"
    HELD = "held", "Held for review"
    EXPIRED = "expired"

    @property
    def is_head(self) -> bool:
        return self in (MemoryState.LIVE, MemoryState.EXPIRED)


IS_HEAD = Q(superseded_by=None, forgotten_at=None, held_at=None)  # what the column is kept as
# Over `m`, a memory.
UNEXPIRED_SQL = "(m.forget_after is null or m.forget_after > now())"
LIVE_SQL = f"m.is_head and {UNEXPIRED_SQL}"
