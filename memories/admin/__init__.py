"""What is remembered, in the browser: to be found, checked, corrected and decided."""

from django.contrib import admin
from django_q.models import Success

from memories.admin import condition
from memories.admin.beliefs import MemoryAdmin
from memories.admin.conversations import ConversationAdmin
from memories.admin.episodes import EpisodeAdmin
from memories.admin.erasures import ErasureAdmin
from memories.admin.facts import FactAdmin
from memories.admin.feature_sets import FeatureAdmin, FeatureSetAdmin
from memories.admin.misses import MissAdmin
from memories.admin.own_words import WorkspaceChangeAdmin, WorkspaceSlotAdmin
from memories.admin.patterns import WorkspacePatternAdmin
from memories.admin.profiles import SubjectAdmin
from memories.admin.rejections import RejectionAdmin
from memories.admin.runs import RunAdmin
from memories.admin.sessions import SessionAdmin
from memories.admin.supersessions import SupersessionAdmin
from memories.admin.system import PAGES, BreakerAdmin
from memories.admin.workspace_page import SettledWorkspaceAdmin
from memories.models import (
    Breaker,
    Conversation,
    Episode,
    Erasure,
    EvaluationRun,
    Fact,
    Feature,
    FeatureSet,
    Memory,
    MemorySession,
    Miss,
    Rejection,
    Supersession,
    WorkspaceChange,
    WorkspacePattern,
    WorkspaceSlot,
)
from workspaces.models import Subject, Workspace

admin.site.register(Memory, MemoryAdmin)
admin.site.register(Supersession, SupersessionAdmin)
admin.site.register(Rejection, RejectionAdmin)
admin.site.register(Conversation, ConversationAdmin)
admin.site.register(Episode, EpisodeAdmin)
admin.site.register(Fact, FactAdmin)
admin.site.register(Erasure, ErasureAdmin)
admin.site.register(MemorySession, SessionAdmin)
admin.site.register(FeatureSet, FeatureSetAdmin)
admin.site.register(Feature, FeatureAdmin)
admin.site.register(Miss, MissAdmin)
admin.site.register(WorkspacePattern, WorkspacePatternAdmin)
admin.site.register(WorkspaceSlot, WorkspaceSlotAdmin)
admin.site.register(WorkspaceChange, WorkspaceChangeAdmin)
admin.site.register(EvaluationRun, RunAdmin)
admin.site.register(Breaker, BreakerAdmin)
admin.site.register(Subject, SubjectAdmin)

admin.site.register(Workspace, SettledWorkspaceAdmin)

admin.site.unregister([Success, *PAGES])
for model, page in {**PAGES, **condition.PAGES}.items():
    admin.site.register(model, page)
