"""The admin site, which lets in every member of a workspace."""

from collections.abc import Callable
from typing import Any, cast

from django.http import HttpRequest, HttpResponseBase, HttpResponseRedirect
from django.urls import URLPattern, path, reverse
from django.utils.translation import gettext as _
from unfold.sites import UnfoldAdminSite

from workspaces.adminbase import login_pages
from workspaces.adminbase.access import access_of
from workspaces.models import User

# Pages that are open before the first password was changed.
BEFORE_THAT = {"password_change", "logout", "jsi18n"}


class MemberSite(UnfoldAdminSite):
    site_title = "memoryproject"
    index_title = "Home"
    login_form = login_pages.LoginForm

    def has_permission(self, request: HttpRequest) -> bool:
        return access_of(request).is_let_in

    def admin_view(self, view: Any, cacheable: bool = False) -> Callable[..., HttpResponseBase]:
        def after_the_first_password(request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
            user, match = cast(User, request.user), request.resolver_match
            if user.must_change_password and match and match.url_name not in BEFORE_THAT:
                return HttpResponseRedirect(reverse("admin:password_change"))
            return view(request, *args, **kwargs)

        return super().admin_view(after_the_first_password, cacheable)

    def extra_urls(self) -> list[URLPattern]:
        return [
            path("login/code/", self.login_code, name="login_code"),
            path("second-factor/", self.admin_view(self.second_factor), name="second_factor"),
            path("time-zone/", self.admin_view(self.time_zone), name="time_zone"),
        ]

    def login(self, request: HttpRequest, extra_context: Any = None) -> HttpResponseBase:
        home = reverse("admin:index")
        if request.method == "GET" and self.has_permission(request):
            return HttpResponseRedirect(home)
        if request.method == "GET" and login_pages.is_only_invited(request.user):
            return HttpResponseRedirect(reverse("invitations"))
        context = {
            **self.each_context(request),
            "title": _("Log in"),
            "app_path": request.get_full_path(),
            "username": request.user.get_username(),
            **(extra_context or {}),
        }
        if "next" not in request.GET and "next" not in request.POST:
            context["next"] = home
        return login_pages.Login.as_view(authentication_form=self.login_form, extra_context=context)(request)

    def login_code(self, request: HttpRequest) -> HttpResponseBase:
        context = {**self.each_context(request), "title": _("Your second factor")}
        return login_pages.LoginCode.as_view(extra_context=context)(request)

    def password_change(self, request: HttpRequest, extra_context: Any = None) -> Any:
        context = {**self.each_context(request), "title": _("Change your password")}
        return login_pages.OwnPassword.as_view(success_url=reverse("admin:index"), extra_context=context)(request)

    def second_factor(self, request: HttpRequest) -> HttpResponseBase:
        context = {**self.each_context(request), "title": _("Second factor")}
        return login_pages.OwnSecondFactor.as_view(extra_context=context)(request)

    def time_zone(self, request: HttpRequest) -> HttpResponseBase:
        context = {**self.each_context(request), "title": _("Time zone")}
        return login_pages.OwnTimeZone.as_view(extra_context=context)(request)
