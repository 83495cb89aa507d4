"""Whether a memory is a head is a column that the database keeps; `Liveness` is `MemoryPeriod`."""

import django.contrib.postgres.indexes
import django.db.models.deletion
from django.db import migrations, models


def renamed(what, model, old, constraint):
    """A constraint or its index gets another name; nothing is built anew."""
    new = constraint.name
    return migrations.SeparateDatabaseAndState(
        database_operations=[
            migrations.RunSQL(
                f"alter {what.format(old)} to {new}", f"alter {what.format(new)} to {old}"
            )
        ],
        state_operations=[
            migrations.RemoveConstraint(model, old),
            migrations.AddConstraint(model, constraint),
        ],
    )


class Migration(migrations.Migration):
    dependencies = [("memories", "0030_session_turn")]

    operations = [
        migrations.AddField(
            "memory",
            "is_head",
            models.GeneratedField(
                db_persist=True,
                expression=models.ExpressionWrapper(
                    models.Q(("forgotten_at", None), ("held_at", None), ("superseded_by", None)),
                    models.BooleanField(),
                ),
                output_field=models.BooleanField(),
            ),
        ),
        migrations.RemoveIndex("memory", "memory_same_text"),
        migrations.RemoveIndex("memory", "memory_slots"),
        migrations.AddIndex(
            "memory",
            models.Index(
                condition=models.Q(("is_head", True)),
                fields=["workspace", "fingerprint"],
                name="memory_same_text",
            ),
        ),
        migrations.AddIndex(
            "memory",
            django.contrib.postgres.indexes.GinIndex(
                condition=models.Q(("is_head", True)),
                fastupdate=True,
                fields=["slots"],
                gin_pending_list_limit=256,
                name="memory_slots",
            ),
        ),
        migrations.RenameModel("Liveness", "MemoryPeriod"),
        migrations.AlterModelOptions("memoryperiod", {}),
        migrations.AlterField(
            "memoryperiod",
            "memory",
            models.ForeignKey(
                db_index=False,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="periods",
                to="memories.memory",
            ),
        ),
        migrations.RenameIndex(
            "memoryperiod", new_name="memoryperiod_history", old_name="liveness_history"
        ),
        renamed(
            "index {} rename",
            "memoryperiod",
            "liveness_one_open",
            models.UniqueConstraint(
                condition=models.Q(("until_at", None)),
                fields=("memory",),
                name="memoryperiod_one_open",
            ),
        ),
        renamed(
            "table memories_memoryperiod rename constraint {}",
            "memoryperiod",
            "liveness_runs_forward",
            models.CheckConstraint(
                condition=models.Q(
                    ("until_at", None), ("until_at__gte", models.F("from_at")), _connector="OR"
                ),
                name="memoryperiod_runs_forward",
            ),
        ),
    ]
