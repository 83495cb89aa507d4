"""The setting that had a spelling of its own is written as the others are."""

from django.db import migrations

RENAMED = """
update workspaces_workspace
set settings = (settings - 'conflict_rule')
    || jsonb_build_object('conflictRule', settings -> 'conflict_rule')
where settings ? 'conflict_rule'
"""


class Migration(migrations.Migration):
    dependencies = [("workspaces", "0004_login_door")]
    operations = [migrations.RunSQL(RENAMED, migrations.RunSQL.noop, elidable=True)]
