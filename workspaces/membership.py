"""Who belongs to a workspace: invite, change the role, remove. A workspace always keeps an owner."""

import secrets
import uuid
from dataclasses import dataclass

from django.db import transaction

from workspaces.models import AuditEntry, Membership, Role, User, Workspace
from workspaces.scope import Scope


class Refused(Exception):
    """The change cannot be; the text says why, `field` is the model's word."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(message)
        self.field, self.message = field, message


@dataclass(frozen=True, slots=True)
class Invitation:
    """A new member; `password` is set where the account was made for it, and shown only here."""

    membership: Membership
    password: str = ""


@transaction.atomic
def invite(scope: Scope, email: str, role: str, name: str = "") -> Invitation:
    """Make the person with this address a member; an account is made where there is none.

    Raises Refused where they are a member already, or where only an owner may give the role.
    """
    _check_rank(scope, role)
    user, password = _account(email.strip(), name.strip())
    membership, is_new = Membership.objects.get_or_create(
        workspace_id=scope.workspace_id, user=user, defaults={"role": role}
    )
    if not is_new:
        raise Refused("email", "This person is a member already.")
    _keep_line(scope, "invite_member", membership, after={"user": user.username, "role": role})
    return Invitation(membership, password)


@transaction.atomic
def change_role(scope: Scope, membership: Membership, role: str) -> Membership:
    """Raises Refused where an owner is meant and the asker is none, or the last owner would go."""
    member = _locked(scope, membership.pk)
    _check_rank(scope, member.role, role)
    if role != Role.OWNER:
        _keep_an_owner(member)
    before, member.role = member.role, role
    member.save(update_fields=["role", "updated_at"])
    _keep_line(scope, "change_role", member, before={"role": before}, after={"role": role})
    return member


@transaction.atomic
def remove(scope: Scope, membership: Membership) -> None:
    """The person sees nothing of the workspace from now on. Raises Refused as `change_role`."""
    member = _locked(scope, membership.pk)
    if scope.user_id != member.user_id:
        _check_rank(scope, member.role)
    _keep_an_owner(member)
    before = {"user": member.user.username, "role": member.role}
    _keep_line(scope, "remove_member", member, before=before)
    member.delete()


def _account(email: str, name: str) -> tuple[User, str]:
    known = User.objects.filter(email__iexact=email).first()
    if known is not None:
        return known, ""
    password = secrets.token_urlsafe(12)
    taken = User.objects.filter(username=email).exists()
    user = User(username=f"{email}-{secrets.token_hex(3)}" if taken else email, email=email)
    user.first_name = name[:150]
    user.set_password(password)
    user.save()
    return user, password


def _locked(scope: Scope, membership_id: uuid.UUID) -> Membership:
    # The workspace is the lock: two owners who remove each other must not both succeed.
    Workspace.objects.select_for_update().get(pk=scope.workspace_id)
    found = Membership.objects.filter(workspace_id=scope.workspace_id, pk=membership_id)
    member = found.select_related("user").first()
    if member is None:
        raise Refused("id", "Somebody removed this member meanwhile.")
    return member


def _check_rank(scope: Scope, *roles: str) -> None:
    if Role.OWNER in roles and scope.role != Role.OWNER:
        raise Refused("role", "Only an owner may make, change or remove an owner.")


def _keep_an_owner(member: Membership) -> None:
    owners = Membership.objects.filter(workspace_id=member.workspace_id, role=Role.OWNER)
    if member.role == Role.OWNER and not owners.exclude(pk=member.pk).exists():
        raise Refused("role", "A workspace needs an owner: make somebody else owner first.")


def _keep_line(scope: Scope, action: str, member: Membership, **details: object) -> None:
    AuditEntry.line(scope.workspace_id, scope.actor, action, member, **details).save()
