"""Agents: removing one."""

from django.db import transaction
from django.utils import timezone

from workspaces.keys import revoke_key
from workspaces.models import Agent, ApiKey, AuditEntry
from workspaces.scope import Scope


@transaction.atomic
def remove(scope: Scope, agent: Agent) -> None:
    """End it, with its keys; removing it again changes nothing. Whoever is named by its id from now
    on is another agent, which sees nothing of what this one kept to itself."""
    now = timezone.now()
    if not Agent.objects.present().filter(pk=agent.pk).update(removed_at=now, updated_at=now):
        return
    for key in ApiKey.objects.filter(agent=agent, revoked_at=None):
        revoke_key(key, actor=scope.actor)
    AuditEntry.line(scope.workspace_id, scope.actor, "remove_agent", agent).save()
