"""Accounts, for superusers: who may log in at all."""

from typing import Any

from django.contrib.auth.admin import UserAdmin
from django.http import HttpRequest
from unfold.admin import ModelAdmin
from unfold.forms import AdminPasswordChangeForm, UserChangeForm, UserCreationForm

from workspaces.adminbase.counting import BoundedPaginator
from workspaces.adminbase.listing import Listed
from workspaces.models import User


class AccountForm(UserCreationForm):
    class Meta:
        model = User
        fields = ("username", "email")


class AccountAdmin(Listed, UserAdmin, ModelAdmin):
    form = UserChangeForm
    add_form = AccountForm
    change_password_form = AdminPasswordChangeForm
    paginator = BoundedPaginator
    show_full_result_count = False
    list_display = ("username", "email", "first_name", "is_active", "is_superuser", "last_login")
    list_filter = ("is_active", "is_superuser")
    search_fields = ("username__istartswith", "email__istartswith")
    ordering = ("username",)
    filter_horizontal = ()
    list_filter_submit = True
    fieldsets = (
        (None, {"fields": ("username", "password")}),
        ("Person", {"fields": ("first_name", "last_name", "email")}),
        ("Rights", {"fields": ("is_active", "is_superuser")}),
        ("Times", {"fields": ("last_login", "date_joined")}),
    )
    add_fieldsets = ((None, {"fields": ("username", "email", "password1", "password2")}),)
    readonly_fields = ("last_login", "date_joined")

    def _is_superuser(self, request: HttpRequest, obj: Any = None) -> bool:
        return request.user.is_active and request.user.is_superuser

    has_module_permission = has_add_permission = _is_superuser
    has_view_permission = has_change_permission = has_delete_permission = _is_superuser
