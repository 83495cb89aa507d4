"""Documents that stand apart: what stores of other frameworks kept as documents is told in nobody's
context any more."""

from django.db import migrations, models

from memoryproject.postgres import visible

# What the clients of 0.1.0 kept: a text of this name, by an id that begins with its space's tag,
# from which nothing was to be learned.
SET_APART = f"""
select set_config('{visible.SETTING}', '{visible.EVERYTHING}', true);
update memories_document d set is_apart = true
where d.filename = 'text.txt' and d.extract = 'none' and exists (
  select 1 from memories_documentspace ds join memories_space sp on sp.id = ds.space_id
  where ds.document_id = d.id and starts_with(d.custom_id, sp.container_tag || ':'));
with kept as (
  select p.id from memories_document d join memories_revision r on r.document_id = d.id
  join memories_passage p on p.revision_id = r.id where d.is_apart),
changed as (
  update memories_entry e set scope = 3 from kept where e.layer = 4 and e.item = kept.id
  returning e.id)
update memories_vector v set scope = 3 from changed where v.entry_id = changed.id;
"""


class Migration(migrations.Migration):
    dependencies = [("memories", "0003_revisions_in_steps")]

    operations = [
        migrations.AddField(
            "document", "is_apart", models.BooleanField(default=False, db_default=False)
        ),
        migrations.RunSQL(SET_APART, migrations.RunSQL.noop),
    ]
