"""Home: what needs a person now, how memory is doing, what came last. Each number is a link."""

from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.db.models import Sum
from django.http import HttpRequest
from django.urls import reverse
from django.utils import timezone

from memories.admin.base import tell_it
from memories.admin.navigation import MOST_WAITING, waiting
from memories.admin.sessions import outcome
from memories.models import Conversation, DueVector, Fact, Memory, MemorySession, WorkspaceIndex
from workspaces.desk.access import Access, access_of
from workspaces.desk.counting import bounded_count, told
from workspaces.models import Subject

NEWEST = 8


@dataclass(frozen=True, slots=True)
class Tile:
    label: str
    number: str
    url: str
    waits: bool = False


def fill(request: HttpRequest, context: dict[str, Any]) -> dict[str, Any]:
    """Unfold's dashboard callback: the context of the home page."""
    access = access_of(request)
    memories = access.limit(Memory.objects.all(), "workspace")
    sessions = access.limit(MemorySession.objects.all(), "workspace")
    latest = list(memories.live().select_related("subject").order_by("-id")[:NEWEST])
    recent = list(sessions.select_related("subject").order_by("-id")[:NEWEST])
    return context | {
        "title": "Home",
        "needs": needs(access),
        "doing": doing(access),
        "latest": latest,
        "recent": [(session, outcome(session)) for session in recent],
        "empty": None if recent or latest else tell_it(request, "Nothing is remembered yet"),
        "of_many": access.is_of_many,
    }


def needs(access: Access) -> list[Tile]:
    """What waits for a person; nothing is a good sign."""
    now = waiting(access)
    quarantined = access.limit(Fact.objects.filter(quarantined_at__isnull=False), "workspace")
    tiles = [
        _waiting("decisions to take", now.decisions, "memories_supersession_changelist", ""),
        _waiting("sessions failed", now.stuck, "memories_memorysession_changelist", "?state=stuck"),
        _waiting(
            "facts in quarantine",
            bounded_count(quarantined, MOST_WAITING),
            "memories_fact_changelist",
            "?state=quarantined",
        ),
    ]
    return [tile for tile in tiles if tile.waits]


def doing(access: Access) -> list[Tile]:
    """Memories and episodes are counted as they come and go; the rest up to 10,000."""
    spaces = access.limit(WorkspaceIndex.objects.all(), "workspace")
    live = spaces.aggregate(memories=Sum("live_memories"), episodes=Sum("live_episodes"))
    due = bounded_count(DueVector.objects.filter(entry__workspace__in=spaces.values("pk")))
    day = timezone.now() - timedelta(days=1)
    sessions = access.limit(MemorySession.objects.filter(created_at__gte=day), "workspace")
    return [
        _tile("live memories", told(live["memories"] or 0, 10**15), "memories_memory"),
        _tile("episodes", told(live["episodes"] or 0, 10**15), "memories_episode"),
        _counted("conversations", access.limit(Conversation.objects.all(), "workspace")),
        _counted("subjects", access.limit(Subject.objects.all(), "workspace")),
        _tile("sessions in 24 hours", told(bounded_count(sessions)), "memories_memorysession"),
        _tile("vectors still to make", told(due), "memories_memory"),
    ]


def _waiting(label: str, number: int, page: str, query: str) -> Tile:
    url = reverse(f"admin:{page}") + query
    return Tile(label, told(number, MOST_WAITING), url, waits=number > 0)


def _counted(label: str, rows: Any) -> Tile:
    return _tile(label, told(bounded_count(rows)), rows.model._meta.label_lower.replace(".", "_"))


def _tile(label: str, number: str, model: str) -> Tile:
    return Tile(label, number, reverse(f"admin:{model}_changelist"))
