"""All tables of memories, each as it was when there was the first release.

`replaces` names the steps that led there before it. A database that has taken them all is taken
as it is; one that has taken some is refused (see memoryproject/postgres/base.py)."""

import uuid

from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import GinIndex
from django.core.validators import MaxValueValidator, MinValueValidator, RegexValidator
from django.db import migrations, models
from django.utils import timezone
from pgvector.django import HalfVectorField, SparseVectorField, VectorExtension

from workspaces.models.workspace import uuid7

ROW = [
    ("id", models.UUIDField(default=uuid7, editable=False, primary_key=True, serialize=False)),
    ("created_at", models.DateTimeField(default=timezone.now, editable=False)),
    ("updated_at", models.DateTimeField(auto_now=True)),
]
WORKSPACE = (
    "workspace",
    models.ForeignKey(on_delete=models.CASCADE, related_name="+", to="workspaces.workspace"),
)
CATEGORIES = [
    ("preference", "Preference"),
    ("identity", "Identity"),
    ("relationship", "Relationship"),
    ("possession", "Possession"),
    ("plan", "Plan"),
    ("temporal", "Temporal"),
    ("policy", "Policy"),
    ("technology", "Technology"),
    ("decision", "Decision"),
    ("instruction", "Instruction"),
    ("other", "Other"),
]
LAYERS = [(1, "memories"), (2, "episodes"), (3, "features"), (4, "chunks")]
VISIBILITIES = [("private", "Private"), ("team", "Team"), ("global", "Global")]
SCOPES = [("user", "User"), ("thread", "Thread"), ("workflow", "Workflow")]
FACT_TYPES = [
    ("fact", "Fact"),
    ("preference", "Preference"),
    ("event", "Event"),
    ("profile", "Profile"),
    ("system", "System"),
]
# The physical layout of the index tables, which Django's models cannot say. Inline vectors make an
# exact scan three to six times faster than pgvector's default storage. Vacuumed often: a scan that
# needs no table needs pages that are known to be visible. Vectors go with their entry.
STORAGE = """
alter table memories_vector alter column embedding set storage plain;
alter table memories_entry alter column weights set storage main;
alter table memories_vector set (
    autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.02);
alter table memories_entry set (
    autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.02);
alter table memories_vector add constraint vector_of_entry
    foreign key (entry_id) references memories_entry on delete cascade;
"""
# Answers an exact scan without the table. Wide vectors do not fit a btree tuple.
SCANS = """
create index vector_scan on memories_vector
    (workspace, embedding_model_id, layer, subject, entry_id, part)
    include (agent, visibility, scope, place, embedding) where live and not wide;
create index vector_scan_wide on memories_vector
    (workspace, embedding_model_id, layer, subject, entry_id, part) where live and wide;
"""


