"""The setting `languages` goes with the German patterns: where it was kept, no other setting could be saved."""

from django.db import migrations

from memoryproject.postgres import visible

TAKE_OUT = f"""
select set_config('{visible.SETTING}', '{visible.EVERYTHING}', true);
update workspaces_workspace set settings = settings - 'languages' where settings -> 'languages' is not null;
"""


class Migration(migrations.Migration):
    dependencies = [("workspaces", "0004_claims_of_removals")]

    operations = [migrations.RunSQL(TAKE_OUT, migrations.RunSQL.noop)]
