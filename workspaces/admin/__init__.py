"""The administration of workspaces in the browser; what is remembered is in memories/admin."""

from django.contrib import admin
from django.contrib.auth.models import Group

from workspaces.admin.agents import AgentAdmin
from workspaces.admin.audit import AuditAdmin
from workspaces.admin.keys import KeyAdmin
from workspaces.admin.logins import LoginAttemptAdmin
from workspaces.admin.members import InvitationAdmin, MemberAdmin
from workspaces.admin.server import RemovalAdmin, ServerKeyAdmin
from workspaces.admin.users import AccountAdmin
from workspaces.models import (
    Agent,
    ApiKey,
    AuditEntry,
    Invitation,
    LoginAttempt,
    Membership,
    ServerKey,
    User,
    WorkspaceRemoval,
)

# Roles in workspaces say who may what: Django's groups would be a second, idle answer.
admin.site.unregister(Group)

admin.site.register(Membership, MemberAdmin)
admin.site.register(Invitation, InvitationAdmin)
admin.site.register(Agent, AgentAdmin)
admin.site.register(ApiKey, KeyAdmin)
admin.site.register(AuditEntry, AuditAdmin)
admin.site.register(User, AccountAdmin)
admin.site.register(ServerKey, ServerKeyAdmin)
admin.site.register(WorkspaceRemoval, RemovalAdmin)
admin.site.register(LoginAttempt, LoginAttemptAdmin)
