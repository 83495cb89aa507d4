"""How the server is, for superusers: who does the background work, and indexes being made anew."""

from typing import Any

from django.http import HttpRequest

from memories.admin.system import SystemAdmin
from memories.models import IndexRepair, WorkerBeat
from workspaces.adminbase.columns import display
from workspaces.adminbase.listing import Empty


class ReadOnlyAdmin(SystemAdmin):
    can_add = False
    sortable_by = ()
    has_delete_permission = SystemAdmin.has_add_permission

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> list[str]:
        return [field.name for field in self.opts.concrete_fields]


class RepairAdmin(ReadOnlyAdmin):
    list_display = (
        "workspace", "state_told", "done_told", "rest_told", "rate_told", "started_at",
        "finished_at", "error",
    )  # fmt: skip
    list_select_related = ("workspace",)

    @display(
        description="state",
        label={"done": "success", "failing": "danger", "waiting": "warning", "running": "info"},
    )
    def state_told(self, repair: IndexRepair) -> str:
        return repair.state

    @display(description="rows done")
    def done_told(self, repair: IndexRepair) -> str:
        return f"{repair.done:,}"

    @display(description="rows to go")
    def rest_told(self, repair: IndexRepair) -> str:
        return "to be counted" if repair.rest is None else f"{repair.rest:,}"

    @display(description="rows a second")
    def rate_told(self, repair: IndexRepair) -> str:
        return f"{repair.rate:,.0f}"

    def empty(self, request: HttpRequest) -> Empty:
        text = "A new version that reads texts otherwise makes old rows anew; that is told here."
        return Empty("No index was repaired yet", text)


class WorkerAdmin(ReadOnlyAdmin):
    list_display = ("kind", "host", "pid", "started_at", "seen_at")

    def empty(self, request: HttpRequest) -> Empty:
        return Empty("No worker is seen", "One of these must run:", "manage.py up\nmanage.py work")


PAGES: dict[Any, type[ReadOnlyAdmin]] = {IndexRepair: RepairAdmin, WorkerBeat: WorkerAdmin}
