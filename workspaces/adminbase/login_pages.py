"""Pages for logging in, the second factor's code, a person's own password and second factor, and
the link of an invitation; and the page at the root, which sends people who are logged in to the
admin and tells everybody else where they are."""

import time
from collections.abc import Callable
from typing import Any, TypeVar, cast

from django import forms
from django.conf import settings
from django.contrib import messages
from django.contrib.auth import authenticate, login, update_session_auth_hash
from django.contrib.auth import views as auth
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse, HttpResponseBase, HttpResponseRedirect
from django.shortcuts import redirect, render
from django.template.response import TemplateResponse
from django.urls import reverse, reverse_lazy
from django.utils.decorators import method_decorator
from django.utils.translation import gettext, gettext_lazy
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.generic import FormView, View
from unfold.forms import AdminOwnPasswordChangeForm, AuthenticationForm
from unfold.widgets import (
    UnfoldAdminPasswordWidget,
    UnfoldAdminSelectWidget,
    UnfoldAdminTextInputWidget,
)

from memoryproject.postgres import crossings, visible
from memoryproject.server import first_run
from workspaces.adminbase.access import access_for
from workspaces.login import second_factor, throttle
from workspaces.login.throttle import TooEarly
from workspaces.middleware import SEEN_AT
from workspaces.models import Invitation, LoginAttempt, User
from workspaces.time_zones import known_zones

HALF_WAY = "half_way"  # in the session: the user who has shown a password, but no code yet
HALF_WAY_SECONDS = 300
Result = TypeVar("Result")
WRONG_CODE = "This code is wrong, or was used already."


class LoginForm(AuthenticationForm):
    """The login form for members and people who are invited: Django's own asks for its staff
    flag."""

    def confirm_login_allowed(self, user: Any) -> None:
        if not access_for(user).is_let_in and not is_only_invited(user):
            raise ValidationError(
                gettext("This account is a member of no workspace. Ask an owner to invite you."),
                code="no_workspace",
            )


def is_only_invited(user: Any) -> bool:
    """Tell whether a person with an account may come in only after accepting an invitation."""
    if not isinstance(user, User) or access_for(user).is_let_in:
        return False
    with visible.only(*crossings.workspaces_inviting(user.email)):
        return Invitation.objects.open().to(user).exists()


class CodeForm(forms.Form):
    code = forms.CharField(
        max_length=32,
        widget=UnfoldAdminTextInputWidget({"autocomplete": "one-time-code", "autofocus": "", "spellcheck": "false"}),
    )


