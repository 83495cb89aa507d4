"""The offset from UTC of the clock by which a message was said."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("memories", "0016_tokens_found_in_a_cache")]

    operations = [
        migrations.AddField(
            "episode",
            "utc_offset",
            models.SmallIntegerField(default=0, db_default=0, help_text="Minutes that their clock is ahead."),
        ),
    ]
