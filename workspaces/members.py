"""Members: invite by a link, accept, decline; change, remove. A workspace always keeps an owner,
and only owners may change owners."""

import logging
import secrets
import uuid
from datetime import timedelta
from typing import Any

from django.contrib import messages
from django.contrib.auth.forms import SetPasswordForm
from django.contrib.auth.hashers import make_password
from django.contrib.auth.views import redirect_to_login
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.decorators import method_decorator
from django.views import View
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters

from memoryproject.postgres import crossings, visible
from workspaces.auth import as_uuid
from workspaces.keys import digest_of
from workspaces.login.second_factor import end_sessions
from workspaces.models import AuditEntry, Capability, Invitation, Membership, Role, User, Workspace
from workspaces.models.invitation import InvitationQuerySet
from workspaces.oauth import grants
from workspaces.permissions import ROLE_CAPABILITIES
from workspaces.scope import NOBODY, NotAllowed, Scope

INVITATION_LIFETIME = timedelta(days=7)
OVER = "registration/invitation_over.html"
OPENED = "invitations_opened"  # in the session
MOST_OPENED = 50


class MembershipConflict(Exception):
    """The change does not fit what the workspace has; `field` names what it is about."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(message)
        self.field, self.message = field, message


@transaction.atomic
def change_role(scope: Scope, membership: Membership, role: str) -> Membership:
    """Give a member another role. Raises NotAllowed where the asker may not give it, and
    MembershipConflict where the last owner would go."""
    check_rank(scope, membership.role, role)
    before = membership.role
    if before == Role.OWNER and role != Role.OWNER:
        _keep_an_owner(membership)
    Membership.objects.filter(pk=membership.pk).update(role=role)
    membership.role = role
    grants.end_those_of(membership)
    invitations = _invitations_of(membership)
    if Capability.ADMIN not in ROLE_CAPABILITIES[role]:
        invitations.revoke()
    elif role != Role.OWNER:
        invitations.filter(role=Role.OWNER).revoke()
    states = {"before": {"role": before}, "after": {"role": role}}
    scope.audit("change_member", membership, **states)
    return membership


@transaction.atomic
def remove(scope: Scope, membership: Membership) -> None:
    """End a membership, the invitations that the member made, the apps that they connected, and
    the person's sessions; the account stays."""
    check_rank(scope, membership.role)
    if membership.role == Role.OWNER:
        _keep_an_owner(membership)
    before = {"role": membership.role}
    scope.audit("remove_member", membership, before=before)
    _invitations_of(membership).revoke()
    grants.end_those_of(membership)
    membership.delete()
    end_sessions(membership.user)


def _invitations_of(membership: Membership) -> InvitationQuerySet:
    """Return the invitations that the member made, by which they could get back what was taken."""
    return Invitation.objects.filter(workspace_id=membership.workspace_id, invited_by=f"user:{membership.user_id}")


def check_rank(scope: Scope, *roles: str) -> None:
    """Raise NotAllowed where the asker may not give or take one of the roles."""
    if Role.OWNER in roles and scope.role != Role.OWNER:
        raise NotAllowed("role", "Only an owner may do this to or for an owner.")


def _keep_an_owner(membership: Membership) -> None:
    # Locked, so that two owners who remove each other at once do not both succeed.
    owners = Membership.objects.select_for_update().filter(workspace_id=membership.workspace_id, role=Role.OWNER)
    if {owner.pk for owner in owners} <= {membership.pk}:
        raise MembershipConflict("role", "A workspace needs an owner.")


# Invitations: invite by a link, accept, decline, revoke; and the pages that a link opens.

log = logging.getLogger(__name__)


class InvitationOver(Exception):
    """The invitation was accepted, declined or revoked, or has expired; or the address has an
    account."""


