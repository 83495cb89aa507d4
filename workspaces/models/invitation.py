from typing import Self

from django.db import models
from django.db.models import Case, Exists, Func, OuterRef, Q, Value, When
from django.db.models.functions import Cast, Lower
from django.utils import timezone

from workspaces.models.key import ApiKey, Capability, ServerKey
from workspaces.models.workspace import DigestField, Membership, Role, Row, User, Workspace

UUID = r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$"
ADMINISTERING = (Role.OWNER, Role.ADMIN)


class InvitationQuerySet(models.QuerySet["Invitation"]):
    def open(self) -> Self:
        """Return the invitations that may still be accepted."""
        unanswered = self.filter(accepted_at=None, revoked_at=None, expires_at__gt=timezone.now())
        return unanswered.filter(is_backed=True)

    def with_backing(self) -> Self:
        """Add `is_backed`: whether the inviter could still invite now. An invitation does not
        outlive the right to make it. Those made by a command of the server need no right."""
        inviter = Cast(Func(OuterRef("invited_by"), Value(UUID), function="substring"), models.UUIDField())
        in_use = Q(Q(expires_at=None) | Q(expires_at__gt=timezone.now()), revoked_at=None)
        users = User.objects.filter(pk=inviter, is_active=True)
        members = Membership.objects.filter(workspace=OuterRef("workspace"), user=inviter, user__is_active=True)
        keys = ApiKey.objects.filter(
            in_use,
            workspace=OuterRef("workspace"),
            pk=inviter,
            capabilities__contains=[Capability.ADMIN],
        )
        owners = Exists(users.filter(is_superuser=True)) | Exists(members.filter(role=Role.OWNER))
        admins = Exists(members.filter(role__in=ADMINISTERING))
        server_key = Exists(ServerKey.objects.filter(in_use, pk=inviter))
        is_backed = Case(
            When(~Q(invited_by__regex=f":{UUID}"), then=True),
            When(invited_by__startswith="server_key:", then=server_key),
            When(invited_by__startswith="user:", role=Role.OWNER, then=owners),
            When(invited_by__startswith="user:", then=owners | admins),
            # No key makes owners.
            When(~Q(role=Role.OWNER), invited_by__startswith="key:", then=Exists(keys)),
            default=False,
            output_field=models.BooleanField(),
        )
        return self.annotate(is_backed=is_backed)

    def to(self, user: User) -> Self:
        return self.filter(email__iexact=user.email)

    def revoke(self) -> int:
        """Revoke all that could still be accepted; return their number."""
        now = timezone.now()
        unanswered = self.filter(accepted_at=None, revoked_at=None)
        return unanswered.update(revoked_at=now, updated_at=now)


_Manager = models.Manager.from_queryset(InvitationQuerySet)


class InvitationManager(_Manager):
    """Reads every invitation with its backing."""

    # The stubs lose the model of a manager made from a queryset.
    def get_queryset(self) -> InvitationQuerySet:  # type: ignore[override]
        return InvitationQuerySet(self.model, using=self._db).with_backing()


class Invitation(Row):
    """An invitation to become a member. The token of its link is shown once, and proven by the
    digest; the new member gets the invitation's id.

    `name` is what this workspace calls the person. `revoked_at` is set also where they declined.
    """

    workspace = models.ForeignKey(Workspace, models.CASCADE, related_name="invitations")
    email = models.EmailField()
    name = models.CharField(max_length=300, blank=True)
    role = models.CharField(max_length=10, choices=Role)
    invited_by = models.CharField(max_length=200)
    digest = DigestField(max_length=32, editable=False)
    expires_at = models.DateTimeField()
    accepted_at = models.DateTimeField(null=True)
    revoked_at = models.DateTimeField(null=True)

    is_backed: bool = True  # on rows read from the database, as `with_backing` computes it

    objects = InvitationManager()

    class Meta:
        ordering = ["-id"]
        constraints = [
            models.CheckConstraint(condition=Q(role__in=Role.values), name="invitation_role_known"),
            models.CheckConstraint(condition=Q(accepted_at=None) | Q(revoked_at=None), name="invitation_answered_once"),
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
        if self.revoked_at is not None or not self.is_backed:
            return "revoked"
        return "open" if self.expires_at > timezone.now() else "expired"