class Migration(migrations.Migration):
    replaces = [
        ("memories", "0001_initial"),
        ("memories", "0002_index_layout"),
        ("memories", "0003_misses"),
        ("memories", "0004_ladder"),
        ("memories", "0005_episode_position"),
        ("memories", "0006_episode_scope"),
        ("memories", "0007_evaluation_run"),
        ("memories", "0008_figures"),
        ("memories", "0009_rejection_memory"),
        ("memories", "0010_large_layers"),
        ("memories", "0011_memory_slots"),
        ("memories", "0012_supersession_waited"),
        ("memories", "0013_feature_sets"),
        ("memories", "0014_conversation_summary"),
        ("memories", "0015_own_slots_and_change_words"),
        ("memories", "0016_erasure"),
        ("memories", "0017_seals"),
        ("memories", "0018_subject_merges"),
        ("memories", "0019_embedder_of_a_set"),
        ("memories", "0020_misses_by_shape"),
        ("memories", "0021_model_of_a_similarity"),
        ("memories", "0022_one_ordinary_length"),
        ("memories", "0023_indexes_said_once"),
        ("memories", "0024_embedding_due"),
        ("memories", "0025_event_of_an_entry"),
        ("memories", "0027_session_steps"),
        ("memories", "0028_rules_version"),
        ("memories", "0029_breaker"),
        ("memories", "0030_session_turn"),
        ("memories", "0031_memory_state"),
        ("memories", "0032_names_of_periods"),
    ]

    initial = True

    dependencies = [("workspaces", "0001_first_release")]

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
                        condition=models.Q(("live", True)),
                        fastupdate=True,
                        fields=["terms"],
                        gin_pending_list_limit=256,
                        name="entry_terms",
                    ),
                    GinIndex(
                        condition=models.Q(("live", True)),
                        fastupdate=True,
                        fields=["trigrams"],
                        gin_pending_list_limit=256,
                        name="entry_trigrams",
                    ),
                    models.Index(fields=["workspace", "layer", "id"], name="entry_workspace"),
                    models.Index(
                        condition=models.Q(("conversation__isnull", False)),
                        fields=["conversation", "occurred_at", "id"],
                        name="entry_conversation",
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
                        choices=[("active", "Active"), ("retired", "Retired")],
                        default="active",
                        max_length=8,
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(
                        fields=("provider", "name", "dimensions"), name="embedding_model_once"
                    )
                ]
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
                        condition=models.Q(
                            ("status", None), ("body__isnull", False), _connector="OR"
                        ),
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
                ]
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
                (
                    "agent",
                    models.ForeignKey(
                        null=True,
                        on_delete=models.SET_NULL,
                        related_name="+",
                        to="workspaces.agent",
                    ),
                ),
                (
                    "subject",
                    models.ForeignKey(
                        null=True,
                        on_delete=models.CASCADE,
                        related_name="+",
                        to="workspaces.subject",
                    ),
                ),
                WORKSPACE,
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
                ("category", models.CharField(choices=CATEGORIES, default="other", max_length=12)),
                (
                    "source",
                    models.CharField(
                        choices=[
                            ("manual", "Manual"),
                            ("extracted", "Extracted"),
                            ("ingested", "Ingested"),
                        ],
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
                (
                    "agent",
                    models.ForeignKey(
                        null=True,
                        on_delete=models.SET_NULL,
                        related_name="+",
                        to="workspaces.agent",
                    ),
                ),
                (
                    "conversation",
                    models.ForeignKey(
                        null=True,
                        on_delete=models.CASCADE,
                        related_name="+",
                        to="memories.conversation",
                    ),
                ),
                (
                    "subject",
                    models.ForeignKey(
                        db_index=False,
                        null=True,
                        on_delete=models.CASCADE,
                        related_name="memories",
                        to="workspaces.subject",
                    ),
                ),
                (
                    "superseded_by",
                    models.ForeignKey(
                        db_index=False,
                        editable=False,
                        null=True,
                        on_delete=models.SET_NULL,
                        related_name="supersedes",
                        to="memories.memory",
                    ),
                ),
                (
                    "workspace",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=models.CASCADE,
                        related_name="+",
                        to="workspaces.workspace",
                    ),
                ),
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
                            models.Q(
                                ("forgotten_at", None), ("held_at", None), ("superseded_by", None)
                            ),
                            models.BooleanField(),
                        ),
                        output_field=models.BooleanField(),
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
                        condition=models.Q(("superseded_by__isnull", False)),
                        fields=["superseded_by"],
                        name="memory_chain",
                    ),
                    models.Index(
                        condition=models.Q(("forget_after__isnull", False), ("forgotten_at", None)),
                        fields=["forget_after"],
                        name="memory_expiring",
                    ),
                    GinIndex(fields=["entities"], name="memory_entities"),
                    models.Index(
                        condition=models.Q(("is_head", True)),
                        fields=["workspace", "fingerprint"],
                        name="memory_same_text",
                    ),
                    GinIndex(
                        condition=models.Q(("is_head", True)),
                        fastupdate=True,
                        fields=["slots"],
                        gin_pending_list_limit=256,
                        name="memory_slots",
                    ),
                ],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("confidence__gte", 0), ("confidence__lte", 1)),
                        name="memory_confidence_range",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("scope", "thread"), _negated=True),
                            ("conversation__isnull", False),
                            _connector="OR",
                        ),
                        name="memory_thread_has_conversation",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("scope", "workflow"), _negated=True),
                            models.Q(("workflow", ""), _negated=True),
                            _connector="OR",
                        ),
                        name="memory_workflow_is_named",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("superseded_by", models.F("id")), _negated=True),
                        name="memory_not_its_own_successor",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("content", ""), _negated=True),
                        name="memory_says_something",
                    ),
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
                        choices=[
                            ("received", "Received"),
                            ("extracting", "Extracting"),
                            ("resolving", "Resolving"),
                            ("done", "Done"),
                            ("failed", "Failed"),
                            ("dead", "Dead"),
                        ],
                        default="received",
                        max_length=10,
                    ),
                ),
                (
                    "mode",
                    models.CharField(
                        choices=[("sync", "Sync"), ("async", "Async")], default="sync", max_length=5
                    ),
                ),
                (
                    "pathway",
                    models.CharField(
                        choices=[("conversation", "Conversation"), ("activity", "Activity")],
                        default="conversation",
                        max_length=12,
                    ),
                ),
                (
                    "extract",
                    models.CharField(
                        choices=[
                            ("auto", "Auto"),
                            ("patterns", "Patterns"),
                            ("llm", "Llm"),
                            ("none", "None"),
                        ],
                        default="auto",
                        max_length=8,
                    ),
                ),
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
                (
                    "agent",
                    models.ForeignKey(
                        null=True,
                        on_delete=models.SET_NULL,
                        related_name="+",
                        to="workspaces.agent",
                    ),
                ),
                (
                    "conversation",
                    models.ForeignKey(
                        null=True,
                        on_delete=models.CASCADE,
                        related_name="+",
                        to="memories.conversation",
                    ),
                ),
                (
                    "subject",
                    models.ForeignKey(
                        null=True,
                        on_delete=models.CASCADE,
                        related_name="+",
                        to="workspaces.subject",
                    ),
                ),
                (
                    "workspace",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=models.CASCADE,
                        related_name="+",
                        to="workspaces.workspace",
                    ),
                ),
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
                        condition=models.Q(("state__in", ["received", "extracting", "resolving"])),
                        fields=["next_attempt_at"],
                        name="session_due",
                    ),
                    models.Index(
                        condition=models.Q(("state__in", ["failed", "dead"])),
                        fields=["workspace"],
                        name="session_stuck",
                    ),
                    models.Index(
                        condition=models.Q(("answer__isnull", False)),
                        fields=["answer"],
                        name="session_answer",
                    ),
                    models.Index(
                        condition=models.Q(("state", "received")),
                        fields=["workspace", "next_attempt_at"],
                        name="session_turn",
                    ),
                ],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("scope", "thread"), _negated=True),
                            ("conversation__isnull", False),
                            _connector="OR",
                        ),
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
                        choices=[
                            ("user", "User"),
                            ("assistant", "Assistant"),
                            ("system", "System"),
                            ("tool_use", "Tool Use"),
                            ("tool_result", "Tool Result"),
                            ("error", "Error"),
                            ("activity", "Activity"),
                            ("text", "Text"),
                        ],
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
                (
                    "agent",
                    models.ForeignKey(
                        null=True,
                        on_delete=models.SET_NULL,
                        related_name="+",
                        to="workspaces.agent",
                    ),
                ),
                (
                    "conversation",
                    models.ForeignKey(
                        db_index=False,
                        null=True,
                        on_delete=models.CASCADE,
                        related_name="episodes",
                        to="memories.conversation",
                    ),
                ),
                (
                    "subject",
                    models.ForeignKey(
                        db_index=False,
                        null=True,
                        on_delete=models.CASCADE,
                        related_name="+",
                        to="workspaces.subject",
                    ),
                ),
                (
                    "workspace",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=models.CASCADE,
                        related_name="+",
                        to="workspaces.workspace",
                    ),
                ),
                (
                    "session",
                    models.ForeignKey(
                        null=True,
                        on_delete=models.SET_NULL,
                        related_name="episodes",
                        to="memories.memorysession",
                    ),
                ),
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
                        condition=models.Q(("external_id__isnull", False)),
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
                ("category", models.CharField(choices=CATEGORIES, default="other", max_length=12)),
                ("fact_type", models.CharField(blank=True, choices=FACT_TYPES, max_length=10)),
                ("confidence", models.FloatField(default=1.0)),
                (
                    "method",
                    models.CharField(
                        choices=[
                            ("pattern", "Pattern"),
                            ("llm", "Llm"),
                            ("whole", "Whole"),
                            ("manual", "Manual"),
                        ],
                        max_length=8,
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
                (
                    "agent",
                    models.ForeignKey(
                        null=True,
                        on_delete=models.SET_NULL,
                        related_name="+",
                        to="workspaces.agent",
                    ),
                ),
                (
                    "subject",
                    models.ForeignKey(
                        null=True,
                        on_delete=models.CASCADE,
                        related_name="+",
                        to="workspaces.subject",
                    ),
                ),
                (
                    "workspace",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=models.CASCADE,
                        related_name="+",
                        to="workspaces.workspace",
                    ),
                ),
                (
                    "memory",
                    models.ForeignKey(
                        null=True,
                        on_delete=models.CASCADE,
                        related_name="facts",
                        to="memories.memory",
                    ),
                ),
                (
                    "session",
                    models.ForeignKey(
                        null=True,
                        on_delete=models.CASCADE,
                        related_name="facts",
                        to="memories.memorysession",
                    ),
                ),
            ],
            options={
                "ordering": ["-id"],
                "indexes": [
                    models.Index(fields=["workspace", "-id"], name="fact_newest"),
                    GinIndex(fields=["entities"], name="fact_entities"),
                    models.Index(
                        condition=models.Q(("quarantined_at__isnull", False)),
                        fields=["workspace"],
                        name="fact_quarantined",
                    ),
                ],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("confidence__gte", 0), ("confidence__lte", 1)),
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
                (
                    "subject",
                    models.ForeignKey(
                        null=True,
                        on_delete=models.CASCADE,
                        related_name="+",
                        to="workspaces.subject",
                    ),
                ),
                WORKSPACE,
                (
                    "memory",
                    models.ForeignKey(
                        null=True, on_delete=models.SET_NULL, related_name="+", to="memories.memory"
                    ),
                ),
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
            name="Supersession",
            fields=[
                *ROW,
                ("similarity", models.FloatField(null=True)),
                ("rule", models.CharField(max_length=40)),
                ("method", models.CharField(blank=True, max_length=20)),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("applied", "Applied"),
                            ("pending", "Pending"),
                            ("rejected", "Rejected"),
                            ("undone", "Undone"),
                        ],
                        max_length=8,
                    ),
                ),
                ("decided_by", models.CharField(max_length=200)),
                ("decided_at", models.DateTimeField(default=timezone.now)),
                ("note", models.TextField(blank=True)),
                (
                    "new",
                    models.ForeignKey(
                        on_delete=models.CASCADE,
                        related_name="replaces_through",
                        to="memories.memory",
                    ),
                ),
                (
                    "old",
                    models.ForeignKey(
                        on_delete=models.CASCADE,
                        related_name="replaced_through",
                        to="memories.memory",
                    ),
                ),
                WORKSPACE,
                ("waited", models.BooleanField(db_default=False, default=False)),
                ("model", models.CharField(blank=True, db_default="", default="", max_length=250)),
            ],
            options={
                "ordering": ["-id"],
                "indexes": [
                    models.Index(
                        condition=models.Q(("state", "pending")),
                        fields=["workspace", "-id"],
                        name="supersession_pending",
                    ),
                    models.Index(
                        condition=models.Q(("state", "pending"), _negated=True),
                        fields=["workspace", "-decided_at"],
                        name="supersession_decided",
                    ),
                ],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("old", models.F("new")), _negated=True),
                        name="supersession_of_another",
                    ),
                    models.UniqueConstraint(
                        condition=models.Q(("state", "applied")),
                        fields=("old",),
                        name="supersession_applied_once",
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
                (
                    "episode",
                    models.ForeignKey(
                        on_delete=models.CASCADE, related_name="citations", to="memories.episode"
                    ),
                ),
                (
                    "fact",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=models.CASCADE,
                        related_name="citations",
                        to="memories.fact",
                    ),
                ),
            ],
            options={
                "ordering": ["id"],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("end__gt", models.F("start"))),
                        name="citation_span_forward",
                    ),
                    models.UniqueConstraint(
                        fields=("fact", "episode", "start", "end"), name="citation_once"
                    ),
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
            ],
            options={"indexes": [models.Index(fields=["next_attempt_at"], name="due_vector_next")]},
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
                ("category", models.CharField(choices=CATEGORIES, default="other", max_length=12)),
                (
                    "state",
                    models.CharField(
                        choices=[("open", "Open"), ("done", "Done")], default="open", max_length=4
                    ),
                ),
                ("note", models.TextField(blank=True)),
                (
                    "episode",
                    models.ForeignKey(
                        on_delete=models.CASCADE, related_name="+", to="memories.episode"
                    ),
                ),
                (
                    "session",
                    models.ForeignKey(
                        null=True,
                        on_delete=models.SET_NULL,
                        related_name="+",
                        to="memories.memorysession",
                    ),
                ),
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
                (
                    "name",
                    models.CharField(
                        max_length=80,
                        validators=[
                            RegexValidator(
                                "^[a-z0-9][a-z0-9_-]*$",
                                "Lower-case letters, digits, hyphens and underscores.",
                            )
                        ],
                    ),
                ),
                ("category", models.CharField(choices=CATEGORIES, default="other", max_length=12)),
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
                        condition=models.Q(("confidence__gte", 0), ("confidence__lte", 1)),
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
                        choices=[
                            ("benchmark", "Benchmark"),
                            ("retrieval", "Retrieval"),
                            ("extraction", "Extraction"),
                            ("conflicts", "Conflicts"),
                        ],
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
                ]
            },
        ),
        migrations.CreateModel(
            name="CommonTerm",
            fields=[
                ("key", models.BigIntegerField(primary_key=True, serialize=False)),
                ("layer", models.SmallIntegerField(choices=LAYERS)),
                ("share", models.FloatField(help_text="0 to 1")),
                (
                    "workspace",
                    models.ForeignKey(
                        on_delete=models.CASCADE, related_name="+", to="memories.workspaceindex"
                    ),
                ),
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
                (
                    "workspace",
                    models.ForeignKey(
                        on_delete=models.CASCADE,
                        related_name="large_layers",
                        to="memories.workspaceindex",
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("workspace", "layer"), name="large_layer_once")
                ]
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
                (
                    "conversation",
                    models.ForeignKey(
                        null=True,
                        on_delete=models.CASCADE,
                        related_name="+",
                        to="memories.conversation",
                    ),
                ),
                (
                    "subject",
                    models.ForeignKey(
                        null=True,
                        on_delete=models.CASCADE,
                        related_name="+",
                        to="workspaces.subject",
                    ),
                ),
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
                        condition=models.Q(("conversation__isnull", False)),
                        fields=["conversation"],
                        name="set_conversation",
                    ),
                    models.Index(
                        condition=models.Q(("due_at__isnull", False)),
                        fields=["due_at"],
                        name="set_due",
                    ),
                    models.Index(
                        condition=models.Q(("embedding_model__isnull", False)),
                        fields=["workspace", "embedding_model"],
                        name="set_embedding",
                    ),
                    models.Index(
                        condition=models.Q(("embedding_due_at__isnull", False)),
                        fields=["embedding_due_at"],
                        name="set_embedding_due",
                    ),
                ],
                "constraints": [
                    models.UniqueConstraint(fields=("workspace", "key"), name="set_key_once"),
                    models.CheckConstraint(
                        condition=models.Q(("key", ""), _negated=True), name="set_is_named"
                    ),
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
                (
                    "agent",
                    models.ForeignKey(
                        null=True,
                        on_delete=models.SET_NULL,
                        related_name="+",
                        to="workspaces.agent",
                    ),
                ),
                (
                    "conversation",
                    models.ForeignKey(
                        null=True,
                        on_delete=models.CASCADE,
                        related_name="+",
                        to="memories.conversation",
                    ),
                ),
                (
                    "subject",
                    models.ForeignKey(
                        null=True,
                        on_delete=models.CASCADE,
                        related_name="+",
                        to="workspaces.subject",
                    ),
                ),
                WORKSPACE,
                (
                    "set",
                    models.ForeignKey(
                        on_delete=models.CASCADE, related_name="features", to="memories.featureset"
                    ),
                ),
            ],
            options={
                "ordering": ["-id"],
                "indexes": [
                    models.Index(fields=["workspace", "-id"], name="feature_newest"),
                    models.Index(fields=["set", "category", "tag"], name="feature_section"),
                    models.Index(
                        condition=models.Q(("conversation__isnull", False)),
                        fields=["conversation"],
                        name="feature_conversation",
                    ),
                ],
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(("ended_at", None)),
                        fields=("set", "agent", "fingerprint"),
                        name="feature_once",
                        nulls_distinct=False,
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("category", ""), _negated=True),
                            models.Q(("tag", ""), _negated=True),
                            models.Q(("feature", ""), _negated=True),
                            models.Q(("value", ""), _negated=True),
                        ),
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
                        choices=[
                            ("add", "Add"),
                            ("update", "Update"),
                            ("delete", "Delete"),
                            ("merge", "Merge"),
                            ("undo", "Undo"),
                        ],
                        max_length=6,
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
                (
                    "feature",
                    models.ForeignKey(
                        on_delete=models.CASCADE, related_name="changes", to="memories.feature"
                    ),
                ),
                WORKSPACE,
                (
                    "set",
                    models.ForeignKey(
                        on_delete=models.CASCADE, related_name="changes", to="memories.featureset"
                    ),
                ),
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
                        condition=models.Q(("is_current", True)),
                        fields=("feature",),
                        name="change_one_current",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("before__isnull", False), ("after__isnull", False), _connector="OR"
                        ),
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
                (
                    "change",
                    models.ForeignKey(
                        on_delete=models.CASCADE,
                        related_name="citations",
                        to="memories.featurechange",
                    ),
                ),
                (
                    "episode",
                    models.ForeignKey(
                        on_delete=models.CASCADE,
                        related_name="feature_citations",
                        to="memories.episode",
                    ),
                ),
                (
                    "fact",
                    models.ForeignKey(
                        null=True,
                        on_delete=models.SET_NULL,
                        related_name="feature_citations",
                        to="memories.fact",
                    ),
                ),
                (
                    "feature",
                    models.ForeignKey(
                        on_delete=models.CASCADE, related_name="citations", to="memories.feature"
                    ),
                ),
                WORKSPACE,
                ("created_at", models.DateTimeField(default=timezone.now, editable=False)),
            ],
            options={
                "ordering": ["id"],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("end__gt", models.F("start"))),
                        name="feature_citation_span_forward",
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
                (
                    "episode",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=models.CASCADE,
                        related_name="+",
                        to="memories.episode",
                    ),
                ),
                WORKSPACE,
                (
                    "set",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=models.CASCADE,
                        related_name="marks",
                        to="memories.featureset",
                    ),
                ),
            ],
            options={"indexes": [models.Index(fields=["episode"], name="feature_mark_episode")]},
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
                (
                    "agent",
                    models.ForeignKey(
                        null=True,
                        on_delete=models.SET_NULL,
                        related_name="+",
                        to="workspaces.agent",
                    ),
                ),
                WORKSPACE,
                (
                    "set",
                    models.ForeignKey(
                        on_delete=models.CASCADE, related_name="refusals", to="memories.featureset"
                    ),
                ),
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
                (
                    "agent",
                    models.ForeignKey(
                        null=True, on_delete=models.CASCADE, related_name="+", to="workspaces.agent"
                    ),
                ),
                (
                    "conversation",
                    models.ForeignKey(
                        on_delete=models.CASCADE,
                        related_name="summaries",
                        to="memories.conversation",
                    ),
                ),
                WORKSPACE,
                ("claims", models.PositiveIntegerField(default=0)),
            ],
            options={
                "verbose_name": "summary of a conversation",
                "verbose_name_plural": "summaries of conversations",
                "ordering": ["-id"],
                "indexes": [
                    models.Index(
                        condition=models.Q(("due_at__isnull", False)),
                        fields=["due_at"],
                        name="summary_due",
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
                (
                    "name",
                    models.CharField(
                        max_length=30,
                        validators=[
                            RegexValidator(
                                "^[a-z0-9][a-z0-9_-]*$",
                                "Lower-case letters, digits, hyphens and underscores.",
                            )
                        ],
                    ),
                ),
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
                (
                    "name",
                    models.CharField(
                        max_length=30,
                        validators=[
                            RegexValidator(
                                "^[a-z0-9][a-z0-9_-]*$",
                                "Lower-case letters, digits, hyphens and underscores.",
                            )
                        ],
                    ),
                ),
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
                        choices=[
                            ("subject", "Subject"),
                            ("conversation", "Conversation"),
                            ("episode", "Episode"),
                        ],
                        max_length=12,
                    ),
                ),
                ("target_id", models.UUIDField()),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("waiting", "Waiting"),
                            ("running", "Running"),
                            ("done", "Done"),
                            ("failed", "Failed"),
                        ],
                        default="waiting",
                        max_length=7,
                    ),
                ),
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
                        condition=models.Q(("due_at__isnull", False)),
                        fields=["due_at"],
                        name="erasure_due",
                    )
                ],
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(("state__in", ["waiting", "running"])),
                        fields=("workspace", "kind", "target_id"),
                        name="erasure_once_at_a_time",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("state", "done"), _negated=True),
                            ("probes", []),
                            _connector="OR",
                        ),
                        name="erasure_keeps_no_words",
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
                (
                    "source",
                    models.ForeignKey(
                        on_delete=models.CASCADE, related_name="+", to="workspaces.subject"
                    ),
                ),
                (
                    "target",
                    models.ForeignKey(
                        on_delete=models.CASCADE, related_name="+", to="workspaces.subject"
                    ),
                ),
                WORKSPACE,
            ],
            options={
                "ordering": ["-id"],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("source", models.F("target")), _negated=True),
                        name="merge_of_two",
                    )
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
                (
                    "merge",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=models.CASCADE,
                        related_name="moved",
                        to="memories.subjectmerge",
                    ),
                ),
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
            options={"ordering": ["-seen_at"]},
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
                        condition=models.Q(("finished_at__isnull", True)),
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
                        choices=[("closed", "Closed"), ("open", "Open")],
                        default="closed",
                        max_length=10,
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
                        condition=models.Q(
                            ("state", "closed"), ("next_try_at__isnull", False), _connector="OR"
                        ),
                        name="breaker_open_tried_again",
                    )
                ]
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
                        choices=[
                            ("created", "Created"),
                            ("approved", "Approved"),
                            ("restored", "Restored"),
                            ("undone", "Undone"),
                        ],
                        max_length=10,
                    ),
                ),
                ("ended_by", models.CharField(blank=True, max_length=20)),
                WORKSPACE,
                (
                    "memory",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=models.CASCADE,
                        related_name="periods",
                        to="memories.memory",
                    ),
                ),
            ],
            options={
                "indexes": [
                    models.Index(fields=["memory", "from_at"], name="memoryperiod_history")
                ],
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(("until_at", None)),
                        fields=("memory",),
                        name="memoryperiod_one_open",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("until_at", None),
                            ("until_at__gte", models.F("from_at")),
                            _connector="OR",
                        ),
                        name="memoryperiod_runs_forward",
                    ),
                ],
            },
        ),
        migrations.RunSQL(STORAGE + SCANS, migrations.RunSQL.noop),
    ]
