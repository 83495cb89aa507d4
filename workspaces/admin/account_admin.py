"""Accounts of the people who may log in, and what guards them; for superusers."""

from django.contrib.auth.admin import UserAdmin
from django.http import HttpRequest
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from unfold.forms import AdminPasswordChangeForm, UserChangeForm, UserCreationForm

from workspaces.adminbase.list_admin import Empty, ServerAdmin, display
from workspaces.models import LoginAttempt, User

# Accounts, for superusers: the people who may log in at all.


class AccountForm(UserCreationForm):
    class Meta:
        model = User
        fields = ("username", "email")


class AccountAdmin(ServerAdmin, UserAdmin):
    form = UserChangeForm
    add_form = AccountForm
    change_password_form = AdminPasswordChangeForm
    list_display = ("username", "email", "first_name", "is_active", "is_superuser", "last_login")
    list_filter = ("is_active", "is_superuser")
    search_fields = ("username__istartswith", "email__istartswith")
    ordering = ("username",)
    filter_horizontal = ()
    actions = ()
    fieldsets = (
        (None, {"fields": ("username", "password")}),
        ("Person", {"fields": ("first_name", "last_name", "email")}),
        ("Rights", {"fields": ("is_active", "is_superuser")}),
        ("Times", {"fields": ("last_login", "date_joined")}),
    )
    add_fieldsets = ((None, {"fields": ("username", "email", "password1", "password2")}),)
    readonly_fields = ("last_login", "date_joined")

    has_add_permission = ServerAdmin.has_view_permission
    has_change_permission = has_delete_permission = has_add_permission


class LoginAttemptAdmin(ServerAdmin):
    list_display = ("created_at", "kind", "person", "address", "request_id")
    list_display_links = None
    list_select_related = ("user",)
    list_filter = ("kind",)
    search_fields = ("address__istartswith", "user__username__istartswith")
    search_help_text = _("Beginning of the address or of an account's name")
    sortable_by = ()

    @display(description=_("account"))
    def person(self, attempt: LoginAttempt) -> str:
        return str(attempt.user) if attempt.user else f"unknown name {attempt.name[:8]}"

    def empty(self, request: HttpRequest) -> Empty:
        return Empty(
            gettext("No wrong tries"),
            gettext("Passwords, codes and links that did not fit stand here."),
        )


class ServerKeyAdmin(ServerAdmin):
    """Server keys, which `createkey --server` makes and revokes."""

    can_add = False
    list_display = ("name", "prefix", "issued_by", "last_used_at", "expires_at", "revoked_at")
    fields = readonly_fields = (*list_display, "created_at")


class RemovalAdmin(ServerAdmin):
    """Certificates of workspaces that were removed, and removals in progress."""

    can_add = False
    list_display = ("workspace_id", "state", "requested_by", "created_at", "finished_at")
    fields = readonly_fields = (*list_display, "plan", "removed", "error", "attempts")
