"""Members: invite, change, remove. A workspace keeps an owner, and only owners touch owners."""

from dataclasses import dataclass

from django.contrib.auth.tokens import default_token_generator
from django.db import transaction
from django.utils.encoding import force_bytes
from django.utils.http import urlsafe_base64_encode

from workspaces.door.second_factor import end_sessions
from workspaces.models import AuditEntry, Membership, Role, User
from workspaces.naming import NotAllowed
from workspaces.scope import Scope


class MembershipConflict(Exception):
    """The change does not fit what the workspace has; `field` names what it is about."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(message)
        self.field, self.message = field, message


@dataclass(frozen=True, slots=True)
class Invitation:
    """A new member. `uid` and `token` let a person without a password set one, through Django's
    own password reset pages; both are empty for somebody who has an account already."""

    membership: Membership
    uid: str = ""
    token: str = ""


@transaction.atomic
def invite(scope: Scope, email: str, role: str, name: str = "") -> Invitation:
    """Make `email` a member, and a user where it is unknown.

    Raises MembershipConflict where they are a member, NotAllowed where the role is not to give.
    """
    _check_rank(scope, role)
    user = User.objects.filter(email__iexact=email).first() or _new_user(email, name)
    if Membership.objects.filter(workspace_id=scope.workspace_id, user=user).exists():
        raise MembershipConflict("email", "They are a member already.")
    # A link for somebody who can log in, or is awaited elsewhere, would let us in as them.
    is_ours = not user.has_usable_password() and not user.memberships.exists()
    membership = Membership.objects.create(workspace_id=scope.workspace_id, user=user, role=role)
    _audit(scope, "invite_member", membership, after={"role": role})
    if not is_ours:
        return Invitation(membership)
    uid = urlsafe_base64_encode(force_bytes(user.pk))
    return Invitation(membership, uid, default_token_generator.make_token(user))


def _new_user(email: str, name: str) -> User:
    first, _, last = name.partition(" ")
    user = User(username=_free_username(email), email=email, first_name=first, last_name=last)
    user.set_unusable_password()
    user.save(force_insert=True)
    return user


def _free_username(email: str) -> str:
    """The address itself; with a number behind it where somebody chose that name already."""
    wanted = email.lower()[:140]
    taken = set(User.objects.filter(username__startswith=wanted).values_list("username", flat=True))
    names = (wanted, *(f"{wanted}-{n}" for n in range(2, len(taken) + 3)))
    return next(name for name in names if name not in taken)


@transaction.atomic
def change_role(scope: Scope, membership: Membership, role: str) -> Membership:
    """Give a member another role. Raises as `invite` does, and where the last owner would go."""
    _check_rank(scope, membership.role, role)
    before = membership.role
    if before == Role.OWNER and role != Role.OWNER:
        _keep_an_owner(membership)
    Membership.objects.filter(pk=membership.pk).update(role=role)
    membership.role = role
    _audit(scope, "change_member", membership, before={"role": before}, after={"role": role})
    return membership


@transaction.atomic
def remove(scope: Scope, membership: Membership) -> None:
    """End a membership and the person's sessions; the account stays."""
    _check_rank(scope, membership.role)
    if membership.role == Role.OWNER:
        _keep_an_owner(membership)
    _audit(scope, "remove_member", membership, before={"role": membership.role})
    membership.delete()
    end_sessions(membership.user)


def _check_rank(scope: Scope, *roles: str) -> None:
    if Role.OWNER in roles and scope.role != Role.OWNER:
        raise NotAllowed("role", "Only an owner may do this to or for an owner.")


def _keep_an_owner(membership: Membership) -> None:
    # Locked, so that two owners who remove each other at once do not both succeed.
    owners = Membership.objects.select_for_update().filter(
        workspace_id=membership.workspace_id, role=Role.OWNER
    )
    if {owner.pk for owner in owners} <= {membership.pk}:
        raise MembershipConflict("role", "A workspace needs an owner.")


def _audit(
    scope: Scope,
    action: str,
    membership: Membership,
    *,
    before: dict[str, str] | None = None,
    after: dict[str, str] | None = None,
) -> None:
    AuditEntry.line(
        scope.workspace_id, scope.actor, action, membership, before=before, after=after
    ).save()
