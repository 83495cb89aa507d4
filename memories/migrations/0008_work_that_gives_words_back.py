"""Putting words back is work that is gone on with after a process that died, too."""

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
    ("unmasking", "Putting words back"),
]


class Migration(migrations.Migration):
    dependencies = [("memories", "0007_irrevocable_acts")]

    operations = [
        migrations.AlterField("longjob", "kind", models.CharField(max_length=9, choices=KINDS)),
    ]
