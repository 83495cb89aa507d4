"""The time zone of a person, from whose day "yesterday" counts."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("workspaces", "0007_connected_apps")]

    operations = [
        migrations.AddField(
            "subject",
            "time_zone",
            models.CharField(
                max_length=64,
                blank=True,
                default="",
                db_default="",
                help_text="Like Europe/Madrid: whose day counts for what is told in UTC. Empty: the workspace's.",
            ),
        ),
    ]
