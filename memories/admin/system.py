"""The queue, for superusers: tasks are bells, so there is little to do here but look."""

from typing import Any

from django.http import HttpRequest
from django_q.models import Failure, OrmQ, Schedule
from unfold.admin import ModelAdmin

from workspaces.adminbase.counting import BoundedPaginator
from workspaces.adminbase.listing import Listed


class SystemAdmin(Listed, ModelAdmin):
    paginator = BoundedPaginator
    show_full_result_count = False
    actions = None

    def _is_superuser(self, request: HttpRequest, obj: Any = None) -> bool:
        return request.user.is_active and request.user.is_superuser

    def _nobody(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    has_module_permission = has_view_permission = has_delete_permission = _is_superuser
    has_add_permission = has_change_permission = _nobody


class FailureAdmin(SystemAdmin):
    list_display = ("func", "args", "started", "stopped", "attempt_count")
    search_fields = ("func",)
    ordering = ("-started",)


class QueueAdmin(SystemAdmin):
    list_display = ("id", "func", "key", "lock")
    fields = readonly_fields = ("key", "lock", "task_id", "func", "args")


class ScheduleAdmin(SystemAdmin):
    list_display = ("name", "func", "schedule_type", "minutes", "next_run")


class BreakerAdmin(SystemAdmin):
    """Deleting one lets the model be asked again at once."""

    ordering = ("-state", "name")  # the open ones first
    list_display = ("name", "state", "since", "detail", "failures", "next_try_at")
    list_filter = ("state", "purpose")


PAGES: dict[Any, type[SystemAdmin]] = {
    Failure: FailureAdmin,
    OrmQ: QueueAdmin,
    Schedule: ScheduleAdmin,
}
