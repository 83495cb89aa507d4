from django.contrib.postgres.fields import ArrayField
from django.core.validators import MinValueValidator
from django.db import models
from django.utils import timezone

from workspaces.models.workspace import Agent, DigestField, Row, Subject, User, Workspace

# The allowed names of a space of documents.
CONTAINER_TAG = r"^[A-Za-z0-9_:.-]{1,100}$"


class Capability(models.TextChoices):
    READ = "read"
    WRITE = "write"
    CURATE = "curate"
    ADMIN = "admin"


def all_capabilities() -> list[str]:
    return list(Capability.values)


class KeyRow(Row):
    """The common part of the keys of a workspace and of the server."""

    name = models.CharField(max_length=200)
    prefix = models.CharField(max_length=16, unique=True, editable=False)
    digest = DigestField(max_length=32, editable=False)
    expires_at = models.DateTimeField(null=True, blank=True)
    revoked_at = models.DateTimeField(null=True, blank=True, editable=False)
    last_used_at = models.DateTimeField(null=True, blank=True, editable=False)

    class Meta:
        abstract = True

    def __str__(self) -> str:
        return f"{self.name} ({self.prefix}…)"

    @property
    def is_active(self) -> bool:
        expired = self.expires_at is not None and self.expires_at <= timezone.now()
        return self.revoked_at is None and not expired


class ApiKey(KeyRow):
    """A key as it is stored: the prefix finds it, the digest proves it. The secret is shown
    once."""

    workspace = models.ForeignKey(Workspace, models.CASCADE, related_name="keys")
    agent = models.ForeignKey(
        Agent,
        models.CASCADE,
        null=True,
        blank=True,
        related_name="keys",
        help_text="Empty: the workspace's own backend, which sees all of the workspace.",
    )
    subjects = models.ManyToManyField(Subject, blank=True, related_name="keys")
    limited_to_subjects = models.BooleanField(
        default=False, help_text="Sees and writes only what is about its subjects."
    )
    container_tags = ArrayField(
        models.CharField(max_length=100),
        null=True,
        blank=True,
        help_text="Of documents it sees and writes only those in these spaces. Empty: all.",
    )
    capabilities = ArrayField(models.CharField(max_length=10, choices=Capability), default=all_capabilities)
    per_minute = models.PositiveIntegerField(
        null=True,
        blank=True,
        validators=[MinValueValidator(1)],
        help_text="Requests a minute. Empty: as many as the server lets every key ask.",
    )
    created_by = models.ForeignKey(User, models.SET_NULL, null=True, blank=True, editable=False, related_name="+")

    class Meta:
        verbose_name = "API key"
        ordering = ["-id"]
        constraints = [
            models.CheckConstraint(
                condition=models.Q(capabilities__contained_by=Capability.values) & models.Q(capabilities__len__gt=0),
                name="key_capabilities_known",
            ),
            models.CheckConstraint(
                condition=models.Q(container_tags=None) | models.Q(container_tags__len__gt=0),
                name="key_names_a_space",
            ),
        ]


class ServerKey(KeyRow):
    """A key of the server: it makes and removes workspaces, and does nothing else.

    It stands in a table of its own, so that no query that looks for a workspace's key finds it.
    """

    issued_by = models.CharField(max_length=200, editable=False)

    class Meta:
        verbose_name = "server key"
        ordering = ["-id"]
