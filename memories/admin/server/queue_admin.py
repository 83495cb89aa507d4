"""Pages for superusers on the queue, its workers and index repairs (tasks only wake workers, so
there is little to do here but look)."""

import shlex
from typing import Any

from django.conf import settings
from django.contrib import admin
from django.http import HttpRequest
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from memories.models import Breaker, IndexRepair
from workspaces.adminbase.list_admin import Empty, ServerAdmin, display


class QueueAdmin(ServerAdmin):
    """Rows of the server that may be deleted."""

    has_delete_permission = ServerAdmin.has_view_permission


class TaskAdmin(QueueAdmin):
    list_display = ("id", "func", "key", "lock")
    fields = readonly_fields = ("key", "lock", "task_id", "func", "args")


@admin.register(Breaker)
class BreakerAdmin(QueueAdmin):
    """Circuit breakers of models; deleting one lets the model be asked again at once."""

    ordering = ("-state", "name")  # the open ones first
    list_display = ("name", "state", "since", "detail", "failures", "next_try_at")
    list_filter = ("state", "purpose")


class ServerRowAdmin(ServerAdmin):
    """Rows whose page shows all columns."""

    can_add = False
    sortable_by = ()

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> list[str]:
        return [field.name for field in self.opts.concrete_fields]


class RepairAdmin(ServerRowAdmin):
    list_display = (
        "workspace",
        "state_label",
        "rows_done",
        "rows_left",
        "rows_a_second",
        "started_at",
        "finished_at",
        "error",
    )
    list_select_related = ("workspace",)

    @display(
        description=_("state"),
        label={"done": "success", "failing": "danger", "waiting": "warning", "running": "info"},
    )
    def state_label(self, repair: IndexRepair) -> str:
        return repair.state

    @display(description=_("rows done"))
    def rows_done(self, repair: IndexRepair) -> str:
        return f"{repair.done:,}"

    @display(description=_("rows to go"))
    def rows_left(self, repair: IndexRepair) -> str:
        return "to be counted" if repair.rest is None else f"{repair.rest:,}"

    @display(description=_("rows a second"))
    def rows_a_second(self, repair: IndexRepair) -> str:
        return f"{repair.rate:,.0f}"

    def empty(self, request: HttpRequest) -> Empty:
        text = "A new version that reads texts otherwise makes old rows anew; that is told here."
        return Empty(gettext("No index was repaired yet"), text)


class WorkerAdmin(ServerRowAdmin):
    list_display = ("kind", "host", "pid", "started_at", "seen_at")

    def empty(self, request: HttpRequest) -> Empty:
        command = shlex.join(settings.COMMAND)
        return Empty(
            gettext("No worker is seen"),
            gettext("One of these must run:"),
            f"{command} up\n{command} work",
        )