class PasswordForm(forms.Form):
    """The person's own password, asked for again."""

    password = forms.CharField(
        max_length=4096,
        strip=False,
        widget=UnfoldAdminPasswordWidget({"autocomplete": "current-password"}),
    )

    def __init__(self, request: HttpRequest, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.request = request

    def clean_password(self) -> str:
        return checked_password(self.request, self.cleaned_data["password"])


class EnrolForm(PasswordForm, CodeForm):
    """A code and the password, so that nobody at a browser left logged in can change the factor."""

    field_order = ("code", "password")


class OwnPasswordForm(AdminOwnPasswordChangeForm):
    def __init__(self, user: User, *args: Any, request: HttpRequest, **kwargs: Any) -> None:
        super().__init__(user, *args, **kwargs)
        self.request = request

    def clean_old_password(self) -> str:
        return checked_password(self.request, self.cleaned_data["old_password"])

    def clean_new_password1(self) -> str:
        new: str = self.cleaned_data["new_password1"]
        if new == self.cleaned_data.get("old_password"):
            raise ValidationError(gettext("Choose another one than the old password."), code="same")
        return new


def checked_password(request: HttpRequest, password: str) -> str:
    user = cast(User, request.user)
    if authenticate(request, username=user.get_username(), password=password) != user:
        raise ValidationError(gettext("This is not your password."), code="password_incorrect")
    return password


class LoginPage(FormView):
    """A page whose form, when sent too early, is answered by 429 with the time to wait."""

    template_name = "admin/login_page.html"

    @method_decorator(sensitive_post_parameters())
    @method_decorator(never_cache)
    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        return super().dispatch(request, *args, **kwargs)

    def form_invalid(self, form: Any) -> HttpResponse:
        response = super().form_invalid(form)
        early = [e for errors in form.errors.as_data().values() for e in errors if hasattr(e, "wait")]
        return answer_too_early(response, early[0]) if early else response


def answer_too_early(response: HttpResponse, early: TooEarly) -> HttpResponse:
    response.status_code = 429
    response.headers["Retry-After"] = str(early.wait)
    return response


def let_in(view: Any, user: User) -> HttpResponse:
    """Finish logging in, once all that is asked for was shown. The session gets a new id."""
    login(view.request, user)
    view.request.session[SEEN_AT] = int(time.time())
    target = view.get_success_url()
    if not access_for(user).is_let_in and not target.startswith(reverse("invitations")):
        target = reverse("invitations")  # the only pages for people who are no members yet
    response = HttpResponseRedirect(target)
    throttle.remember_browser(view.request, response, user)
    return response


class Login(LoginPage, auth.LoginView):
    template_name = "admin/login.html"

    def form_valid(self, form: Any) -> HttpResponse:
        user = form.get_user()
        if not second_factor.is_on(user):
            return let_in(self, user)
        self.request.session.flush()
        self.request.session[HALF_WAY] = {
            "user": str(user.pk),
            "hash": user.get_session_auth_hash(),
            "at": time.time(),
            "next": self.get_success_url(),
        }
        return HttpResponseRedirect(reverse_lazy("admin:login_code"))


class LoginCode(LoginPage):
    """The second step of logging in."""

    form_class = CodeForm
    template_name = "admin/login_code.html"

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        user = half_way(request)
        if user is None:
            return HttpResponseRedirect(reverse_lazy("admin:login"))
        self.user = user
        return super().dispatch(request, *args, **kwargs)

    def form_valid(self, form: CodeForm) -> HttpResponse:
        if not tried_code(self, self.user, form, second_factor.accepts):
            return self.form_invalid(form)
        self.success_url = self.request.session.pop(HALF_WAY)["next"]
        return let_in(self, self.user)


def tried_code(view: Any, user: User, form: Any, act: Callable[[User, str], Result]) -> Result | None:
    """Return what `act` makes of the form's code, and count wrong codes; None, with an error in the
    form, where the code came too early or does not fit."""
    try:
        attempt = throttle.begin(view.request, LoginAttempt.Kind.CODE, user.get_username())
    except TooEarly as early:
        form.add_error("code", early)
        return None
    result = act(user, form.cleaned_data["code"])
    if not result:
        attempt.failed(user)
        form.add_error("code", WRONG_CODE)
        return None
    attempt.succeeded()
    return result


def half_way(request: HttpRequest) -> Any:
    """Return the user who entered their password in this session, minutes ago, and has the same one
    still; else None."""
    kept = request.session.get(HALF_WAY)
    if kept is None or not 0 <= time.time() - kept["at"] < HALF_WAY_SECONDS:
        return None
    user = User.objects.filter(pk=kept["user"], is_active=True).first()
    return user if user and user.get_session_auth_hash() == kept["hash"] else None


class OwnPassword(LoginPage, auth.PasswordChangeView):
    form_class = OwnPasswordForm
    template_name = "admin/own_password.html"

    def get_form_kwargs(self) -> dict[str, Any]:
        return {**super().get_form_kwargs(), "request": self.request}

    def form_valid(self, form: Any) -> HttpResponse:
        response = super().form_valid(form)
        first_run.forget_password(settings.DATA_DIR, form.user.get_username())
        messages.success(self.request, gettext("Your password is changed. Other sessions of yours ended."))
        return response


class OwnSecondFactor(LoginPage):
    """Enrol by a picture, a code and the password; turn off by the password."""

    success_url = reverse_lazy("admin:second_factor")
    template_name = "admin/second_factor.html"

    def get_form(self, form_class: Any = None) -> forms.Form:
        self.is_on = second_factor.is_on(self.user)
        form = PasswordForm if self.is_on else EnrolForm
        return form(self.request, **self.get_form_kwargs())

    @property
    def user(self) -> User:
        return cast(User, self.request.user)

    def form_valid(self, form: Any) -> HttpResponse:
        if self.is_on:
            second_factor.turn_off(self.user)
            messages.success(self.request, gettext("The second factor is off."))
            return super().form_valid(form)
        codes = tried_code(self, self.user, form, second_factor.confirm)
        if not codes:
            return self.form_invalid(form)
        update_session_auth_hash(self.request, self.user)
        self.is_on = True
        context = self.get_context_data(form=None, codes=codes)
        return TemplateResponse(self.request, self.template_name, context)

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        context = super().get_context_data(**kwargs)
        if not self.is_on:
            factor = second_factor.offer(self.user)
            context |= {
                "picture": second_factor.picture_of(factor),
                "secret": second_factor.secret_of(factor),
            }
        return context | {"is_on": self.is_on}


class TimeZoneForm(forms.Form):
    zone = forms.ChoiceField(
        required=False,
        label=gettext_lazy("Times are shown in"),
        help_text=gettext_lazy("Days without a time, as a birthday, are the same in every zone."),
        widget=UnfoldAdminSelectWidget,
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        choice = self.fields["zone"]
        assert isinstance(choice, forms.ChoiceField)
        zones = [(name, name.replace("_", " ")) for name in sorted(known_zones())]
        choice.choices = [("", gettext("the zone of the browser")), *zones]


class OwnTimeZone(FormView):
    form_class = TimeZoneForm
    template_name = "admin/time_zone.html"
    success_url = reverse_lazy("admin:time_zone")

    def get_initial(self) -> dict[str, Any]:
        return {"zone": cast(User, self.request.user).time_zone}

    def form_valid(self, form: TimeZoneForm) -> HttpResponse:
        own = User.objects.filter(pk=cast(User, self.request.user).pk)
        own.update(time_zone=form.cleaned_data["zone"])
        messages.success(self.request, gettext("Saved: it holds from this page on."))
        return super().form_valid(form)


class InvitationLink(auth.PasswordResetConfirmView):
    """Django's own page to set a password; links that do not fit are counted as wrong tries."""

    def dispatch(self, *args: Any, **kwargs: Any) -> HttpResponseBase:
        if kwargs["token"] == self.reset_url_token:  # the session has the link's own token by now
            return super().dispatch(*args, **kwargs)
        try:
            attempt = throttle.begin(self.request, LoginAttempt.Kind.LINK, kwargs["uidb64"])
        except TooEarly as early:
            context = {"message": early.message}
            page = TemplateResponse(self.request, "registration/too_early.html", context)
            return answer_too_early(page, early)
        response = super().dispatch(*args, **kwargs)
        if isinstance(response, HttpResponseRedirect):
            attempt.succeeded()
        else:
            attempt.failed(self.user)
        return response


class WelcomePage(View):
    http_method_names = ["get", "head"]

    def get(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        if request.user.is_authenticated:
            return redirect("admin:index")
        answer: HttpResponse = render(request, "registration/welcome.html")
        return answer
