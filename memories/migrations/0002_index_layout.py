"""The physical layout of the index tables, which Django's models cannot say."""

from django.db import migrations

# Inline vectors make an exact scan three to six times faster than pgvector's default storage;
# the covering index answers it without the table. Wide vectors do not fit a btree tuple.
LAYOUT = """
alter table memories_vector alter column embedding set storage plain;
alter table memories_entry alter column weights set storage main;
alter table memories_vector set (
    autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.02);
alter table memories_entry set (
    autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.02);
alter table memories_vector add constraint vector_of_entry
    foreign key (entry_id) references memories_entry on delete cascade;
create index vector_scan on memories_vector
    (workspace, embedding_model_id, layer, subject, entry_id, part)
    include (agent, visibility, scope, place, embedding) where live and not wide;
create index vector_scan_wide on memories_vector
    (workspace, embedding_model_id, layer, subject, entry_id, part) where live and wide;
"""
UNDO = """
drop index vector_scan, vector_scan_wide;
alter table memories_vector drop constraint vector_of_entry;
"""


class Migration(migrations.Migration):
    dependencies = [("memories", "0001_initial")]

    operations = [migrations.RunSQL(LAYOUT, UNDO)]
