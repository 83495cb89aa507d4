"""How agents' own programs are told of the MCP address: lines to copy, one set for all who show
them."""

import json
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class AgentSetup:
    """`place` is the file that `text` goes into; empty: it is a command."""

    client: str
    place: str
    text: str


def agent_setups(url: str, key: str, manage: str = "manage.py") -> list[AgentSetup]:
    """For the server at `url` and a key; `manage` is where manage.py stands, for clients that start
    their servers themselves."""
    remote = {"url": f"{url}/mcp", "headers": {"Authorization": f"Bearer {key}"}}
    local = {"command": "python3", "args": [manage, "mcp", "--url", url, "--key", key]}
    return [
        AgentSetup(
            "Claude Code",
            "",
            f"claude mcp add --transport http memory {url}/mcp"
            f' --header "Authorization: Bearer {key}"',
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
