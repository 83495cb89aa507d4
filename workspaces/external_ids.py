"""From the callers' own ids to rows: agents and subjects are made when first named."""

import uuid
from typing import TypeVar

from django.db.models import QuerySet

from workspaces.models import Agent, Subject
from workspaces.scope import Scope

NOBODY = uuid.UUID(int=0)
Named = TypeVar("Named", Agent, Subject)


class NotAllowed(Exception):
    """The asker names somebody whom its key does not cover. `field` is the model's word."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(message)
        self.field, self.message = field, message


def subject_to_write(scope: Scope, external_id: str) -> Subject | None:
    """The subject to write about; raises NotAllowed where the key is limited to others."""
    if scope.subject_ids is None:
        return _subject(scope.workspace_id, external_id) if external_id else None
    allowed = Subject.objects.filter(workspace_id=scope.workspace_id, pk__in=scope.subject_ids)
    found = allowed.filter(external_id=external_id).first() if external_id else None
    if found is None:
        raise NotAllowed("subject", "This key may write only about its own subjects.")
    return found


def agent_to_write(scope: Scope, external_id: str) -> Agent | None:
    """Whose act it is: the key's own agent, or for an unbound key the one it names."""
    if not external_id:
        return _bound(scope) if scope.is_bound else None
    if scope.is_bound:
        return _own_agent(scope, external_id)
    made = Agent(workspace_id=scope.workspace_id, external_id=external_id)
    known = Agent.objects.filter(workspace_id=scope.workspace_id, external_id=external_id)
    return known.first() or _made(Agent.objects.all(), made, known)


def agent_to_read(scope: Scope, external_id: str) -> Scope:
    """The scope as the agent that is named sees it. An unknown one sees what the default team does."""
    if not external_id:
        return scope
    if scope.is_bound:
        _own_agent(scope, external_id)
        return scope
    known = Agent.objects.filter(workspace_id=scope.workspace_id, external_id=external_id).first()
    return scope.as_agent(known or Agent(id=NOBODY, external_id=external_id))


def _bound(scope: Scope) -> Agent:
    return Agent.objects.get(pk=scope.agent_id or NOBODY)


def _own_agent(scope: Scope, external_id: str) -> Agent:
    agent = _bound(scope)
    if agent.external_id != external_id:
        raise NotAllowed("agent", "This key belongs to another agent.")
    return agent


def _subject(workspace_id: uuid.UUID, external_id: str) -> Subject:
    known = Subject.objects.filter(workspace_id=workspace_id, external_id=external_id)
    made = Subject(workspace_id=workspace_id, external_id=external_id)
    return known.first() or _made(Subject.objects.all(), made, known)


def _made(rows: QuerySet[Named], row: Named, known: QuerySet[Named]) -> Named:
    # Two first requests at once make one row: the second insert finds it taken.
    rows.bulk_create([row], ignore_conflicts=True)
    return known.get()
