"""All tables of workspaces, each as it was when there was the first release.

`replaces` names the steps that led there before it; see the first release of memories.
"""

from django.conf import settings
from django.contrib.auth.models import UserManager
from django.contrib.auth.validators import UnicodeUsernameValidator
from django.contrib.postgres.fields import ArrayField
from django.core.validators import RegexValidator
from django.db import migrations, models
from django.db.models.functions import Lower
from django.utils import timezone

from workspaces.models.workspace import uuid7
from workspaces.models.key import all_capabilities

ROW = [
    ("id", models.UUIDField(default=uuid7, editable=False, primary_key=True, serialize=False)),
    ("created_at", models.DateTimeField(default=timezone.now, editable=False)),
    ("updated_at", models.DateTimeField(auto_now=True)),
]
# Lines of the audit log change only in a transaction that says that it erases content.
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
"""


class Migration(migrations.Migration):
    replaces = [
        ("workspaces", "0001_initial"),
        ("workspaces", "0002_audit_is_kept"),
        ("workspaces", "0003_invitations_and_server_keys"),
        ("workspaces", "0004_login_door"),
        ("workspaces", "0005_one_spelling_of_settings"),
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
                ("must_change_password", models.BooleanField(default=False, editable=False)),
                ("session_number", models.PositiveIntegerField(default=0, editable=False)),
            ],
            options={
                "verbose_name": "user",
                "verbose_name_plural": "users",
                "abstract": False,
                "constraints": [models.UniqueConstraint(Lower("email"), name="user_email_unique")],
            },
            managers=[("objects", UserManager())],
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
            options={"ordering": ["name"]},
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
                (
                    "workspace",
                    models.ForeignKey(
                        on_delete=models.CASCADE, related_name="agents", to="workspaces.workspace"
                    ),
                ),
            ],
            options={
                "ordering": ["id"],
                "constraints": [
                    models.UniqueConstraint(fields=("workspace", "external_id"), name="agent_once")
                ],
            },
        ),
        migrations.CreateModel(
            name="Membership",
            fields=[
                *ROW,
                (
                    "role",
                    models.CharField(
                        choices=[
                            ("owner", "Owner"),
                            ("admin", "Admin"),
                            ("editor", "Editor"),
                            ("viewer", "Viewer"),
                        ],
                        default="viewer",
                        max_length=10,
                    ),
                ),
                (
                    "user",
                    models.ForeignKey(
                        on_delete=models.CASCADE,
                        related_name="memberships",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "workspace",
                    models.ForeignKey(
                        on_delete=models.CASCADE,
                        related_name="memberships",
                        to="workspaces.workspace",
                    ),
                ),
                (
                    "name",
                    models.CharField(
                        blank=True,
                        help_text="What this workspace calls the person.",
                        max_length=300,
                    ),
                ),
            ],
            options={
                "verbose_name": "member",
                "ordering": ["id"],
                "constraints": [
                    models.UniqueConstraint(fields=("workspace", "user"), name="membership_once"),
                    models.CheckConstraint(
                        condition=models.Q(("role__in", ["owner", "admin", "editor", "viewer"])),
                        name="membership_role_known",
                    ),
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
                (
                    "workspace",
                    models.ForeignKey(
                        on_delete=models.CASCADE, related_name="subjects", to="workspaces.workspace"
                    ),
                ),
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
                (
                    "workspace",
                    models.ForeignKey(
                        on_delete=models.CASCADE,
                        related_name="audit_entries",
                        to="workspaces.workspace",
                    ),
                ),
            ],
            options={
                "verbose_name_plural": "audit entries",
                "ordering": ["-id"],
                "indexes": [
                    models.Index(fields=["workspace", "-id"], name="audit_newest"),
                    models.Index(fields=["target_id"], name="audit_target"),
                    models.Index(
                        condition=models.Q(("subject_id__isnull", False)),
                        fields=["subject_id"],
                        name="audit_subject",
                    ),
                    models.Index(
                        condition=models.Q(("action", "ingest"), _negated=True),
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
                            choices=[
                                ("read", "Read"),
                                ("write", "Write"),
                                ("curate", "Curate"),
                                ("admin", "Admin"),
                            ],
                            max_length=10,
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
                    models.ForeignKey(
                        blank=True,
                        help_text="Empty: the workspace's own backend, which sees all of the workspace.",
                        null=True,
                        on_delete=models.CASCADE,
                        related_name="keys",
                        to="workspaces.agent",
                    ),
                ),
                (
                    "created_by",
                    models.ForeignKey(
                        blank=True,
                        editable=False,
                        null=True,
                        on_delete=models.SET_NULL,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "subjects",
                    models.ManyToManyField(
                        blank=True, related_name="keys", to="workspaces.subject"
                    ),
                ),
                (
                    "workspace",
                    models.ForeignKey(
                        on_delete=models.CASCADE, related_name="keys", to="workspaces.workspace"
                    ),
                ),
            ],
            options={
                "verbose_name": "API key",
                "ordering": ["-id"],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            ("capabilities__contained_by", ["read", "write", "curate", "admin"]),
                            ("capabilities__len__gt", 0),
                        ),
                        name="key_capabilities_known",
                    )
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
            options={"verbose_name": "server key", "ordering": ["-id"]},
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
                        choices=[
                            ("waiting", "Waiting"),
                            ("running", "Running"),
                            ("done", "Done"),
                            ("failed", "Failed"),
                        ],
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
                        condition=models.Q(("state__in", ["waiting", "running"])),
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
                (
                    "role",
                    models.CharField(
                        choices=[
                            ("owner", "Owner"),
                            ("admin", "Admin"),
                            ("editor", "Editor"),
                            ("viewer", "Viewer"),
                        ],
                        max_length=10,
                    ),
                ),
                ("invited_by", models.CharField(max_length=200)),
                ("digest", models.BinaryField(max_length=32)),
                ("expires_at", models.DateTimeField()),
                ("accepted_at", models.DateTimeField(null=True)),
                ("revoked_at", models.DateTimeField(null=True)),
                (
                    "workspace",
                    models.ForeignKey(
                        on_delete=models.CASCADE,
                        related_name="invitations",
                        to="workspaces.workspace",
                    ),
                ),
            ],
            options={
                "ordering": ["-id"],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("role__in", ["owner", "admin", "editor", "viewer"])),
                        name="invitation_role_known",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("accepted_at", None), ("revoked_at", None), _connector="OR"
                        ),
                        name="invitation_answered_once",
                    ),
                    models.UniqueConstraint(
                        models.F("workspace"),
                        Lower("email"),
                        condition=models.Q(("accepted_at", None), ("revoked_at", None)),
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
                    models.CharField(
                        choices=[("password", "Password"), ("code", "Code"), ("link", "Link")],
                        max_length=10,
                    ),
                ),
                ("name", models.CharField(max_length=32)),
                ("address", models.CharField(max_length=45)),
                ("request_id", models.CharField(max_length=64)),
                (
                    "user",
                    models.ForeignKey(
                        null=True,
                        on_delete=models.SET_NULL,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
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
                (
                    "user",
                    models.ForeignKey(
                        on_delete=models.CASCADE,
                        related_name="recovery_codes",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("user", "digest"), name="recovery_code_once")
                ]
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
        migrations.RunSQL(AUDIT_IS_KEPT, "drop function workspaces_audit_is_kept() cascade"),
    ]
