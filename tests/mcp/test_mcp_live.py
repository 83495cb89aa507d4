"""MCP as agents speak it: the official client in both eras over real HTTP, through the front of a
real `up`; many calls at once; and what a call costs beside one of HTTP."""

import json
import os
import signal
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from statistics import median
from typing import Any

import anyio
import httpx2
import pytest
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client

from tests.live_server import PATIENCE, ROOT, Server, wait_for

TOLD = "I moved to Lisbon in May."
MOST_AT_ONCE = 200


def http_client(server: Server) -> httpx2.AsyncClient:
    headers = {"Authorization": f"Bearer {server.info['key']}"}
    return httpx2.AsyncClient(headers=headers, timeout=120, base_url=server.info["url"])


@asynccontextmanager
async def connected(server: Server, mode: Any, path: str = "") -> AsyncIterator[Client]:
    async with http_client(server) as http:
        transport = streamable_http_client(server.info["mcpUrl"] + path, http_client=http)
        async with Client(transport, mode=mode) as client:
            yield client


async def used(client: Client, thread: str) -> dict[str, Any]:
    """What an agent does on its first day; what each call answered."""
    added = await client.call_tool("add_memory", {"text": TOLD, "thread_id": thread})
    memory = {"memory_id": str(added.structured_content["learned"][0]["memory_id"])}
    return {
        "add": added,
        "tools": await client.list_tools(),
        "search": await client.call_tool("search_memories", {"query": "Lisbon"}),
        "context": await client.call_tool("get_context", {"query": "moved to Lisbon in May"}),
        "profile": await client.call_tool("get_profile", {}),
        "explain": await client.call_tool("explain_memory", memory),
        "wrong": await client.call_tool("search_memories", {"query": "x", "limit": 99}),
        "correct": await client.call_tool("correct_memory", {**memory, "content": "User moved to Porto in May"}),
        "resource": await client.read_resource(f"memory://profile/{thread}"),
        "prompt": await client.get_prompt("recall", {"topic": "Porto"}),
        "version": client.protocol_version,
    }


@pytest.mark.parametrize(("mode", "era"), [("auto", "2026-07-28"), ("legacy", "2025-11-25")])
def test_the_official_client_does_a_days_work_in_both_eras(server: Server, mode: str, era: str) -> None:
    async def run() -> dict[str, Any]:
        async with connected(server, mode, f"/{mode}-ada") as client:
            return await used(client, f"{mode}-ada")

    answers = anyio.run(run)
    assert answers["version"] == era
    assert len(answers["tools"].tools) == 8
    refused = [name for name, answer in answers.items() if getattr(answer, "is_error", False)]
    assert refused == ["wrong"]
    assert "Lisbon" in answers["context"].structured_content["text"]
    assert "Lisbon" in answers["profile"].structured_content["text"]
    assert "Porto" in answers["resource"].contents[0].text


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_the_official_client_asks_through_the_bridge(server: Server, mode: Any) -> None:
    words = ["manage.py", "mcp", "--url", server.info["url"], "--user", f"{mode}-stdio"]
    bridge = StdioServerParameters(command=sys.executable, args=words, cwd=ROOT, env={"MEMORY_KEY": server.info["key"]})

    async def run() -> dict[str, Any]:
        async with Client(bridge, mode=mode) as client:
            return await used(client, f"{mode}-stdio")

    answers = anyio.run(run)
    refused = [name for name, answer in answers.items() if getattr(answer, "is_error", False)]
    assert refused == ["wrong"]
    assert "Porto" in answers["resource"].contents[0].text


def test_two_hundred_calls_at_once_are_all_answered(server: Server) -> None:
    async def run() -> list[bool]:
        failed: list[bool] = []

        async def call(client: Client, number: int) -> None:
            given = {"query": f"Lisbon {number}", "user_id": "auto-ada"}
            answer = await client.call_tool("search_memories", given)
            failed.append(bool(answer.is_error))

        async with connected(server, "2026-07-28") as client, anyio.create_task_group() as group:
            for number in range(MOST_AT_ONCE):
                group.start_soon(call, client, number)
        return failed

    assert anyio.run(run) == [False] * MOST_AT_ONCE


