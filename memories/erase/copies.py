"""Every copy of content has a name here: which columns hold what was said, or was made of it.

A test walks all models: a column of text, JSON, a list or bytes that is named neither here nor
among those that hold none fails it. The proof of an erasure reads all of CONTENT.
"""

from typing import Any

from memories.models import (
    Case,
    Citation,
    Conversation,
    ConversationSummary,
    DueVector,
    Entry,
    Episode,
    Fact,
    Feature,
    FeatureChange,
    FeatureCitation,
    FeatureRefusal,
    FeatureSet,
    IdempotentAnswer,
    MaskedSpan,
    Memory,
    MemorySession,
    Miss,
    Rejection,
    Speaker,
    Supersession,
    WorkspaceChange,
    WorkspacePattern,
    WorkspaceSlot,
)
from workspaces.models import AuditEntry, Subject

# What goes, is blanked or is made anew when its origin is erased.
CONTENT: dict[Any, tuple[str, ...]] = {
    Episode: ("content", "payload", "metadata", "author", "external_id"),
    Conversation: ("external_id", "title", "metadata"),
    MemorySession: ("metadata", "reason", "error", "steps", "counts", "timings"),
    Fact: ("statement", "entities", "quarantine_reason"),
    Citation: ("quote",),
    MaskedSpan: ("words",),
    Memory: ("content", "entities", "metadata", "forget_reason", "fingerprint", "slots"),
    Supersession: ("note",),
    Case: ("note",),
    Rejection: ("content", "reason", "fingerprint"),
    Miss: ("text", "statements", "shape", "note"),
    Feature: (
        "value", "content", "feature", "category", "tag", "about", "slot", "metadata",
        "fingerprint",
    ),
    FeatureChange: ("before", "after", "reason"),
    FeatureCitation: ("quote",),
    FeatureRefusal: ("command", "reason"),
    FeatureSet: ("key", "metadata", "error", "embedding_error"),
    ConversationSummary: ("lines", "error"),
    IdempotentAnswer: ("body", "request_digest"),
    WorkspacePattern: ("examples", "counter_examples"),
    WorkspaceSlot: ("examples", "counter_examples"),
    WorkspaceChange: ("examples", "counter_examples"),
    AuditEntry: ("before", "after", "reason"),
    Subject: ("external_id", "name", "metadata"),
    Entry: ("author", "terms", "trigrams", "weights"),
    Speaker: ("author",),
    DueVector: ("error",),
}  # fmt: skip
# Columns that are keys, numbers or vectors: they go with their row and cannot be read for words.
UNREADABLE = {
    "fingerprint", "slots", "request_digest", "terms", "trigrams", "weights", "embedding", "lines",
}  # fmt: skip
FREE = {
    # ids, names of rules and actors, states, counts
    "MemorySession": {
        "workflow", "requested_by", "episode_ids", "created_ids", "updated_ids", "reinforced_ids",
    },
    "Episode": {"role", "workflow"},
    "Conversation": {"workflow"},
    "Memory": {"workflow"},
    "Fact": {"rule"},
    "MemoryPeriod": {"ended_by"},
    "MaskedSpan": {"place", "reason"},
    "Intent": {"memory_ids", "reason", "decided_by"},
    "Supersession": {"model", "rule", "method", "decided_by"},
    "Case": {"attribute", "decided_by", "steps"}, "CaseItem": {"why"},
    "Rejection": {"rejected_by"},
    "FeatureSet": {"role", "config", "embedder"},
    "FeatureChange": {"by", "rule"},
    "FeatureRefusal": {"rule", "episode_ids"},
    "SubjectMerge": {"merged_by"}, "MergedRows": {"kind", "ids"},
    "ConversationSummary": {"rule"},
    "IdempotentAnswer": {"asker", "key"},
    "WorkspacePattern": {"name", "regex", "template"},
    "WorkspaceSlot": {"name", "regex"},
    "WorkspaceChange": {"name", "verbs", "ended"},
    "AuditEntry": {"actor", "action", "target_kind"},
    "Entry": {"role"},
    # A vector goes with its entry.
    "Vector": {"embedding"},
    "Erasure": {"requested_by", "plan", "removed", "proof", "probes", "error"},
    # of the server and its people, not of what is remembered
    "Figure": None, "EvaluationRun": None, "EmbeddingModel": None, "ExtractorUse": None,
    "LargeLayer": None, "Breaker": None, "User": None, "Workspace": None, "Agent": None, "ApiKey": None,
    "Team": None,
    "IndexRepair": None, "WorkerBeat": None, "Membership": None, "Invitation": None, "ServerKey": None,
    "WorkspaceRemoval": None, "LoginPause": None, "LoginAttempt": None, "SecondFactor": None,
    "RecoveryCode": None,
}  # fmt: skip
