from workspaces.models.audit import AuditEntry, AuditMark, AuditSeal, erasing_audit
from workspaces.models.connected_app import OAuthClient, OAuthGrant
from workspaces.models.invitation import Invitation
from workspaces.models.key import ApiKey, Capability, ServerKey, all_capabilities
from workspaces.models.login import LoginAttempt, LoginPause, RecoveryCode, SecondFactor
from workspaces.models.workspace import (
    REMOVED,
    SLUG,
    Agent,
    Audience,
    Membership,
    Role,
    Row,
    Subject,
    Team,
    User,
    Workspace,
    WorkspaceRemoval,
)

__all__ = [
    "REMOVED",
    "SLUG",
    "Agent",
    "ApiKey",
    "Audience",
    "AuditEntry",
    "AuditMark",
    "AuditSeal",
    "Capability",
    "Invitation",
    "LoginAttempt",
    "LoginPause",
    "Membership",
    "OAuthClient",
    "OAuthGrant",
    "RecoveryCode",
    "Role",
    "Row",
    "ServerKey",
    "SecondFactor",
    "Subject",
    "Team",
    "User",
    "Workspace",
    "WorkspaceRemoval",
    "all_capabilities",
    "erasing_audit",
]
