"""A deleted feature set goes in steps, which the worker goes on with where a process died."""

from django.db import migrations, models
from django.db.models import Q


class Migration(migrations.Migration):
    dependencies = [("memories", "0009_touches")]

    operations = [
        migrations.AddField("featureset", "deleted_at", models.DateTimeField(null=True)),
        migrations.AddIndex(
            "featureset",
            models.Index(fields=["deleted_at"], name="set_deleted", condition=Q(deleted_at__isnull=False)),
        ),
    ]
