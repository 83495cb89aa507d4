"""Orders that people give to the memory itself."""

from typing import Any

from django.contrib import admin
from django.http import HttpRequest
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from unfold.contrib.filters.admin import ChoicesDropdownFilter

from memories.admin.cases.case_cards import ORDERS
from memories.admin.memory_rows import MemoryRowAdmin, one_line
from memories.models import Intent, Memory
from memories.reading import intents
from workspaces.adminbase.list_admin import Empty, display
from workspaces.adminbase.row_admin import Verb
from workspaces.adminbase.scoped_admin import DayFilter, PickFilter
from workspaces.adminbase.target_names import name_of

# Requests made of the memory: what was asked, what was done about it, and how to undo it.

MOST_NAMED = 50
STATES = {
    Intent.State.HEARD: "not done yet",
    Intent.State.DONE: "done",
    Intent.State.CASE: "waits for a person",
    Intent.State.NOTHING_FOUND: "nothing was meant",
    Intent.State.UNDONE: "taken back",
}


@admin.register(Intent)
class IntentAdmin(MemoryRowAdmin):
    list_display = ("asked", "kind_label", "state_label", "person", "named", "by", "created_at")
    list_select_related = ("workspace", "subject", "episode")
    actor_field = "decided_by"
    list_filter = (
        ("state", ChoicesDropdownFilter),
        ("kind", ChoicesDropdownFilter),
        ("subject", PickFilter),
        DayFilter,
    )
    page_template = "admin/memories/intent.html"
    verbs = (
        Verb(
            "undo",
            _("Undo"),
            "undo",
            "primary",
            _("Memories are believed again, and masked words are shown again."),
            bulk=True,
        ),
    )
    joined = ("workspace", "subject", "agent", "episode")

    @display(description=_("said"))
    def asked(self, intent: Intent) -> str:
        return one_line(intent.quote, 90)

    @display(description=_("asks"))
    def kind_label(self, intent: Intent) -> str:
        return ORDERS[intent.kind]

    @display(
        description=_("state"),
        label={"done": "success", "waits for a person": "warning", "taken back": "info"},
    )
    def state_label(self, intent: Intent) -> str:
        return STATES[Intent.State(intent.state)]

    @display(description=_("memories"))
    def named(self, intent: Intent) -> int:
        return len(intent.memory_ids)

    def offers(self, row: Any, verb: Verb) -> bool:
        return row.state == Intent.State.DONE and row.kind != Intent.Kind.REMEMBER

    def page(self, request: HttpRequest, row: Any) -> dict[str, Any]:
        named = Memory.objects.filter(workspace=row.workspace_id, pk__in=row.memory_ids)
        return {
            "asks": ORDERS[row.kind],
            "state": STATES[Intent.State(row.state)],
            "memories": list(named.order_by("pk")[:MOST_NAMED]),
            "decider": name_of(row.decided_by) if row.decided_by else "",
        }

    def do_undo(self, request: HttpRequest, row: Intent, values: dict[str, Any]) -> str:
        intents.undo(self.scope(request, row), row.pk)
        return gettext("Taken back: everything is as it was.")

    def empty(self, request: HttpRequest) -> Empty:
        return Empty(
            gettext("Nobody asked the memory for anything yet"),
            gettext("“Please forget my salary” or “no, the 14th” appear here, with what was done."),
        )
