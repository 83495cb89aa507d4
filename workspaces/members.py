"""Members: change, remove. A workspace keeps an owner, and owners alone
touch owners."""

from django.db import transaction

from workspaces.login.second_factor import end_sessions
from workspaces.models import Capability, Invitation, Membership, Role
from workspaces.models.invitation import InvitationQuerySet
from workspaces.scope import ROLE_CAPABILITIES, NotAllowed, Scope


class MembershipConflict(Exception):
    """The change does not fit what the workspace has; `field` names what it is about."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(message)
        self.field, self.message = field, message


@transaction.atomic
def change_role(scope: Scope, membership: Membership, role: str) -> Membership:
    """Give a member another role. Raises NotAllowed where it is not to give, and
    MembershipConflict where the last owner would go."""
    check_rank(scope, membership.role, role)
    before = membership.role
    if before == Role.OWNER and role != Role.OWNER:
        _keep_an_owner(membership)
    Membership.objects.filter(pk=membership.pk).update(role=role)
    membership.role = role
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
    """End a membership, the invitations that the member made, and the person's sessions; the
    account stays."""
    check_rank(scope, membership.role)
    if membership.role == Role.OWNER:
        _keep_an_owner(membership)
    before = {"role": membership.role}
    scope.audit("remove_member", membership, before=before)
    _invitations_of(membership).revoke()
    membership.delete()
    end_sessions(membership.user)


def _invitations_of(membership: Membership) -> InvitationQuerySet:
    """Those the member made: nobody comes back by one to what was taken from them."""
    return Invitation.objects.filter(
        workspace_id=membership.workspace_id, invited_by=f"user:{membership.user_id}"
    )


def check_rank(scope: Scope, *roles: str) -> None:
    """Raises NotAllowed where a role is not for the asker to give or to take."""
    if Role.OWNER in roles and scope.role != Role.OWNER:
        raise NotAllowed("role", "Only an owner may do this to or for an owner.")


def _keep_an_owner(membership: Membership) -> None:
    # Locked, so that two owners who remove each other at once do not both succeed.
    owners = Membership.objects.select_for_update().filter(
        workspace_id=membership.workspace_id, role=Role.OWNER
    )
    if {owner.pk for owner in owners} <= {membership.pk}:
        raise MembershipConflict("role", "A workspace needs an owner.")
