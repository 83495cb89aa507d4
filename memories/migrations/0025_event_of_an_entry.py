from django.db import migrations, models

# Also those whose memory was said to be true since another day by hand: their entries missed that.
FILL = """
update memories_entry e set event_at = m.event_date,
  occurred_at = coalesce(m.valid_from, m.created_at)
from memories_memory m
where e.layer = 1 and m.id = e.item
  and (m.event_date is not null or e.occurred_at <> coalesce(m.valid_from, m.created_at))
"""


class Migration(migrations.Migration):
    dependencies = [
        ("memories", "0024_embedding_due"),
    ]

    operations = [
        migrations.AddField(
            model_name="entry",
            name="event_at",
            field=models.DateTimeField(help_text="When what a memory tells happens.", null=True),
        ),
        migrations.AlterField(
            model_name="entry",
            name="occurred_at",
            field=models.DateTimeField(help_text="When it was said, or became true."),
        ),
        migrations.RunSQL(FILL, migrations.RunSQL.noop),
    ]
