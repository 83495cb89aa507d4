from typing import Self

from django.db import models
from django.db.models import Q
from django.db.models.functions import Lower
from django.utils import timezone

from workspaces.models.base import Row
from workspaces.models.user import User
from workspaces.models.workspace import Role, Workspace


class InvitationQuerySet(models.QuerySet["Invitation"]):
    def open(self) -> Self:
        """Those that may still be accepted."""
        return self.filter(accepted_at=None, revoked_at=None, expires_at__gt=timezone.now())

    def to(self, user: User) -> Self:
        return self.filter(email__iexact=user.email)

    def revoke(self) -> int:
        """Let none of them be accepted any more; the number that still could."""
        now = timezone.now()
        unanswered = self.filter(accepted_at=None, revoked_at=None)
        return unanswered.update(revoked_at=now, updated_at=now)


class Invitation(Row):
    """Somebody is asked to become a member. The token of its link is shown once, and proven by the
    digest; who accepts becomes the member with the invitation's id.

    `name` is what this workspace calls the person. `revoked_at` is set also where they declined.
    """

    workspace = models.ForeignKey(Workspace, models.CASCADE, related_name="invitations")
    email = models.EmailField()
    name = models.CharField(max_length=300, blank=True)
    role = models.CharField(max_length=10, choices=Role)
    invited_by = models.CharField(max_length=200)
    digest = models.BinaryField(max_length=32, editable=False)
    expires_at = models.DateTimeField()
    accepted_at = models.DateTimeField(null=True)
    revoked_at = models.DateTimeField(null=True)

    objects = InvitationQuerySet.as_manager()

    class Meta:
        ordering = ["-id"]
        constraints = [
            models.CheckConstraint(condition=Q(role__in=Role.values), name="invitation_role_known"),
            models.CheckConstraint(
                condition=Q(accepted_at=None) | Q(revoked_at=None), name="invitation_answered_once"
            ),
            models.UniqueConstraint(
                "workspace",
                Lower("email"),
                name="invitation_one_open",
                condition=Q(accepted_at=None, revoked_at=None),
            ),
        ]

    def __str__(self) -> str:
        return self.email

    @property
    def state(self) -> str:
        if self.accepted_at is not None:
            return "accepted"
        if self.revoked_at is not None:
            return "revoked"
        return "open" if self.expires_at > timezone.now() else "expired"
