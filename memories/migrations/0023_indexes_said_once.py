"""Columns that an index of ours begins with, or has alone, need no second one of Django's: each
costs every row that is written."""

from typing import Any

from django.db import migrations, models

TWICE = [
    ("citation", "citation_episode"),
    ("episode", "episode_session"),
    ("fact", "fact_memory"),
    ("fact", "fact_session"),
    ("fact", "fact_subject"),
    ("feature", "feature_subject"),
    ("featurecitation", "feature_citation_episode"),
    ("featurecitation", "feature_citation_fact"),
    ("featurecitation", "feature_citation_feature"),
    ("featureset", "set_subject"),
    ("memory", "memory_conversation"),
    ("memorysession", "session_subject"),
    ("miss", "miss_session"),
    ("supersession", "supersession_new"),
]


def without_index(
    model: str, field: str, index: str, to: str, **options: Any
) -> migrations.SeparateDatabaseAndState:
    """Not Django's own statements: they would make the foreign key anew, and drop a partial
    unique index on the same column with the one that is meant."""
    key = models.ForeignKey(
        to=to, db_index=False, **{"on_delete": models.CASCADE, "related_name": "+"} | options
    )
    return migrations.SeparateDatabaseAndState(
        database_operations=[
            migrations.RunSQL(
                f"drop index if exists {index}",
                f"create index {index} on memories_{model} ({field}_id)",
            )
        ],
        state_operations=[migrations.AlterField(model, field, key)],
    )


class Migration(migrations.Migration):
    dependencies = [
        ("memories", "0022_one_ordinary_length"),
        ("workspaces", "0002_audit_is_kept"),
    ]

    operations = [
        *(migrations.RemoveIndex(model, name) for model, name in TWICE),
        without_index(
            "citation",
            "fact",
            "memories_citation_fact_id_6b863575",
            "memories.fact",
            related_name="citations",
        ),
        without_index(
            "episode",
            "conversation",
            "memories_episode_conversation_id_b432a973",
            "memories.conversation",
            null=True,
            related_name="episodes",
        ),
        without_index(
            "episode",
            "subject",
            "memories_episode_subject_id_80c06a76",
            "workspaces.subject",
            null=True,
        ),
        without_index(
            "episode", "workspace", "memories_episode_workspace_id_dc70ccc3", "workspaces.workspace"
        ),
        without_index(
            "fact", "workspace", "memories_fact_workspace_id_48934e1c", "workspaces.workspace"
        ),
        without_index(
            "liveness",
            "memory",
            "memories_liveness_memory_id_7a75bfc4",
            "memories.memory",
            related_name="liveness",
        ),
        without_index(
            "memory",
            "subject",
            "memories_memory_subject_id_6681eee7",
            "workspaces.subject",
            null=True,
            related_name="memories",
        ),
        without_index(
            "memory",
            "superseded_by",
            "memories_memory_superseded_by_id_90b6d19b",
            "memories.memory",
            null=True,
            editable=False,
            on_delete=models.SET_NULL,
            related_name="supersedes",
        ),
        without_index(
            "memory", "workspace", "memories_memory_workspace_id_775ea7b4", "workspaces.workspace"
        ),
        without_index(
            "memorysession",
            "workspace",
            "memories_memorysession_workspace_id_7146a66c",
            "workspaces.workspace",
        ),
    ]
