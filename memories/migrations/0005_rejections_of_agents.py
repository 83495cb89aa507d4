"""Bind what an agent's key rejects to that agent alone; what was rejected before binds all."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("memories", "0004_documents_apart"),
        ("workspaces", "0002_audit_seals"),
    ]

    operations = [
        migrations.AddField(
            "rejection",
            "agent",
            models.ForeignKey(
                null=True,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="+",
                to="workspaces.agent",
            ),
        ),
        migrations.RemoveConstraint("rejection", "rejection_once"),
        migrations.AddConstraint(
            "rejection",
            models.UniqueConstraint(
                fields=("workspace", "subject", "fingerprint", "agent"),
                name="rejection_once",
                nulls_distinct=False,
            ),
        ),
    ]
