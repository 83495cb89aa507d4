"""What the table of periods was called before stays in no name of the schema: a database that grew
is the same as one that is made anew."""

from django.db import migrations

KEYS = """
alter table memories_memoryperiod rename constraint memories_liveness_memory_id_7a75bfc4_fk_memories_memory_id
  to memories_memoryperiod_memory_id_b69a2fc9_fk_memories_memory_id;
alter table memories_memoryperiod rename constraint memories_liveness_workspace_id_d992550b_fk_workspace
  to memories_memoryperio_workspace_id_39b27465_fk_workspace;
alter index memories_liveness_workspace_id_d992550b rename to memories_memoryperiod_workspace_id_39b27465;
alter sequence memories_liveness_id_seq rename to memories_memoryperiod_id_seq;
"""
# The primary key, and since PostgreSQL 18 what is not null.
OTHERS = r"""
do $$
declare
  old name;
begin
  for old in
    select conname from pg_constraint
    where conrelid = 'memories_memoryperiod'::regclass and conname like 'memories\_liveness\_%'
  loop
    execute format('alter table memories_memoryperiod rename constraint %I to %I', old,
                   replace(old, 'memories_liveness_', 'memories_memoryperiod_'));
  end loop;
end
$$;
"""


class Migration(migrations.Migration):
    dependencies = [("memories", "0031_memory_state")]

    operations = [migrations.RunSQL(KEYS + OTHERS, migrations.RunSQL.noop)]
