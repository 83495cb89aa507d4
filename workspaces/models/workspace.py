"""The base of every row in the project, with an id that sorts by time, and two times; columns that
the serving role writes and may not read (HIDDEN in memoryproject/postgres/walls.py); and workspaces, with
the people and programs in them."""

import os
import threading
import time
import uuid
from datetime import datetime
from typing import Any, Self

from django.contrib.auth.models import AbstractUser
from django.core.validators import RegexValidator
from django.db import connection, models, transaction
from django.db.models.functions import Lower
from django.db.models.sql.compiler import SQLCompiler
from django.utils import timezone
from django.utils.crypto import salted_hmac

from memoryproject.postgres import administrators

_lock = threading.Lock()
_last = 0


REMOVED = "removed-"  # how the slug of a workspace begins while it is being removed
SLUG = r"^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$"


def uuid7() -> uuid.UUID:
    """A UUID of version 7 (RFC 9562, method 3): unix milliseconds, 12 bits of their fraction,
    then random bits. Ids of one process are strictly ordered; rows made together lie together.
    """
    global _last
    milliseconds, nanoseconds = divmod(time.time_ns(), 1_000_000)
    with _lock:  # units of 1/4096 of a millisecond since 1970, never the same twice
        _last = tick = max(_last + 1, milliseconds << 12 | nanoseconds * 4096 // 1_000_000)
    value = tick >> 12 << 80 | 0x7 << 76 | (tick & 0xFFF) << 64
    value |= 0b10 << 62 | int.from_bytes(os.urandom(8), "big") >> 2
    return uuid.UUID(int=value)


def first_uuid7(at: datetime) -> uuid.UUID:
    """Return the lowest id of that millisecond: ids from here on were made then or later."""
    milliseconds = int(at.timestamp() * 1000)
    return uuid.UUID(int=milliseconds << 80)


class DigestField(models.BinaryField):
    """A digest, checked by a function of the database: reading it gives None."""

    def select_format(self, compiler: SQLCompiler, sql: str, params: Any) -> tuple[str, Any]:
        return "null::bytea", params

    def deconstruct(self) -> Any:
        """Describe the field to migrations as it is in the database."""
        name, _, args, kwargs = super().deconstruct()
        return name, "django.db.models.BinaryField", args, kwargs


class PasswordField(models.CharField):
    """A password, read for one row at a time, by a function of the database."""

    def select_format(self, compiler: SQLCompiler, sql: str, params: Any) -> tuple[str, Any]:
        table = sql.rpartition(".")[0]
        return f'cross_password_of({table}."id")', params

    def deconstruct(self) -> Any:
        name, _, args, kwargs = super().deconstruct()
        return name, "django.db.models.CharField", args, kwargs


class Row(models.Model):
    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    updated_at = models.DateTimeField(auto_now=True, editable=False)

    class Meta:
        abstract = True


class User(AbstractUser):
    """A person. Their membership says what they may do in a workspace."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    email = models.EmailField("email address")
    password = PasswordField("password", max_length=128)
    must_change_password = models.BooleanField(default=False, editable=False)
    # Sessions with an older number have ended.
    session_number = models.PositiveIntegerField(default=0, editable=False)
    # The zone of times on pages; "" means the browser's.
    time_zone = models.CharField(max_length=64, blank=True, default="", db_default="", editable=False)

    class Meta(AbstractUser.Meta):
        constraints = [models.UniqueConstraint(Lower("email"), name="user_email_unique")]

    def save(self, *args: Any, **kwargs: Any) -> None:
        """Save with a voucher where the user is an administrator: without one the database refuses
        that from a web process."""
        changed = kwargs.get("update_fields")
        is_guarded = changed is None or set(changed) & set(administrators.GUARDED)
        if not (is_guarded and (self.is_superuser or self.is_staff)):
            super().save(*args, **kwargs)
            return
        with transaction.atomic(using=kwargs.get("using")), connection.cursor() as cursor:
            cursor.execute(administrators.command(self))
            super().save(*args, **kwargs)

    def set_password(self, raw_password: str | None) -> None:
        super().set_password(raw_password)
        self.must_change_password = False

    def _get_session_auth_hash(self, secret: Any = None) -> str:
        """Return what Django compares at every request, with our number beside the password."""
        return salted_hmac(
            "workspaces.models.User.session",
            f"{self.session_number}:{self.password}",
            secret=secret,
            algorithm="sha256",
        ).hexdigest()


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
    name = models.CharField(max_length=300, blank=True, help_text="What this workspace calls the person.")
    # Views of lists: [{"page", "name", "query"}], without any words that were searched for.
    views = models.JSONField(default=list, db_default=[], editable=False)

    class Meta:
        verbose_name = "member"
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(fields=["workspace", "user"], name="membership_once"),
            models.CheckConstraint(condition=models.Q(role__in=Role.values), name="membership_role_known"),
        ]

    def __str__(self) -> str:
        return f"{self.user} ({self.role})"

    @property
    def known_as(self) -> str:
        return self.name or self.user.get_full_name() or self.user.username


class Audience(models.TextChoices):
    """The party that a speaker's words speak for; "" leaves it to what is known of the speaker."""

    PERSON = "person"
    TEAM = "team"


class Team(Row):
    """Facts about a team beside its name, which its agents carry. A team without a row has the
    defaults."""

    workspace = models.ForeignKey(Workspace, models.CASCADE, related_name="teams")
    name = models.CharField(max_length=255)
    audience = models.CharField(max_length=6, choices=Audience, blank=True)

    class Meta:
        ordering = ["id"]
        constraints = [models.UniqueConstraint(fields=["workspace", "name"], name="team_once")]

    def __str__(self) -> str:
        return self.name or "default team"


class AgentQuerySet(models.QuerySet["Agent"]):
    def present(self) -> Self:
        """Return the agents that were not removed."""
        return self.filter(removed_at=None)


class Agent(Row):
    """A program that reads and writes memories, by the caller's own id.

    A removed agent stays as the author of what it wrote, so that nobody sees more of that than
    before; its id is free for another agent.
    """

    workspace = models.ForeignKey(Workspace, models.CASCADE, related_name="agents")
    external_id = models.CharField(max_length=255)
    name = models.CharField(max_length=255, blank=True)
    team = models.CharField(max_length=255, blank=True, help_text="Empty: the workspace's default team.")
    audience = models.CharField(
        max_length=6,
        choices=Audience,
        blank=True,
        help_text="Whom it speaks for. Empty: a person, where one is named; a team that has a name.",
    )
    removed_at = models.DateTimeField(null=True, editable=False)

    objects = AgentQuerySet.as_manager()

    class Meta:
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(
                fields=["workspace", "external_id"],
                name="agent_once",
                condition=models.Q(removed_at=None),
            )
        ]

    def __str__(self) -> str:
        return self.name or self.external_id


