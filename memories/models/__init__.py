from memories.models.breaker import Breaker
from memories.models.case import Case, CaseItem, rank_of, topic_of
from memories.models.chain import Link, chain, versions_of
from memories.models.conversation import (
    Conversation,
    Episode,
    MemoryScope,
    MemorySession,
    Visibility,
)
from memories.models.erasure import Erasure
from memories.models.fact import Citation, Fact
from memories.models.feature import (
    Feature,
    FeatureChange,
    FeatureCitation,
    FeatureMark,
    FeatureRefusal,
    FeatureSet,
    SetDiscovery,
)
from memories.models.figure import Figure
from memories.models.idempotency import IdempotentAnswer
from memories.models.index import (
    SCOPE_CODE,
    VISIBILITY_CODE,
    WIDEST_COVERED,
    CommonTerm,
    DueVector,
    EmbeddingModel,
    Entry,
    LargeLayer,
    Layer,
    Speaker,
    Vector,
    WorkspaceIndex,
)
from memories.models.index_repair import IndexRepair
from memories.models.measured import EvaluationRun
from memories.models.memory import (
    Category,
    FactType,
    Memory,
    MemoryPeriod,
    Rejection,
    Source,
    about_nobody,
    place_of,
    seen_by,
    workflow_place,
)
from memories.models.memory_state import LIVE_SQL, UNEXPIRED_SQL, MemoryState
from memories.models.miss import Miss
from memories.models.names import NAME_COLUMNS, NamedQuerySet, name_joins
from memories.models.own_words import WorkspaceChange, WorkspaceSlot
from memories.models.subject_merge import MergedRows, SubjectMerge
from memories.models.summary import ConversationSummary
from memories.models.supersession import Supersession
from memories.models.use import ExtractorUse
from memories.models.valid_at import AS_KNOWN, BELIEVED, NOW, SAID, AsOf
from memories.models.worker import WorkerBeat
from memories.models.workspace_pattern import WorkspacePattern

__all__ = [
    "NAME_COLUMNS",
    "NamedQuerySet",
    "name_joins",
    "AS_KNOWN",
    "BELIEVED",
    "NOW",
    "SAID",
    "AsOf",
    "SCOPE_CODE",
    "VISIBILITY_CODE",
    "WIDEST_COVERED",
    "Breaker",
    "Case",
    "CaseItem",
    "Category",
    "Citation",
    "CommonTerm",
    "Conversation",
    "ConversationSummary",
    "DueVector",
    "EmbeddingModel",
    "Entry",
    "Episode",
    "Erasure",
    "EvaluationRun",
    "ExtractorUse",
    "Fact",
    "FactType",
    "Figure",
    "Feature",
    "FeatureChange",
    "FeatureCitation",
    "FeatureMark",
    "FeatureRefusal",
    "FeatureSet",
    "IdempotentAnswer",
    "IndexRepair",
    "LIVE_SQL",
    "LargeLayer",
    "Layer",
    "Link",
    "MemoryPeriod",
    "Memory",
    "MemoryScope",
    "MemorySession",
    "MemoryState",
    "MergedRows",
    "Miss",
    "Rejection",
    "SetDiscovery",
    "Source",
    "Speaker",
    "SubjectMerge",
    "Supersession",
    "Vector",
    "UNEXPIRED_SQL",
    "Visibility",
    "WorkerBeat",
    "WorkspaceIndex",
    "WorkspaceChange",
    "WorkspacePattern",
    "WorkspaceSlot",
    "chain",
    "about_nobody",
    "place_of",
    "rank_of",
    "seen_by",
    "topic_of",
    "workflow_place",
    "versions_of",
]
