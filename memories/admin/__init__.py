"""Admin pages where people find, check and correct memories, and take decisions. Each screen has a folder, whose
modules register their pages when this package imports them."""

from django.contrib import admin
from django_q.models import Failure, OrmQ, Schedule, Success

from memories.admin.cases import case_admin as case_admin
from memories.admin.conversations import conversation_admin as conversation_admin
from memories.admin.conversations import intent_admin as intent_admin
from memories.admin.conversations import session_admin as session_admin
from memories.admin.decisions import supersession_admin as supersession_admin
from memories.admin.documents import connection_admin as connection_admin
from memories.admin.documents import document_admin as document_admin
from memories.admin.documents import space_admin as space_admin
from memories.admin.erasures import erasure_admin as erasure_admin
from memories.admin.features import feature_admin as feature_admin
from memories.admin.features import feature_set_admin as feature_set_admin
from memories.admin.memories import fact_admin as fact_admin
from memories.admin.memories import memory_admin as memory_admin
from memories.admin.people import subject_admin as subject_admin
from memories.admin.rules import own_rule_admin as own_rule_admin
from memories.admin.rules import own_words_admin as own_words_admin
from memories.admin.rules import unmatched_admin as unmatched_admin
from memories.admin.server import long_job_admin
from memories.admin.server import queue_admin as queue_admin
from memories.admin.settings import workspace_settings_admin as workspace_settings_admin
from memories.admin.usage import costs_page as costs_page
from memories.admin.usage import performance_page as performance_page
from memories.admin.webhooks import webhook_admin as webhook_admin

admin.site.unregister([Success, Failure, Schedule, OrmQ])
for model, page in long_job_admin.SERVER_ADMINS.items():
    admin.site.register(model, page)