def test_a_search_costs_little_more_than_over_http(server: Server) -> None:
    """Both by one bare client, taking turns, in one run."""
    search = f"/api/v1/workspaces/{server.info['workspace']}/memories/search"
    about = {"io.modelcontextprotocol/protocolVersion": "2026-07-28"}
    about |= {"io.modelcontextprotocol/clientInfo": {"name": "t", "version": "1"}}  # type: ignore[dict-item]
    about |= {"io.modelcontextprotocol/clientCapabilities": {}}  # type: ignore[dict-item]
    headers = {
        "Accept": "application/json, text/event-stream",
        "MCP-Protocol-Version": "2026-07-28",
        "Mcp-Method": "tools/call",
        "Mcp-Name": "search_memories",
    }

    async def run() -> tuple[list[float], list[float]]:
        plain: list[float] = []
        tools: list[float] = []
        async with http_client(server) as http:
            for number in range(60):
                query = {"query": f"Where did they move, {number}?"}
                began = time.perf_counter()
                answer = await http.post(search, json={**query, "include": ["citations"]})
                plain.append(time.perf_counter() - began)
                assert answer.status_code == 200
                params = {"name": "search_memories", "arguments": query, "_meta": about}
                message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
                began = time.perf_counter()
                answer = await http.post("/mcp", json=message, headers=headers)
                tools.append(time.perf_counter() - began)
                assert json.loads(answer.content)["result"]["structuredContent"]["count"]
        return plain, tools

    plain, tools = anyio.run(run)
    assert median(tools[10:]) <= 1.5 * median(plain[10:])


def processes_for_mcp(server: Server) -> list[int]:
    found = []
    for pid in server.children("web"):
        with suppress(OSError):  # it ended meanwhile
            found += [pid] if Path(f"/proc/{pid}/comm").read_text() == "web-mcp\n" else []
    return found


def test_killed_processes_come_back_and_others_serve_meanwhile(server: Server) -> None:
    [before] = processes_for_mcp(server)
    os.kill(before, signal.SIGKILL)
    assert wait_for(lambda: len(now := processes_for_mcp(server)) == 1 and before not in now)
    assert wait_for(lambda: server.get("/mcp") == 405)
    # Of OAuth tells only the address that is made for it.
    assert server.get("/.well-known/oauth-protected-resource") == 404
    assert server.get("/.well-known/oauth-protected-resource/mcp") == 404


def test_five_hundred_open_streams_hear_of_an_ingest_and_others_are_answered(
    server: Server,
) -> None:
    events = "/api/v1/workspaces/demo/events"

    turns = anyio.Semaphore(8)

    async def hear(client: httpx2.AsyncClient, opened: list[bool], heard: list[str]) -> None:
        await turns.acquire()  # one tenant's requests at once are bounded, its streams are not
        async with client.stream("GET", events, params={"type": "session"}) as answer:
            turns.release()
            opened.append(answer.status_code == 200)
            async for line in answer.aiter_lines():
                if line.startswith("event: "):
                    heard.append(line)
                    return

    async def run() -> tuple[list[bool], list[str], float]:
        opened: list[bool] = []
        heard: list[str] = []
        async with (
            httpx2.AsyncClient(
                base_url=server.info["url"],
                timeout=120,
                limits=httpx2.Limits(max_connections=600),
                headers={"Authorization": f"Bearer {server.info['key']}"},
            ) as client,
            anyio.create_task_group() as group,
        ):
            for _ in range(500):
                group.start_soon(hear, client, opened, heard)
            with anyio.fail_after(PATIENCE):
                while len(opened) < 500:
                    await anyio.sleep(0.05)
            began = time.monotonic()
            told = {"content": TOLD, "extract": "none"}
            ingest = "/api/v1/workspaces/demo/memories/ingest"
            assert (await client.post(ingest, json=told)).status_code == 201
            taken = time.monotonic() - began
        return opened, heard, taken

    opened, heard, taken = anyio.run(run)
    assert opened == [True] * 500
    assert heard == ["event: session.done"] * 500
    assert taken < PATIENCE
