"""All tables of workspaces, each as it was when 0.1.0 was released.

`replaces` names the steps that led there; see the same migration of memories."""

import re
import uuid
from typing import Any

from django.conf import settings
from django.contrib.auth.models import UserManager
from django.contrib.auth.validators import UnicodeUsernameValidator
from django.contrib.postgres.fields import ArrayField
from django.core.validators import MinValueValidator, RegexValidator
from django.db import migrations, models
from django.db.models import F, Q
from django.db.models.functions import Lower
from django.utils import timezone

from workspaces.models.key import all_capabilities
from workspaces.models.workspace import uuid7


def labelled(*values: str) -> list[tuple[str, str]]:
    return [(value, re.sub("[._]", " ", value).title()) for value in values]


def part_of(model: str, related_name: str = "+", **options: Any) -> models.ForeignKey:
    return models.ForeignKey(
        on_delete=models.CASCADE, related_name=related_name, to=model, **options
    )


def mention(model: str, related_name: str = "+", **options: Any) -> models.ForeignKey:
    return models.ForeignKey(
        null=True, on_delete=models.SET_NULL, related_name=related_name, to=model, **options
    )


ROW = [
    ("id", models.UUIDField(default=uuid7, editable=False, primary_key=True, serialize=False)),
    ("created_at", models.DateTimeField(default=timezone.now, editable=False)),
    ("updated_at", models.DateTimeField(auto_now=True)),
]
AUDIENCES = labelled("person", "team")
ROLES = labelled("owner", "admin", "editor", "viewer")
KNOWN_ROLE = Q(role__in=["owner", "admin", "editor", "viewer"])
# Lines of the audit log, and their marks, change only in a transaction that says that it erases
# content.
AUDIT_IS_KEPT = """
create function workspaces_audit_is_kept() returns trigger language plpgsql as $$
begin
  if coalesce(current_setting('memoryproject.erasing', true), '') <> 'on' then
    raise exception 'lines of the audit log are kept as they are'
      using errcode = 'integrity_constraint_violation',
            hint = 'To erase content, see erasing_audit in workspaces/models/audit.py.';
  end if;
  return case tg_op when 'DELETE' then old else new end;
end
$$;
create trigger audit_is_kept before update or delete on workspaces_auditentry
for each row execute function workspaces_audit_is_kept();
create trigger marks_are_kept before update or delete on workspaces_auditmark
for each row execute function workspaces_audit_is_kept();
"""
# As it is in older databases, where this column was added.
NAMES = """
alter table workspaces_apikey
    rename constraint workspaces_apikey_per_minute_check to workspaces_apikey_per_minute_a2ba9709_check;
"""


