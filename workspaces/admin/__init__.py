"""The administration of workspaces in the browser; pages for memories are in memories/admin."""

from django.contrib import admin
from django.contrib.auth.models import Group

from workspaces.admin.account_admin import AccountAdmin, LoginAttemptAdmin, RemovalAdmin, ServerKeyAdmin
from workspaces.admin.audit_admin import AuditAdmin
from workspaces.admin.key_admin import KeyAdmin
from workspaces.admin.member_admin import InvitationAdmin, MemberAdmin
from workspaces.admin.workspace_admin import AgentAdmin
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

# Roles in workspaces give permissions: Django's groups would be a second, idle answer.
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
