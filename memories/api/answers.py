"""What the routes answer, for the OpenAPI schema; shapes.py makes the same out of rows."""

from rest_framework import serializers

from memories.models import (
    Category,
    Episode,
    Fact,
    FactType,
    MemoryScope,
    MemorySession,
    Source,
    Supersession,
    Visibility,
)
from workspaces.api.fields import Camel, Free


class Words(serializers.ListField):
    child = serializers.CharField()


class Ids(serializers.ListField):
    child = serializers.UUIDField()


class MemorySerializer(Camel):
    id = serializers.UUIDField()
    content = serializers.CharField()
    scope = serializers.ChoiceField(MemoryScope.choices)
    fact_type = serializers.ChoiceField(FactType.choices, allow_null=True)
    category = serializers.ChoiceField(Category.choices)
    source = serializers.ChoiceField(Source.choices)  # type: ignore[assignment]
    confidence = serializers.FloatField()
    visibility = serializers.ChoiceField(Visibility.choices)
    user_id = serializers.CharField(allow_null=True)
    agent_id = serializers.CharField(allow_null=True)
    thread_id = serializers.CharField(allow_null=True)
    workflow_id = serializers.CharField(allow_null=True)
    event_date = serializers.DateTimeField(allow_null=True)
    valid_from = serializers.DateTimeField(allow_null=True)
    valid_until = serializers.DateTimeField(allow_null=True)
    superseded_by_id = serializers.UUIDField(allow_null=True)
    version = serializers.IntegerField()
    is_latest = serializers.BooleanField()
    is_inference = serializers.BooleanField()
    source_count = serializers.IntegerField(help_text="How many facts stand under it.")
    pinned = serializers.BooleanField(help_text="No machine supersedes it.")
    held_at = serializers.DateTimeField(
        allow_null=True, help_text="Since when it waits for a person's decision."
    )
    forgotten_at = serializers.DateTimeField(allow_null=True)
    forget_after = serializers.DateTimeField(allow_null=True)
    forget_reason = serializers.CharField(allow_null=True)
    entities = Words()
    metadata = Free()
    created_at = serializers.DateTimeField()
    updated_at = serializers.DateTimeField()


class EpisodeSerializer(Camel):
    id = serializers.UUIDField()
    external_id = serializers.CharField(allow_null=True)
    kind = serializers.ChoiceField(Episode.Kind.choices)
    role = serializers.CharField()
    name = serializers.CharField(allow_null=True)
    content = serializers.CharField()
    occurred_at = serializers.DateTimeField()
    thread_id = serializers.CharField(allow_null=True)
    user_id = serializers.CharField(allow_null=True)
    agent_id = serializers.CharField(allow_null=True)
    session_id = serializers.UUIDField(allow_null=True)
    position = serializers.IntegerField()
    payload = Free()
    metadata = Free()
    created_at = serializers.DateTimeField()


class CitationSerializer(Camel):
    """The words a fact stands on: `quote` is the episode's content from start to end."""

    fact_id = serializers.UUIDField(allow_null=True)
    episode_id = serializers.UUIDField()
    external_id = serializers.CharField(allow_null=True)
    chunk_id = serializers.UUIDField(allow_null=True)
    start = serializers.IntegerField()
    end = serializers.IntegerField()
    quote = serializers.CharField()


class FactSerializer(Camel):
    id = serializers.UUIDField()
    statement = serializers.CharField()
    category = serializers.ChoiceField(Category.choices)
    fact_type = serializers.ChoiceField(FactType.choices, allow_null=True)
    confidence = serializers.FloatField()
    method = serializers.ChoiceField(Fact.Method.choices)
    rule = serializers.CharField()
    entities = Words()
    visibility = serializers.ChoiceField(Visibility.choices)
    event_date = serializers.DateTimeField(allow_null=True)
    memory_id = serializers.UUIDField(allow_null=True)
    session_id = serializers.UUIDField(allow_null=True)
    user_id = serializers.CharField(allow_null=True)
    agent_id = serializers.CharField(allow_null=True)
    quarantined_at = serializers.DateTimeField(allow_null=True)
    quarantine_reason = serializers.CharField(allow_null=True)
    citations = CitationSerializer(many=True)
    created_at = serializers.DateTimeField()


class ConversationSerializer(Camel):
    id = serializers.UUIDField()
    thread_id = serializers.CharField()
    user_id = serializers.CharField(allow_null=True)
    agent_id = serializers.CharField(allow_null=True)
    workflow_id = serializers.CharField(allow_null=True)
    title = serializers.CharField()
    metadata = Free()
    created_at = serializers.DateTimeField()
    updated_at = serializers.DateTimeField()


class OutcomeSerializer(Camel):
    session_id = serializers.UUIDField()
    status = serializers.ChoiceField(MemorySession.State.choices)
    memories_created = serializers.IntegerField()
    memories_updated = serializers.IntegerField(help_text="How many were superseded.")
    memories_reinforced = serializers.IntegerField()
    facts_extracted = serializers.IntegerField()
    pending_review = serializers.IntegerField()
    reason = serializers.CharField(allow_null=True, help_text="Why there are no more facts.")
    error = serializers.CharField(allow_null=True)


class SessionSerializer(OutcomeSerializer):
    id = serializers.UUIDField()
    mode = serializers.ChoiceField(MemorySession.Mode.choices)
    pathway = serializers.ChoiceField(MemorySession.Pathway.choices)
    extract = serializers.ChoiceField(MemorySession.Extract.choices)
    scope = serializers.ChoiceField(MemoryScope.choices)
    visibility = serializers.ChoiceField(Visibility.choices, allow_null=True)
    user_id = serializers.CharField(allow_null=True)
    agent_id = serializers.CharField(allow_null=True)
    thread_id = serializers.CharField(allow_null=True)
    workflow_id = serializers.CharField(allow_null=True)
    attempts = serializers.IntegerField()
    next_attempt_at = serializers.DateTimeField(allow_null=True)
    episode_ids = Ids()
    created_ids = Ids()
    updated_ids = Ids()
    reinforced_ids = Ids()
    counts = Free()
    timings = Free()
    steps = serializers.ListField(
        child=Free(), help_text="What was tried, in order: rule, model, tokens, outcome."
    )
    metadata = Free()
    created_at = serializers.DateTimeField()
    finished_at = serializers.DateTimeField(allow_null=True)


class DecisionSerializer(Camel):
    id = serializers.UUIDField()
    state = serializers.ChoiceField(Supersession.State.choices)
    rule = serializers.CharField()
    method = serializers.CharField(allow_null=True)
    similarity = serializers.FloatField(allow_null=True)
    model = serializers.CharField(
        allow_null=True, help_text="The embedding model of whose vectors it is the cosine."
    )
    decided_by = serializers.CharField()
    decided_at = serializers.DateTimeField()
    note = serializers.CharField(allow_null=True)


class SupersessionSerializer(DecisionSerializer):
    old = MemorySerializer()
    new = MemorySerializer()


class LinkSerializer(Camel):
    memory = MemorySerializer()
    supersession = DecisionSerializer(allow_null=True)


class ChainSerializer(Camel):
    results = LinkSerializer(many=True)
