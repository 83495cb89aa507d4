"""Clients do here what their users do on the first day: those of other servers unchanged, and our
own for TypeScript."""

import pytest

from tests.client_environments import (
    CLIENTS,
    node_modules_of,
    python_with,
    steps_of,
    typescript_client,
)
from tests.live_server import ROOT, Server

# One environment for all that fit beside each other.
TOGETHER = ("mem0-imports.lock", "mem0-2.lock", "supermemory-3.lock", "memmachine.lock")

pytestmark = pytest.mark.xdist_group("clients")


def check(steps: dict[str, str], count: int) -> None:
    assert {step: why for step, why in steps.items() if why} == {}
    assert len(steps) == count


@pytest.mark.parametrize("version", ["1", "2"])
def test_mem0s_python_client_does_all_of_its_steps(server: Server, version: str) -> None:
    locks = TOGETHER if version == "2" else ("mem0-imports.lock", "mem0-1.lock")
    python = python_with(*locks)
    env = {"MEM0_TELEMETRY": "False", "MEM0_DIR": str(server.folder / f"mem0-{version}")}
    check(steps_of(python, "mem0_steps.py", server, version, **env), 30)


@pytest.fixture(scope="module")
def client(server: Server) -> str:
    """Our own for TypeScript, built."""
    return str(typescript_client(server.folder / "typescript"))


def test_our_typescript_client_does_all_of_its_steps(server: Server, client: str) -> None:
    check(steps_of("node", "typescript_steps.mjs", server, CLIENT=client), 16)


def test_our_tools_for_the_ai_sdk_do_all_of_their_steps(server: Server, client: str) -> None:
    modules = str(node_modules_of(CLIENTS))
    check(steps_of("node", "ai_steps.mjs", server, MODULES=modules, CLIENT=client), 4)


def test_our_adapters_do_all_of_their_steps(server: Server) -> None:
    """For LangGraph, the OpenAI Agents SDK, Claude's memory tool and LlamaIndex."""
    own = str(ROOT / "clients" / "python")
    check(steps_of(python_with("adapters.lock"), "adapter_steps.py", server, PYTHONPATH=own), 12)


def test_mem0s_npm_client_does_all_of_its_steps(server: Server) -> None:
    env = {"MODULES": str(node_modules_of(CLIENTS)), "MEM0_TELEMETRY": "false"}
    check(steps_of("node", "mem0_steps.mjs", server, **env), 12)


def test_supermemorys_python_client_does_all_of_its_steps(server: Server) -> None:
    check(steps_of(python_with(*TOGETHER), "supermemory_steps.py", server), 26)


def test_memmachines_python_client_does_all_of_its_steps(server: Server) -> None:
    check(steps_of(python_with(*TOGETHER), "memmachine_steps.py", server), 26)


@pytest.mark.parametrize("which", ["official", "aiSdk"])
def test_two_npm_clients_of_mcp_do_all_of_their_steps(server: Server, which: str) -> None:
    modules = str(node_modules_of(CLIENTS))
    check(steps_of("node", "mcp_steps.mjs", server, which, MODULES=modules), 10)


def test_supermemorys_npm_client_and_its_tools_do_all_of_their_steps(server: Server) -> None:
    modules = str(node_modules_of(CLIENTS))
    check(steps_of("node", "supermemory_steps.mjs", server, MODULES=modules), 11)
