"""Claims of removals are numbered, as those of all queues: whoever was taken over is told by its number."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("workspaces", "0003_second_factor_seal")]

    operations = [
        migrations.AddField("workspaceremoval", "claims", models.PositiveIntegerField(default=0, db_default=0)),
    ]