def invite(scope: Scope, email: str, role: str, name: str = "") -> tuple[Invitation, str]:
    """Invite `email` to become a member. The second value is the token of the link, known only
    here; an older link for the same address is void from now on.

    Raises MembershipConflict where the address is a member's, NotAllowed where the asker may not
    give the role; nothing tells whether the address has an account.
    """
    check_rank(scope, role)
    token = secrets.token_urlsafe(32)
    with transaction.atomic():
        # One at a time: two at once would both see no older invitation.
        Workspace.objects.select_for_update(no_key=True).get(pk=scope.workspace_id)
        members = Membership.objects.filter(workspace_id=scope.workspace_id)
        if members.filter(user__email__iexact=email).exists():
            raise MembershipConflict("email", "They are a member already.")
        older = Invitation.objects.filter(workspace_id=scope.workspace_id, email__iexact=email)
        older.revoke()
        made = Invitation.objects.create(
            workspace_id=scope.workspace_id,
            email=email,
            name=name,
            role=role,
            invited_by=scope.actor,
            digest=digest_of(token),
            expires_at=timezone.now() + INVITATION_LIFETIME,
        )
        _audit(made, scope.actor, "invite_member", after={"role": role})
    return made, token


def invitation_of(invitation_id: uuid.UUID, token: str) -> Invitation | None:
    """Return the open invitation that a link names and its token proves; its workspace becomes
    visible."""
    home = crossings.workspace_of_invitation(invitation_id)
    visible.narrow(*([home] if home else []))
    found = Invitation.objects.open().select_related("workspace").filter(pk=invitation_id).first()
    digest = digest_of(token)
    if found is None or not crossings.proves("workspaces_invitation", found.pk, digest):
        return None
    return found


@transaction.atomic
def accept(user: User, invitation: Invitation) -> Membership:
    """Make `user`, whom the invitation is for, a member. Raises InvitationOver, NotAllowed."""
    row = _locked(invitation)
    if row.email.lower() != user.email.lower():
        raise NotAllowed("email", "This invitation is for another address.")
    member, _ = Membership.objects.get_or_create(
        workspace_id=row.workspace_id,
        user=user,
        defaults={"id": row.pk, "role": row.role, "name": row.name},
    )
    row.accepted_at = timezone.now()
    row.save(update_fields=["accepted_at", "updated_at"])
    _audit(row, f"user:{user.pk}", "accept_invitation", after={"role": member.role})
    return member


def join(invitation: Invitation, password: str) -> User:
    """Give a new person an account, and make them a member. Raises InvitationOver, also where the
    address has an account."""
    digest = make_password(password)  # slow, so it is done before a row is locked
    with transaction.atomic():
        row = _locked(invitation)
        # The address itself, with a number behind it where that name is taken.
        wanted = row.email.lower()[:140]
        taken = set(User.objects.filter(username__startswith=wanted).values_list("username", flat=True))
        names = (wanted, *(f"{wanted}-{n}" for n in range(2, len(taken) + 3)))
        free_username = next(name for name in names if name not in taken)
        user = User(username=free_username, email=row.email, password=digest)
        User.objects.bulk_create([user], ignore_conflicts=True)
        found = User.objects.select_for_update().filter(email__iexact=row.email).first()
        # Nobody can log in to that account, and no workspace awaits it.
        is_free = found is not None and not (
            found.has_usable_password() or found.is_superuser or crossings.is_member_anywhere(found.pk)
        )
        if found is None or not (found.pk == user.pk or is_free):
            log.warning(
                "workspace %s: the address of invitation %s has an account already",
                row.workspace_id,
                row.pk,
            )
            raise InvitationOver
        if found.pk != user.pk:
            found.password = digest
            found.save(update_fields=["password"])
        accept(found, row)
    return found


@transaction.atomic
def decline(user: User, invitation: Invitation) -> None:
    """Decline an invitation as the person it is for. Raises InvitationOver, NotAllowed."""
    row = _locked(invitation)
    if row.email.lower() != user.email.lower():
        raise NotAllowed("email", "This invitation is for another address.")
    row.revoked_at = timezone.now()
    row.save(update_fields=["revoked_at", "updated_at"])
    _audit(row, f"user:{user.pk}", "decline_invitation")


