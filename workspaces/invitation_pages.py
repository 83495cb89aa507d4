"""Pages for people who were invited: what an invitation's link opens, and which it has opened."""

import uuid
from typing import Any

from django.contrib import messages
from django.contrib.auth.forms import SetPasswordForm
from django.contrib.auth.views import redirect_to_login
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.decorators import method_decorator
from django.views import View
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters

from memoryproject import crossings
from memoryproject.postgres import visible
from workspaces import invitations
from workspaces.auth import as_uuid
from workspaces.invitations import InvitationOver
from workspaces.models import Invitation, User
from workspaces.models.invitation import InvitationQuerySet
from workspaces.scope import NOBODY, NotAllowed

OVER = "registration/invitation_over.html"
OPENED = "invitations_opened"  # in the session
MOST_OPENED = 50


def link_of(request: HttpRequest, invitation: Invitation, token: str) -> str:
    """What is handed to the person."""
    return request.build_absolute_uri(reverse("invitation", args=[invitation.pk, token]))


@method_decorator([never_cache, sensitive_post_parameters()], name="dispatch")
class InvitationView(View):
    """What the link opens looks the same whether or not the address has an account."""

    def get(self, request: HttpRequest, row: uuid.UUID, token: str) -> HttpResponse:
        invitation = invitations.invitation_of(row, token)
        if invitation is None:
            return render(request, OVER, status=404)
        opened = [each for each in _opened(request) if each != str(invitation.pk)]
        request.session[OPENED] = [*opened, str(invitation.pk)][-MOST_OPENED:]
        return self._page(request, invitation, None)

    def post(self, request: HttpRequest, row: uuid.UUID, token: str) -> HttpResponse:
        invitation = invitations.invitation_of(row, token)
        if invitation is None:
            return render(request, OVER, status=404)
        try:
            if request.user.is_authenticated:
                user = request.user
                if request.POST.get("answer") == "decline":
                    invitations.decline(user, invitation)
                    return render(request, OVER)
                invitations.accept(user, invitation)
                messages.success(request, f"You are a member of {invitation.workspace} now.")
                return redirect("admin:index")
            form = _form(invitation, request.POST)
            if not form.is_valid():
                return self._page(request, invitation, form)
            invitations.join(invitation, form.cleaned_data["new_password1"])
            return redirect("password_reset_complete")
        except InvitationOver:
            return self._page(request, invitation, None, is_refused=True)
        except NotAllowed:
            return self._page(request, invitation, None)

    def _page(
        self, request: HttpRequest, invitation: Invitation, form: Any, *, is_refused: bool = False
    ) -> HttpResponse:
        """Always 200: the log tells the address of a page that is refused, and this one's opens."""
        email = getattr(request.user, "email", "")
        context = {
            "invitation": invitation,
            "form": form or _form(invitation, None),
            "is_theirs": email.lower() == invitation.email.lower(),
            "is_refused": is_refused,
        }
        return render(request, "registration/invitation.html", context)


def _form(invitation: Invitation, data: Any) -> Any:
    """Of somebody who is nobody yet: passwords like the address are refused."""
    person = User(username=invitation.email, email=invitation.email)
    return SetPasswordForm(person, data)


@method_decorator(never_cache, name="dispatch")
class OwnInvitationsView(View):
    """Those to the address of whoever is logged in whose link this browser has opened, to be
    declined. An address alone proves nothing: whoever was first to give it has the account."""

    def get(self, request: HttpRequest) -> HttpResponse:
        if not isinstance(request.user, User):
            return redirect_to_login(request.get_full_path(), reverse("admin:login"))
        rows = self._rows(request, request.user).select_related("workspace")
        return render(request, "registration/invitations.html", {"rows": rows})

    def post(self, request: HttpRequest) -> HttpResponse:
        if not isinstance(request.user, User):
            return redirect_to_login(request.get_full_path(), reverse("admin:login"))
        rows = self._rows(request, request.user)
        try:
            row_id = as_uuid(request.POST.get("invitation", "")) or NOBODY
            invitations.decline(request.user, get_object_or_404(rows, pk=row_id))
        except InvitationOver:
            messages.info(request, "It was over already.")
        return redirect("invitations")

    def _rows(self, request: HttpRequest, user: User) -> InvitationQuerySet:
        visible.narrow(*crossings.workspaces_inviting(user.email))
        return Invitation.objects.open().to(user).filter(pk__in=_opened(request))


def _opened(request: HttpRequest) -> list[str]:
    """The ids of invitations whose link this browser's session has shown."""
    return list(request.session.get(OPENED, ()))
