"""How feature sets and features look in JSON, and what the OpenAPI schema says of that."""

from collections.abc import Iterable, Mapping
from typing import Any

from rest_framework import serializers

from memories.api import shapes
from memories.api.answers import CitationSerializer
from memories.models import Feature, FeatureChange, FeatureCitation, FeatureSet, Visibility
from workspaces.api.fields import Camel, Free, moment


class FeatureSerializer(Camel):
    id = serializers.UUIDField()
    set_key = serializers.CharField()
    category = serializers.CharField()
    tag = serializers.CharField()
    feature = serializers.CharField()
    value = serializers.CharField()
    about = serializers.CharField(allow_null=True, help_text="Whose it is, where several speak.")
    visibility = serializers.ChoiceField(Visibility.choices)
    method = serializers.ChoiceField(Feature.Method.choices)
    user_id = serializers.CharField(allow_null=True)
    agent_id = serializers.CharField(allow_null=True)
    thread_id = serializers.CharField(allow_null=True)
    metadata = Free()
    ended_at = serializers.DateTimeField(allow_null=True)
    created_at = serializers.DateTimeField()
    updated_at = serializers.DateTimeField()
    citations = CitationSerializer(many=True, required=False)


class ChangeSerializer(Camel):
    """One step in a feature's history; `after` null: it ended. Changes of one act share `batch`."""

    id = serializers.UUIDField()
    feature_id = serializers.UUIDField()
    batch = serializers.UUIDField()
    action = serializers.ChoiceField(FeatureChange.Action.choices)
    before = Free(allow_null=True)
    after = Free(allow_null=True)
    by = serializers.CharField()
    rule = serializers.CharField(allow_null=True)
    reason = serializers.CharField(allow_null=True)
    occurred_at = serializers.DateTimeField(help_text="When it was said.")
    created_at = serializers.DateTimeField()
    is_current = serializers.BooleanField()
    undone_at = serializers.DateTimeField(allow_null=True)
    citations = CitationSerializer(many=True)


class EmbeddingSerializer(Camel):
    """The embedding model that a set shall speak and the one it speaks; null: the workspace's."""

    wanted = serializers.CharField(allow_null=True)
    spoken = serializers.CharField(allow_null=True)
    state = serializers.ChoiceField(("ready", "under way", "failing"))
    made = serializers.IntegerField(help_text="Features that have a vector of the wanted model.")
    total = serializers.IntegerField()
    error = serializers.CharField(allow_null=True)


class SetSerializer(Camel):
    """What waits is told to those who see the whole workspace."""

    id = serializers.UUIDField()
    key = serializers.CharField()
    user_id = serializers.CharField(allow_null=True)
    thread_id = serializers.CharField(allow_null=True)
    role = serializers.CharField(allow_null=True)
    metadata = Free()
    waiting = serializers.IntegerField(allow_null=True, help_text="Episodes to be taken in.")
    waiting_since = serializers.DateTimeField(allow_null=True)
    due_at = serializers.DateTimeField(allow_null=True)
    folded_at = serializers.DateTimeField(allow_null=True)
    error = serializers.CharField(allow_null=True)
    embedding = EmbeddingSerializer(required=False, help_text="Of a set that is read alone.")
    created_at = serializers.DateTimeField()
    updated_at = serializers.DateTimeField()


class RefusalSerializer(Camel):
    id = serializers.UUIDField()
    batch = serializers.UUIDField()
    command = Free()
    reason = serializers.CharField()
    rule = serializers.CharField(allow_null=True)
    created_at = serializers.DateTimeField()


def feature(row: Any) -> dict[str, Any]:
    """Of a row with set_key and the callers' own ids."""
    return {
        "id": str(row.id),
        "setKey": row.set_key,
        "category": row.category,
        "tag": row.tag,
        "feature": row.feature,
        "value": row.value,
        "about": row.about or None,
        "visibility": row.visibility,
        "method": row.method,
        "userId": row.user_external,
        "agentId": row.agent_external,
        "threadId": row.thread_external,
        "metadata": row.metadata,
        "endedAt": moment(row.ended_at),
        "createdAt": moment(row.created_at),
        "updatedAt": moment(row.updated_at),
    }


def citation(row: FeatureCitation) -> dict[str, Any]:
    return shapes.citation(row, row.episode.external_id) | {
        "factId": str(row.fact_id) if row.fact_id else None
    }


def change(row: FeatureChange, citations: Iterable[FeatureCitation]) -> dict[str, Any]:
    return {
        "id": str(row.pk),
        "featureId": str(row.feature_id),
        "batch": str(row.batch),
        "action": row.action,
        "before": told(row.before),
        "after": told(row.after),
        "by": row.by,
        "rule": row.rule or None,
        "reason": row.reason or None,
        "occurredAt": moment(row.occurred_at),
        "createdAt": moment(row.created_at),
        "isCurrent": row.is_current,
        "undoneAt": moment(row.undone_at),
        "citations": [citation(one) for one in citations],
    }


def told(snapshot: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """A snapshot without what is the machine's own."""
    if snapshot is None:
        return None
    return {name: value for name, value in snapshot.items() if name != "slot"}


def feature_set(row: Any, *, whole: bool) -> dict[str, Any]:
    """`whole`: the asker sees all of the workspace, and so what waits."""
    found: FeatureSet = row
    return {
        "id": str(found.pk),
        "key": found.key,
        "userId": row.user_external,
        "threadId": row.thread_external,
        "role": found.role or None,
        "metadata": found.metadata,
        "waiting": found.waiting if whole else None,
        "waitingSince": moment(found.waiting_since) if whole else None,
        "dueAt": moment(found.due_at) if whole else None,
        "foldedAt": moment(found.folded_at),
        "error": (found.error or None) if whole else None,
        "createdAt": moment(found.created_at),
        "updatedAt": moment(found.updated_at),
    }


def refusal(row: Any) -> dict[str, Any]:
    return {
        "id": str(row.pk),
        "batch": str(row.batch),
        "command": row.command,
        "reason": row.reason,
        "rule": row.rule or None,
        "createdAt": moment(row.created_at),
    }
