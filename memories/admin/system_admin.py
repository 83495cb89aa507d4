"""How the server is, for superusers: the queue, who works on it, and indexes being made anew. Tasks
are bells, so there is little to do here but look."""

from typing import Any

from django.http import HttpRequest
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from django_q.models import Failure, OrmQ, Schedule

from memories.models import IndexRepair, WorkerBeat
from workspaces.adminbase.list_admin import Empty, ServerAdmin, display


class QueueAdmin(ServerAdmin):
    """What may be deleted."""

    has_delete_permission = ServerAdmin.has_view_permission


class FailureAdmin(QueueAdmin):
    list_display = ("func", "args", "started", "stopped", "attempt_count")
    search_fields = ("func",)
    ordering = ("-started",)


class TaskAdmin(QueueAdmin):
    list_display = ("id", "func", "key", "lock")
    fields = readonly_fields = ("key", "lock", "task_id", "func", "args")


class ScheduleAdmin(QueueAdmin):
    list_display = ("name", "func", "schedule_type", "minutes", "next_run")


class BreakerAdmin(QueueAdmin):
    """Deleting one lets the model be asked again at once."""

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
        "workspace", "state_label", "rows_done", "rows_left", "rows_a_second", "started_at",
        "finished_at", "error",
    )  # fmt: skip
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
        return Empty(
            gettext("No worker is seen"),
            gettext("One of these must run:"),
            "manage.py up\nmanage.py work",
        )


QUEUE_ADMINS: dict[Any, type[ServerAdmin]] = {
    Failure: FailureAdmin,
    OrmQ: TaskAdmin,
    Schedule: ScheduleAdmin,
}
SERVER_ADMINS: dict[Any, type[ServerAdmin]] = {IndexRepair: RepairAdmin, WorkerBeat: WorkerAdmin}
