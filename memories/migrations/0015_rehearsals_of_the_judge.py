"""Rehearsals of the judge, and touches that a language model is asked about."""

import django.db.models.deletion
import django.utils.timezone
import workspaces.models.workspace
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("memories", "0014_models_by_fastembed"),
        ("workspaces", "0005_no_setting_of_languages"),
    ]

    operations = [
        migrations.CreateModel(
            name="JudgeRehearsal",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=workspaces.models.workspace.uuid7, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ("updated_at", models.DateTimeField(auto_now=True)),
                (
                    "state",
                    models.CharField(
                        choices=[("waiting", "Waiting"), ("done", "Done"), ("failed", "Failed")],
                        default="waiting",
                        max_length=7,
                    ),
                ),
                ("requested_by", models.CharField(max_length=200)),
                ("model", models.CharField(blank=True, max_length=100)),
                ("since", models.DateTimeField()),
                ("after", models.UUIDField(null=True)),
                ("total", models.PositiveIntegerField(default=0)),
                ("done", models.PositiveIntegerField(default=0)),
                ("scores", models.JSONField(default=list)),
                ("due_at", models.DateTimeField(null=True)),
                ("claims", models.PositiveIntegerField(default=0)),
                ("attempts", models.PositiveSmallIntegerField(default=0)),
                ("lease_until", models.DateTimeField(null=True)),
                (
                    "workspace",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="+", to="workspaces.workspace"
                    ),
                ),
            ],
            options={
                "ordering": ["-id"],
            },
        ),
        migrations.AddField(
            model_name="touch",
            name="asked_at",
            field=models.DateTimeField(null=True),
        ),
        migrations.AddField(
            model_name="touch",
            name="model_attempts",
            field=models.PositiveSmallIntegerField(db_default=0, default=0),
        ),
        migrations.AlterField(
            model_name="longjob",
            name="kind",
            field=models.CharField(
                choices=[
                    ("import", "Import"),
                    ("embedding", "Making vectors"),
                    ("reindex", "Making the index anew"),
                    ("repair", "Repairing the index"),
                    ("check", "Checking the index"),
                    ("erasure", "Erasure"),
                    ("prune", "Removing what is old"),
                    ("export", "Export"),
                    ("backup", "Backup"),
                    ("masking", "Taking words out"),
                    ("unmasking", "Putting words back"),
                    ("touching", "Finding what was said later"),
                    ("rehearsal", "Rehearsing the judge"),
                ],
                max_length=9,
            ),
        ),
        migrations.AddIndex(
            model_name="touch",
            index=models.Index(
                condition=models.Q(("by", "judge"), ("relation__in", ("unsure", "replaces", "ends"))),
                fields=["workspace", "-decided_at"],
                name="touch_unsure",
            ),
        ),
        migrations.AddIndex(
            model_name="judgerehearsal",
            index=models.Index(fields=["workspace", "-id"], name="judge_rehearsal_newest"),
        ),
        migrations.AddConstraint(
            model_name="judgerehearsal",
            constraint=models.UniqueConstraint(
                condition=models.Q(("state", "waiting")), fields=("workspace",), name="judge_rehearsal_waits_once"
            ),
        ),
    ]
