"""What we know of somebody: live memories of scope user, grouped by fact type."""

import uuid
from dataclasses import dataclass
from datetime import datetime

from django.db.models import F, Window
from django.db.models.functions import RowNumber

from memories.models import Memory, MemoryScope
from memories.models.memory import MemoryQuerySet
from workspaces.scope import Scope

GROUPS = {
    "fact": "facts",
    "preference": "preferences",
    "event": "events",
    "profile": "profile",
    "system": "system",
    "": "uncategorized",
}


@dataclass(frozen=True, slots=True)
class AsOf:
    """The two axes of time: when it was true, and when we believed it. None: now."""

    valid_at: datetime | None = None
    known_at: datetime | None = None


def believed(scope: Scope, at: AsOf) -> MemoryQuerySet:
    """The memories that `scope` sees and that were believed at `at`."""
    seen = Memory.objects.visible_to(scope)
    known = seen.live() if at.known_at is None else seen.known_at(at.known_at)
    return known if at.valid_at is None else known.valid_at(at.valid_at)


def profile(
    scope: Scope, subject_id: uuid.UUID, *, at: AsOf | None = None, limit: int = 100
) -> dict[str, list[Memory]]:
    """The subject's memories by group (every group is there), the newest first in each."""
    place = Window(RowNumber(), partition_by=[F("fact_type")], order_by=[F("id").desc()])
    rows = (
        believed(scope, at or AsOf())
        .filter(subject_id=subject_id, scope=MemoryScope.USER)
        .with_names()
        .annotate(place=place)
        .filter(place__lte=limit)
        .order_by("-id")
    )
    groups: dict[str, list[Memory]] = {name: [] for name in GROUPS.values()}
    for memory in rows:
        groups[GROUPS[memory.fact_type]].append(memory)
    return groups
