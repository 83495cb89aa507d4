from workspaces.models.audit import AuditEntry, erasing_audit
from workspaces.models.base import Row
from workspaces.models.key import ApiKey, Capability, all_capabilities
from workspaces.models.login import LoginAttempt, LoginPause, RecoveryCode, SecondFactor
from workspaces.models.user import User
from workspaces.models.workspace import Agent, Membership, Role, Subject, Workspace

__all__ = [
    "Agent",
    "ApiKey",
    "AuditEntry",
    "Capability",
    "LoginAttempt",
    "LoginPause",
    "Membership",
    "RecoveryCode",
    "Role",
    "Row",
    "SecondFactor",
    "Subject",
    "User",
    "Workspace",
    "all_capabilities",
    "erasing_audit",
]
