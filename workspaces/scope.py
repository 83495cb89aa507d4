"""The asker: the value that every verb takes first."""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from django.db.models import Model, QuerySet

from workspaces.models import Agent, AuditEntry, Capability, Role, Subject

NOBODY = uuid.UUID(int=0)
Named = TypeVar("Named", Agent, Subject)


WORKER = "worker"
OF_OTHERS = "This key is not for that user."


@dataclass(frozen=True, slots=True)
class Scope:
    """The frozen answer to "who is asking, and what may they see?".

    `agent_id` None: sees all of the workspace. `subject_ids` None: not limited to subjects;
    `container_tags` None: not limited to documents of some spaces. `team_agent_ids` are the agents
    of the asking agent's team, itself included; rows written by no agent belong to the default
    team. `session` is the row of the member's browser session. `beside` holds the columns that were
    read in one statement with the key. `within` is the decision, as "case:<id>", that the asker is
    carrying out.
    """

    workspace_id: uuid.UUID
    actor: str
    capabilities: frozenset[str]
    agent_id: uuid.UUID | None = None
    team_agent_ids: tuple[uuid.UUID, ...] = ()
    in_default_team: bool = True
    subject_ids: tuple[uuid.UUID, ...] | None = None
    container_tags: tuple[str, ...] | None = None
    key_id: uuid.UUID | None = None
    user_id: uuid.UUID | None = None
    role: str = ""
    session: str = field(default="", repr=False)
    slug: str = field(default="", compare=False)
    per_minute: int | None = field(default=None, compare=False)  # requests, for a key with a cap
    beside: tuple[Any, ...] = field(default=(), compare=False, repr=False)
    within: str = field(default="", compare=False)

    @property
    def is_bound(self) -> bool:
        return self.agent_id is not None

    @property
    def is_narrow(self) -> bool:
        """Tell whether something of the workspace is kept from the asker."""
        limits = (self.agent_id, self.subject_ids, self.container_tags)
        return any(limit is not None for limit in limits)

    @property
    def may_unmask(self) -> bool:
        """Tell whether the asker may see masked words, where the request says so and the audit
        keeps it."""
        return Capability.CURATE in self.capabilities and not self.is_bound

    def sees_as(self, other: "Scope") -> bool:
        """Tell whether the limits of both askers are the same."""
        return _limits(self) == _limits(other)

    def may(self, capability: str) -> bool:
        return capability in self.capabilities

    def audit(self, action: str, target: Model, **details: Any) -> None:
        """Write one line of what the asker did; details are subject_id, reason, before, after."""
        self.line(action, target, **details).save()

    def line(self, action: str, target: Model, **details: Any) -> AuditEntry:
        """Return such a line unsaved. A part of a decision names that in `after`, which is an
        object then."""
        if self.within:
            details["after"] = {**(details.get("after") or {}), "within": self.within}
        return AuditEntry.line(self.workspace_id, self.actor, action, target, **details)

    def as_part_of(self, decision: Model) -> "Scope":
        """Return the same asker, while carrying out this decision."""
        return replace(self, within=f"{decision._meta.model_name}:{decision.pk}")

    def as_agent(self, agent: Agent) -> "Scope":
        """Return the same asker, seeing only what `agent` sees."""
        return replace(
            self,
            agent_id=agent.pk,
            team_agent_ids=mates_of(self.workspace_id, agent.team),
            in_default_team=not agent.team,
        )


def _limits(scope: Scope) -> tuple[Any, ...]:
    lists = (scope.team_agent_ids, scope.subject_ids, scope.container_tags)
    each = (None if one is None else frozenset(one) for one in lists)
    return (scope.workspace_id, scope.agent_id, scope.in_default_team, *each)


def mates_of(workspace_id: uuid.UUID, team: str) -> tuple[uuid.UUID, ...]:
    """Return the agents of a team; "" is the default team, which also has the rows of no agent."""
    mates = Agent.objects.filter(workspace_id=workspace_id, team=team)
    return tuple(mates.values_list("pk", flat=True))


