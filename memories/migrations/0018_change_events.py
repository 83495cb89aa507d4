"""What changed, as rows that triggers write with the change itself."""

import django.db.models.deletion
import django.utils.timezone
from django.db import migrations, models


NOTE = """
create function memories_note_document() returns trigger language plpgsql as $$
begin
  insert into memories_changeevent (workspace_id, xid, kind, item, state, created_at)
  values (new.workspace_id, pg_current_xact_id()::text::bigint,
          'document.' || case when new.state in ('done', 'failed') then new.state else 'step' end,
          new.id, new.state, clock_timestamp());
  return null;
end
$$;
create trigger note_new_document after insert on memories_document
for each row execute function memories_note_document();
create trigger note_document after update of state on memories_document
for each row when (old.state is distinct from new.state)
execute function memories_note_document();

create function memories_note_session() returns trigger language plpgsql as $$
begin
  insert into memories_changeevent (workspace_id, xid, kind, item, state, created_at)
  values (new.workspace_id, pg_current_xact_id()::text::bigint,
          case new.state when 'done' then 'session.done' else 'session.failed' end,
          new.id, new.state, clock_timestamp());
  return null;
end
$$;
create trigger note_new_session after insert on memories_memorysession
for each row when (new.state in ('done', 'failed', 'dead'))
execute function memories_note_session();
create trigger note_session after update of state on memories_memorysession
for each row when (old.state is distinct from new.state and new.state in ('done', 'failed', 'dead'))
execute function memories_note_session();

create function memories_note_case() returns trigger language plpgsql as $$
begin
  insert into memories_changeevent (workspace_id, xid, kind, item, state, created_at)
  values (new.workspace_id, pg_current_xact_id()::text::bigint,
          case new.state when 'open' then 'case.opened' else 'case.' || new.state end,
          new.id, new.state, clock_timestamp());
  return null;
end
$$;
create trigger note_new_case after insert on memories_case
for each row execute function memories_note_case();
create trigger note_case after update of state on memories_case
for each row when (old.state is distinct from new.state) execute function memories_note_case();
"""
FORGET = """
drop trigger note_new_document on memories_document;
drop trigger note_document on memories_document;
drop trigger note_new_session on memories_memorysession;
drop trigger note_session on memories_memorysession;
drop trigger note_new_case on memories_case;
drop trigger note_case on memories_case;
drop function memories_note_document();
drop function memories_note_session();
drop function memories_note_case();
"""


class Migration(migrations.Migration):

    dependencies = [
        ('memories', '0017_due_vectors_of_workspaces'),
        ('workspaces', '0003_agents_and_key_caps'),
    ]

    operations = [
        migrations.CreateModel(
            name='ChangeEvent',
            fields=[
                ('id', models.BigAutoField(primary_key=True, serialize=False)),
                ('xid', models.BigIntegerField()),
                ('kind', models.CharField(choices=[('document.step', 'Document Step'), ('document.done', 'Document Done'), ('document.failed', 'Document Failed'), ('session.done', 'Session Done'), ('session.failed', 'Session Failed'), ('case.opened', 'Case Opened'), ('case.decided', 'Case Decided'), ('case.snoozed', 'Case Snoozed'), ('memory.changed', 'Memory Changed')], max_length=20)),
                ('item', models.UUIDField()),
                ('state', models.CharField(max_length=12)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('workspace', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='workspaces.workspace')),
            ],
            options={
                'ordering': ['id'],
                'indexes': [models.Index(fields=['workspace', 'xid'], name='change_event_new')],
            },
        ),
        migrations.RunSQL(NOTE, FORGET),
    ]