class Subject(Row):
    """The person or thing that memories are about, by the caller's own id (`userId` in the API)."""

    workspace = models.ForeignKey(Workspace, models.CASCADE, related_name="subjects")
    external_id = models.CharField(max_length=255)
    name = models.CharField(max_length=255, blank=True)
    metadata = models.JSONField(default=dict, blank=True)
    time_zone = models.CharField(
        max_length=64,
        blank=True,
        default="",
        db_default="",
        help_text="Like Europe/Madrid: whose day counts for what is told in UTC. Empty: the workspace's.",
    )

    class Meta:
        ordering = ["id"]
        constraints = [models.UniqueConstraint(fields=["workspace", "external_id"], name="subject_once")]

    def __str__(self) -> str:
        return self.name or self.external_id


class WorkspaceRemoval(Row):
    """The removal of a workspace with all its rows; once that is done, its certificate.

    It has no foreign key, for it outlives the workspace, and names nothing of it but its id and its
    number in the index. The row is the queue: a claim holds until `lease_until`; `claims` numbers
    them.
    """

    class State(models.TextChoices):
        WAITING = "waiting"
        RUNNING = "running"
        DONE = "done"
        FAILED = "failed"

    OPEN = (State.WAITING, State.RUNNING)

    workspace_id = models.UUIDField(unique=True)
    number = models.IntegerField()
    requested_by = models.CharField(max_length=200)
    state = models.CharField(max_length=7, choices=State, default=State.WAITING)
    plan = models.JSONField(default=dict)
    removed = models.JSONField(default=dict)
    error = models.TextField(blank=True)
    attempts = models.PositiveSmallIntegerField(default=0)
    due_at = models.DateTimeField(null=True)
    lease_until = models.DateTimeField(null=True)
    claims = models.PositiveIntegerField(default=0, db_default=0)
    finished_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-id"]
        indexes = [
            models.Index(
                fields=["due_at"],
                name="removal_due",
                condition=models.Q(state__in=["waiting", "running"]),
            )
        ]

    def __str__(self) -> str:
        return f"{self.state} {self.workspace_id}"

    @property
    def is_open(self) -> bool:
        return self.state in self.OPEN
