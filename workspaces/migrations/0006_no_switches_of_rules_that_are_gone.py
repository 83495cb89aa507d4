"""Switches of rules that went: where one was kept, no other setting could be saved."""

from django.db import migrations

from memoryproject.postgres import visible

TAKE_OUT = f"""
select set_config('{visible.SETTING}', '{visible.EVERYTHING}', true);
update workspaces_workspace set settings = jsonb_set(settings, '{{decisionsOff}}', coalesce(
  (select jsonb_agg(off.rule) from jsonb_array_elements_text(settings -> 'decisionsOff') off (rule)
   where off.rule like 'slot:%' or off.rule in ('ended:quit', 'ended:sell', 'ended:cancel')), '[]'))
where settings -> 'decisionsOff' is not null;
"""


class Migration(migrations.Migration):
    dependencies = [("workspaces", "0005_no_setting_of_languages")]

    operations = [migrations.RunSQL(TAKE_OUT, migrations.RunSQL.noop)]