@transaction.atomic
def revoke(scope: Scope, invitation: Invitation) -> None:
    """Revoke an invitation; an answered one stays as it is. Raises NotAllowed."""
    check_rank(scope, invitation.role)
    if Invitation.objects.filter(pk=invitation.pk).revoke():
        _audit(invitation, scope.actor, "revoke_invitation")


def _locked(invitation: Invitation) -> Invitation:
    row = Invitation.objects.open().select_for_update().filter(pk=invitation.pk).first()
    if row is None:
        raise InvitationOver
    return row


def _audit(row: Invitation, actor: str, action: str, *, after: dict[str, str] | None = None) -> None:
    AuditEntry.line(row.workspace_id, actor, action, row, after=after).save()


# Pages for people who were invited: the page of a link, and a list of the links opened.


def link_of(request: HttpRequest, invitation: Invitation, token: str) -> str:
    """Return the link to hand to the person."""
    return request.build_absolute_uri(reverse("invitation", args=[invitation.pk, token]))


@method_decorator([never_cache, sensitive_post_parameters()], name="dispatch")
class InvitationView(View):
    """The page that the link opens. It looks the same whether or not the address has an account."""

    def get(self, request: HttpRequest, row: uuid.UUID, token: str) -> HttpResponse:
        invitation = invitation_of(row, token)
        if invitation is None:
            return render(request, OVER, status=404)
        opened = [each for each in _opened(request) if each != str(invitation.pk)]
        request.session[OPENED] = [*opened, str(invitation.pk)][-MOST_OPENED:]
        return self._page(request, invitation, None)

    def post(self, request: HttpRequest, row: uuid.UUID, token: str) -> HttpResponse:
        invitation = invitation_of(row, token)
        if invitation is None:
            return render(request, OVER, status=404)
        try:
            if request.user.is_authenticated:
                user = request.user
                if request.POST.get("answer") == "decline":
                    decline(user, invitation)
                    return render(request, OVER)
                accept(user, invitation)
                messages.success(request, f"You are a member of {invitation.workspace} now.")
                return redirect("admin:index")
            form = _form(invitation, request.POST)
            if not form.is_valid():
                return self._page(request, invitation, form)
            join(invitation, form.cleaned_data["new_password1"])
            return redirect("password_reset_complete")
        except InvitationOver:
            return self._page(request, invitation, None, is_refused=True)
        except NotAllowed:
            return self._page(request, invitation, None)

    def _page(
        self, request: HttpRequest, invitation: Invitation, form: Any, *, is_refused: bool = False
    ) -> HttpResponse:
        """Always answer 200: the log has the addresses of refusals, and this is one that opens."""
        email = getattr(request.user, "email", "")
        context = {
            "invitation": invitation,
            "form": form or _form(invitation, None),
            "is_theirs": email.lower() == invitation.email.lower(),
            "is_refused": is_refused,
        }
        return render(request, "registration/invitation.html", context)


def _form(invitation: Invitation, data: Any) -> Any:
    """Return the form for the password of a person without an account; passwords like the address
    are refused."""
    person = User(username=invitation.email, email=invitation.email)
    return SetPasswordForm(person, data)


@method_decorator(never_cache, name="dispatch")
class OwnInvitationsView(View):
    """Open invitations to the logged-in user's address whose links this browser has opened, to be
    declined. An address alone proves nothing: the first person to give it has the account."""

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
            decline(request.user, get_object_or_404(rows, pk=row_id))
        except InvitationOver:
            messages.info(request, "It was over already.")
        return redirect("invitations")

    def _rows(self, request: HttpRequest, user: User) -> InvitationQuerySet:
        visible.narrow(*crossings.workspaces_inviting(user.email))
        return Invitation.objects.open().to(user).filter(pk__in=_opened(request))


def _opened(request: HttpRequest) -> list[str]:
    """The ids of invitations whose link this browser's session has shown."""
    return list(request.session.get(OPENED, ()))
