"""Invitations: ask somebody in by a link, accept, decline, take back."""

import logging
import secrets
import uuid
from datetime import timedelta

from django.contrib.auth.hashers import make_password
from django.db import transaction
from django.utils import timezone

from memoryproject import crossings
from memoryproject.postgres import visible
from workspaces.keys import digest_of
from workspaces.members import MembershipConflict, check_rank
from workspaces.models import AuditEntry, Invitation, Membership, User, Workspace
from workspaces.scope import NotAllowed, Scope

INVITATION_LIFETIME = timedelta(days=7)
log = logging.getLogger(__name__)


class InvitationOver(Exception):
    """It was accepted, declined, revoked or has expired; or the address has an account already."""


def invite(scope: Scope, email: str, role: str, name: str = "") -> tuple[Invitation, str]:
    """Ask `email` to become a member. The second value is the token of its link, known only here;
    an older link for the same address is void from now on.

    Raises MembershipConflict where they are a member, NotAllowed where the role is not to give;
    nothing tells whether the address has an account.
    """
    check_rank(scope, role)
    token = secrets.token_urlsafe(32)
    with transaction.atomic():
        # One at a time: two at once would both find no older one.
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
    """The open invitation that a link names and its token proves; its workspace becomes
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
    """Make `user`, whom it is for, a member. Raises InvitationOver, NotAllowed."""
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
    digest = make_password(password)  # takes long: no row is locked meanwhile
    with transaction.atomic():
        row = _locked(invitation)
        # The address itself; with a number behind it where somebody chose that name already.
        wanted = row.email.lower()[:140]
        taken = set(
            User.objects.filter(username__startswith=wanted).values_list("username", flat=True)
        )
        names = (wanted, *(f"{wanted}-{n}" for n in range(2, len(taken) + 3)))
        free_username = next(name for name in names if name not in taken)
        user = User(username=free_username, email=row.email, password=digest)
        User.objects.bulk_create([user], ignore_conflicts=True)
        found = User.objects.select_for_update().filter(email__iexact=row.email).first()
        # Nobody can log in to that account, and no workspace awaits it.
        is_free = found is not None and not (
            found.has_usable_password()
            or found.is_superuser
            or crossings.is_member_anywhere(found.pk)
        )
        if found is None or not (found.pk == user.pk or is_free):
            log.warning(
                "workspace %s: the address of invitation %s has an account already",
                row.workspace_id, row.pk,
            )  # fmt: skip
            raise InvitationOver
        if found.pk != user.pk:
            found.password = digest
            found.save(update_fields=["password"])
        accept(found, row)
    return found


@transaction.atomic
def decline(user: User, invitation: Invitation) -> None:
    """As the one whom it is for. Raises InvitationOver, NotAllowed."""
    row = _locked(invitation)
    if row.email.lower() != user.email.lower():
        raise NotAllowed("email", "This invitation is for another address.")
    row.revoked_at = timezone.now()
    row.save(update_fields=["revoked_at", "updated_at"])
    _audit(row, f"user:{user.pk}", "decline_invitation")


@transaction.atomic
def revoke(scope: Scope, invitation: Invitation) -> None:
    """Take it back; of one that was answered nothing changes. Raises NotAllowed."""
    check_rank(scope, invitation.role)
    if Invitation.objects.filter(pk=invitation.pk).revoke():
        _audit(invitation, scope.actor, "revoke_invitation")


def _locked(invitation: Invitation) -> Invitation:
    row = Invitation.objects.open().select_for_update().filter(pk=invitation.pk).first()
    if row is None:
        raise InvitationOver
    return row


def _audit(
    row: Invitation, actor: str, action: str, *, after: dict[str, str] | None = None
) -> None:
    AuditEntry.line(row.workspace_id, actor, action, row, after=after).save()
