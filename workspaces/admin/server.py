"""What belongs to the server and to no workspace, for superusers: to be read."""

from typing import Any

from django.http import HttpRequest
from unfold.admin import ModelAdmin

from workspaces.adminbase.counting import BoundedPaginator
from workspaces.adminbase.listing import Listed


class ServerAdmin(Listed, ModelAdmin):
    paginator = BoundedPaginator
    show_full_result_count = False
    actions = None

    def _is_superuser(self, request: HttpRequest, obj: Any = None) -> bool:
        return request.user.is_active and request.user.is_superuser

    def _nobody(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    has_module_permission = has_view_permission = _is_superuser
    has_add_permission = has_change_permission = has_delete_permission = _nobody


class ServerKeyAdmin(ServerAdmin):
    """Made and revoked by `createkey --server`."""

    can_add = False
    list_display = ("name", "prefix", "issued_by", "last_used_at", "expires_at", "revoked_at")
    fields = readonly_fields = (*list_display, "created_at")


class RemovalAdmin(ServerAdmin):
    """Certificates of workspaces that are gone, and those that are going."""

    can_add = False
    list_display = ("workspace_id", "state", "requested_by", "created_at", "finished_at")
    fields = readonly_fields = (*list_display, "plan", "removed", "error", "attempts")
