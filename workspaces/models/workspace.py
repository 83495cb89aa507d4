from django.core.validators import RegexValidator
from django.db import models

from workspaces.models.base import Row
from workspaces.models.user import User

REMOVED = "removed-"  # so begins the slug of one that is being removed
SLUG = r"^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$"


class Role(models.TextChoices):
    OWNER = "owner"
    ADMIN = "admin"
    EDITOR = "editor"
    VIEWER = "viewer"


class Workspace(Row):
    """A tenant. Nothing is ever read or written across workspaces."""

    slug = models.CharField(
        max_length=63,
        unique=True,
        validators=[RegexValidator(SLUG, "Lower-case letters, digits and hyphens, 63 at most.")],
    )
    name = models.CharField(max_length=200)
    settings = models.JSONField(default=dict, blank=True)
    members = models.ManyToManyField(User, through="Membership", related_name="workspaces")

    class Meta:
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name


class Membership(Row):
    workspace = models.ForeignKey(Workspace, models.CASCADE, related_name="memberships")
    user = models.ForeignKey(User, models.CASCADE, related_name="memberships")
    role = models.CharField(max_length=10, choices=Role, default=Role.VIEWER)
    name = models.CharField(
        max_length=300, blank=True, help_text="What this workspace calls the person."
    )

    class Meta:
        verbose_name = "member"
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(fields=["workspace", "user"], name="membership_once"),
            models.CheckConstraint(
                condition=models.Q(role__in=Role.values), name="membership_role_known"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.user} ({self.role})"

    @property
    def known_as(self) -> str:
        return self.name or self.user.get_full_name() or self.user.username


class Audience(models.TextChoices):
    """Whom what is said speaks for; "" leaves it to what is known of the speaker."""

    PERSON = "person"
    TEAM = "team"


class Team(Row):
    """What is known of a team beside its name, which its agents carry; one without a row has the
    defaults."""

    workspace = models.ForeignKey(Workspace, models.CASCADE, related_name="teams")
    name = models.CharField(max_length=255)
    audience = models.CharField(max_length=6, choices=Audience, blank=True)

    class Meta:
        ordering = ["id"]
        constraints = [models.UniqueConstraint(fields=["workspace", "name"], name="team_once")]

    def __str__(self) -> str:
        return self.name or "default team"


class Agent(Row):
    """A program that reads and writes memories, by the caller's own id."""

    workspace = models.ForeignKey(Workspace, models.CASCADE, related_name="agents")
    external_id = models.CharField(max_length=255)
    name = models.CharField(max_length=255, blank=True)
    team = models.CharField(
        max_length=255, blank=True, help_text="Empty: the workspace's default team."
    )
    audience = models.CharField(
        max_length=6,
        choices=Audience,
        blank=True,
        help_text="Whom it speaks for. Empty: a person, where one is named; a team that has a name.",
    )

    class Meta:
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(fields=["workspace", "external_id"], name="agent_once")
        ]

    def __str__(self) -> str:
        return self.name or self.external_id


class Subject(Row):
    """Whom or what memories are about, by the caller's own id (`userId` in the API)."""

    workspace = models.ForeignKey(Workspace, models.CASCADE, related_name="subjects")
    external_id = models.CharField(max_length=255)
    name = models.CharField(max_length=255, blank=True)
    metadata = models.JSONField(default=dict, blank=True)

    class Meta:
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(fields=["workspace", "external_id"], name="subject_once")
        ]

    def __str__(self) -> str:
        return self.name or self.external_id
