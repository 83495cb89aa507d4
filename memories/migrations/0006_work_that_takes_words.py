"""Taking words out is work that shows itself, and is gone on with after a process that died."""

from django.db import migrations, models

KINDS = [
    ("import", "Import"),
    ("embedding", "Making vectors"),
    ("reindex", "Making the index anew"),
    ("repair", "Repairing the index"),
    ("check", "Checking the index"),
    ("erasure", "Erasure"),
    ("prune", "Removing what is old"),
    ("export", "Export"),
    ("backup", "Backup"),
    ("masking", "Taking words out"),
]


class Migration(migrations.Migration):
    dependencies = [("memories", "0005_rejections_of_agents")]

    operations = [
        migrations.AlterField("longjob", "kind", models.CharField(max_length=9, choices=KINDS)),
    ]
