"""Accounts, for superusers: who may log in at all."""

from django.contrib.auth.admin import UserAdmin
from unfold.forms import AdminPasswordChangeForm, UserChangeForm, UserCreationForm

from workspaces.adminbase.list_admin import ServerAdmin
from workspaces.models import User


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
    list_filter_submit = True
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
