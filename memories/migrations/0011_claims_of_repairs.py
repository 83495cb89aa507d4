"""Repairs of the index are claimed as the rows of all queues are; one that is over is due no more."""

from django.db import migrations, models

OVER = "update memories_indexrepair set next_attempt_at = null where finished_at is not null"
DUE = "update memories_indexrepair set next_attempt_at = now() where next_attempt_at is null"


class Migration(migrations.Migration):
    dependencies = [("memories", "0010_sets_that_are_deleted_in_steps")]

    operations = [
        migrations.AddField("indexrepair", "claims", models.PositiveIntegerField(default=0)),
        migrations.AlterField(
            "indexrepair", "attempts", models.PositiveSmallIntegerField(default=0, help_text="Since it last went on.")
        ),
        migrations.AlterField("indexrepair", "next_attempt_at", models.DateTimeField(null=True)),
        migrations.RunSQL(OVER, DUE),
    ]
