"""Somebody at the MCP door, in this process: what the front would hand over, and the answer."""

import json
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import unquote

from asgiref.sync import async_to_sync, sync_to_async

from memories.mcp.protocol import McpDoor
from tests.people import Person

LEGACY, MODERN = "2025-11-25", "2026-07-28"
META = "io.modelcontextprotocol/"


@dataclass(frozen=True)
class McpAnswer:
    status: int
    body: Any
    headers: dict[str, str]
    environ: dict[str, Any]
    length: int = 0

    @property
    def result(self) -> Any:
        return self.body["result"]

    @property
    def is_error(self) -> bool:
        return bool(self.result.get("isError"))

    @property
    def text(self) -> str:
        return str(self.result["content"][0]["text"])

    @property
    def told(self) -> Any:
        """A tool's structured answer."""
        assert not self.is_error, self.text
        return self.result["structuredContent"]


@dataclass
class McpCaller:
    key: str
    path: str = "/mcp"
    headers: dict[str, str] = field(default_factory=dict)
    era: str = LEGACY

    def tool(self, name: str, /, **given: Any) -> McpAnswer:
        return self.ask("tools/call", name=name, arguments=given)

    def ask(self, method: str, /, **params: Any) -> McpAnswer:
        if self.era == MODERN:
            client = {"name": "test", "version": "1"}
            about = {"protocolVersion": MODERN, "clientInfo": client, "clientCapabilities": {}}
            params["_meta"] = {META + name: value for name, value in about.items()}
        return self.send({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})

    def send(self, message: Any, *, method: str = "POST", **environ: Any) -> McpAnswer:
        """`message` as JSON, or bytes as they are."""
        body = message if isinstance(message, bytes) else json.dumps(message).encode()
        shown = {
            "authorization": f"Bearer {self.key}",
            "accept": "application/json, text/event-stream",
            "host": "testserver",
            "x-request-id": "r-1",
            "mcp-protocol-version": self.era,
        }
        if self.era == MODERN and isinstance(message, dict):
            shown["mcp-method"] = message["method"]
            if name := message["params"].get("name") or message["params"].get("uri"):
                shown["mcp-name"] = str(name)
        named = {"HTTP_" + name.upper().replace("-", "_"): value for name, value in {**shown, **self.headers}.items()}
        path = unquote(self.path).encode().decode("latin-1")
        asked: dict[str, Any] = {
            "REQUEST_METHOD": method,
            "PATH_INFO": path,
            "REMOTE_ADDR": "127.0.0.1",
            "SERVER_NAME": "testserver",
            "SERVER_PORT": "80",
            "CONTENT_TYPE": "application/json",
            "CONTENT_LENGTH": str(len(body)),
            "memoryproject.server.front": True,
            **named,
            **environ,
        }
        head, content = async_to_sync(_respond)(asked, body)
        text = json.loads(content) if content else None
        return McpAnswer(head["status"], text, dict(head["headers"]), asked, len(content))


async def _respond(environ: dict[str, Any], body: bytes) -> tuple[dict[str, Any], bytes]:
    async with McpDoor(in_this_thread).open() as door:
        return await door.respond(environ, body)


async def in_this_thread(act: Any, *given: Any) -> Any:
    """On the thread of the test, in whose transaction the rows are."""
    return await sync_to_async(act, thread_sensitive=True)(*given)


def mcp_caller(person: Person, path: str = "/mcp", **headers: str) -> McpCaller:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return McpCaller(person.key, path, named)
