"""Webhooks, and the log of their deliveries: those that failed, why, and another try."""

from typing import Any

from django.contrib import admin
from django.db.models import Model
from django.http import HttpRequest
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from unfold.contrib.filters.admin import ChoicesDropdownFilter

from memories.admin.memory_rows import MemoryRowAdmin, one_line
from memories.events import deliver_webhooks, webhooks
from memories.models import Webhook, WebhookDelivery
from workspaces.adminbase.list_admin import Empty, display
from workspaces.adminbase.row_admin import Verb
from workspaces.adminbase.scoped_admin import DayFilter
from workspaces.adminbase.target_names import name_of
from workspaces.models import Capability

NEWEST = 50
STATES = {
    WebhookDelivery.State.WAITING: "waiting",
    WebhookDelivery.State.DELIVERED: "delivered",
    WebhookDelivery.State.GIVEN_UP: "given up",
}
AGAIN = Verb("redeliver", _("Send again"), "refresh", "primary", capability=Capability.ADMIN, bulk=True)


@admin.register(Webhook)
class WebhookAdmin(MemoryRowAdmin):
    read_capability = write_capability = Capability.ADMIN
    list_display = ("address", "told_of", "is_active", "by", "created_at")
    list_select_related = ("workspace",)
    actor_field = "created_by"
    page_template = "admin/memories/webhook.html"
    verbs = (
        Verb("ping", _("Send a ping"), "send", "primary", capability=Capability.ADMIN),
        Verb("pause", _("Switch off"), "pause", capability=Capability.ADMIN),
        Verb("resume", _("Switch on"), "play_arrow", capability=Capability.ADMIN),
    )

    @display(description=_("address"))
    def address(self, hook: Any) -> str:
        return one_line(str(hook), 80)

    @display(description=_("told of"))
    def told_of(self, hook: Any) -> str:
        return ", ".join(hook.events)

    def offers(self, row: Any, verb: Verb) -> bool:
        return {"pause": row.is_active, "resume": not row.is_active}.get(verb.name, True)

    def do_ping(self, request: HttpRequest, row: Model, values: dict[str, Any]) -> str:
        webhooks.ping(self.scope(request, row), row.pk)
        return gettext("It is sent at once: its line below tells what came of it.")

    def do_pause(self, request: HttpRequest, row: Model, values: dict[str, Any]) -> str:
        webhooks.change(self.scope(request, row), row.pk, {"is_active": False})
        return gettext("Nothing is sent to it any more.")

    def do_resume(self, request: HttpRequest, row: Model, values: dict[str, Any]) -> str:
        webhooks.change(self.scope(request, row), row.pk, {"is_active": True})
        return gettext("It is told of what happens again, and of what waited.")

    def page(self, request: HttpRequest, row: Any) -> dict[str, Any]:
        return {
            "title": str(row),
            "by": name_of(row.created_by),
            "waiting": row.deliveries.filter(state=WebhookDelivery.State.WAITING).count(),
            "days": deliver_webhooks.KEPT.days,
            "deliveries": [(each, STATES[each.state]) for each in row.deliveries.all()[:NEWEST]],
        }

    def empty(self, request: HttpRequest) -> Empty:
        return Empty(gettext("No webhooks"), gettext("A key that administers makes one: POST /webhooks."))


@admin.register(WebhookDelivery)
class WebhookDeliveryAdmin(MemoryRowAdmin):
    read_capability = write_capability = Capability.ADMIN
    list_display = (
        "kind",
        "state_label",
        "webhook",
        "attempts",
        "status",
        "why",
        "next_attempt_at",
        "created_at",
    )
    list_select_related = ("workspace", "webhook")
    list_filter = (("state", ChoicesDropdownFilter), DayFilter)
    page_template = "admin/memories/webhook_delivery.html"
    verbs = (AGAIN,)

    @display(
        description=_("state"),
        label={"delivered": "success", "waiting": "warning", "given up": "danger"},
    )
    def state_label(self, delivery: Any) -> str:
        return STATES[delivery.state]

    @display(description=_("why"))
    def why(self, delivery: Any) -> str:
        return one_line(delivery.error, 60)

    def do_redeliver(self, request: HttpRequest, row: Model, values: dict[str, Any]) -> str:
        webhooks.redeliver(self.scope(request, row), row.pk)
        return gettext("It is sent at once, with the same id.")

    def page(self, request: HttpRequest, row: Any) -> dict[str, Any]:
        return {"title": f"{row.kind}: {STATES[row.state]}", "state": STATES[row.state]}

    def empty(self, request: HttpRequest) -> Empty:
        return Empty(
            gettext("Nothing was sent"),
            gettext("What webhooks are told stands here for 30 days. What has waited as long is not sent any more."),
        )
