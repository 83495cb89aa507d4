from django.db import migrations, models
from django.db.models import F, Q
from django.db.models.functions import Coalesce


class Migration(migrations.Migration):
    dependencies = [("memories", "0002_filters_and_wishes")]

    operations = [
        migrations.AddIndex(
            model_name="entry",
            index=models.Index(
                F("workspace"),
                F("layer"),
                F("subject"),
                Coalesce("event_at", "occurred_at"),
                condition=Q(live=True),
                name="entry_dated_subject",
            ),
        ),
        migrations.AddIndex(
            model_name="entry",
            index=models.Index(
                F("workspace"),
                F("layer"),
                Coalesce("event_at", "occurred_at"),
                condition=Q(live=True),
                name="entry_dated",
            ),
        ),
    ]
