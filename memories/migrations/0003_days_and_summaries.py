from django.db import migrations, models
from django.db.models import CASCADE, F, Q
from django.db.models.functions import Coalesce


class Migration(migrations.Migration):
    dependencies = [
        ("memories", "0002_filters_and_wishes"),
        ("workspaces", "0001_release_0_1_0"),
    ]

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
        migrations.AddField(
            model_name="duesummary",
            name="subject",
            field=models.OneToOneField(
                null=True, on_delete=CASCADE, related_name="+", to="workspaces.subject"
            ),
        ),
        migrations.AlterField(
            model_name="duesummary",
            name="conversation",
            field=models.OneToOneField(
                null=True, on_delete=CASCADE, related_name="+", to="memories.conversation"
            ),
        ),
        migrations.AddField(
            model_name="goldenquestion",
            name="in_context",
            field=models.BooleanField(null=True),
        ),
        migrations.AddField(
            model_name="goldenquestion",
            name="in_context_before",
            field=models.BooleanField(null=True),
        ),
        migrations.AlterField(
            model_name="talksummary",
            name="kind",
            field=models.CharField(
                choices=[
                    ("conversation", "Conversation"),
                    ("stretch", "Stretch"),
                    ("topic", "Topic"),
                    ("subject", "Subject"),
                ],
                max_length=12,
            ),
        ),
    ]
