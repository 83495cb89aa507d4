"""Messages that wait for the judge."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("memories", "0011_claims_of_repairs"),
        ("workspaces", "0004_claims_of_removals"),
    ]

    operations = [
        migrations.AddField(
            model_name="episode",
            name="judge_attempts",
            field=models.PositiveSmallIntegerField(
                help_text="How often the judge was asked what it changes; empty once that is known.", null=True
            ),
        ),
        migrations.AddIndex(
            model_name="episode",
            index=models.Index(
                condition=models.Q(("judge_attempts__isnull", False)),
                fields=["workspace", "judge_attempts", "id"],
                name="episode_to_judge",
            ),
        ),
        migrations.AlterField(
            model_name="fact",
            name="method",
            field=models.CharField(
                choices=[
                    ("pattern", "Pattern"),
                    ("llm", "Llm"),
                    ("whole", "Whole"),
                    ("manual", "Manual"),
                    ("judge", "Judge"),
                ],
                max_length=8,
            ),
        ),
    ]
