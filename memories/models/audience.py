"""Whether what is said belongs to a team where nobody says so: the one place."""

import uuid

from memories.models.conversation import Conversation
from workspaces.models import Agent, Audience, Team


def is_shared_by_default(
    subject_id: uuid.UUID | None,
    agent: Agent | None,
    conversation: Conversation | None,
    default: str = "",
) -> bool:
    """Whether decisions, policies and technology are the team's; else all is private.

    The nearest word counts: the conversation's, the agent's, its team's; of the default team that
    is `default`, which the workspace's settings say. Where none is said, a person who is named
    speaks for himself, unless the agent belongs to a team with a name.
    """
    said = (conversation.audience if conversation else "") or (agent.audience if agent else "")
    if not said and agent and agent.team:
        rows = Team.objects.filter(workspace_id=agent.workspace_id, name=agent.team)
        said = rows.values_list("audience", flat=True).first() or ""
    if not said and not (agent and agent.team):
        said = default
    if said:
        return said == Audience.TEAM
    return subject_id is None or bool(agent and agent.team)
