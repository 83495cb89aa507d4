from memories.models.case import Case, CaseItem, FailureMark, add_served, rank_of, topic_of
from memories.models.change_event import ChangeEvent
from memories.models.conversation_and_summaries import (
    CONTENT,
    NAME_COLUMNS,
    Conversation,
    ConversationSummary,
    DueSummary,
    Episode,
    MemoryScope,
    MemorySession,
    NamedQuerySet,
    TalkSummary,
    Visibility,
    name_joins,
)
from memories.models.document import (
    Blob,
    Chunk,
    Document,
    DocumentPart,
    DocumentSpace,
    Passage,
    Revision,
    Space,
    passages_of,
    words_of_passages,
)
from memories.models.erasure_and_masked_span import (
    Erasure,
    IrrevocableAct,
    LegalHold,
    MaskedSpan,
)
from memories.models.fact import Citation, Fact, Ground, Miss
from memories.models.feature import (
    Feature,
    FeatureChange,
    FeatureCitation,
    FeatureMark,
    FeatureRefusal,
    FeatureSet,
    SetDiscovery,
)
from memories.models.golden_question import GoldenQuestion, GoldenRun, change_of, is_lost
from memories.models.index import (
    APART,
    SCOPE_CODE,
    VISIBILITY_CODE,
    WIDEST_COVERED,
    CommonTerm,
    DueVector,
    EmbeddingModel,
    Entry,
    IndexRepair,
    LargeLayer,
    Layer,
    Speaker,
    Vector,
    WorkspaceIndex,
)
from memories.models.intent import Intent
from memories.models.long_job import LongJob
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
from memories.models.memory_state import (
    AS_KNOWN,
    BELIEVED,
    LIVE_SQL,
    NOW,
    SAID,
    UNCERTAIN_SQL,
    UNEXPIRED_SQL,
    AsOf,
    MemoryState,
    expired_memories,
    held_memories,
)
from memories.models.model_use import MemoryUse, ModelPrice, ModelUse, SearchUse
from memories.models.operations import (
    Breaker,
    EvaluationRun,
    ExtractorUse,
    Figure,
    IdempotentAnswer,
    ImportedRow,
    PostedJob,
    WorkerBeat,
    WorkspaceImport,
)
from memories.models.own_words import WorkspaceChange, WorkspacePattern, WorkspaceSlot
from memories.models.source_connection import Connection, ConnectionItem, SyncRun
from memories.models.supersession_and_subject_merge import (
    Link,
    MergedRows,
    SubjectMerge,
    Supersession,
    chain,
    versions_of,
)
from memories.models.webhook import Webhook, WebhookDelivery

__all__ = [
    "CONTENT", "Connection", "ConnectionItem", "SyncRun", "ModelPrice", "ModelUse", "MemoryUse",
    "PostedJob", "SearchUse", "passages_of", "words_of_passages", "Space", "Revision", "Passage",
    "DocumentSpace", "DocumentPart",
    "Document", "Chunk", "Blob", "expired_memories", "held_memories", "NAME_COLUMNS",
    "NamedQuerySet", "name_joins", "AS_KNOWN", "BELIEVED", "NOW", "SAID", "AsOf", "SCOPE_CODE",
    "APART", "VISIBILITY_CODE", "WIDEST_COVERED", "Breaker", "Case", "CaseItem", "ChangeEvent",
    "Category", "Citation", "CommonTerm", "Conversation", "ConversationSummary", "DueSummary",
    "DueVector", "EmbeddingModel", "Entry", "Episode", "Erasure", "EvaluationRun",
    "ExtractorUse", "Fact", "FailureMark", "FactType", "Figure", "Feature", "FeatureChange",
    "FeatureCitation", "FeatureMark", "FeatureRefusal", "FeatureSet", "IdempotentAnswer",
    "ImportedRow", "GoldenQuestion", "GoldenRun", "Ground", "IndexRepair", "IrrevocableAct",
    "LIVE_SQL",
    "LargeLayer", "LongJob", "LegalHold", "Layer", "Link", "MemoryPeriod", "Memory",
    "MemoryScope", "MemorySession", "MemoryState", "Intent", "MaskedSpan", "MergedRows", "Miss",
    "Rejection", "SetDiscovery", "Source", "Speaker", "SubjectMerge", "Supersession",
    "TalkSummary", "Vector", "UNCERTAIN_SQL", "UNEXPIRED_SQL", "Visibility", "Webhook",
    "WebhookDelivery", "WorkerBeat", "WorkspaceImport", "WorkspaceIndex", "WorkspaceChange",
    "WorkspacePattern", "WorkspaceSlot", "chain", "change_of", "about_nobody", "place_of",
    "rank_of", "add_served", "seen_by", "topic_of", "workflow_place", "versions_of",
    "is_lost",
]  # fmt: skip
