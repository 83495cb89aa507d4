"""The side bar: what a person works with, by the rights they have, and what waits for them."""

from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest
from django.urls import reverse

from memories.models import Case, MemorySession
from workspaces.adminbase.access import Access, access_of
from workspaces.adminbase.list_admin import bounded_count, count_text
from workspaces.models import Capability

MOST_WAITING = 99
KEPT = "_waiting"


@dataclass(frozen=True, slots=True)
class Waiting:
    """What needs a person, counted up to 99 and one more."""

    decisions: int
    stuck: int


def waiting(request: HttpRequest) -> Waiting:
    """Counted once per request: the home page shows what the side bar shows."""
    known: Waiting | None = getattr(request, KEPT, None)
    if known is None:
        access = access_of(request)
        pending = Case.objects.filter(state=Case.State.OPEN)
        stuck = MemorySession.objects.filter(
            state__in=[MemorySession.State.FAILED, MemorySession.State.DEAD]
        )
        known = Waiting(
            bounded_count(access.limit(pending, "workspace"), MOST_WAITING),
            bounded_count(access.limit(stuck, "workspace"), MOST_WAITING),
        )
        setattr(request, KEPT, known)
    return known


def sidebar(request: HttpRequest) -> list[dict[str, Any]]:
    access = access_of(request)
    now = waiting(request)
    groups = [
        ("", [_item("Home", "home", "index")]),
        ("Memory", _memory(now)),
        ("Evidence", _evidence(now)),
        ("Access", _access(access)),
    ]
    groups.append(("Operation", [_item("Performance", "monitoring", "memories_plots")]))
    if access.everywhere:
        groups.append(("System", _system()))
    _mark(request.path, [item for _, items in groups for item in items])
    return [{"title": title, "items": items} for title, items in groups]


def _mark(path: str, items: list[dict[str, Any]]) -> None:
    """Only the item whose address the path begins with furthest is where the person is."""
    links = [item["link"] for item in items]
    if path.startswith(reverse("admin:memories_supersession_changelist")) or path.startswith(
        reverse("admin:memories_case_changelist")
    ):
        path = reverse("admin:memories_review")  # a case's or decision's own page, its list
    here = max((link for link in links if path.startswith(link)), key=len, default="")
    for item in items:
        item["active"] = item["link"] == here


def _memory(now: Waiting) -> list[dict[str, Any]]:
    return [
        _item("Memories", "neurology", "memories_memory_changelist"),
        _item("Review", "rule", "memories_review", waits=now.decisions),
        _item("Search", "search", "memories_search"),
        _item("Why not?", "troubleshoot", "memories_why_not"),
        _item("Feature sets", "badge", "memories_featureset_changelist"),
        _item("Features", "sell", "memories_feature_changelist"),
        _item("Rejections", "block", "memories_rejection_changelist"),
        _item("Slots", "data_object", "memories_workspaceslot_changelist"),
        _item("Change words", "swap_horiz", "memories_workspacechange_changelist"),
        _item("Subjects", "face", "workspaces_subject_changelist"),
    ]


def _evidence(now: Waiting) -> list[dict[str, Any]]:
    return [
        _item("Conversations", "forum", "memories_conversation_changelist"),
        _item("Episodes", "chat_bubble", "memories_episode_changelist"),
        _item("Facts", "format_quote", "memories_fact_changelist"),
        _item("Repeats", "repeat", "memories_repeats"),
        _item("Visibility", "lock", "memories_visibility"),
        _item("Misses", "search_off", "memories_miss_changelist"),
        _item("Preview", "visibility", "memories_preview"),
        _item("Patterns", "pattern", "memories_workspacepattern_changelist"),
        _item("Sessions", "move_to_inbox", "memories_memorysession_changelist", waits=now.stuck),
    ]


def _access(access: Access) -> list[dict[str, Any]]:
    items = [
        _item("Workspaces", "workspaces", "workspaces_workspace_changelist"),
        _item("Members", "group", "workspaces_membership_changelist"),
        _item("Agents", "smart_toy", "workspaces_agent_changelist"),
    ]
    if access.may_somewhere(Capability.ADMIN):
        items.append(_item("Invitations", "mail", "workspaces_invitation_changelist"))
        items.append(_item("API keys", "key", "workspaces_apikey_changelist"))
        items.append(_item("Erasures", "delete_forever", "memories_erasure_changelist"))
    if access.may_somewhere(Capability.CURATE):
        items.append(_item("Audit", "history", "workspaces_auditentry_changelist"))
    return items


def _system() -> list[dict[str, Any]]:
    return [
        _item("Accounts", "manage_accounts", "workspaces_user_changelist"),
        _item("Server keys", "vpn_key", "workspaces_serverkey_changelist"),
        _item("Removals", "delete_sweep", "workspaces_workspaceremoval_changelist"),
        _item("Wrong logins", "gpp_maybe", "workspaces_loginattempt_changelist"),
        _item("Waiting tasks", "queue", "django_q_ormq_changelist"),
        _item("Failed tasks", "error", "django_q_failure_changelist"),
        _item("Models", "power", "memories_breaker_changelist"),
        _item("Schedules", "schedule", "django_q_schedule_changelist"),
        _item("Workers", "engineering", "memories_workerbeat_changelist"),
        _item("Index repairs", "build", "memories_indexrepair_changelist"),
    ]


def _item(title: str, icon: str, page: str, *, waits: int = 0) -> dict[str, Any]:
    item: dict[str, Any] = {"title": title, "icon": icon, "link": reverse(f"admin:{page}")}
    if waits:
        item |= {"badge": count_text(waits, MOST_WAITING), "badge_variant": "warning"}
    return item
