"""Who is asking. The value that every verb takes first."""

import uuid
from dataclasses import dataclass, field, replace
from typing import Any

from workspaces.models import Agent, Capability, Role

ROLE_CAPABILITIES: dict[str, frozenset[str]] = {
    Role.OWNER: frozenset(Capability.values),
    Role.ADMIN: frozenset(Capability.values),
    Role.EDITOR: frozenset({Capability.READ, Capability.WRITE, Capability.CURATE}),
    Role.VIEWER: frozenset({Capability.READ}),
}


@dataclass(frozen=True, slots=True)
class Scope:
    """The frozen answer to "who is asking, and what may they see?".

    `agent_id` None: sees all of the workspace. `subject_ids` None: not limited to subjects.
    `team_agent_ids` are the agents of the asking agent's team, itself among them; what was
    written by no agent belongs to the default team. `beside` is what was read in one statement
    with the key, for whom asked for it there.
    """

    workspace_id: uuid.UUID
    actor: str
    capabilities: frozenset[str]
    agent_id: uuid.UUID | None = None
    team_agent_ids: tuple[uuid.UUID, ...] = ()
    in_default_team: bool = True
    subject_ids: tuple[uuid.UUID, ...] | None = None
    key_id: uuid.UUID | None = None
    user_id: uuid.UUID | None = None
    role: str = ""
    slug: str = field(default="", compare=False)
    beside: tuple[Any, ...] = field(default=(), compare=False, repr=False)

    @property
    def is_bound(self) -> bool:
        return self.agent_id is not None

    def may(self, capability: str) -> bool:
        return capability in self.capabilities

    def as_agent(self, agent: Agent) -> "Scope":
        """The same asker, seeing only what `agent` sees."""
        return replace(
            self,
            agent_id=agent.pk,
            team_agent_ids=mates_of(self.workspace_id, agent.team),
            in_default_team=not agent.team,
        )


def mates_of(workspace_id: uuid.UUID, team: str) -> tuple[uuid.UUID, ...]:
    """The agents of a team; "" is the default team, to which what no agent wrote belongs too."""
    mates = Agent.objects.filter(workspace_id=workspace_id, team=team)
    return tuple(mates.values_list("pk", flat=True))


def worker_scope(workspace_id: uuid.UUID, actor: str = "worker") -> Scope:
    """The server's own hands: background work and commands see all of one workspace."""
    return Scope(workspace_id, actor, frozenset(Capability.values))
