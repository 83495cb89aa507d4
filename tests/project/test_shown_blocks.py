"""Every block of the documents that shows a request, an answer, a command or its output is run, or
a reason is given: requests one after the other, page by page, against a fresh server, whose answers
are compared with what is shown, JSON and text alike."""

import json
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx2
import pytest
from django.core.management import get_commands, load_command_class

from tests.live_server import ROOT, Server, measured
from tests.project.test_guides import PROGRAMS, SCRIPTS
from workspaces.agents import agent_setups

DOCUMENTS = sorted(
    path
    for pattern in ("*.md", "docs/**/*.md", "clients/*/README.md", "examples/README.md")
    for path in ROOT.glob(pattern)
    if "reference" not in path.parts  # test_reference.py: examples of code that others try
)
TUTORIAL = ROOT / "docs" / "tutorial" / "first-five-minutes.md"
FENCED = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
DAY = re.compile(r"\b20\d\d-\d\d-\d\d\b")
# What is another with every run.
UNSTEADY = {"id", "tookMs", "decidedAt", "decidedBy", "eventDate"}
# Why a block is run by nobody, by a part of its first line that is no comment.
OTHER_FILE = {
    "from memoryproject_client import Memory": "test_python_client.py runs it",
    'import { Memory } from "memoryproject-client"': "test_clients.py compiles and runs the client",
    'import { memoryTools } from "memoryproject-client/ai"': "test_clients.py runs these tools",
}
REASONS = {
    "export MEMORY_URL": "tells the examples the reader's own server; test_examples.py runs them",
    "KEY=mp_...": "the definitions that every request here stands on",
    "curl -s $URL/documents": "test_api_documents.py uploads files; this one is the reader's own",
    '{"review":': "has the id of an agent of the reader's; test_policy.py saves such a policy",
    '{"extractors":': "names models of the reader's; test_fallback_chain.py asks such a list",
    "CREATE ROLE": "for the reader's own PostgreSQL; test_plain_owner.py has such a role",
    "printf 'OWNER_PASSWORD": "starts containers; test_deploy.py reads their files",
    "flowchart": "a picture",
    "location /memory/ {": "lines of the reader's own nginx; test_sub_path.py asks as it would",
    "[databases]": "a file of the reader's own pooler; test_pooler.py runs one",
    "uvx memoryproject up": "asks a package index; test_package.py builds, installs and starts the wheel",
    "python3 -m venv memory": "the same by pip",
    ".venv/bin/mkdocs build": "builds pages and package; test_package.py and CI do",
    "pip install ./clients/python": "test_clients.py installs it so",
    "cd clients/typescript": "test_clients.py packs and installs it so",
    'lock="uv pip compile': "asks a package index for versions; CI holds the locks to be whole",
    "doors ": "a map",
    "workspaces/ ": "a map",
    "door -> ": "a map",
    "who asks, ": "a map",
}
# Settings that are shown by themselves are saved as they stand there.
SAVED = ('{"retention":', '{"guard":', '{"instructions":')
NO_COMMANDS = {"test", "mcp"}  # manage.py does these itself


@dataclass(frozen=True)
class Block:
    path: Path
    kind: str
    text: str

    @property
    def lines(self) -> list[str]:
        return [line.strip() for line in self.text.splitlines() if line.strip()]

    @property
    def commands(self) -> list[list[str]]:
        """The words behind `manage.py` of each line that calls it."""
        joined = self.text.replace("\\\n", " ")
        found = (re.search(r"manage\.py ([^#\n]*)", line) for line in joined.splitlines())
        return [shlex.split(match[1]) for match in found if match]

    def __str__(self) -> str:
        return f"{self.path.relative_to(ROOT)}: {self.lines[0][:40]}"


def blocks_of(path: Path) -> list[Block]:
    """In the order of the page."""
    text = path.read_text()
    fenced = [(m.start(), Block(path, m[1], m[2])) for m in FENCED.finditer(text)]
    rest = FENCED.sub(lambda match: re.sub(r"[^\n]", "", match[0]), text)
    start = 0
    indented: list[tuple[int, Block]] = []
    for part in re.split(r"(\n\n+)", rest):
        if part.startswith("    ") and not part.lstrip().startswith(("- ", "* ")):
            indented.append((start, Block(path, "", part)))
        start += len(part)
    return [block for _, block in sorted([*fenced, *indented], key=lambda each: each[0])]


def all_blocks() -> list[Block]:
    return [block for path in DOCUMENTS for block in blocks_of(path)]


def requests() -> list[Block]:
    """The tutorial's first, whose ids its later ones name."""
    asking = [block for block in all_blocks() if _asks(block)]
    return sorted(asking, key=lambda block: block.path != TUTORIAL)


def _asks(block: Block) -> bool:
    return block.kind == "sh" and any(line.startswith("ask ") for line in block.lines)


def shown_behind(block: Block) -> Block | None:
    """The answer that is shown of a block of requests, in the next block."""
    blocks = blocks_of(block.path)
    following = blocks[blocks.index(block) + 1 :][:1]
    return next((each for each in following if each.kind == "json" or _is_context(each)), None)


def _is_context(block: Block) -> bool:
    return block.kind == "text" and block.lines[0] == "<memories>"


def is_tried(block: Block) -> bool:
    """Whether a test runs it, or compares it with what it tells."""
    if block.path in PROGRAMS and block.kind in ("py", "text"):
        return True  # test_guides.py
    if block.path in SCRIPTS and block.kind == "sh":
        return True  # test_guides.py
    if _asks(block) or block in map(shown_behind, requests()):
        return True
    setups = [f"{setup.text}\n" for setup in agent_setups("$URL", "$KEY", ("python3", "$MANAGE"))]
    is_run = block == program_of_the_client() or "memory_hook.py" in block.text
    is_saved = block.lines[0].startswith(SAVED)
    return is_saved or is_run or block.text in setups or bool(block.commands)


