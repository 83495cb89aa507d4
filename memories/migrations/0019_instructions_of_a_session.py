"""What an ingest says shall be written down of its messages, and what shall be left out."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("memories", "0018_types_of_files")]

    operations = [
        migrations.AddField(
            "memorysession",
            "instructions",
            models.JSONField(default=dict, db_default=models.Value({}, models.JSONField())),
        ),
    ]
