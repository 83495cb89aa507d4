"""The worker posts its sweeps by its own clock: rows that named what was to be run, and what was
kept of finished tasks, go."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("memories", "0001_all_tables_of_0_1_0"),
        ("django_q", "0018_task_success_index"),
    ]
    operations = [
        migrations.CreateModel(
            name="PostedJob",
            fields=[
                ("job", models.CharField(max_length=20, primary_key=True, serialize=False)),
                ("posted_at", models.DateTimeField()),
            ],
        ),
        migrations.RunSQL(
            "delete from django_q_schedule; delete from django_q_task", migrations.RunSQL.noop
        ),
    ]
