"""All tables of memories, each as it was when 0.1.0 was released: what its columns and constraints
are, then in SQL what Django's models cannot say: storage, views, and triggers.

`replaces` names the steps that led there. A database that has taken them all is taken as it is, one
that lacks the last alone is given its columns, and one that has taken others, or fewer, is refused
(see memoryproject/postgres/base.py)."""

import re
import uuid
from typing import Any

from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import GinIndex
from django.core.validators import MaxValueValidator, MinValueValidator, RegexValidator
from django.db import migrations, models
from django.db.models import F, Q
from django.db.models.expressions import CombinedExpression
from django.db.models.functions import Coalesce
from django.db.models.lookups import GreaterThan
from django.utils import timezone
from pgvector.django import HalfVectorField, SparseVectorField, VectorExtension

from memories.models.webhook import new_nonce
from workspaces.models.workspace import uuid7


def labelled(*values: str) -> list[tuple[str, str]]:
    return [(value, re.sub("[._]", " ", value).title()) for value in values]


def part_of(model: str, related_name: str = "+", **options: Any) -> models.ForeignKey:
    return models.ForeignKey(
        on_delete=models.CASCADE, related_name=related_name, to=model, **options
    )


def mention(model: str, related_name: str = "+", **options: Any) -> models.ForeignKey:
    return models.ForeignKey(
        null=True, on_delete=models.SET_NULL, related_name=related_name, to=model, **options
    )


ROW = [
    ("id", models.UUIDField(default=uuid7, editable=False, primary_key=True, serialize=False)),
    ("created_at", models.DateTimeField(default=timezone.now, editable=False)),
    ("updated_at", models.DateTimeField(auto_now=True)),
]
WORKSPACE = ("workspace", part_of("workspaces.workspace"))
# Where another index of the table begins with it.
WORKSPACE_UNINDEXED = ("workspace", part_of("workspaces.workspace", db_index=False))
SUBJECT = ("subject", part_of("workspaces.subject", null=True))
AGENT = ("agent", mention("workspaces.agent"))
CONVERSATION = ("conversation", part_of("memories.conversation", null=True))
CATEGORY = (
    "category",
    models.CharField(
        choices=labelled(
            "preference",
            "identity",
            "relationship",
            "possession",
            "plan",
            "temporal",
            "policy",
            "technology",
            "decision",
            "instruction",
            "other",
        ),
        default="other",
        max_length=12,
    ),
)
LAYERS = [(1, "memories"), (2, "episodes"), (3, "features"), (4, "chunks"), (5, "summaries")]
VISIBILITIES = labelled("private", "team", "global")
SCOPES = labelled("user", "thread", "workflow")
FACT_TYPES = labelled("fact", "preference", "event", "profile", "system")
EXTRACTIONS = labelled("auto", "patterns", "llm", "none")
RUN_STATES = labelled("waiting", "running", "done", "failed")
EVENTS = labelled(
    "document.step",
    "document.done",
    "document.failed",
    "session.done",
    "session.failed",
    "case.opened",
    "case.decided",
    "case.snoozed",
    "memory.changed",
)
NAME = RegexValidator(
    "^[a-z0-9][a-z0-9_-]*$", "Lower-case letters, digits, hyphens and underscores."
)
# The physical layout. Inline vectors make an exact scan three to six times faster than pgvector's
# default storage. Vacuumed often: a scan that needs no table needs pages that are known to be
# visible. Vectors go with their entry. A stretch of a document is read without unpacking all of it.
STORAGE = """
alter table memories_vector alter column embedding set storage plain;
alter table memories_entry alter column weights set storage main;
alter table memories_vector set (
    autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.02);
alter table memories_entry set (
    autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.02);
alter table memories_vector add constraint vector_of_entry
    foreign key (entry_id) references memories_entry on delete cascade;
alter table memories_revision alter column text set storage external;
"""
# Answers an exact scan without the table. Wide vectors do not fit a btree tuple.
SCANS = """
create index vector_scan on memories_vector
    (workspace, embedding_model_id, layer, subject, entry_id, part)
    include (agent, visibility, scope, place, embedding) where live and not wide;
create index vector_scan_wide on memories_vector
    (workspace, embedding_model_id, layer, subject, entry_id, part) where live and wide;
"""
# Passages and summaries as search sees them: with their words, and with what their document or talk
# says of whom they are about. A passage of a revision that was replaced stands under the title that
# this had. Their workspace has another name, for they are no tables of workspaces.
VIEWS = """
create view memories_passagetext with (security_invoker = true) as
select p.id, p.workspace_id as tenant_id, d.subject_id, d.agent_id, null::uuid as conversation_id,
       d.visibility, d.id as document_id, r.id as revision_id, p.chunk_id, p.ordinal,
       p.start, p."end", substr(r.text, p.start + 1, p."end" - p.start) as content,
       d.type,
       case when r.superseded_at is null or r.title = '' then d.title else r.title end as title,
       d.url, d.custom_id, d.source, d.metadata, r.author, r.language,
       r.published_at, coalesce(r.published_at, d.created_at) as occurred_at,
       r.created_at as known_from, r.superseded_at, p.created_at, d.updated_at
from memories_passage p
join memories_revision r on r.id = p.revision_id
join memories_document d on d.id = r.document_id;
create view memories_summarytext with (security_invoker = true) as
select t.id, t.workspace_id as tenant_id, t.subject_id, t.agent_id, t.conversation_id, t.kind,
       t.name, t.first_at, t.last_at, t.created_at, t.updated_at, '{}'::jsonb as metadata,
       (select coalesce(string_agg(coalesce(l.line ->> 'text',
          substr(e.content, (l.line ->> 'start')::int + 1,
                 (l.line ->> 'end')::int - (l.line ->> 'start')::int)), E'\\n' order by l.place), '')
        from jsonb_array_elements(t.lines) with ordinality l(line, place)
        left join memories_episode e on e.id = (l.line ->> 'episode')::uuid) as content
from memories_talksummary t;
"""
# What changed, as rows that triggers write with the change itself.
EVENTS_ARE_NOTED = """
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
# Ids are made as those of other rows are: by their time (UUID, version 7).
WEBHOOKS_ARE_TOLD = """
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
"""
# As they are in older databases, where these columns were added, and one was renamed: PostgreSQL 18
# has a constraint for each column that is not null.
NAMES = """
alter table memories_case
    rename constraint memories_case_served_check to memories_case_served_8e3c187c_check;
alter table memories_goldenquestion rename constraint
    memories_goldenquestion_rank_before_check to memories_goldenquestion_rank_before_ea9b1527_check;
alter table memories_duesummary
    rename constraint memories_duesummary_subject_id_key to memories_duesummary_subject_id_d3de1b92_uniq;
alter table memories_document
    rename constraint memories_document_episode_id_key to memories_document_episode_id_5c6e39af_uniq;
alter table memories_revision
    rename constraint memories_revision_session_id_key to memories_revision_session_id_e0ee870f_uniq;
do $$
begin
  alter table memories_revision rename constraint
    memories_revision_text_sha256_not_null to memories_revision_text_digest_not_null;
exception when undefined_object then null;
end
$$;
"""
DROP = """
drop view memories_passagetext, memories_summarytext;
drop function memories_note_document, memories_note_session, memories_note_case,
    memories_note_memory, memories_tell_webhooks cascade;
