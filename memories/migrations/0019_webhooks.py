"""Webhooks. What they are to be told is written with the change, by triggers."""

import django.contrib.postgres.fields
import django.db.models.deletion
import django.utils.timezone
import memories.models.webhook
import workspaces.models.workspace
from django.db import migrations, models


# Ids are made as those of other rows are: by their time (UUID, version 7).
TELL = """
create function memories_tell_webhooks() returns trigger language plpgsql as $$
begin
  insert into memories_webhookdelivery
    (id, created_at, updated_at, workspace_id, webhook_id, kind, item, item_state, happened_at,
     state, attempts, claims, next_attempt_at, error)
  select encode(set_bit(set_bit(overlay(uuid_send(gen_random_uuid())
           placing substring(int8send((extract(epoch from clock_timestamp()) * 1000)::bigint) from 3)
           from 1 for 6), 52, 1), 53, 1), 'hex')::uuid,
         new.created_at, new.created_at, new.workspace_id, h.id, new.kind, new.item, new.state,
         new.created_at, 'waiting', 0, 0, new.created_at, ''
  from memories_webhook h
  where h.workspace_id = new.workspace_id and h.is_active and new.kind = any(h.events);
  return null;
end
$$;
create trigger tell_webhooks after insert on memories_changeevent
for each row execute function memories_tell_webhooks();

create function memories_note_memory() returns trigger language plpgsql as $$
begin
  -- Of memories nobody hears but who asked for it: they are many.
  insert into memories_changeevent (workspace_id, xid, kind, item, state, created_at)
  select new.workspace_id, pg_current_xact_id()::text::bigint, 'memory.changed', new.id,
         case when new.is_head then 'live' when new.forgotten_at is not null then 'forgotten'
              when new.superseded_by_id is not null then 'superseded' else 'held' end,
         clock_timestamp()
  where exists (select 1 from memories_webhook h where h.workspace_id = new.workspace_id
                and h.is_active and 'memory.changed' = any(h.events));
  return null;
end
$$;
create trigger note_new_memory after insert on memories_memory
for each row execute function memories_note_memory();
create trigger note_memory after update on memories_memory
for each row when (old.is_head is distinct from new.is_head)
execute function memories_note_memory();
"""
TELL_NOBODY = """
drop trigger note_new_memory on memories_memory;
drop trigger note_memory on memories_memory;
drop function memories_note_memory();
drop trigger tell_webhooks on memories_changeevent;
drop function memories_tell_webhooks();
"""


class Migration(migrations.Migration):

    dependencies = [
        ('memories', '0018_change_events'),
        ('workspaces', '0003_agents_and_key_caps'),
    ]

    operations = [
        migrations.CreateModel(
            name='Webhook',
            fields=[
                ('id', models.UUIDField(default=workspaces.models.workspace.uuid7, editable=False, primary_key=True, serialize=False)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ('updated_at', models.DateTimeField(auto_now=True)),
                ('url', models.CharField(max_length=500)),
                ('events', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(choices=[('document.step', 'Document Step'), ('document.done', 'Document Done'), ('document.failed', 'Document Failed'), ('session.done', 'Session Done'), ('session.failed', 'Session Failed'), ('case.opened', 'Case Opened'), ('case.decided', 'Case Decided'), ('case.snoozed', 'Case Snoozed'), ('memory.changed', 'Memory Changed')], max_length=20), size=None)),
                ('name', models.CharField(blank=True, max_length=100)),
                ('is_active', models.BooleanField(default=True)),
                ('nonce', models.CharField(default=memories.models.webhook.new_nonce, editable=False, max_length=64)),
                ('previous_nonce', models.CharField(blank=True, editable=False, max_length=64)),
                ('previous_until', models.DateTimeField(null=True)),
                ('created_by', models.CharField(max_length=200)),
                ('workspace', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='workspaces.workspace')),
            ],
            options={
                'ordering': ['-id'],
            },
        ),
        migrations.CreateModel(
            name='WebhookDelivery',
            fields=[
                ('id', models.UUIDField(default=workspaces.models.workspace.uuid7, editable=False, primary_key=True, serialize=False)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ('updated_at', models.DateTimeField(auto_now=True)),
                ('kind', models.CharField(max_length=20)),
                ('item', models.UUIDField(null=True)),
                ('item_state', models.CharField(blank=True, max_length=12)),
                ('happened_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('state', models.CharField(choices=[('waiting', 'Waiting'), ('delivered', 'Delivered'), ('given_up', 'Given Up')], default='waiting', max_length=9)),
                ('attempts', models.PositiveSmallIntegerField(default=0)),
                ('claims', models.PositiveIntegerField(default=0)),
                ('next_attempt_at', models.DateTimeField(default=django.utils.timezone.now, null=True)),
                ('lease_until', models.DateTimeField(null=True)),
                ('status', models.PositiveSmallIntegerField(help_text='What the address answered.', null=True)),
                ('error', models.CharField(blank=True, max_length=300)),
                ('delivered_at', models.DateTimeField(null=True)),
                ('webhook', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='deliveries', to='memories.webhook')),
                ('workspace', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='workspaces.workspace')),
            ],
            options={
                'verbose_name_plural': 'webhook deliveries',
                'ordering': ['-id'],
                'indexes': [models.Index(condition=models.Q(('state', 'waiting')), fields=['next_attempt_at'], name='delivery_due'), models.Index(fields=['webhook', '-id'], name='delivery_of_webhook'), models.Index(fields=['workspace', '-id'], name='delivery_newest')],
            },
        ),
        migrations.RunSQL(TELL, TELL_NOBODY),
    ]