def worker_scope(workspace_id: uuid.UUID, actor: str = WORKER) -> Scope:
    """Return the server's own scope: background work and commands see all of one workspace."""
    return Scope(workspace_id, actor, frozenset(Capability.values))


def owner_scope(workspace_id: uuid.UUID, actor: str) -> Scope:
    """Return the scope of a person at the server's shell, who may do what an owner may."""
    return replace(worker_scope(workspace_id, actor), role=Role.OWNER)


class NotAllowed(Exception):
    """The asker may not do this. `field` is the model's name of what it concerns."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(message)
        self.field, self.message = field, message


def subject_to_write(scope: Scope, external_id: str) -> Subject | None:
    """Return the subject to write about. Raises NotAllowed where the key is limited to others."""
    if scope.subject_ids is None and not external_id:
        return None
    if scope.subject_ids is None:
        known = Subject.objects.filter(workspace_id=scope.workspace_id, external_id=external_id)
        made = Subject(workspace_id=scope.workspace_id, external_id=external_id)
        return known.first() or _made(Subject.objects.all(), made, known)
    allowed = Subject.objects.filter(workspace_id=scope.workspace_id, pk__in=scope.subject_ids)
    found = allowed.filter(external_id=external_id).first() if external_id else None
    if found is None:
        raise NotAllowed("subject", "This key may write only about its own subjects.")
    return found


def subject_to_read(scope: Scope, external_id: str) -> uuid.UUID:
    """Return the id of the subject of that name; where the asker may know of none, an id that
    nothing has."""
    known = Subject.objects.filter(workspace_id=scope.workspace_id, external_id=external_id)
    if scope.subject_ids is not None:
        known = known.filter(pk__in=scope.subject_ids)
    return known.values_list("pk", flat=True).first() or NOBODY


def covers(scope: Scope, external_id: str) -> bool:
    """Tell whether the asker may name this subject. A key that is limited to others may not,
    whether or not there is one of that name."""
    return scope.subject_ids is None or subject_to_read(scope, external_id) != NOBODY


def tags_to_write(scope: Scope, tags: Sequence[str]) -> Sequence[str]:
    """Return the spaces of a new document: those that are named, or the only one that a key is
    limited to. Raises NotAllowed where it is limited to others."""
    own = scope.container_tags
    if own is None or (tags and set(tags) <= set(own)):
        return tags
    if not tags and len(own) == 1:
        return own
    raise NotAllowed("container_tags", f"This key writes into its own spaces: {', '.join(own)}.")


def agent_to_write(scope: Scope, external_id: str) -> Agent | None:
    """Return the acting agent: the key's own, or for an unbound key the one it names, if any.
    Raises NotAllowed."""
    if not external_id:
        return _bound(scope) if scope.is_bound else None
    if scope.is_bound:
        return _own_agent(scope, external_id)
    made = Agent(workspace_id=scope.workspace_id, external_id=external_id)
    known = Agent.objects.present().filter(workspace_id=scope.workspace_id, external_id=external_id)
    return known.first() or _made(Agent.objects.all(), made, known)


def agent_to_read(scope: Scope, external_id: str) -> Scope:
    """Return the scope as the named agent sees it. An unknown agent sees what the default team
    does."""
    if not external_id:
        return scope
    if scope.is_bound:
        _own_agent(scope, external_id)
        return scope
    rows = Agent.objects.present().filter(workspace_id=scope.workspace_id)
    known = rows.filter(external_id=external_id).first()
    return scope.as_agent(known or Agent(id=NOBODY, external_id=external_id))


def _bound(scope: Scope) -> Agent:
    return Agent.objects.get(pk=scope.agent_id or NOBODY)


def _own_agent(scope: Scope, external_id: str) -> Agent:
    agent = _bound(scope)
    if agent.external_id != external_id:
        raise NotAllowed("agent", "This key belongs to another agent.")
    return agent


def _made(rows: QuerySet[Named], row: Named, known: QuerySet[Named]) -> Named:
    # Two first requests at once make one row: the second insert finds it taken.
    rows.bulk_create([row], ignore_conflicts=True)
    return known.get()