class Migration(migrations.Migration):
    replaces = [
        ("workspaces", "0001_first_release"),
        ("workspaces", "0002_audience"),
        ("workspaces", "0003_agents_and_key_caps"),
        ("workspaces", "0004_audit_chain"),
        ("workspaces", "0005_views_of_members"),
        ("workspaces", "0006_time_zones"),
        ("workspaces", "0007_spaces_of_a_key"),
    ]

    initial = True

    dependencies = [("auth", "0012_alter_user_first_name_max_length")]

    operations = [
        migrations.CreateModel(
            name="User",
            fields=[
                ("password", models.CharField(max_length=128, verbose_name="password")),
                (
                    "last_login",
                    models.DateTimeField(blank=True, null=True, verbose_name="last login"),
                ),
                (
                    "is_superuser",
                    models.BooleanField(
                        default=False,
                        help_text="Designates that this user has all permissions without explicitly assigning them.",
                        verbose_name="superuser status",
                    ),
                ),
                (
                    "username",
                    models.CharField(
                        error_messages={"unique": "A user with that username already exists."},
                        help_text="Required. 150 characters or fewer. Letters, digits and @/./+/-/_ only.",
                        max_length=150,
                        unique=True,
                        validators=[UnicodeUsernameValidator()],
                        verbose_name="username",
                    ),
                ),
                (
                    "first_name",
                    models.CharField(blank=True, max_length=150, verbose_name="first name"),
                ),
                (
                    "last_name",
                    models.CharField(blank=True, max_length=150, verbose_name="last name"),
                ),
                (
                    "is_staff",
                    models.BooleanField(
                        default=False,
                        help_text="Designates whether the user can log into this admin site.",
                        verbose_name="staff status",
                    ),
                ),
                (
                    "is_active",
                    models.BooleanField(
                        default=True,
                        help_text="Designates whether this user should be treated as active. Unselect this instead of deleting accounts.",
                        verbose_name="active",
                    ),
                ),
                (
                    "date_joined",
                    models.DateTimeField(default=timezone.now, verbose_name="date joined"),
                ),
                (
                    "id",
                    models.UUIDField(
                        default=uuid7, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("email", models.EmailField(max_length=254, verbose_name="email address")),
                ("must_change_password", models.BooleanField(default=False, editable=False)),
                ("session_number", models.PositiveIntegerField(default=0, editable=False)),
                (
                    "time_zone",
                    models.CharField(
                        blank=True, db_default="", default="", editable=False, max_length=64
                    ),
                ),
                (
                    "groups",
                    models.ManyToManyField(
                        blank=True,
                        help_text="The groups this user belongs to. A user will get all permissions granted to each of their groups.",
                        related_name="user_set",
                        related_query_name="user",
                        to="auth.group",
                        verbose_name="groups",
                    ),
                ),
                (
                    "user_permissions",
                    models.ManyToManyField(
                        blank=True,
                        help_text="Specific permissions for this user.",
                        related_name="user_set",
                        related_query_name="user",
                        to="auth.permission",
                        verbose_name="user permissions",
                    ),
                ),
            ],
            options={
                "verbose_name": "user",
                "verbose_name_plural": "users",
                "abstract": False,
                "constraints": [models.UniqueConstraint(Lower("email"), name="user_email_unique")],
            },
            managers=[
                ("objects", UserManager()),
            ],
        ),
        migrations.CreateModel(
            name="Workspace",
            fields=[
                *ROW,
                (
                    "slug",
                    models.CharField(
                        max_length=63,
                        unique=True,
                        validators=[
                            RegexValidator(
                                "^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$",
                                "Lower-case letters, digits and hyphens, 63 at most.",
                            )
                        ],
                    ),
                ),
                ("name", models.CharField(max_length=200)),
                ("settings", models.JSONField(blank=True, default=dict)),
            ],
            options={
                "ordering": ["name"],
            },
        ),
        migrations.CreateModel(
            name="Agent",
            fields=[
                *ROW,
                ("external_id", models.CharField(max_length=255)),
                ("name", models.CharField(blank=True, max_length=255)),
                (
                    "team",
                    models.CharField(
                        blank=True, help_text="Empty: the workspace's default team.", max_length=255
                    ),
                ),
                ("workspace", part_of("workspaces.workspace", "agents")),
                (
                    "audience",
                    models.CharField(
                        blank=True,
                        choices=AUDIENCES,
                        help_text="Whom it speaks for. Empty: a person, where one is named; a team that has a name.",
                        max_length=6,
                    ),
                ),
                ("removed_at", models.DateTimeField(editable=False, null=True)),
            ],
            options={
                "ordering": ["id"],
                "constraints": [
                    models.UniqueConstraint(
                        condition=Q(removed_at=None),
                        fields=("workspace", "external_id"),
                        name="agent_once",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="Membership",
            fields=[
                *ROW,
                ("role", models.CharField(choices=ROLES, default="viewer", max_length=10)),
                ("user", part_of(settings.AUTH_USER_MODEL, "memberships")),
                ("workspace", part_of("workspaces.workspace", "memberships")),
                (
                    "name",
                    models.CharField(
                        blank=True,
                        help_text="What this workspace calls the person.",
                        max_length=300,
                    ),
                ),
                ("views", models.JSONField(db_default=[], default=list, editable=False)),
            ],
            options={
                "verbose_name": "member",
                "ordering": ["id"],
                "constraints": [
                    models.UniqueConstraint(fields=("workspace", "user"), name="membership_once"),
                    models.CheckConstraint(condition=KNOWN_ROLE, name="membership_role_known"),
                ],
            },
        ),
        migrations.CreateModel(
            name="Subject",
            fields=[
                *ROW,
                ("external_id", models.CharField(max_length=255)),
                ("name", models.CharField(blank=True, max_length=255)),
                ("metadata", models.JSONField(blank=True, default=dict)),
                ("workspace", part_of("workspaces.workspace", "subjects")),
            ],
            options={
                "ordering": ["id"],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("workspace", "external_id"), name="subject_once"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="AuditEntry",
            fields=[
                *ROW,
                ("actor", models.CharField(max_length=200)),
                ("action", models.CharField(max_length=60)),
                ("target_kind", models.CharField(max_length=40)),
                ("target_id", models.UUIDField()),
                ("subject_id", models.UUIDField(null=True)),
                ("reason", models.TextField(blank=True)),
                ("before", models.JSONField(null=True)),
                ("after", models.JSONField(null=True)),
                ("workspace", part_of("workspaces.workspace", "audit_entries")),
                ("salt", models.UUIDField(default=uuid.uuid4, editable=False, null=True)),
            ],
            options={
                "verbose_name_plural": "audit entries",
                "ordering": ["-id"],
                "indexes": [
                    models.Index(fields=["workspace", "-id"], name="audit_newest"),
                    models.Index(fields=["target_id"], name="audit_target"),
                    models.Index(
                        condition=Q(subject_id__isnull=False),
                        fields=["subject_id"],
                        name="audit_subject",
                    ),
                    models.Index(
                        condition=~Q(action="ingest"),
                        fields=["workspace", "action", "-id"],
                        name="audit_acts",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="ApiKey",
            fields=[
                *ROW,
                ("name", models.CharField(max_length=200)),
                ("prefix", models.CharField(editable=False, max_length=16, unique=True)),
                ("digest", models.BinaryField(max_length=32)),
                (
                    "limited_to_subjects",
                    models.BooleanField(
                        default=False, help_text="Sees and writes only what is about its subjects."
                    ),
                ),
                (
                    "capabilities",
                    ArrayField(
                        base_field=models.CharField(
                            choices=labelled("read", "write", "curate", "admin"), max_length=10
                        ),
                        default=all_capabilities,
                        size=None,
                    ),
                ),
                ("expires_at", models.DateTimeField(blank=True, null=True)),
                ("revoked_at", models.DateTimeField(blank=True, editable=False, null=True)),
                ("last_used_at", models.DateTimeField(blank=True, editable=False, null=True)),
                (
                    "agent",
                    part_of(
                        "workspaces.agent",
                        "keys",
                        blank=True,
                        help_text="Empty: the workspace's own backend, which sees all of the workspace.",
                        null=True,
                    ),
                ),
                ("created_by", mention(settings.AUTH_USER_MODEL, blank=True, editable=False)),
                ("workspace", part_of("workspaces.workspace", "keys")),
                (
                    "per_minute",
                    models.PositiveIntegerField(
                        blank=True,
                        help_text="Requests a minute. Empty: as many as the server lets every key ask.",
                        null=True,
                        validators=[MinValueValidator(1)],
                    ),
                ),
                (
                    "container_tags",
                    ArrayField(
                        base_field=models.CharField(max_length=100),
                        blank=True,
                        help_text="Of documents it sees and writes only those in these spaces. Empty: all.",
                        null=True,
                        size=None,
                    ),
                ),
                (
                    "subjects",
                    models.ManyToManyField(
                        blank=True, related_name="keys", to="workspaces.subject"
                    ),
                ),
            ],
            options={
                "verbose_name": "API key",
                "ordering": ["-id"],
                "constraints": [
                    models.CheckConstraint(
                        condition=Q(
                            capabilities__contained_by=["read", "write", "curate", "admin"],
                            capabilities__len__gt=0,
                        ),
                        name="key_capabilities_known",
                    ),
                    models.CheckConstraint(
                        condition=Q(container_tags=None) | Q(container_tags__len__gt=0),
                        name="key_names_a_space",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="ServerKey",
            fields=[
                *ROW,
                ("name", models.CharField(max_length=200)),
                ("prefix", models.CharField(editable=False, max_length=16, unique=True)),
                ("digest", models.BinaryField(max_length=32)),
                ("issued_by", models.CharField(editable=False, max_length=200)),
                ("expires_at", models.DateTimeField(blank=True, null=True)),
                ("revoked_at", models.DateTimeField(blank=True, editable=False, null=True)),
                ("last_used_at", models.DateTimeField(blank=True, editable=False, null=True)),
            ],
            options={
                "verbose_name": "server key",
                "ordering": ["-id"],
            },
        ),
        migrations.CreateModel(
            name="WorkspaceRemoval",
            fields=[
                *ROW,
                ("workspace_id", models.UUIDField(unique=True)),
                ("number", models.IntegerField()),
                ("requested_by", models.CharField(max_length=200)),
                (
                    "state",
                    models.CharField(
                        choices=labelled("waiting", "running", "done", "failed"),
                        default="waiting",
                        max_length=7,
                    ),
                ),
                ("plan", models.JSONField(default=dict)),
                ("removed", models.JSONField(default=dict)),
                ("error", models.TextField(blank=True)),
                ("attempts", models.PositiveSmallIntegerField(default=0)),
                ("due_at", models.DateTimeField(null=True)),
                ("lease_until", models.DateTimeField(null=True)),
                ("finished_at", models.DateTimeField(null=True)),
            ],
            options={
                "ordering": ["-id"],
                "indexes": [
                    models.Index(
                        condition=Q(state__in=["waiting", "running"]),
                        fields=["due_at"],
                        name="removal_due",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="Invitation",
            fields=[
                *ROW,
                ("email", models.EmailField(max_length=254)),
                ("name", models.CharField(blank=True, max_length=300)),
                ("role", models.CharField(choices=ROLES, max_length=10)),
                ("invited_by", models.CharField(max_length=200)),
                ("digest", models.BinaryField(max_length=32)),
                ("expires_at", models.DateTimeField()),
                ("accepted_at", models.DateTimeField(null=True)),
                ("revoked_at", models.DateTimeField(null=True)),
                ("workspace", part_of("workspaces.workspace", "invitations")),
            ],
            options={
                "ordering": ["-id"],
                "constraints": [
                    models.CheckConstraint(condition=KNOWN_ROLE, name="invitation_role_known"),
                    models.CheckConstraint(
                        condition=Q(accepted_at=None) | Q(revoked_at=None),
                        name="invitation_answered_once",
                    ),
                    models.UniqueConstraint(
                        F("workspace"),
                        Lower("email"),
                        condition=Q(accepted_at=None, revoked_at=None),
                        name="invitation_one_open",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="LoginPause",
            fields=[
                ("key", models.CharField(max_length=80, primary_key=True, serialize=False)),
                ("failures", models.PositiveIntegerField(default=0)),
                ("tried_at", models.DateTimeField(db_index=True)),
                ("not_before", models.DateTimeField()),
            ],
        ),
        migrations.CreateModel(
            name="SecondFactor",
            fields=[
                (
                    "user",
                    models.OneToOneField(
                        on_delete=models.CASCADE,
                        primary_key=True,
                        related_name="second_factor",
                        serialize=False,
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                ("nonce", models.CharField(max_length=64)),
                ("confirmed_at", models.DateTimeField(null=True)),
                ("last_step", models.BigIntegerField(default=0)),
            ],
        ),
        migrations.CreateModel(
            name="LoginAttempt",
            fields=[
                *ROW,
                (
                    "kind",
                    models.CharField(choices=labelled("password", "code", "link"), max_length=10),
                ),
                ("name", models.CharField(max_length=32)),
                ("address", models.CharField(max_length=45)),
                ("request_id", models.CharField(max_length=64)),
                ("user", mention(settings.AUTH_USER_MODEL)),
            ],
            options={
                "ordering": ["-id"],
                "indexes": [models.Index(fields=["created_at"], name="login_attempt_age")],
            },
        ),
        migrations.CreateModel(
            name="RecoveryCode",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("digest", models.CharField(max_length=64)),
                ("user", part_of(settings.AUTH_USER_MODEL, "recovery_codes")),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("user", "digest"), name="recovery_code_once")
                ],
            },
        ),
        migrations.CreateModel(
            name="Team",
            fields=[
                *ROW,
                ("name", models.CharField(max_length=255)),
                ("audience", models.CharField(blank=True, choices=AUDIENCES, max_length=6)),
                ("workspace", part_of("workspaces.workspace", "teams")),
            ],
            options={
                "ordering": ["id"],
                "constraints": [
                    models.UniqueConstraint(fields=("workspace", "name"), name="team_once")
                ],
            },
        ),
        migrations.CreateModel(
            name="AuditMark",
            fields=[
                ("line_id", models.UUIDField(primary_key=True, serialize=False)),
                ("position", models.BigIntegerField()),
                ("values_hash", models.BinaryField()),
                ("mark", models.BinaryField()),
                ("created_at", models.DateTimeField(default=timezone.now, editable=False)),
                ("workspace", part_of("workspaces.workspace", db_index=False)),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(
                        fields=("workspace", "position"), name="audit_mark_once"
                    )
                ],
            },
        ),
        migrations.AddField(
            model_name="Workspace",
            name="members",
            field=models.ManyToManyField(
                related_name="workspaces",
                through="workspaces.Membership",
                to=settings.AUTH_USER_MODEL,
            ),
        ),
        migrations.RunSQL(
            AUDIT_IS_KEPT + NAMES, "drop function workspaces_audit_is_kept() cascade"
        ),
    ]