def program_of_the_client() -> Block:
    """The first program on the page of the client for Python."""
    blocks = blocks_of(ROOT / "clients" / "python" / "README.md")
    return next(block for block in blocks if block.kind == "py")


@pytest.mark.parametrize("block", all_blocks(), ids=str)
def test_a_block_is_tried_or_a_reason_is_given(block: Block) -> None:
    reasons = [*REASONS, *OTHER_FILE]
    reason = [each for each in reasons if any(line.startswith(each) for line in block.lines[:4])]
    assert is_tried(block) or reason, block.text


def test_no_reason_is_left_of_a_block_that_is_gone() -> None:
    lines = [line for block in all_blocks() for line in block.lines[:4]]
    given = (*REASONS, *OTHER_FILE)
    assert [each for each in given if not any(line.startswith(each) for line in lines)] == []


COMMANDS = [b for b in all_blocks() if b.commands and b.path not in SCRIPTS]


@pytest.mark.parametrize("block", COMMANDS, ids=str)
def test_a_command_that_is_shown_is_one_with_these_options(block: Block) -> None:
    for name, *words in block.commands:
        if name in NO_COMMANDS or "/" in name:
            continue
        command = load_command_class(get_commands()[name], name)
        parser = command.create_parser("manage.py", name)
        parser.exit_on_error = False
        shown = [word for word in words if word not in ("|", ">")]
        parser.parse_args(shown)


# ---- the requests of the pages, against a fresh server ---------------------------------------


@dataclass
class Reader:
    """Who follows the page: what was answered, and the names that the text gives to ids."""

    server: Server
    http: httpx2.Client
    names: dict[str, str] = field(default_factory=dict)

    def ask(self, words: list[str]) -> Any:
        """What curl would do with these words; the answer's body."""
        path = words[0].replace("$URL", f"{self.server.info['url']}/api/v1/workspaces/demo")
        for name, value in self.names.items():
            path = path.replace(name, value)
        options = dict(zip(words[1::2], words[2::2], strict=True))
        body = options.get("-d")
        method = options.get("-X", "GET" if body is None else "POST")
        headers = {
            "Authorization": f"Bearer {self.server.info['key']}",
            "Content-Type": "application/json",
        }
        answer = self.http.request(method, path, headers=headers, content=body)
        assert answer.is_success, (words, answer.text)
        told = answer.json() if answer.content else None
        if method == "PATCH":
            self.names["$NEW"] = told["id"]
        elif "$ID" not in self.names:
            [self.names["$ID"]] = [m["id"] for m in told["memories"] if "Lisbon" in m["content"]]
        return told


def calls(block: Block) -> Iterator[list[str]]:
    """The words behind `ask` of each request."""
    for call in re.split(r"^(?=ask )", block.text, flags=re.MULTILINE):
        if call.startswith("ask "):
            yield shlex.split(call)[1:]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    server = Server(tmp_path_factory.mktemp("shown"), env=measured())
    try:
        yield server.wait_until_ready()
    finally:
        server.end()


def test_pages_show_what_a_fresh_server_answers(server: Server) -> None:
    wrong = []
    with httpx2.Client(timeout=120) as http:
        reader = Reader(server, http)
        for block in requests():
            answers = [reader.ask(words) for words in calls(block)]
            shown = shown_behind(block)
            if shown is None:
                continue
            told = answers[-1]
            if shown.kind == "json":
                wrong += differences(json.loads(shown.text), told)
            elif DAY.sub("DAY", told["text"].strip()) != DAY.sub("DAY", shown.text.strip()):
                wrong.append(f"{shown.text} is shown, {told['text']} is told: {told['reason']}")
    assert wrong == []


def test_the_program_of_the_clients_page_runs(server: Server) -> None:
    told = {"http://127.0.0.1:8000": server.info["url"], "mp_...": server.info["key"]}
    program = program_of_the_client().text
    for shown, own in told.items():
        assert shown in program
        program = program.replace(shown, own)
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        timeout=120,
        env={"PYTHONPATH": str(ROOT / "clients" / "python")},
    )
    assert "Lisbon" in done.stdout, done.stderr


@pytest.mark.parametrize("block", [b for b in all_blocks() if b.lines[0].startswith(SAVED)], ids=str)
def test_settings_that_are_shown_are_saved_as_they_stand_there(server: Server, block: Block) -> None:
    address = f"{server.info['url']}/api/v1/workspaces/demo"
    headers = {"Authorization": f"Bearer {server.info['key']}"}
    with httpx2.Client(timeout=120) as http:
        answer = http.patch(address, headers=headers, json={"settings": json.loads(block.text)})
    assert answer.is_success, answer.text


def differences(shown: object, told: object, path: str = "") -> list[str]:
    """Where an answer does not hold what is shown of it: examples are shortened."""
    if isinstance(shown, dict) and isinstance(told, dict):
        steady = shown.keys() - UNSTEADY
        return [d for k in sorted(steady) for d in differences(shown[k], told.get(k), f"{path}.{k}")]
    if isinstance(shown, list) and isinstance(told, list) and len(shown) == len(told):
        pairs = enumerate(zip(shown, told, strict=True))
        return [d for i, (a, b) in pairs for d in differences(a, b, f"{path}[{i}]")]
    if isinstance(shown, float) and isinstance(told, float):
        told = round(told, len(str(shown).partition(".")[2]))
    return [] if shown == told else [f"{path}: {shown!r} is shown, {told!r} is told"]
