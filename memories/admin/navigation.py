"""The side bar: what a person works with, by the rights they have, and what waits for them."""

from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest
from django.urls import reverse

from memories.models import Case, MemorySession
from workspaces.adminbase.access import access_of
from workspaces.adminbase.list_admin import bounded_count, count_text
from workspaces.models import Capability

MOST_WAITING = 99
KEPT = "_waiting"


@dataclass(frozen=True, slots=True)
class Waiting:
    """What needs a person, counted up to 99 and one more."""

    decisions: int
    stuck: int


@dataclass(frozen=True, slots=True)
class MenuEntry:
    """A page; `waits` is a field of Waiting, `needs` a capability in any workspace."""

    title: str
    icon: str
    page: str
    waits: str = ""
    needs: str = ""


SYSTEM = "System"  # for those who see all workspaces
MENU = {
    "": (MenuEntry("Home", "home", "index"),),
    "Memory": (
        MenuEntry("Memories", "neurology", "memories_memory_changelist"),
        MenuEntry("Review", "rule", "memories_review", waits="decisions"),
        MenuEntry("Intents", "record_voice_over", "memories_intent_changelist"),
        MenuEntry("Playground", "toys", "memories_playground"),
        MenuEntry("Search", "search", "memories_search"),
        MenuEntry("Why not?", "troubleshoot", "memories_why_not"),
        MenuEntry("Golden questions", "star", "memories_golden"),
        MenuEntry("Feature sets", "badge", "memories_featureset_changelist"),
        MenuEntry("Features", "sell", "memories_feature_changelist"),
        MenuEntry("Rejections", "block", "memories_rejection_changelist"),
        MenuEntry("Slots", "data_object", "memories_workspaceslot_changelist"),
        MenuEntry("Change words", "swap_horiz", "memories_workspacechange_changelist"),
        MenuEntry("Subjects", "face", "workspaces_subject_changelist"),
    ),
    "Evidence": (
        MenuEntry("Conversations", "forum", "memories_conversation_changelist"),
        MenuEntry("Episodes", "chat_bubble", "memories_episode_changelist"),
        MenuEntry("Documents", "description", "memories_document_changelist"),
        MenuEntry("Hand in files", "upload_file", "memories_upload"),
        MenuEntry("Connections", "sync", "memories_connection_changelist", needs=Capability.CURATE),
        MenuEntry("Facts", "format_quote", "memories_fact_changelist"),
        MenuEntry("Repeats", "repeat", "memories_repeats"),
        MenuEntry("Rules", "checklist", "memories_rules"),
        MenuEntry("Visibility", "lock", "memories_visibility"),
        MenuEntry("Misses", "search_off", "memories_miss_changelist"),
        MenuEntry("Preview", "visibility", "memories_preview"),
        MenuEntry("Patterns", "pattern", "memories_workspacepattern_changelist"),
        MenuEntry("Sessions", "move_to_inbox", "memories_memorysession_changelist", "stuck"),
    ),
    "Access": (
        MenuEntry("Workspaces", "workspaces", "workspaces_workspace_changelist"),
        MenuEntry("Members", "group", "workspaces_membership_changelist"),
        MenuEntry("Agents", "smart_toy", "workspaces_agent_changelist"),
        MenuEntry("Connect agents", "cable", "workspaces_connect"),
        MenuEntry(
            "Invitations", "mail", "workspaces_invitation_changelist", needs=Capability.ADMIN
        ),
        MenuEntry("API keys", "key", "workspaces_apikey_changelist", needs=Capability.ADMIN),
        MenuEntry(
            "Erasures", "delete_forever", "memories_erasure_changelist", needs=Capability.ADMIN
        ),
        MenuEntry("Audit", "history", "workspaces_auditentry_changelist", needs=Capability.CURATE),
    ),
    "Operation": (
        MenuEntry("Performance", "monitoring", "memories_plots"),
        MenuEntry("Usage", "bar_chart", "memories_usage", needs=Capability.ADMIN),
        MenuEntry("Costs", "payments", "memories_costs", needs=Capability.ADMIN),
        MenuEntry("Webhooks", "webhook", "memories_webhook_changelist", needs=Capability.ADMIN),
        MenuEntry(
            "Deliveries", "outbox", "memories_webhookdelivery_changelist", needs=Capability.ADMIN
        ),
    ),
    SYSTEM: (
        MenuEntry("Accounts", "manage_accounts", "workspaces_user_changelist"),
        MenuEntry("Server keys", "vpn_key", "workspaces_serverkey_changelist"),
        MenuEntry("Removals", "delete_sweep", "workspaces_workspaceremoval_changelist"),
        MenuEntry("Wrong logins", "gpp_maybe", "workspaces_loginattempt_changelist"),
        MenuEntry("Waiting tasks", "queue", "django_q_ormq_changelist"),
        MenuEntry("Failed tasks", "error", "django_q_failure_changelist"),
        MenuEntry("Models", "power", "memories_breaker_changelist"),
        MenuEntry("Prices", "sell", "memories_modelprice_changelist"),
        MenuEntry("Schedules", "schedule", "django_q_schedule_changelist"),
        MenuEntry("Workers", "engineering", "memories_workerbeat_changelist"),
        MenuEntry("Index repairs", "build", "memories_indexrepair_changelist"),
    ),
}


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
    access, now, path = access_of(request), waiting(request), request.path
    lists = ("memories_supersession_changelist", "memories_case_changelist")
    if path.startswith(tuple(reverse(f"admin:{each}") for each in lists)):
        path = reverse("admin:memories_review")  # a case's or decision's own page, its list
    groups, every = [], []
    for title, entries in MENU.items():
        if title == SYSTEM and not access.everywhere:
            continue
        items = []
        for entry in entries:
            if entry.needs and not access.may_somewhere(entry.needs):
                continue
            link = reverse(f"admin:{entry.page}")
            item: dict[str, Any] = {"title": entry.title, "icon": entry.icon, "link": link}
            if count := getattr(now, entry.waits) if entry.waits else 0:
                item |= {"badge": count_text(count, MOST_WAITING), "badge_variant": "warning"}
            items.append(item)
        groups.append({"title": title, "items": items})
        every += items
    # Only the item whose address the path begins with furthest is where the person is.
    links = [item["link"] for item in every if path.startswith(item["link"])]
    here = max(links, key=len, default="")
    for item in every:
        item["active"] = item["link"] == here
    return groups
