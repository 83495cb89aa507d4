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
        migrations.AddField(
            model_name="memory",
            name="valid_until_at",
            field=models.DateTimeField(
                editable=False,
                help_text="When its end became known, if it was not at once.",
                null=True,
            ),
        ),
        migrations.AddField(
            model_name="memory",
            name="ended_by",
            field=models.UUIDField(
                editable=False, help_text="The memory that tells its end: a plan, for one.", null=True
            ),
        ),
        migrations.AddIndex(
            model_name="memory",
            index=models.Index(
                condition=Q(ended_by__isnull=False), fields=["ended_by"], name="memory_to_be_over"
            ),
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
