from django.db import migrations, models
from django.db.models.expressions import CombinedExpression
from django.db.models.lookups import GreaterThan


class Migration(migrations.Migration):
    dependencies = [
        ("memories", "0001_release_0_1_0"),
        ("workspaces", "0001_release_0_1_0"),
    ]

    operations = [
        migrations.AddIndex(
            model_name="memory",
            index=models.Index(fields=["workspace", "category"], name="memory_category"),
        ),
        migrations.AddIndex(
            model_name="entry",
            index=models.Index(
                condition=models.Q(
                    GreaterThan(CombinedExpression(models.F("marks"), "&", models.Value(36)), 0),
                    live=True,
                ),
                fields=["workspace", "layer", "subject", "id"],
                name="entry_wishes",
            ),
        ),
    ]
