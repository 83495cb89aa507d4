"""The site itself: whoever is a member of a workspace may come in."""

from typing import Any

from django.core.exceptions import ValidationError
from django.http import HttpRequest
from unfold.forms import AuthenticationForm
from unfold.sites import UnfoldAdminSite

from workspaces.desk.access import access_for, access_of
from workspaces.models import Invitation


class LoginForm(AuthenticationForm):
    """Members log in here, too, and who is invited: Django's own form asks for its staff flag."""

    def confirm_login_allowed(self, user: Any) -> None:
        is_invited = Invitation.objects.open().to(user).exists()
        if not access_for(user).is_let_in and not is_invited:
            raise ValidationError(
                "This account is a member of no workspace. Ask an owner to invite you.",
                code="no_workspace",
            )


class Desk(UnfoldAdminSite):
    site_title = "memoryproject"
    index_title = "Home"
    login_form = LoginForm

    def has_permission(self, request: HttpRequest) -> bool:
        return access_of(request).is_let_in
