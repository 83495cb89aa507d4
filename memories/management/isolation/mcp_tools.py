"""Every tool, resource and prompt of MCP, asked by whoever has no business there."""

from collections.abc import Callable, Iterator
from dataclasses import MISSING, fields
from functools import partial
from typing import Any
from urllib.parse import unquote

from mcp.shared.exceptions import MCPError

from memories.management.isolation.routes import ProofTally
from memories.management.isolation.two_tenants import ProbeDoor, Tenant
from memories.mcp.asker import McpAsker, asker_of
from memories.mcp.memory_tools import TOOLS
from memories.mcp.protocol import (
    ABOUT,
    FAILED,
    PROFILE,
    RECALL,
    called,
    in_words,
    profile_text,
    recall,
)
from memoryproject.postgres import visible
from workspaces.api.problems import Problem

WRITES = "tool add_memory"
PATHS = ("/mcp", "/mcp/{}")  # the second for one user


def try_tools(owner: Tenant, other: Tenant, tally: ProofTally) -> None:
    """With `other`'s keys and `owner`'s ids, names and words; and with `owner`'s narrow keys."""
    user = f"user {owner.secret}"
    query = f"{owner.secret} {owner.private}"
    strangers = [door for door in other.doors if door.headers]
    for name, call in _calls(owner, user, query, tally):
        tally.tried("tools")
        asked = [(door, [owner.secret, owner.private]) for door in strangers]
        if name != WRITES:  # what a narrow key adds to its own workspace is no leak
            asked += [(door, [word]) for door, word in owner.narrow_doors()]
        for door, words in asked:
            for path in PATHS if name != WRITES else PATHS[:1]:
                tally.tried("requests")
                answer = _answer(door, path.format(user), call)
                answer = answer.replace(query, "").replace(user, "")
                if FAILED[:20] in answer:
                    tally.leaks.append(f"{name} at {path} by {door.name}: failed, proves nothing")
                if any(word in answer for word in words):
                    tally.leaks.append(f"{name} at {path} by {door.name}: shows what is another's")


def _calls(
    owner: Tenant, user: str, query: str, tally: ProofTally
) -> Iterator[tuple[str, Callable[[McpAsker], str]]]:
    """Whatever MCP offers, with ids and names of `owner`'s. A tool with an argument that nobody
    has told this proof of is a leak."""
    given: dict[str, Any] = {
        "query": query, "user_id": user, "text": "I like pears.",
        "memory_id": owner.rows["memories"], "content": "User likes pears.",
        "scopedDocumentIds": [owner.rows["documents"]],
    }  # fmt: skip
    yield "prompt", lambda asker: in_words(recall, asker, RECALL.name, {ABOUT.name: query})
    yield "resource", lambda asker: in_words(profile_text, asker, PROFILE + user)
    for name, tool in TOOLS.items():
        known = {f.name: f.default for f in fields(tool.arguments)}
        if f"tool {name}" == WRITES:  # it is the asker's own: it is not given others' names
            known.pop("user_id")
        own = {key: value for key, value in given.items() if key in known}
        if missing := {key for key, value in known.items() if value is MISSING} - own.keys():
            tally.leaks.append(f"tool {name}: {sorted(missing)} are not furnished")
        yield f"tool {name}", partial(_called, name, own)


def _called(name: str, given: dict[str, Any], asker: McpAsker) -> str:
    return str(called(asker, name, given).content)


def _answer(door: ProbeDoor, path: str, call: Callable[[McpAsker], str]) -> str:
    key = {f"HTTP_{name.upper()}": value for name, value in door.headers.items()}
    environ: dict[str, Any] = {
        "REQUEST_METHOD": "POST", "PATH_INFO": unquote(path), "REMOTE_ADDR": "127.0.0.1",
        "SERVER_NAME": "localhost", "SERVER_PORT": "80", "HTTP_HOST": "localhost",
        "HTTP_X_FORWARDED_PROTO": "https", "REQUEST_ID": "isolation", **key,
    }  # fmt: skip
    with visible.only():
        try:
            return call(asker_of(environ))
        except (Problem, MCPError) as refusal:
            return str(refusal)
