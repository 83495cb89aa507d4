"""Lines of the audit have a place in a chain, and a salt that goes with their values."""

import uuid

import django.db.models.deletion
from django.db import migrations, models
from django.utils import timezone

SALT = """
alter table workspaces_auditentry add column salt uuid default gen_random_uuid();
alter table workspaces_auditentry alter column salt drop default
"""
MARKS_ARE_KEPT = """
create trigger marks_are_kept before update or delete on workspaces_auditmark
for each row execute function workspaces_audit_is_kept()
"""


class Migration(migrations.Migration):
    dependencies = [("workspaces", "0003_agents_and_key_caps")]

    operations = [
        migrations.SeparateDatabaseAndState(
            database_operations=[
                # Each line gets another one.
                migrations.RunSQL(SALT, "alter table workspaces_auditentry drop column salt")
            ],
            state_operations=[
                migrations.AddField(
                    "auditentry",
                    "salt",
                    models.UUIDField(default=uuid.uuid4, editable=False, null=True),
                )
            ],
        ),
        migrations.CreateModel(
            name="AuditMark",
            fields=[
                ("line_id", models.UUIDField(primary_key=True, serialize=False)),
                ("position", models.BigIntegerField()),
                ("values_hash", models.BinaryField()),
                ("mark", models.BinaryField()),
                ("created_at", models.DateTimeField(default=timezone.now, editable=False)),
                (
                    "workspace",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="workspaces.workspace",
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(
                        fields=("workspace", "position"), name="audit_mark_once"
                    )
                ],
            },
        ),
        migrations.RunSQL(MARKS_ARE_KEPT, "drop trigger marks_are_kept on workspaces_auditmark"),
    ]