"""


class Migration(migrations.Migration):
    replaces = [
        ("memories", "0001_release_0_1_0"),
        ("memories", "0002_filters_and_wishes"),
        ("memories", "0003_days_and_summaries"),
        ("memories", "0004_summaries_by_models"),
    ]

    initial = True

    dependencies = [("workspaces", "0001_release_0_1_0")]

    operations = [
        VectorExtension(),
        migrations.CreateModel(
            name="Entry",
            fields=[
                ("id", models.BigAutoField(primary_key=True, serialize=False)),
                (
                    "workspace",
                    models.IntegerField(help_text="The number of the workspace in the index."),
                ),
                ("layer", models.SmallIntegerField(choices=LAYERS)),
                ("item", models.UUIDField()),
                ("subject", models.UUIDField(null=True)),
                ("agent", models.UUIDField(null=True)),
                ("visibility", models.SmallIntegerField()),
                ("scope", models.SmallIntegerField()),
                ("place", models.UUIDField(null=True)),
                ("conversation", models.UUIDField(null=True)),
                (
                    "occurred_at",
                    models.DateTimeField(help_text="When it was said, or became true."),
                ),
                ("role", models.CharField(max_length=20)),
                ("author", models.CharField(max_length=255)),
                ("position", models.IntegerField(default=0)),
                (
                    "marks",
                    models.SmallIntegerField(default=0, help_text="See memories.ranking.Mark."),
                ),
                ("live", models.BooleanField(default=True)),
                ("length", models.IntegerField()),
                ("terms", ArrayField(base_field=models.BigIntegerField(), size=None)),
                ("trigrams", ArrayField(base_field=models.BigIntegerField(), size=None)),
                ("weights", SparseVectorField(null=True)),
                (
                    "event_at",
                    models.DateTimeField(help_text="When what a memory tells happens.", null=True),
                ),
                (
                    "rules",
                    models.SmallIntegerField(
                        db_default=0,
                        default=0,
                        help_text="Version of the rules that made the marks, the memory's slots too.",
                    ),
                ),
            ],
            options={
                "verbose_name_plural": "entries",
                "indexes": [
                    GinIndex(
                        condition=Q(live=True),
                        fastupdate=True,
                        fields=["terms"],
                        gin_pending_list_limit=256,
                        name="entry_terms",
                    ),
                    GinIndex(
                        condition=Q(live=True),
                        fastupdate=True,
                        fields=["trigrams"],
                        gin_pending_list_limit=256,
                        name="entry_trigrams",
                    ),
                    models.Index(fields=["workspace", "layer", "id"], name="entry_workspace"),
                    models.Index(
                        condition=Q(conversation__isnull=False),
                        fields=["conversation", "occurred_at", "id"],
                        name="entry_conversation",
                    ),
                    models.Index(
                        condition=Q(
                            GreaterThan(CombinedExpression(F("marks"), "&", models.Value(36)), 0),
                            live=True,
                        ),
                        fields=["workspace", "layer", "subject", "id"],
                        name="entry_wishes",
                    ),
                    models.Index(
                        F("workspace"),
                        F("layer"),
                        F("subject"),
                        Coalesce("event_at", "occurred_at"),
                        condition=Q(live=True),
                        name="entry_dated_subject",
                    ),
                    models.Index(
                        F("workspace"),
                        F("layer"),
                        Coalesce("event_at", "occurred_at"),
                        condition=Q(live=True),
                        name="entry_dated",
                    ),
                ],
                "constraints": [
                    models.UniqueConstraint(fields=("layer", "item"), name="entry_once")
                ],
            },
        ),
        migrations.CreateModel(
            name="EmbeddingModel",
            fields=[
                ("id", models.SmallAutoField(primary_key=True, serialize=False)),
                ("provider", models.CharField(max_length=20)),
                ("name", models.CharField(max_length=200)),
                ("dimensions", models.PositiveSmallIntegerField()),
                (
                    "duplicate_threshold",
                    models.FloatField(
                        help_text="Cosine from which two statements count as the same, or as a newer version."
                    ),
                ),
                ("search_floor", models.FloatField(default=0.0)),
                (
                    "state",
                    models.CharField(
                        choices=labelled("active", "retired"), default="active", max_length=8
                    ),
                ),
                (
                    "confidence",
                    models.JSONField(
                        help_text="Weights that `calibrate` measured; empty: the shipped ones.",
                        null=True,
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(
                        fields=("provider", "name", "dimensions"), name="embedding_model_once"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="IdempotentAnswer",
            fields=[
                *ROW,
                ("asker", models.CharField(max_length=200)),
                ("key", models.CharField(max_length=255)),
                ("request_digest", models.BinaryField(max_length=32)),
                ("status", models.PositiveSmallIntegerField(null=True)),
                ("body", models.JSONField(null=True)),
                ("expires_at", models.DateTimeField()),
                WORKSPACE,
                ("claims", models.PositiveIntegerField(default=1)),
                ("lease_until", models.DateTimeField(null=True)),
            ],
            options={
                "indexes": [models.Index(fields=["expires_at"], name="idempotent_expiry")],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("workspace", "asker", "key"), name="idempotent_once"
                    ),
                    models.CheckConstraint(
                        condition=Q(status=None) | Q(body__isnull=False),
                        name="idempotent_answer_whole",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Speaker",
            fields=[
                ("id", models.BigAutoField(primary_key=True, serialize=False)),
                ("workspace", models.IntegerField()),
                ("subject", models.UUIDField(null=True)),
                ("author", models.CharField(max_length=255)),
                ("assistant", models.BooleanField()),
                ("episodes", models.BigIntegerField()),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(
                        fields=("workspace", "subject", "author", "assistant"),
                        name="speaker_once",
                        nulls_distinct=False,
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="Vector",
            fields=[
                (
                    "pk",
                    models.CompositePrimaryKey(
                        "entry_id",
                        "embedding_model_id",
                        "part",
                        blank=True,
                        editable=False,
                        primary_key=True,
                        serialize=False,
                    ),
                ),
                ("entry_id", models.BigIntegerField()),
                ("embedding_model_id", models.SmallIntegerField()),
                ("part", models.SmallIntegerField(default=0)),
                ("workspace", models.IntegerField()),
                ("layer", models.SmallIntegerField(choices=LAYERS)),
                ("subject", models.UUIDField(null=True)),
                ("agent", models.UUIDField(null=True)),
                ("visibility", models.SmallIntegerField()),
                ("scope", models.SmallIntegerField()),
                ("place", models.UUIDField(null=True)),
                ("live", models.BooleanField(default=True)),
                (
                    "wide",
                    models.BooleanField(
                        default=False,
                        help_text="Too long for the covering index; see WIDEST_COVERED.",
                    ),
                ),
                ("embedding", HalfVectorField()),
            ],
        ),
        migrations.CreateModel(
            name="WorkspaceIndex",
            fields=[
                ("number", models.AutoField(primary_key=True, serialize=False)),
                ("live_memories", models.BigIntegerField(default=0)),
                ("live_episodes", models.BigIntegerField(default=0)),
                ("stamp", models.BigIntegerField(default=0)),
                (
                    "embedding_model",
                    models.ForeignKey(
                        null=True, on_delete=models.PROTECT, to="memories.embeddingmodel"
                    ),
                ),
                (
                    "workspace",
                    models.OneToOneField(
                        on_delete=models.CASCADE, related_name="+", to="workspaces.workspace"
                    ),
                ),
                ("live_features", models.BigIntegerField(default=0)),
                (
                    "rules",
                    models.SmallIntegerField(
                        db_default=0,
                        default=0,
                        help_text="All rows have marks of this version; see memories.index.row_marks.",
                    ),
                ),
                (
                    "live_chunks",
                    models.BigIntegerField(
                        db_default=0, default=0, help_text="Passages of chunks."
                    ),
                ),
                (
                    "live_summaries",
                    models.BigIntegerField(
                        db_default=0, default=0, help_text="Summaries of talks."
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="Conversation",
            fields=[
                *ROW,
                ("external_id", models.CharField(max_length=255)),
                ("workflow", models.CharField(blank=True, max_length=255)),
                ("title", models.CharField(blank=True, max_length=500)),
                ("metadata", models.JSONField(default=dict)),
                AGENT,
                SUBJECT,
                WORKSPACE,
                (
                    "audience",
                    models.CharField(blank=True, choices=labelled("person", "team"), max_length=6),
                ),
            ],
            options={
                "ordering": ["-id"],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("workspace", "external_id"), name="conversation_once"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="Memory",
            fields=[
                *ROW,
                ("workflow", models.CharField(blank=True, max_length=255)),
                ("scope", models.CharField(choices=SCOPES, default="user", max_length=8)),
                ("content", models.TextField()),
                ("fingerprint", models.BinaryField(max_length=16)),
                (
                    "entities",
                    ArrayField(
                        base_field=models.CharField(max_length=255),
                        blank=True,
                        default=list,
                        size=None,
                    ),
                ),
                ("fact_type", models.CharField(blank=True, choices=FACT_TYPES, max_length=10)),
                CATEGORY,
                (
                    "source",
                    models.CharField(
                        choices=labelled("manual", "extracted", "ingested"),
                        default="manual",
                        max_length=9,
                    ),
                ),
                ("confidence", models.FloatField(default=1.0)),
                (
                    "visibility",
                    models.CharField(choices=VISIBILITIES, default="private", max_length=7),
                ),
                ("event_date", models.DateTimeField(blank=True, null=True)),
                ("valid_from", models.DateTimeField(blank=True, null=True)),
                ("valid_until", models.DateTimeField(blank=True, null=True)),
                ("superseded_at", models.DateTimeField(editable=False, null=True)),
                ("version", models.PositiveIntegerField(default=1)),
                ("is_inference", models.BooleanField(default=False)),
                ("source_count", models.PositiveIntegerField(default=0)),
                ("pinned", models.BooleanField(default=False)),
                ("held_at", models.DateTimeField(editable=False, null=True)),
                ("forgotten_at", models.DateTimeField(editable=False, null=True)),
                ("forget_after", models.DateTimeField(blank=True, null=True)),
                ("forget_reason", models.TextField(blank=True)),
                ("metadata", models.JSONField(default=dict)),
                AGENT,
                CONVERSATION,
                ("subject", part_of("workspaces.subject", "memories", db_index=False, null=True)),
                (
                    "superseded_by",
                    mention("memories.memory", "supersedes", db_index=False, editable=False),
                ),
                WORKSPACE_UNINDEXED,
                (
                    "slots",
                    ArrayField(
                        base_field=models.BigIntegerField(),
                        default=list,
                        editable=False,
                        help_text="Keys of the single-valued attributes that it tells; see index.slots.",
                        size=None,
                    ),
                ),
                (
                    "is_head",
                    models.GeneratedField(
                        db_persist=True,
                        expression=models.ExpressionWrapper(
                            Q(forgotten_at=None, held_at=None, superseded_by=None),
                            models.BooleanField(),
                        ),
                        output_field=models.BooleanField(),
                    ),
                ),
                (
                    "valid_until_at",
                    models.DateTimeField(
                        editable=False,
                        help_text="When its end became known, if it was not at once.",
                        null=True,
                    ),
                ),
                (
                    "ended_by",
                    models.UUIDField(
                        editable=False,
                        help_text="The memory that tells its end: a plan, for one.",
                        null=True,
                    ),
                ),
            ],
            options={
                "verbose_name_plural": "memories",
                "ordering": ["-id"],
                "indexes": [
                    models.Index(fields=["workspace", "-id"], name="memory_newest"),
                    models.Index(fields=["subject", "-id"], name="memory_subject"),
                    models.Index(
                        condition=Q(superseded_by__isnull=False),
                        fields=["superseded_by"],
                        name="memory_chain",
                    ),
                    models.Index(
                        condition=Q(forget_after__isnull=False, forgotten_at=None),
                        fields=["forget_after"],
                        name="memory_expiring",
                    ),
                    GinIndex(fields=["entities"], name="memory_entities"),
                    models.Index(
                        condition=Q(is_head=True),
                        fields=["workspace", "fingerprint"],
                        name="memory_same_text",
                    ),
                    GinIndex(
                        condition=Q(is_head=True),
                        fastupdate=True,
                        fields=["slots"],
                        gin_pending_list_limit=256,
                        name="memory_slots",
                    ),
                    models.Index(
                        condition=Q(held_at__isnull=False), fields=["workspace"], name="memory_held"
                    ),
                    models.Index(fields=["workspace", "category"], name="memory_category"),
                    models.Index(
                        condition=Q(ended_by__isnull=False),
                        fields=["ended_by"],
                        name="memory_to_be_over",
                    ),
                ],
                "constraints": [
                    models.CheckConstraint(
                        condition=Q(confidence__gte=0, confidence__lte=1),
                        name="memory_confidence_range",
                    ),
                    models.CheckConstraint(
                        condition=~Q(scope="thread") | Q(conversation__isnull=False),
                        name="memory_thread_has_conversation",
                    ),
                    models.CheckConstraint(
                        condition=~Q(scope="workflow") | ~Q(workflow=""),
                        name="memory_workflow_is_named",
                    ),
                    models.CheckConstraint(
                        condition=~Q(superseded_by=F("id")), name="memory_not_its_own_successor"
                    ),
                    models.CheckConstraint(condition=~Q(content=""), name="memory_says_something"),
                ],
            },
        ),
        migrations.CreateModel(
            name="MemorySession",
            fields=[
                *ROW,
                (
                    "state",
                    models.CharField(
                        choices=labelled(
                            "received", "extracting", "resolving", "done", "failed", "dead"
                        ),
                        default="received",
                        max_length=10,
                    ),
                ),
                (
                    "mode",
                    models.CharField(
                        choices=labelled("sync", "async"), default="sync", max_length=5
                    ),
                ),
                (
                    "pathway",
                    models.CharField(
                        choices=labelled("conversation", "activity", "document"),
                        default="conversation",
                        max_length=12,
                    ),
                ),
                ("extract", models.CharField(choices=EXTRACTIONS, default="auto", max_length=8)),
                (
                    "is_whole_text",
                    models.BooleanField(
                        default=False, help_text="The caller sent `content`, not messages."
                    ),
                ),
                ("workflow", models.CharField(blank=True, max_length=255)),
                ("scope", models.CharField(choices=SCOPES, default="user", max_length=8)),
                ("visibility", models.CharField(blank=True, choices=VISIBILITIES, max_length=7)),
                ("metadata", models.JSONField(default=dict)),
                ("requested_by", models.CharField(max_length=200)),
                ("reason", models.TextField(blank=True)),
                ("error", models.TextField(blank=True)),
                ("attempts", models.PositiveSmallIntegerField(default=0)),
                ("next_attempt_at", models.DateTimeField(null=True)),
                ("lease_until", models.DateTimeField(null=True)),
                ("episode_ids", ArrayField(base_field=models.UUIDField(), default=list, size=None)),
                ("created_ids", ArrayField(base_field=models.UUIDField(), default=list, size=None)),
                ("updated_ids", ArrayField(base_field=models.UUIDField(), default=list, size=None)),
                (
                    "reinforced_ids",
                    ArrayField(base_field=models.UUIDField(), default=list, size=None),
                ),
                ("counts", models.JSONField(default=dict)),
                ("timings", models.JSONField(default=dict)),
                ("finished_at", models.DateTimeField(null=True)),
                AGENT,
                CONVERSATION,
                SUBJECT,
                WORKSPACE_UNINDEXED,
                ("steps", models.JSONField(default=list)),
                ("answer", models.UUIDField(null=True)),
                ("claims", models.PositiveIntegerField(default=0)),
                ("failures", models.PositiveSmallIntegerField(default=0)),
                ("learned", models.PositiveIntegerField(default=0)),
            ],
            options={
                "verbose_name": "session",
                "ordering": ["-id"],
                "indexes": [
                    models.Index(fields=["workspace", "-id"], name="session_newest"),
                    models.Index(
                        condition=Q(state__in=["received", "extracting", "resolving"]),
                        fields=["next_attempt_at"],
                        name="session_due",
                    ),
                    models.Index(
                        condition=Q(state__in=["failed", "dead"]),
                        fields=["workspace"],
                        name="session_stuck",
                    ),
                    models.Index(
                        condition=Q(answer__isnull=False), fields=["answer"], name="session_answer"
                    ),
                    models.Index(
                        condition=Q(state="received"),
                        fields=["workspace", "next_attempt_at"],
                        name="session_turn",
                    ),
                ],
                "constraints": [
                    models.CheckConstraint(
                        condition=~Q(scope="thread") | Q(conversation__isnull=False),
                        name="session_thread_has_conversation",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="Episode",
            fields=[
                *ROW,
                (
                    "kind",
                    models.CharField(
                        choices=labelled(
                            "user",
                            "assistant",
                            "system",
                            "tool_use",
                            "tool_result",
                            "error",
                            "activity",
                            "text",
                        ),
                        max_length=11,
                    ),
                ),
                ("role", models.CharField(blank=True, max_length=20)),
                ("author", models.CharField(blank=True, max_length=255)),
                ("content", models.TextField()),
                ("payload", models.JSONField(default=dict)),
                ("metadata", models.JSONField(default=dict)),
                ("occurred_at", models.DateTimeField()),
                ("position", models.PositiveIntegerField()),
                ("external_id", models.CharField(max_length=255, null=True)),
                AGENT,
                (
                    "conversation",
                    part_of("memories.conversation", "episodes", db_index=False, null=True),
                ),
                ("subject", part_of("workspaces.subject", db_index=False, null=True)),
                WORKSPACE_UNINDEXED,
                ("session", mention("memories.memorysession", "episodes")),
                ("scope", models.CharField(choices=SCOPES, default="user", max_length=8)),
                ("workflow", models.CharField(blank=True, max_length=255)),
            ],
            options={
                "ordering": ["id"],
                "indexes": [
                    models.Index(
                        fields=["conversation", "occurred_at", "position"], name="episode_order"
                    ),
                    models.Index(fields=["workspace", "-id"], name="episode_newest"),
                    models.Index(fields=["conversation", "position"], name="episode_position"),
                    models.Index(fields=["subject", "id"], name="episode_subject"),
                ],
                "constraints": [
                    models.UniqueConstraint(
                        condition=Q(external_id__isnull=False),
                        fields=("workspace", "conversation", "external_id"),
                        name="episode_external_id_once",
                        nulls_distinct=False,
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="Fact",
            fields=[
                *ROW,
                ("statement", models.TextField()),
                CATEGORY,
                ("fact_type", models.CharField(blank=True, choices=FACT_TYPES, max_length=10)),
                ("confidence", models.FloatField(default=1.0)),
                (
                    "method",
                    models.CharField(
                        choices=labelled("pattern", "llm", "whole", "manual"), max_length=8
                    ),
                ),
                ("rule", models.CharField(blank=True, max_length=200)),
                (
                    "entities",
                    ArrayField(
                        base_field=models.CharField(max_length=255), default=list, size=None
                    ),
                ),
                ("visibility", models.CharField(choices=VISIBILITIES, max_length=7)),
                ("event_date", models.DateTimeField(null=True)),
                ("quarantined_at", models.DateTimeField(null=True)),
                ("quarantine_reason", models.TextField(blank=True)),
                AGENT,
                SUBJECT,
                WORKSPACE_UNINDEXED,
                ("memory", part_of("memories.memory", "facts", null=True)),
                ("session", part_of("memories.memorysession", "facts", null=True)),
                ("withdrawn_at", models.DateTimeField(null=True)),
            ],
            options={
                "ordering": ["-id"],
                "indexes": [
                    models.Index(fields=["workspace", "-id"], name="fact_newest"),
                    GinIndex(fields=["entities"], name="fact_entities"),
                    models.Index(
                        condition=Q(quarantined_at__isnull=False),
                        fields=["workspace"],
                        name="fact_quarantined",
                    ),
                    models.Index(
                        condition=Q(withdrawn_at__isnull=False),
                        fields=["memory"],
                        name="fact_withdrawn",
                    ),
                ],
                "constraints": [
                    models.CheckConstraint(
                        condition=Q(confidence__gte=0, confidence__lte=1),
                        name="fact_confidence_range",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="Rejection",
            fields=[
                *ROW,
                ("content", models.TextField()),
                ("fingerprint", models.BinaryField(max_length=16)),
                ("reason", models.TextField(blank=True)),
                ("rejected_by", models.CharField(max_length=200)),
                SUBJECT,
                WORKSPACE,
                ("memory", mention("memories.memory")),
            ],
            options={
                "ordering": ["-id"],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("workspace", "subject", "fingerprint"),
                        name="rejection_once",
                        nulls_distinct=False,
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="DueVector",
            fields=[
                (
                    "entry",
                    models.OneToOneField(
                        on_delete=models.CASCADE,
                        primary_key=True,
                        related_name="+",
                        serialize=False,
                        to="memories.entry",
                    ),
                ),
                ("attempts", models.PositiveSmallIntegerField(default=0)),
                ("next_attempt_at", models.DateTimeField(default=timezone.now)),
                ("error", models.TextField(blank=True)),
                ("workspace", models.IntegerField()),
            ],
            options={
                "indexes": [models.Index(fields=["next_attempt_at"], name="due_vector_next")],
            },
        ),
        migrations.CreateModel(
            name="Miss",
            fields=[
                *ROW,
                ("text", models.TextField()),
                (
                    "found_by",
                    models.CharField(
                        choices=[("llm", "model"), ("person", "Person")], max_length=6
                    ),
                ),
                ("statements", ArrayField(base_field=models.TextField(), size=None)),
                CATEGORY,
                (
                    "state",
                    models.CharField(
                        choices=labelled("open", "done"), default="open", max_length=4
                    ),
                ),
                ("note", models.TextField(blank=True)),
                ("episode", part_of("memories.episode")),
                ("session", mention("memories.memorysession")),
                WORKSPACE,
                ("shape", models.CharField(blank=True, default="", max_length=120)),
            ],
            options={
                "verbose_name_plural": "misses",
                "ordering": ["-id"],
                "indexes": [
                    models.Index(fields=["workspace", "-id"], name="miss_newest"),
                    models.Index(
                        fields=["workspace", "state", "category", "shape"], name="miss_likely"
                    ),
                ],
                "constraints": [
                    models.UniqueConstraint(fields=("episode", "found_by"), name="miss_once")
                ],
            },
        ),
        migrations.CreateModel(
            name="WorkspacePattern",
            fields=[
                *ROW,
                ("name", models.CharField(max_length=80, validators=[NAME])),
                CATEGORY,
                (
                    "regex",
                    models.TextField(
                        help_text="In RE2's syntax, searched in one sentence whatever its case; name the parts that the statement needs: (?P<tool>\\w+).",
                        max_length=2000,
                    ),
                ),
                (
                    "template",
                    models.CharField(
                        blank=True,
                        help_text="The statement, of {speaker} and the named parts. Empty: the sentence itself in the third person.",
                        max_length=500,
                    ),
                ),
                (
                    "confidence",
                    models.FloatField(
                        default=0.8, validators=[MinValueValidator(0), MaxValueValidator(1)]
                    ),
                ),
                (
                    "visibility",
                    models.CharField(
                        blank=True,
                        choices=VISIBILITIES,
                        help_text="Empty: as the category has it.",
                        max_length=7,
                    ),
                ),
                ("enabled", models.BooleanField(default=True)),
                ("examples", ArrayField(base_field=models.TextField(), default=list, size=None)),
                (
                    "counter_examples",
                    ArrayField(base_field=models.TextField(), blank=True, default=list, size=None),
                ),
                WORKSPACE,
            ],
            options={
                "verbose_name": "pattern",
                "ordering": ["name"],
                "constraints": [
                    models.UniqueConstraint(fields=("workspace", "name"), name="pattern_name_once"),
                    models.CheckConstraint(
                        condition=Q(confidence__gte=0, confidence__lte=1),
                        name="pattern_confidence_range",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="ExtractorUse",
            fields=[
                ("id", models.BigAutoField(primary_key=True, serialize=False)),
                ("extractor", models.CharField(max_length=300)),
                ("day", models.DateField()),
                ("calls", models.PositiveIntegerField(default=0)),
                WORKSPACE,
            ],
            options={
                "verbose_name_plural": "extractor use",
                "constraints": [
                    models.UniqueConstraint(
                        fields=("workspace", "extractor", "day"), name="extractor_use_once"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="EvaluationRun",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "kind",
                    models.CharField(
                        choices=labelled("benchmark", "retrieval", "extraction", "conflicts"),
                        max_length=10,
                    ),
                ),
                (
                    "name",
                    models.CharField(
                        help_text="What was measured: sizes, or the file.", max_length=200
                    ),
                ),
                ("started_at", models.DateTimeField(default=timezone.now)),
                ("seconds", models.FloatField(help_text="How long the run took.")),
                ("figures", models.JSONField(default=dict)),
                ("details", models.JSONField(default=dict)),
            ],
            options={
                "ordering": ["-started_at", "-id"],
                "indexes": [
                    models.Index(fields=["kind", "started_at"], name="evaluation_run_by_time")
                ],
            },
        ),
        migrations.CreateModel(
            name="Figure",
            fields=[
                ("id", models.BigAutoField(primary_key=True, serialize=False)),
                (
                    "span",
                    models.SmallIntegerField(choices=[(0, "Ever"), (1, "Minute"), (60, "Hour")]),
                ),
                ("name", models.CharField(max_length=40)),
                ("at", models.DateTimeField()),
                ("workspace", models.UUIDField(null=True)),
                ("labels", models.JSONField(default=dict)),
                ("count", models.BigIntegerField(default=0)),
                ("seconds", models.FloatField(default=0.0)),
                (
                    "buckets",
                    ArrayField(base_field=models.BigIntegerField(), default=list, size=None),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(
                        fields=("span", "name", "at", "workspace", "labels"),
                        name="figure_once",
                        nulls_distinct=False,
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="CommonTerm",
            fields=[
                ("key", models.BigIntegerField(primary_key=True, serialize=False)),
                ("layer", models.SmallIntegerField(choices=LAYERS)),
                ("share", models.FloatField(help_text="0 to 1")),
                ("workspace", part_of("memories.workspaceindex")),
            ],
        ),
        migrations.CreateModel(
            name="LargeLayer",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("layer", models.SmallIntegerField(choices=LAYERS)),
                ("counted_live", models.BigIntegerField(default=0)),
                ("sealed_upto", models.BigIntegerField(null=True)),
                ("sealed_live", models.BigIntegerField(default=0)),
                (
                    "large_subjects",
                    ArrayField(base_field=models.UUIDField(), default=list, size=None),
                ),
                (
                    "embedding_model",
                    models.ForeignKey(
                        null=True, on_delete=models.PROTECT, to="memories.embeddingmodel"
                    ),
                ),
                ("workspace", part_of("memories.workspaceindex", "large_layers")),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("workspace", "layer"), name="large_layer_once")
                ],
            },
        ),
        migrations.CreateModel(
            name="SetDiscovery",
            fields=[
                (
                    "workspace",
                    models.OneToOneField(
                        on_delete=models.CASCADE,
                        primary_key=True,
                        related_name="+",
                        serialize=False,
                        to="workspaces.workspace",
                    ),
                ),
                (
                    "seen",
                    models.UUIDField(default=uuid.UUID("00000000-0000-0000-0000-000000000000")),
                ),
            ],
        ),
        migrations.CreateModel(
            name="FeatureSet",
            fields=[
                *ROW,
                ("key", models.CharField(max_length=300)),
                ("role", models.CharField(blank=True, max_length=20)),
                ("metadata", models.JSONField(default=dict)),
                ("config", models.JSONField(default=dict)),
                ("waiting", models.PositiveIntegerField(default=0)),
                ("waiting_since", models.DateTimeField(null=True)),
                ("due_at", models.DateTimeField(null=True)),
                ("rung_at", models.DateTimeField(null=True)),
                ("cursor", models.UUIDField(null=True)),
                ("lease_until", models.DateTimeField(null=True)),
                ("claims", models.PositiveIntegerField(default=0)),
                ("failures", models.PositiveSmallIntegerField(default=0)),
                ("error", models.TextField(blank=True)),
                ("folded_at", models.DateTimeField(null=True)),
                ("stamp", models.PositiveBigIntegerField(default=0)),
                CONVERSATION,
                SUBJECT,
                WORKSPACE,
                ("embedder", models.JSONField(null=True)),
                ("embedding_due_at", models.DateTimeField(null=True)),
                ("embedding_error", models.TextField(blank=True)),
                (
                    "embedding_model",
                    models.ForeignKey(
                        null=True,
                        on_delete=models.PROTECT,
                        related_name="sets",
                        to="memories.embeddingmodel",
                    ),
                ),
                ("embedding_lease_until", models.DateTimeField(null=True)),
            ],
            options={
                "verbose_name": "feature set",
                "ordering": ["-id"],
                "indexes": [
                    models.Index(fields=["workspace", "-id"], name="set_newest"),
                    models.Index(
                        condition=Q(conversation__isnull=False),
                        fields=["conversation"],
                        name="set_conversation",
                    ),
                    models.Index(
                        condition=Q(due_at__isnull=False), fields=["due_at"], name="set_due"
                    ),
                    models.Index(
                        condition=Q(embedding_model__isnull=False),
                        fields=["workspace", "embedding_model"],
                        name="set_embedding",
                    ),
                    models.Index(
                        condition=Q(embedding_due_at__isnull=False),
                        fields=["embedding_due_at"],
                        name="set_embedding_due",
                    ),
                ],
                "constraints": [
                    models.UniqueConstraint(fields=("workspace", "key"), name="set_key_once"),
                    models.CheckConstraint(condition=~Q(key=""), name="set_is_named"),
                ],
            },
        ),
        migrations.CreateModel(
            name="Feature",
            fields=[
                *ROW,
                (
                    "visibility",
                    models.CharField(choices=VISIBILITIES, default="private", max_length=7),
                ),
                ("category", models.CharField(max_length=100)),
                ("tag", models.CharField(max_length=100)),
                ("feature", models.CharField(max_length=100)),
                ("value", models.TextField()),
                ("content", models.TextField(help_text="What is embedded, and searched by words.")),
                ("about", models.CharField(blank=True, max_length=255)),
                ("slot", models.CharField(blank=True, max_length=255)),
                (
                    "method",
                    models.CharField(
                        choices=[("rule", "Rule"), ("llm", "model"), ("manual", "Manual")],
                        max_length=6,
                    ),
                ),
                ("metadata", models.JSONField(default=dict)),
                ("fingerprint", models.BinaryField(max_length=16)),
                ("ended_at", models.DateTimeField(null=True)),
                AGENT,
                CONVERSATION,
                SUBJECT,
                WORKSPACE,
                ("set", part_of("memories.featureset", "features")),
            ],
            options={
                "ordering": ["-id"],
                "indexes": [
                    models.Index(fields=["workspace", "-id"], name="feature_newest"),
                    models.Index(fields=["set", "category", "tag"], name="feature_section"),
                    models.Index(
                        condition=Q(conversation__isnull=False),
                        fields=["conversation"],
                        name="feature_conversation",
                    ),
                ],
                "constraints": [
                    models.UniqueConstraint(
                        condition=Q(ended_at=None),
                        fields=("set", "agent", "fingerprint"),
                        name="feature_once",
                        nulls_distinct=False,
                    ),
                    models.CheckConstraint(
                        condition=~Q(category="") & ~Q(tag="") & ~Q(feature="") & ~Q(value=""),
                        name="feature_says_something",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="FeatureChange",
            fields=[
                *ROW,
                ("batch", models.UUIDField()),
                (
                    "action",
                    models.CharField(
                        choices=labelled("add", "update", "delete", "merge", "undo"), max_length=6
                    ),
                ),
                ("before", models.JSONField(null=True)),
                ("after", models.JSONField(null=True)),
                ("by", models.CharField(max_length=200)),
                ("rule", models.CharField(blank=True, max_length=200)),
                ("reason", models.TextField(blank=True)),
                ("occurred_at", models.DateTimeField()),
                ("is_current", models.BooleanField(default=True)),
                ("undone_at", models.DateTimeField(null=True)),
                ("feature", part_of("memories.feature", "changes")),
                WORKSPACE,
                ("set", part_of("memories.featureset", "changes")),
            ],
            options={
                "verbose_name": "change of a feature",
                "verbose_name_plural": "changes of features",
                "ordering": ["-id"],
                "indexes": [
                    models.Index(fields=["feature", "id"], name="change_history"),
                    models.Index(fields=["set", "-id"], name="change_newest"),
                    models.Index(fields=["batch"], name="change_batch"),
                ],
                "constraints": [
                    models.UniqueConstraint(
                        condition=Q(is_current=True), fields=("feature",), name="change_one_current"
                    ),
                    models.CheckConstraint(
                        condition=Q(before__isnull=False) | Q(after__isnull=False),
                        name="change_of_something",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="FeatureCitation",
            fields=[
                ("id", models.BigAutoField(primary_key=True, serialize=False)),
                ("start", models.PositiveIntegerField()),
                ("end", models.PositiveIntegerField()),
                ("quote", models.TextField()),
                ("change", part_of("memories.featurechange", "citations")),
                ("episode", part_of("memories.episode", "feature_citations")),
                ("fact", mention("memories.fact", "feature_citations")),
                ("feature", part_of("memories.feature", "citations")),
                WORKSPACE,
                ("created_at", models.DateTimeField(default=timezone.now, editable=False)),
            ],
            options={
                "ordering": ["id"],
                "constraints": [
                    models.CheckConstraint(
                        condition=Q(end__gt=F("start")), name="feature_citation_span_forward"
                    ),
                    models.UniqueConstraint(
                        fields=("change", "episode", "start", "end"), name="feature_citation_once"
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="FeatureMark",
            fields=[
                (
                    "pk",
                    models.CompositePrimaryKey(
                        "set",
                        "episode",
                        blank=True,
                        editable=False,
                        primary_key=True,
                        serialize=False,
                    ),
                ),
                ("batch", models.UUIDField()),
                ("folded_at", models.DateTimeField()),
                ("episode", part_of("memories.episode", db_index=False)),
                WORKSPACE,
                ("set", part_of("memories.featureset", "marks", db_index=False)),
            ],
            options={
                "indexes": [models.Index(fields=["episode"], name="feature_mark_episode")],
            },
        ),
        migrations.CreateModel(
            name="FeatureRefusal",
            fields=[
                *ROW,
                ("batch", models.UUIDField()),
                ("command", models.JSONField()),
                ("reason", models.TextField()),
                ("rule", models.CharField(blank=True, max_length=200)),
                ("episode_ids", ArrayField(base_field=models.UUIDField(), default=list, size=None)),
                AGENT,
                WORKSPACE,
                ("set", part_of("memories.featureset", "refusals")),
            ],
            options={
                "verbose_name": "refused command",
                "ordering": ["-id"],
                "indexes": [models.Index(fields=["set", "-id"], name="refusal_newest")],
            },
        ),
        migrations.CreateModel(
            name="ConversationSummary",
            fields=[
                *ROW,
                (
                    "method",
                    models.CharField(
                        choices=[("extractive", "Extractive"), ("llm", "model")],
                        default="extractive",
                        max_length=10,
                    ),
                ),
                ("rule", models.CharField(blank=True, max_length=200)),
                ("lines", models.JSONField(default=list)),
                ("tokens", models.PositiveIntegerField(default=0)),
                ("episodes", models.PositiveIntegerField(default=0)),
                ("upto_at", models.DateTimeField(null=True)),
                ("upto_position", models.PositiveIntegerField(default=0)),
                ("seen", models.IntegerField(default=-1)),
                ("due_at", models.DateTimeField(null=True)),
                ("lease_until", models.DateTimeField(null=True)),
                ("attempts", models.PositiveSmallIntegerField(default=0)),
                ("error", models.TextField(blank=True)),
                ("agent", part_of("workspaces.agent", null=True)),
                ("conversation", part_of("memories.conversation", "summaries")),
                WORKSPACE,
                ("claims", models.PositiveIntegerField(default=0)),
            ],
            options={
                "verbose_name": "summary of a conversation",
                "verbose_name_plural": "summaries of conversations",
                "ordering": ["-id"],
                "indexes": [
                    models.Index(
                        condition=Q(due_at__isnull=False), fields=["due_at"], name="summary_due"
                    )
                ],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("conversation", "agent"), name="summary_once", nulls_distinct=False
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="WorkspaceChange",
            fields=[
                *ROW,
                ("name", models.CharField(max_length=30, validators=[NAME])),
                ("enabled", models.BooleanField(default=True)),
                ("examples", ArrayField(base_field=models.TextField(), default=list, size=None)),
                (
                    "counter_examples",
                    ArrayField(base_field=models.TextField(), blank=True, default=list, size=None),
                ),
                (
                    "verbs",
                    models.CharField(
                        help_text="Words that end something, with blanks.", max_length=500
                    ),
                ),
                (
                    "ended",
                    models.CharField(
                        default="*",
                        help_text="Of what they end, the words that say it (use run own). *: whatever was said.",
                        max_length=500,
                    ),
                ),
                WORKSPACE,
            ],
            options={
                "verbose_name": "change word",
                "ordering": ["name"],
                "abstract": False,
                "constraints": [
                    models.UniqueConstraint(fields=("workspace", "name"), name="change_name_once")
                ],
            },
        ),
        migrations.CreateModel(
            name="WorkspaceSlot",
            fields=[
                *ROW,
                ("name", models.CharField(max_length=30, validators=[NAME])),
                ("enabled", models.BooleanField(default=True)),
                ("examples", ArrayField(base_field=models.TextField(), default=list, size=None)),
                (
                    "counter_examples",
                    ArrayField(base_field=models.TextField(), blank=True, default=list, size=None),
                ),
                (
                    "regex",
                    models.TextField(
                        help_text="In RE2's syntax, searched in a statement whatever its case. (?P<value>...) is the value; (?P<subject>...) whom it is about, and (?P<key>...) what tells two values apart, may be named too.",
                        max_length=2000,
                    ),
                ),
                WORKSPACE,
            ],
            options={
                "verbose_name": "slot",
                "ordering": ["name"],
                "abstract": False,
                "constraints": [
                    models.UniqueConstraint(fields=("workspace", "name"), name="slot_name_once")
                ],
            },
        ),
        migrations.CreateModel(
            name="Erasure",
            fields=[
                *ROW,
                (
                    "kind",
                    models.CharField(
                        choices=labelled("subject", "conversation", "episode", "document"),
                        max_length=12,
                    ),
                ),
                ("target_id", models.UUIDField()),
                ("state", models.CharField(choices=RUN_STATES, default="waiting", max_length=7)),
                ("requested_by", models.CharField(max_length=200)),
                ("plan", models.JSONField(default=dict)),
                ("removed", models.JSONField(default=dict)),
                ("proof", models.JSONField(default=dict)),
                ("probes", models.JSONField(default=list)),
                ("attempts", models.PositiveSmallIntegerField(default=0)),
                ("due_at", models.DateTimeField(null=True)),
                ("lease_until", models.DateTimeField(null=True)),
                ("error", models.CharField(blank=True, max_length=300)),
                ("finished_at", models.DateTimeField(null=True)),
                WORKSPACE,
                ("claims", models.PositiveIntegerField(default=0)),
            ],
            options={
                "ordering": ["-id"],
                "indexes": [
                    models.Index(
                        condition=Q(due_at__isnull=False), fields=["due_at"], name="erasure_due"
                    )
                ],
                "constraints": [
                    models.UniqueConstraint(
                        condition=Q(state__in=["waiting", "running"]),
                        fields=("workspace", "kind", "target_id"),
                        name="erasure_once_at_a_time",
                    ),
                    models.CheckConstraint(
                        condition=~Q(state="done") | Q(probes=[]), name="erasure_keeps_no_words"
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="SubjectMerge",
            fields=[
                *ROW,
                ("merged_by", models.CharField(max_length=200)),
                ("batch", models.UUIDField()),
                ("undone_at", models.DateTimeField(null=True)),
                ("source", part_of("workspaces.subject")),
                ("target", part_of("workspaces.subject")),
                WORKSPACE,
                ("is_split", models.BooleanField(db_default=False, default=False)),
            ],
            options={
                "ordering": ["-id"],
                "constraints": [
                    models.CheckConstraint(condition=~Q(source=F("target")), name="merge_of_two")
                ],
            },
        ),
        migrations.CreateModel(
            name="MergedRows",
            fields=[
                (
                    "pk",
                    models.CompositePrimaryKey(
                        "merge",
                        "kind",
                        blank=True,
                        editable=False,
                        primary_key=True,
                        serialize=False,
                    ),
                ),
                ("kind", models.CharField(max_length=40)),
                ("ids", ArrayField(base_field=models.UUIDField(), size=None)),
                WORKSPACE,
                ("merge", part_of("memories.subjectmerge", "moved", db_index=False)),
            ],
        ),
        migrations.CreateModel(
            name="WorkerBeat",
            fields=[
                ("id", models.UUIDField(default=uuid.uuid4, primary_key=True, serialize=False)),
                ("kind", models.CharField(help_text="worker, or sweep", max_length=10)),
                ("host", models.CharField(max_length=255)),
                ("pid", models.IntegerField()),
                ("started_at", models.DateTimeField()),
                ("seen_at", models.DateTimeField()),
            ],
            options={
                "ordering": ["-seen_at"],
            },
        ),
        migrations.CreateModel(
            name="IndexRepair",
            fields=[
                (
                    "workspace",
                    models.OneToOneField(
                        on_delete=models.CASCADE,
                        primary_key=True,
                        related_name="+",
                        serialize=False,
                        to="workspaces.workspace",
                    ),
                ),
                (
                    "version",
                    models.SmallIntegerField(help_text="Of the rules that it makes the marks by."),
                ),
                ("layer", models.SmallIntegerField(default=1)),
                ("after", models.UUIDField(null=True)),
                ("rows", models.BigIntegerField(null=True)),
                ("done", models.BigIntegerField(default=0)),
                ("seconds", models.FloatField(default=0.0)),
                (
                    "attempts",
                    models.PositiveSmallIntegerField(default=0, help_text="Failures in a row."),
                ),
                (
                    "error",
                    models.CharField(
                        blank=True, help_text="Its kind; the log has it all.", max_length=100
                    ),
                ),
                ("next_attempt_at", models.DateTimeField()),
                ("lease_until", models.DateTimeField(null=True)),
                ("started_at", models.DateTimeField()),
                ("updated_at", models.DateTimeField()),
                ("finished_at", models.DateTimeField(null=True)),
            ],
            options={
                "ordering": ["-started_at"],
                "indexes": [
                    models.Index(
                        condition=Q(finished_at__isnull=True),
                        fields=["next_attempt_at"],
                        name="repair_next",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="Breaker",
            fields=[
                ("id", models.BigAutoField(primary_key=True, serialize=False)),
                ("name", models.CharField(max_length=300, unique=True)),
                ("purpose", models.CharField(max_length=20)),
                (
                    "state",
                    models.CharField(
                        choices=labelled("closed", "open"), default="closed", max_length=10
                    ),
                ),
                ("failures", models.PositiveIntegerField(default=0)),
                ("timeouts", models.PositiveIntegerField(default=0)),
                ("since", models.DateTimeField(default=timezone.now)),
                ("next_try_at", models.DateTimeField(blank=True, null=True)),
                ("detail", models.CharField(blank=True, max_length=200)),
                ("updated_at", models.DateTimeField(default=timezone.now)),
            ],
            options={
                "constraints": [
                    models.CheckConstraint(
                        condition=Q(state="closed") | Q(next_try_at__isnull=False),
                        name="breaker_open_tried_again",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="MemoryPeriod",
            fields=[
                ("id", models.BigAutoField(primary_key=True, serialize=False)),
                ("from_at", models.DateTimeField()),
                ("until_at", models.DateTimeField(null=True)),
                (
                    "cause",
                    models.CharField(
                        choices=labelled("created", "approved", "restored", "undone"), max_length=10
                    ),
                ),
                ("ended_by", models.CharField(blank=True, max_length=20)),
                WORKSPACE,
                ("memory", part_of("memories.memory", "periods", db_index=False)),
            ],
            options={
                "indexes": [
                    models.Index(fields=["memory", "from_at"], name="memoryperiod_history")
                ],
                "constraints": [
                    models.UniqueConstraint(
                        condition=Q(until_at=None), fields=("memory",), name="memoryperiod_one_open"
                    ),
                    models.CheckConstraint(
                        condition=Q(until_at=None) | Q(until_at__gte=F("from_at")),
                        name="memoryperiod_runs_forward",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Case",
            fields=[
                *ROW,
                ("attribute", models.CharField(max_length=60)),
                ("topic", models.UUIDField()),
                (
                    "kind",
                    models.CharField(
                        choices=labelled(
                            "contradiction", "held", "quarantine", "uncertain", "intent"
                        ),
                        max_length=13,
                    ),
                ),
                (
                    "state",
                    models.CharField(
                        choices=labelled("open", "decided", "snoozed"), default="open", max_length=8
                    ),
                ),
                ("risk", models.FloatField(default=0.0)),
                ("rank", models.FloatField()),
                ("version", models.PositiveIntegerField(default=1)),
                ("snoozed_until", models.DateTimeField(null=True)),
                ("decided_by", models.CharField(blank=True, max_length=200)),
                ("decided_at", models.DateTimeField(null=True)),
                ("note", models.TextField(blank=True)),
                ("steps", models.JSONField(default=list)),
                ("assignee", mention("workspaces.membership")),
                SUBJECT,
                WORKSPACE_UNINDEXED,
                ("served", models.PositiveIntegerField(default=0)),
            ],
            options={
                "ordering": ["-rank", "-id"],
                "indexes": [
                    models.Index(
                        condition=Q(state__in=["open", "snoozed"]),
                        fields=["workspace", "-rank", "-id"],
                        name="case_waiting",
                    ),
                    models.Index(fields=["workspace", "-id"], name="case_newest"),
                ],
                "constraints": [
                    models.UniqueConstraint(
                        condition=Q(state__in=["open", "snoozed"]),
                        fields=("workspace", "subject", "attribute", "topic"),
                        name="case_once",
                        nulls_distinct=False,
                    ),
                    models.CheckConstraint(
                        condition=Q(state="decided") ^ Q(decided_at=None), name="case_decided_when"
                    ),
                    models.CheckConstraint(
                        condition=Q(state="snoozed") ^ Q(snoozed_until=None),
                        name="case_snoozed_until",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Supersession",
            fields=[
                *ROW,
                ("similarity", models.FloatField(null=True)),
                ("rule", models.CharField(max_length=40)),
                ("method", models.CharField(blank=True, max_length=20)),
                (
                    "state",
                    models.CharField(
                        choices=labelled("applied", "pending", "rejected", "undone"), max_length=8
                    ),
                ),
                ("decided_by", models.CharField(max_length=200)),
                ("decided_at", models.DateTimeField(default=timezone.now)),
                ("note", models.TextField(blank=True)),
                ("new", part_of("memories.memory", "replaces_through")),
                ("old", part_of("memories.memory", "replaced_through")),
                WORKSPACE,
                ("waited", models.BooleanField(db_default=False, default=False)),
                ("model", models.CharField(blank=True, db_default="", default="", max_length=250)),
                ("case", mention("memories.case", "pairs")),
            ],
            options={
                "ordering": ["-id"],
                "indexes": [
                    models.Index(
                        condition=Q(state="pending"),
                        fields=["workspace", "-id"],
                        name="supersession_pending",
                    ),
                    models.Index(
                        condition=~Q(state="pending"),
                        fields=["workspace", "-decided_at"],
                        name="supersession_decided",
                    ),
                ],
                "constraints": [
                    models.CheckConstraint(
                        condition=~Q(old=F("new")), name="supersession_of_another"
                    ),
                    models.UniqueConstraint(
                        condition=Q(state="applied"),
                        fields=("old",),
                        name="supersession_applied_once",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="CaseItem",
            fields=[
                ("id", models.BigAutoField(primary_key=True, serialize=False)),
                ("intent", models.UUIDField(null=True)),
                ("why", models.CharField(blank=True, max_length=60)),
                ("at", models.DateTimeField()),
                ("added_at", models.DateTimeField(default=timezone.now)),
                ("case", part_of("memories.case", "items", db_index=False)),
                ("fact", part_of("memories.fact", "case_items", null=True)),
                ("memory", part_of("memories.memory", "case_items", null=True)),
                WORKSPACE_UNINDEXED,
            ],
            options={
                "ordering": ["at", "id"],
                "constraints": [
                    models.CheckConstraint(
                        condition=Q(fact=None, intent=None, memory__isnull=False)
                        | Q(fact__isnull=False, intent=None, memory=None)
                        | Q(fact=None, intent__isnull=False, memory=None),
                        name="caseitem_of_one_thing",
                    ),
                    models.UniqueConstraint(
                        fields=("case", "memory", "fact", "intent"),
                        name="caseitem_once",
                        nulls_distinct=False,
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Intent",
            fields=[
                *ROW,
                (
                    "kind",
                    models.CharField(
                        choices=labelled("forget", "correct", "retract", "never", "remember"),
                        max_length=8,
                    ),
                ),
                (
                    "state",
                    models.CharField(
                        choices=labelled("heard", "done", "case", "nothing_found", "undone"),
                        default="heard",
                        max_length=13,
                    ),
                ),
                ("message_index", models.PositiveIntegerField(default=0)),
                ("start", models.PositiveIntegerField()),
                ("end", models.PositiveIntegerField()),
                ("topic_start", models.PositiveIntegerField(null=True)),
                ("topic_end", models.PositiveIntegerField(null=True)),
                ("memory_ids", ArrayField(base_field=models.UUIDField(), default=list, size=None)),
                ("case_id", models.UUIDField(null=True)),
                ("reason", models.CharField(blank=True, max_length=200)),
                ("decided_by", models.CharField(blank=True, max_length=200)),
                ("decided_at", models.DateTimeField(null=True)),
                AGENT,
                ("episode", part_of("memories.episode")),
                ("session", part_of("memories.memorysession", "intents")),
                SUBJECT,
                ("supersession", mention("memories.supersession", db_index=False)),
                WORKSPACE_UNINDEXED,
            ],
            options={
                "ordering": ["-id"],
                "indexes": [models.Index(fields=["workspace", "-id"], name="intent_newest")],
                "constraints": [
                    models.CheckConstraint(condition=Q(end__gt=F("start")), name="intent_forward"),
                    models.UniqueConstraint(
                        fields=("episode", "kind", "start"), name="intent_once"
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Ground",
            fields=[
                ("id", models.BigAutoField(primary_key=True, serialize=False)),
                ("words", models.CharField(max_length=40)),
                ("made_at", models.DateTimeField(default=timezone.now)),
                ("kept_at", models.DateTimeField(null=True)),
                ("memory", part_of("memories.memory", "grounds", db_index=False)),
                ("on", part_of("memories.memory", "dependants", db_index=False)),
                WORKSPACE_UNINDEXED,
            ],
            options={
                "indexes": [
                    models.Index(fields=["memory"], name="ground_memory"),
                    models.Index(fields=["on"], name="ground_on"),
                ],
                "constraints": [
                    models.CheckConstraint(condition=~Q(memory=F("on")), name="ground_is_another")
                ],
            },
        ),
        migrations.CreateModel(
            name="WorkspaceImport",
            fields=[
                *ROW,
                ("workspace", models.UUIDField(unique=True)),
                (
                    "export",
                    models.UUIDField(help_text="Of the file: another one is another export."),
                ),
                ("header", models.JSONField()),
                ("lines", models.BigIntegerField(default=0)),
                ("loaded_at", models.DateTimeField(null=True)),
                ("finished_at", models.DateTimeField(null=True)),
            ],
            options={
                "ordering": ["-id"],
            },
        ),
        migrations.CreateModel(
            name="ImportedRow",
            fields=[
                ("id", models.BigAutoField(primary_key=True, serialize=False)),
                ("workspace", models.UUIDField()),
                ("model", models.CharField(max_length=80)),
                ("row", models.JSONField()),
            ],
            options={
                "indexes": [
                    models.Index(fields=["workspace", "model", "id"], name="importedrow_order")
                ],
            },
        ),
        migrations.CreateModel(
            name="Blob",
            fields=[
                *ROW,
                ("digest", models.CharField(max_length=64)),
                ("size", models.BigIntegerField()),
                ("media_type", models.CharField(blank=True, max_length=150)),
                WORKSPACE_UNINDEXED,
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("workspace", "digest"), name="blob_once")
                ],
            },
        ),
        migrations.CreateModel(
            name="Document",
            fields=[
                *ROW,
                ("visibility", models.CharField(choices=VISIBILITIES, max_length=7)),
                ("custom_id", models.CharField(max_length=255, null=True)),
                (
                    "type",
                    models.CharField(
                        choices=labelled(
                            "text",
                            "pdf",
                            "tweet",
                            "google_doc",
                            "google_slide",
                            "google_sheet",
                            "image",
                            "video",
                            "notion_doc",
                            "webpage",
                            "onedrive",
                            "repository",
                        ),
                        default="text",
                        max_length=12,
                    ),
                ),
                ("source", models.CharField(blank=True, max_length=20)),
                ("url", models.TextField(blank=True)),
                ("filename", models.CharField(blank=True, max_length=255)),
                ("title", models.CharField(blank=True, max_length=500)),
                ("given_title", models.CharField(blank=True, max_length=500)),
                ("summary", models.TextField(blank=True)),
                ("metadata", models.JSONField(default=dict)),
                ("published_at", models.DateTimeField(null=True)),
                ("extract", models.CharField(choices=EXTRACTIONS, default="auto", max_length=8)),
                ("requested_by", models.CharField(blank=True, max_length=200)),
                (
                    "state",
                    models.CharField(
                        choices=labelled(
                            "queued",
                            "extracting",
                            "chunking",
                            "embedding",
                            "indexing",
                            "done",
                            "failed",
                        ),
                        default="queued",
                        max_length=10,
                    ),
                ),
                ("steps", models.JSONField(default=list)),
                ("warnings", models.JSONField(default=list)),
                ("reason", models.TextField(blank=True)),
                ("error_code", models.CharField(blank=True, max_length=30)),
                ("attempts", models.PositiveSmallIntegerField(default=0)),
                ("next_attempt_at", models.DateTimeField(default=timezone.now, null=True)),
                ("lease_until", models.DateTimeField(null=True)),
                ("claims", models.PositiveIntegerField(default=0)),
                ("current_revision", models.UUIDField(null=True)),
                AGENT,
                ("blob", mention("memories.blob", "documents")),
                SUBJECT,
                WORKSPACE_UNINDEXED,
                (
                    "episode",
                    models.OneToOneField(
                        null=True,
                        on_delete=models.SET_NULL,
                        related_name="document",
                        to="memories.episode",
                    ),
                ),
                ("origin", models.CharField(blank=True, max_length=64)),
            ],
            options={
                "ordering": ["-id"],
                "indexes": [
                    models.Index(fields=["workspace", "-id"], name="document_newest"),
                    models.Index(
                        condition=~Q(state__in=["done", "failed"]),
                        fields=["next_attempt_at"],
                        name="document_due",
                    ),
                    models.Index(
                        condition=~Q(origin=""),
                        fields=["workspace", "origin"],
                        name="document_origin",
                    ),
                ],
                "constraints": [
                    models.UniqueConstraint(
                        condition=Q(custom_id__isnull=False),
                        fields=("workspace", "custom_id"),
                        name="document_custom_id_once",
                    ),
                    models.CheckConstraint(
                        condition=~Q(state="failed") | ~Q(error_code=""),
                        name="document_failed_says_why",
                    ),
                    models.CheckConstraint(
                        condition=~Q(state="done") | Q(current_revision__isnull=False),
                        name="document_done_has_revision",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Revision",
            fields=[
                *ROW,
                ("number", models.PositiveIntegerField()),
                ("text", models.TextField()),
                ("text_sha256", models.CharField(max_length=64)),
                ("media_type", models.CharField(max_length=150)),
                ("extractor", models.CharField(max_length=60)),
                ("language", models.CharField(blank=True, max_length=20)),
                ("title", models.CharField(blank=True, max_length=500)),
                ("author", models.CharField(blank=True, max_length=255)),
                ("published_at", models.DateTimeField(null=True)),
                ("pages", models.PositiveIntegerField(default=0)),
                ("superseded_at", models.DateTimeField(null=True)),
                ("blob", mention("memories.blob", "revisions")),
                ("document", part_of("memories.document", "revisions", db_index=False)),
                WORKSPACE,
                (
                    "session",
                    models.OneToOneField(
                        null=True,
                        on_delete=models.SET_NULL,
                        related_name="revision",
                        to="memories.memorysession",
                    ),
                ),
            ],
            options={
                "ordering": ["-number"],
                "constraints": [
                    models.UniqueConstraint(fields=("document", "number"), name="revision_number"),
                    models.UniqueConstraint(
                        condition=Q(superseded_at=None),
                        fields=("document",),
                        name="revision_one_open",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Citation",
            fields=[
                ("id", models.BigAutoField(primary_key=True, serialize=False)),
                ("start", models.PositiveIntegerField()),
                ("end", models.PositiveIntegerField()),
                ("quote", models.TextField()),
                WORKSPACE,
                ("episode", part_of("memories.episode", "citations", null=True)),
                ("fact", part_of("memories.fact", "citations", db_index=False)),
                ("revision", part_of("memories.revision", "citations", db_index=False, null=True)),
            ],
            options={
                "ordering": ["id"],
                "constraints": [
                    models.CheckConstraint(
                        condition=Q(end__gt=F("start")), name="citation_span_forward"
                    ),
                    models.UniqueConstraint(
                        fields=("fact", "episode", "start", "end"), name="citation_once"
                    ),
                    models.CheckConstraint(
                        condition=Q(episode__isnull=False, revision=None)
                        | Q(episode=None, revision__isnull=False),
                        name="citation_of_one_text",
                    ),
                ],
                "indexes": [
                    models.Index(
                        condition=Q(revision__isnull=False),
                        fields=["revision", "start"],
                        name="citation_of_revision",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="MaskedSpan",
            fields=[
                *ROW,
                ("place", models.TextField(default="content")),
                ("start", models.PositiveIntegerField()),
                ("end", models.PositiveIntegerField()),
                ("words", models.TextField()),
                ("kind", models.CharField(choices=labelled("forgotten", "secret"), max_length=9)),
                ("reason", models.CharField(blank=True, max_length=200)),
                ("cause", models.UUIDField(null=True)),
                ("episode", part_of("memories.episode", "masks", null=True)),
                ("fact", part_of("memories.fact", "masks", null=True)),
                ("memory", part_of("memories.memory", "masks", null=True)),
                WORKSPACE_UNINDEXED,
                ("revision", part_of("memories.revision", "masks", null=True)),
                ("document", part_of("memories.document", "masks", null=True)),
            ],
            options={
                "verbose_name": "masked span",
                "ordering": ["id"],
                "indexes": [models.Index(fields=["workspace", "cause"], name="mask_cause")],
                "constraints": [
                    models.CheckConstraint(condition=Q(end__gt=F("start")), name="mask_forward"),
                    models.CheckConstraint(
                        condition=Q(
                            document=None,
                            episode__isnull=False,
                            fact=None,
                            memory=None,
                            revision=None,
                        )
                        | Q(
                            document=None,
                            episode=None,
                            fact=None,
                            memory__isnull=False,
                            revision=None,
                        )
                        | Q(
                            document=None,
                            episode=None,
                            fact__isnull=False,
                            memory=None,
                            revision=None,
                        )
                        | Q(
                            document=None,
                            episode=None,
                            fact=None,
                            memory=None,
                            revision__isnull=False,
                        )
                        | Q(
                            document__isnull=False,
                            episode=None,
                            fact=None,
                            memory=None,
                            revision=None,
                        ),
                        name="mask_of_one_row",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Chunk",
            fields=[
                *ROW,
                ("ordinal", models.PositiveIntegerField()),
                ("start", models.PositiveIntegerField()),
                ("end", models.PositiveIntegerField()),
                ("heading", models.CharField(blank=True, max_length=300)),
                ("tokens", models.PositiveIntegerField()),
                WORKSPACE,
                ("revision", part_of("memories.revision", "chunks", db_index=False)),
            ],
            options={
                "ordering": ["revision", "ordinal"],
                "constraints": [
                    models.CheckConstraint(condition=Q(end__gt=F("start")), name="chunk_forward"),
                    models.UniqueConstraint(fields=("revision", "ordinal"), name="chunk_once"),
                ],
            },
        ),
        migrations.CreateModel(
            name="Passage",
            fields=[
                *ROW,
                ("ordinal", models.PositiveIntegerField()),
                ("start", models.PositiveIntegerField()),
                ("end", models.PositiveIntegerField()),
                ("chunk", part_of("memories.chunk", "passages")),
                WORKSPACE_UNINDEXED,
                ("revision", part_of("memories.revision", "passages", db_index=False)),
            ],
            options={
                "ordering": ["revision", "ordinal"],
                "indexes": [models.Index(fields=["workspace", "id"], name="passage_newest")],
                "constraints": [
                    models.CheckConstraint(condition=Q(end__gt=F("start")), name="passage_forward"),
                    models.UniqueConstraint(fields=("revision", "ordinal"), name="passage_once"),
                ],
            },
        ),
        migrations.CreateModel(
            name="DocumentPart",
            fields=[
                ("id", models.BigAutoField(primary_key=True, serialize=False)),
                (
                    "kind",
                    models.CharField(
                        choices=labelled(
                            "page",
                            "slide",
                            "sheet",
                            "heading",
                            "segment",
                            "file",
                            "message",
                            "cell",
                            "definition",
                        ),
                        max_length=10,
                    ),
                ),
                ("ordinal", models.PositiveIntegerField()),
                ("label", models.CharField(max_length=300)),
                ("start", models.PositiveIntegerField()),
                ("end", models.PositiveIntegerField()),
                ("seconds", models.FloatField(null=True)),
                ("seconds_end", models.FloatField(null=True)),
                ("confidence", models.FloatField(null=True)),
                WORKSPACE,
                ("revision", part_of("memories.revision", "parts", db_index=False)),
            ],
            options={
                "verbose_name": "part",
                "ordering": ["start", "id"],
                "constraints": [
                    models.CheckConstraint(condition=Q(end__gte=F("start")), name="part_forward"),
                    models.UniqueConstraint(
                        fields=("revision", "kind", "ordinal"), name="part_once"
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Space",
            fields=[
                *ROW,
                ("container_tag", models.CharField(max_length=100)),
                ("name", models.CharField(blank=True, max_length=200)),
                ("metadata", models.JSONField(default=dict)),
                WORKSPACE_UNINDEXED,
            ],
            options={
                "ordering": ["container_tag"],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("workspace", "container_tag"), name="space_once"
                    ),
                    models.CheckConstraint(
                        condition=Q(container_tag__regex="^[A-Za-z0-9_:.-]{1,100}$"),
                        name="space_tag",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="DocumentSpace",
            fields=[
                ("id", models.BigAutoField(primary_key=True, serialize=False)),
                ("document", part_of("memories.document", "shelves", db_index=False)),
                WORKSPACE,
                ("space", part_of("memories.space", "shelves")),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(
                        fields=("document", "space"), name="document_space_once"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="LegalHold",
            fields=[
                *ROW,
                ("reason", models.CharField(max_length=500)),
                ("placed_by", models.CharField(max_length=200)),
                ("lifted_by", models.CharField(blank=True, max_length=200)),
                ("lifted_at", models.DateTimeField(null=True)),
                ("subject", part_of("workspaces.subject", "holds")),
                WORKSPACE,
            ],
            options={
                "ordering": ["-id"],
                "constraints": [
                    models.UniqueConstraint(
                        condition=Q(lifted_at=None), fields=("subject",), name="legalhold_once"
                    ),
                    models.CheckConstraint(
                        condition=Q(lifted_at=None) ^ ~Q(lifted_by=""), name="legalhold_lifted_by"
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="ModelPrice",
            fields=[
                *ROW,
                (
                    "model",
                    models.CharField(
                        help_text="Its name as the settings give it, or “name at host” for one server of it.",
                        max_length=300,
                        unique=True,
                    ),
                ),
                (
                    "input_per_million",
                    models.DecimalField(
                        decimal_places=6,
                        default=0,
                        help_text="For a million tokens that are sent.",
                        max_digits=14,
                        validators=[MinValueValidator(0)],
                    ),
                ),
                (
                    "output_per_million",
                    models.DecimalField(
                        decimal_places=6,
                        default=0,
                        help_text="For a million tokens that are answered.",
                        max_digits=14,
                        validators=[MinValueValidator(0)],
                    ),
                ),
                (
                    "per_thousand_calls",
                    models.DecimalField(
                        decimal_places=6,
                        default=0,
                        help_text="For a thousand calls, of what is paid so: rerankers.",
                        max_digits=14,
                        validators=[MinValueValidator(0)],
                    ),
                ),
            ],
            options={
                "ordering": ["model"],
            },
        ),
        migrations.CreateModel(
            name="ModelUse",
            fields=[
                ("id", models.BigAutoField(primary_key=True, serialize=False)),
                ("day", models.DateField()),
                ("purpose", models.CharField(max_length=20)),
                ("model", models.CharField(max_length=300)),
                ("calls", models.BigIntegerField(default=0)),
                ("failed", models.BigIntegerField(default=0)),
                ("input_tokens", models.BigIntegerField(default=0)),
                ("output_tokens", models.BigIntegerField(default=0)),
                ("cost", models.DecimalField(decimal_places=10, default=0, max_digits=24)),
                WORKSPACE_UNINDEXED,
            ],
            options={
                "verbose_name_plural": "model use",
                "constraints": [
                    models.UniqueConstraint(
                        fields=("workspace", "day", "purpose", "model"), name="model_use_once"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="SearchUse",
            fields=[
                ("id", models.BigAutoField(primary_key=True, serialize=False)),
                ("day", models.DateField(db_index=True)),
                ("searches", models.BigIntegerField(default=0)),
                ("results", models.BigIntegerField(default=0)),
                ("empty", models.BigIntegerField(default=0)),
                SUBJECT,
                WORKSPACE_UNINDEXED,
                ("actor", models.CharField(db_default="", default="", max_length=200)),
            ],
            options={
                "verbose_name_plural": "search use",
                "constraints": [
                    models.UniqueConstraint(
                        fields=("workspace", "day", "subject", "actor"),
                        name="search_use_once",
                        nulls_distinct=False,
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="GoldenQuestion",
            fields=[
                *ROW,
                ("query", models.TextField()),
                (
                    "layers",
                    ArrayField(base_field=models.CharField(max_length=20), default=list, size=None),
                ),
                ("memory_ids", ArrayField(base_field=models.UUIDField(), default=list, size=None)),
                ("episode_ids", ArrayField(base_field=models.UUIDField(), default=list, size=None)),
                ("answer", models.CharField(blank=True, max_length=500)),
                ("created_by", models.CharField(max_length=200)),
                ("rank", models.PositiveSmallIntegerField(null=True)),
                ("checked_at", models.DateTimeField(null=True)),
                ("agent", part_of("workspaces.agent", null=True)),
                CONVERSATION,
                SUBJECT,
                WORKSPACE,
                ("rank_before", models.PositiveSmallIntegerField(null=True)),
                ("worse_since", models.DateTimeField(null=True)),
                ("in_context", models.BooleanField(null=True)),
                ("in_context_before", models.BooleanField(null=True)),
            ],
            options={
                "ordering": ["-id"],
                "indexes": [models.Index(fields=["workspace"], name="golden_question_workspace")],
                "constraints": [
                    models.CheckConstraint(
                        condition=~Q(memory_ids=[]) | ~Q(episode_ids=[]) | ~Q(answer=""),
                        name="golden_question_expects",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="GoldenRun",
            fields=[
                *ROW,
                (
                    "cause",
                    models.CharField(
                        choices=labelled("hand", "schedule", "settings", "model"), max_length=10
                    ),
                ),
                (
                    "outcome",
                    models.CharField(
                        choices=labelled("fine", "worse", "refused", "anyway"), max_length=10
                    ),
                ),
                (
                    "changed",
                    ArrayField(
                        base_field=models.CharField(max_length=200), default=list, size=None
                    ),
                ),
                ("requested_by", models.CharField(max_length=200)),
                ("results", models.JSONField(default=list)),
                ("found_before", models.FloatField()),
                ("found_after", models.FloatField()),
                ("mean_before", models.FloatField()),
                ("mean_after", models.FloatField()),
                WORKSPACE,
            ],
            options={
                "ordering": ["-id"],
                "indexes": [
                    models.Index(fields=["workspace", "created_at"], name="golden_run_by_time")
                ],
            },
        ),
        migrations.CreateModel(
            name="ChangeEvent",
            fields=[
                ("id", models.BigAutoField(primary_key=True, serialize=False)),
                ("xid", models.BigIntegerField()),
                ("kind", models.CharField(choices=EVENTS, max_length=20)),
                ("item", models.UUIDField()),
                ("state", models.CharField(max_length=12)),
                ("created_at", models.DateTimeField(default=timezone.now)),
                WORKSPACE_UNINDEXED,
            ],
            options={
                "ordering": ["id"],
                "indexes": [models.Index(fields=["workspace", "xid"], name="change_event_new")],
            },
        ),
        migrations.CreateModel(
            name="Webhook",
            fields=[
                *ROW,
                ("url", models.CharField(max_length=500)),
                (
                    "events",
                    ArrayField(
                        base_field=models.CharField(choices=EVENTS, max_length=20), size=None
                    ),
                ),
                ("name", models.CharField(blank=True, max_length=100)),
                ("is_active", models.BooleanField(default=True)),
                ("nonce", models.CharField(default=new_nonce, editable=False, max_length=64)),
                ("previous_nonce", models.CharField(blank=True, editable=False, max_length=64)),
                ("previous_until", models.DateTimeField(null=True)),
                ("created_by", models.CharField(max_length=200)),
                WORKSPACE,
            ],
            options={
                "ordering": ["-id"],
            },
        ),
        migrations.CreateModel(
            name="WebhookDelivery",
            fields=[
                *ROW,
                ("kind", models.CharField(max_length=20)),
                ("item", models.UUIDField(null=True)),
                ("item_state", models.CharField(blank=True, max_length=12)),
                ("happened_at", models.DateTimeField(default=timezone.now)),
                (
                    "state",
                    models.CharField(
                        choices=labelled("waiting", "delivered", "given_up"),
                        default="waiting",
                        max_length=9,
                    ),
                ),
                ("attempts", models.PositiveSmallIntegerField(default=0)),
                ("claims", models.PositiveIntegerField(default=0)),
                ("next_attempt_at", models.DateTimeField(default=timezone.now, null=True)),
                ("lease_until", models.DateTimeField(null=True)),
                (
                    "status",
                    models.PositiveSmallIntegerField(
                        help_text="What the address answered.", null=True
                    ),
                ),
                ("error", models.CharField(blank=True, max_length=300)),
                ("delivered_at", models.DateTimeField(null=True)),
                ("webhook", part_of("memories.webhook", "deliveries", db_index=False)),
                WORKSPACE_UNINDEXED,
            ],
            options={
                "verbose_name_plural": "webhook deliveries",
                "ordering": ["-id"],
                "indexes": [
                    models.Index(
                        condition=Q(state="waiting"),
                        fields=["next_attempt_at"],
                        name="delivery_due",
                    ),
                    models.Index(fields=["webhook", "-id"], name="delivery_of_webhook"),
                    models.Index(fields=["workspace", "-id"], name="delivery_newest"),
                ],
            },
        ),
        migrations.CreateModel(
            name="Connection",
            fields=[
                *ROW,
                (
                    "provider",
                    models.CharField(
                        choices=labelled(
                            "folder", "web", "github", "s3", "notion", "google_drive", "onedrive"
                        ),
                        max_length=20,
                    ),
                ),
                ("name", models.CharField(max_length=200)),
                ("options", models.JSONField(default=dict)),
                ("credentials", models.BinaryField(default=b"")),
                ("visibility", models.CharField(choices=VISIBILITIES, max_length=7)),
                (
                    "container_tags",
                    ArrayField(
                        base_field=models.CharField(max_length=100), default=list, size=None
                    ),
                ),
                ("extract", models.CharField(choices=EXTRACTIONS, default="auto", max_length=8)),
                ("minutes", models.PositiveIntegerField(default=60)),
                ("cursor", models.JSONField(default=dict)),
                ("listing", models.PositiveIntegerField(default=0)),
                ("next_sync_at", models.DateTimeField(default=timezone.now, null=True)),
                ("paused_until", models.DateTimeField(null=True)),
                ("last_synced_at", models.DateTimeField(null=True)),
                ("error_code", models.CharField(blank=True, max_length=30)),
                ("error", models.TextField(blank=True)),
                ("requested_by", models.CharField(blank=True, max_length=200)),
                AGENT,
                SUBJECT,
                WORKSPACE,
            ],
            options={
                "ordering": ["-id"],
                "indexes": [models.Index(fields=["next_sync_at"], name="connection_due")],
            },
        ),
        migrations.CreateModel(
            name="ConnectionItem",
            fields=[
                *ROW,
                ("digest", models.CharField(max_length=64)),
                ("external_id", models.TextField()),
                ("version", models.CharField(blank=True, max_length=200)),
                ("marks", models.JSONField(default=dict)),
                ("listing", models.PositiveIntegerField()),
                ("misses", models.PositiveSmallIntegerField(default=0)),
                ("connection", part_of("memories.connection", "items", db_index=False, null=True)),
                (
                    "document",
                    models.OneToOneField(
                        null=True,
                        on_delete=models.SET_NULL,
                        related_name="item",
                        to="memories.document",
                    ),
                ),
                WORKSPACE_UNINDEXED,
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(
                        fields=("connection", "digest"), name="connection_item_once"
                    ),
                    models.CheckConstraint(
                        condition=Q(connection__isnull=False) | Q(document=None),
                        name="connection_item_has_connection",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="SyncRun",
            fields=[
                *ROW,
                (
                    "kind",
                    models.CharField(
                        choices=labelled("sync", "full", "test", "remove"), max_length=6
                    ),
                ),
                ("state", models.CharField(choices=RUN_STATES, default="waiting", max_length=7)),
                ("is_confirmed", models.BooleanField(default=False)),
                ("counts", models.JSONField(default=dict)),
                ("answer", models.CharField(blank=True, max_length=500)),
                ("error_code", models.CharField(blank=True, max_length=30)),
                ("error", models.TextField(blank=True)),
                ("attempts", models.PositiveSmallIntegerField(default=0)),
                ("next_attempt_at", models.DateTimeField(default=timezone.now, null=True)),
                ("lease_until", models.DateTimeField(null=True)),
                ("claims", models.PositiveIntegerField(default=0)),
                ("started_at", models.DateTimeField(null=True)),
                ("finished_at", models.DateTimeField(null=True)),
                ("requested_by", models.CharField(max_length=200)),
                ("connection", part_of("memories.connection", "runs", db_index=False)),
                WORKSPACE,
            ],
            options={
                "ordering": ["-id"],
                "indexes": [
                    models.Index(fields=["connection", "-id"], name="sync_run_newest"),
                    models.Index(
                        condition=Q(state__in=["waiting", "running"]),
                        fields=["next_attempt_at"],
                        name="sync_run_due",
                    ),
                ],
                "constraints": [
                    models.UniqueConstraint(
                        condition=Q(state__in=["waiting", "running"]) & ~Q(kind="test"),
                        fields=("connection",),
                        name="sync_run_one_open",
                    ),
                    models.CheckConstraint(
                        condition=~Q(state="failed") | ~Q(error_code=""),
                        name="sync_run_failed_says_why",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="DueSummary",
            fields=[
                *ROW,
                ("due_at", models.DateTimeField(db_index=True, default=timezone.now)),
                ("lease_until", models.DateTimeField(null=True)),
                ("claims", models.PositiveIntegerField(default=0)),
                ("attempts", models.PositiveSmallIntegerField(default=0)),
                (
                    "conversation",
                    models.OneToOneField(
                        null=True,
                        on_delete=models.CASCADE,
                        related_name="+",
                        to="memories.conversation",
                    ),
                ),
                WORKSPACE,
                (
                    "subject",
                    models.OneToOneField(
                        null=True,
                        on_delete=models.CASCADE,
                        related_name="+",
                        to="workspaces.subject",
                    ),
                ),
            ],
            options={
                "abstract": False,
            },
        ),
        migrations.CreateModel(
            name="TalkSummary",
            fields=[
                *ROW,
                (
                    "kind",
                    models.CharField(
                        choices=labelled("conversation", "stretch", "topic", "subject"),
                        max_length=12,
                    ),
                ),
                ("name", models.CharField(blank=True, max_length=200)),
                ("ordinal", models.PositiveIntegerField(default=0)),
                ("lines", models.JSONField(default=list)),
                ("rule", models.CharField(max_length=200)),
                ("first_at", models.DateTimeField()),
                ("last_at", models.DateTimeField()),
                ("agent", part_of("workspaces.agent", null=True)),
                CONVERSATION,
                SUBJECT,
                WORKSPACE,
                ("stands_on", models.CharField(blank=True, db_default="", max_length=64)),
            ],
            options={
                "verbose_name": "summary of a talk",
                "verbose_name_plural": "summaries of talks",
                "ordering": ["-id"],
                "constraints": [
                    models.UniqueConstraint(
                        fields=(
                            "workspace",
                            "subject",
                            "agent",
                            "conversation",
                            "kind",
                            "name",
                            "ordinal",
                        ),
                        name="talk_summary_once",
                        nulls_distinct=False,
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="FailureMark",
            fields=[
                *ROW,
                ("snoozed_until", models.DateTimeField(null=True)),
                ("left_as", models.PositiveIntegerField(null=True)),
                ("assignee", mention("workspaces.membership")),
                (
                    "document",
                    models.OneToOneField(
                        null=True,
                        on_delete=models.CASCADE,
                        related_name="failure_mark",
                        to="memories.document",
                    ),
                ),
                (
                    "question",
                    models.OneToOneField(
                        null=True,
                        on_delete=models.CASCADE,
                        related_name="failure_mark",
                        to="memories.goldenquestion",
                    ),
                ),
                (
                    "session",
                    models.OneToOneField(
                        null=True,
                        on_delete=models.CASCADE,
                        related_name="failure_mark",
                        to="memories.memorysession",
                    ),
                ),
                WORKSPACE,
            ],
            options={
                "constraints": [
                    models.CheckConstraint(
                        condition=Q(document=None, question=None, session__isnull=False)
                        | Q(document__isnull=False, question=None, session=None)
                        | Q(document=None, question__isnull=False, session=None),
                        name="failuremark_of_one_thing",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="LongJob",
            fields=[
                *ROW,
                (
                    "kind",
                    models.CharField(
                        choices=[
                            ("import", "Import"),
                            ("embedding", "Making vectors"),
                            ("reindex", "Making the index anew"),
                            ("repair", "Repairing the index"),
                            ("check", "Checking the index"),
                            ("erasure", "Erasure"),
                            ("prune", "Removing what is old"),
                            ("export", "Export"),
                            ("backup", "Backup"),
                        ],
                        max_length=9,
                    ),
                ),
                ("item", models.UUIDField(null=True)),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("running", "running"),
                            ("done", "done"),
                            ("failed", "failed"),
                            ("cancelled", "cancelled"),
                        ],
                        default="running",
                        max_length=9,
                    ),
                ),
                ("unit", models.CharField(max_length=20)),
                ("total", models.PositiveBigIntegerField(null=True)),
                ("done", models.PositiveBigIntegerField(default=0)),
                ("seconds", models.FloatField(default=0)),
                ("requested_by", models.CharField(max_length=200)),
                ("result", models.JSONField(default=dict)),
                ("error", models.CharField(blank=True, max_length=300)),
                ("cancelled_by", models.CharField(blank=True, max_length=200)),
                ("finished_at", models.DateTimeField(null=True)),
                ("workspace", part_of("workspaces.workspace", db_index=False, null=True)),
            ],
            options={
                "verbose_name": "work",
                "verbose_name_plural": "pieces of work",
                "ordering": ["-id"],
                "indexes": [
                    models.Index(fields=["workspace", "-id"], name="longjob_newest"),
                    models.Index(fields=["item", "-id"], name="longjob_of_item"),
                    models.Index(
                        condition=Q(state="running"), fields=["updated_at"], name="longjob_running"
                    ),
                ],
                "constraints": [
                    models.CheckConstraint(
                        condition=Q(state="running") ^ Q(finished_at__isnull=False),
                        name="longjob_ends_once",
                    ),
                    models.CheckConstraint(
                        condition=~Q(state="failed") | ~Q(error=""), name="longjob_failed_says_why"
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="MemoryUse",
            fields=[
                ("id", models.BigAutoField(primary_key=True, serialize=False)),
                ("day", models.DateField(db_index=True)),
                ("actor", models.CharField(db_default="", default="", max_length=200)),
                ("times", models.BigIntegerField(default=0)),
                ("memory", part_of("memories.memory", db_index=False)),
                WORKSPACE,
            ],
            options={
                "verbose_name_plural": "memory use",
                "constraints": [
                    models.UniqueConstraint(
                        fields=("memory", "day", "actor"), name="memory_use_once"
                    )
                ],
            },
        ),
        migrations.RunSQL(
            STORAGE + SCANS + VIEWS + EVENTS_ARE_NOTED + WEBHOOKS_ARE_TOLD + NAMES, DROP
        ),
    ]
