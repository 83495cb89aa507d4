"""Agents: how to remove one, and the lines to copy that tell agents' programs of the MCP address,
one set for all pages that show them."""

import json
from collections.abc import Sequence
from dataclasses import dataclass

from django.db import transaction
from django.utils import timezone

from workspaces.keys import revoke_key
from workspaces.models import Agent, ApiKey
from workspaces.scope import Scope


@transaction.atomic
def remove(scope: Scope, agent: Agent) -> None:
    """Remove an agent with its keys; a second time changes nothing. From now on its id names
    another agent, which sees nothing of what this one kept to itself."""
    now = timezone.now()
    if not Agent.objects.present().filter(pk=agent.pk).update(removed_at=now, updated_at=now):
        return
    for key in ApiKey.objects.filter(agent=agent, revoked_at=None):
        revoke_key(key, actor=scope.actor)
    scope.audit("remove_agent", agent)


@dataclass(frozen=True, slots=True)
class AgentSetup:
    """The setup of a client. `place` is the file that `text` goes into; where empty, `text` is a
    command."""

    client: str
    place: str
    text: str


def agent_setups(url: str, key: str, command: Sequence[str]) -> list[AgentSetup]:
    """Return setups for the server at `url` and a key. `command` are the words before
    the name of one of our commands, for clients that start their servers themselves."""
    remote = {"url": f"{url}/mcp", "headers": {"Authorization": f"Bearer {key}"}}
    local = {"command": command[0], "args": [*command[1:], "mcp", "--url", url, "--key", key]}
    return [
        AgentSetup(
            "Claude Code",
            "",
            f'claude mcp add --transport http memory {url}/mcp --header "Authorization: Bearer {key}"',
        ),
        AgentSetup(
            "Claude Desktop",
            "claude_desktop_config.json",
            _json({"mcpServers": {"memory": local}}),
        ),
        AgentSetup("Cursor", ".cursor/mcp.json", _json({"mcpServers": {"memory": remote}})),
        AgentSetup(
            "VS Code",
            ".vscode/mcp.json",
            _json({"servers": {"memory": {"type": "http", **remote}}}),
        ),
        AgentSetup(
            "Codex",
            "~/.codex/config.toml",
            "\n".join(
                (
                    "[mcp_servers.memory]",
                    f'url = "{url}/mcp"',
                    f'http_headers = {{ Authorization = "Bearer {key}" }}',
                )
            ),
        ),
    ]


def _json(value: object) -> str:
    return json.dumps(value, indent=2)
