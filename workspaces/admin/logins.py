"""Wrong tries at the door, for superusers."""

from typing import Any

from django.http import HttpRequest
from unfold.admin import ModelAdmin

from workspaces.adminbase.access import access_of
from workspaces.adminbase.columns import display
from workspaces.adminbase.counting import BoundedPaginator
from workspaces.adminbase.listing import Empty, Listed
from workspaces.models import LoginAttempt


class LoginAttemptAdmin(Listed, ModelAdmin):
    list_display = ("created_at", "kind", "person", "address", "request_id")
    list_display_links = None
    list_select_related = ("user",)
    list_filter = ("kind",)
    search_fields = ("address__istartswith", "user__username__istartswith")
    search_help_text = "Beginning of the address or of an account's name"
    paginator = BoundedPaginator
    show_full_result_count = False
    actions = None
    sortable_by = ()

    @display(description="account")
    def person(self, attempt: LoginAttempt) -> str:
        return str(attempt.user) if attempt.user else f"unknown name {attempt.name[:8]}"

    def _is_superuser(self, request: HttpRequest, obj: Any = None) -> bool:
        return access_of(request).everywhere

    def _nobody(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    has_module_permission = has_view_permission = _is_superuser
    has_add_permission = has_change_permission = has_delete_permission = _nobody

    def empty(self, request: HttpRequest) -> Empty:
        return Empty("No wrong tries", "Passwords, codes and links that did not fit stand here.")
