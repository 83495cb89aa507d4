"""Admin pages where people find, check and correct memories, and take decisions."""

from django.contrib import admin
from django_q.models import Failure, OrmQ, Schedule, Success

from memories.admin.case_and_supersession_admin import CaseAdmin, RejectionAdmin, SupersessionAdmin
from memories.admin.conversation_admin import (
    ConversationAdmin,
    EpisodeAdmin,
    IntentAdmin,
    SessionAdmin,
)
from memories.admin.document_admin import ConnectionAdmin, DocumentAdmin, SpaceAdmin
from memories.admin.erasure_admin import ErasureAdmin
from memories.admin.fact_admin import FactAdmin
from memories.admin.feature_set_admin import FeatureAdmin, FeatureSetAdmin
from memories.admin.memory_admin import MemoryAdmin
from memories.admin.own_rules_admin import (
    WorkspaceChangeAdmin,
    WorkspacePatternAdmin,
    WorkspaceSlotAdmin,
)
from memories.admin.subject_admin import SubjectAdmin
from memories.admin.system_and_long_job_admin import (
    SERVER_ADMINS,
    BreakerAdmin,
    LongJobAdmin,
)
from memories.admin.unmatched_admin import MissAdmin
from memories.admin.usage_and_performance_pages import ModelPriceAdmin, RunAdmin
from memories.admin.webhook_admin import WebhookAdmin, WebhookDeliveryAdmin
from memories.admin.workspace_settings_admin import WorkspaceSettingsAdmin
from memories.models import (
    Breaker,
    Case,
    Connection,
    Conversation,
    Document,
    Episode,
    Erasure,
    EvaluationRun,
    Fact,
    Feature,
    FeatureSet,
    Intent,
    LongJob,
    Memory,
    MemorySession,
    Miss,
    ModelPrice,
    Rejection,
    Space,
    Supersession,
    Webhook,
    WebhookDelivery,
    WorkspaceChange,
    WorkspacePattern,
    WorkspaceSlot,
)
from workspaces.models import Subject, Workspace

admin.site.register(Memory, MemoryAdmin)
admin.site.register(Case, CaseAdmin)
admin.site.register(Intent, IntentAdmin)
admin.site.register(Supersession, SupersessionAdmin)
admin.site.register(Rejection, RejectionAdmin)
admin.site.register(Conversation, ConversationAdmin)
admin.site.register(Episode, EpisodeAdmin)
admin.site.register(Fact, FactAdmin)
admin.site.register(Document, DocumentAdmin)
admin.site.register(Connection, ConnectionAdmin)
admin.site.register(Space, SpaceAdmin)
admin.site.register(Erasure, ErasureAdmin)
admin.site.register(LongJob, LongJobAdmin)
admin.site.register(Webhook, WebhookAdmin)
admin.site.register(WebhookDelivery, WebhookDeliveryAdmin)
admin.site.register(MemorySession, SessionAdmin)
admin.site.register(FeatureSet, FeatureSetAdmin)
admin.site.register(Feature, FeatureAdmin)
admin.site.register(Miss, MissAdmin)
admin.site.register(WorkspacePattern, WorkspacePatternAdmin)
admin.site.register(WorkspaceSlot, WorkspaceSlotAdmin)
admin.site.register(WorkspaceChange, WorkspaceChangeAdmin)
admin.site.register(EvaluationRun, RunAdmin)
admin.site.register(Breaker, BreakerAdmin)
admin.site.register(ModelPrice, ModelPriceAdmin)
admin.site.register(Subject, SubjectAdmin)

admin.site.register(Workspace, WorkspaceSettingsAdmin)

admin.site.unregister([Success, Failure, Schedule, OrmQ])
for model, page in SERVER_ADMINS.items():
    admin.site.register(model, page)
