"""Wrong tries at the door, for superusers."""

from django.http import HttpRequest

from workspaces.adminbase.list_admin import Empty, ServerAdmin, display
from workspaces.models import LoginAttempt


class LoginAttemptAdmin(ServerAdmin):
    list_display = ("created_at", "kind", "person", "address", "request_id")
    list_display_links = None
    list_select_related = ("user",)
    list_filter = ("kind",)
    search_fields = ("address__istartswith", "user__username__istartswith")
    search_help_text = "Beginning of the address or of an account's name"
    sortable_by = ()

    @display(description="account")
    def person(self, attempt: LoginAttempt) -> str:
        return str(attempt.user) if attempt.user else f"unknown name {attempt.name[:8]}"

    def empty(self, request: HttpRequest) -> Empty:
        return Empty("No wrong tries", "Passwords, codes and links that did not fit stand here.")
