"""How many tokens of a prompt a model's server found in its cache."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("memories", "0015_rehearsals_of_the_judge")]

    operations = [
        migrations.AddField("modeluse", "cached_tokens", models.BigIntegerField(default=0, db_default=0)),
    ]
