"""What is due says whose it is, so that a policy need not ask its entry, row by row."""

from django.db import migrations, models

FILL = """
update memories_duevector d set workspace = e.workspace from memories_entry e where e.id = d.entry_id
"""


class Migration(migrations.Migration):
    dependencies = [("memories", "0016_golden_questions")]

    operations = [
        migrations.AddField("duevector", "workspace", models.IntegerField(null=True)),
        migrations.RunSQL(FILL, migrations.RunSQL.noop),
        migrations.AlterField("duevector", "workspace", models.IntegerField()),
    ]
