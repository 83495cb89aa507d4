"""What we know of somebody: live memories of scope user, grouped by fact type."""

import uuid

from django.db.models import F, Window
from django.db.models.functions import RowNumber

from memories.models import NOW, AsOf, Memory, MemoryScope
from workspaces.scope import Scope

GROUPS = {
    "fact": "facts",
    "preference": "preferences",
    "event": "events",
    "profile": "profile",
    "system": "system",
    "": "uncategorized",
}


def profile(
    scope: Scope, subject_id: uuid.UUID, *, at: AsOf | None = None, limit: int = 100
) -> dict[str, list[Memory]]:
    """The subject's memories by group (every group is there), the newest first in each."""
    place = Window(RowNumber(), partition_by=[F("fact_type")], order_by=[F("id").desc()])
    rows = (
        Memory.objects.visible_to(scope)
        .believed(scope.workspace_id, at or NOW)
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
