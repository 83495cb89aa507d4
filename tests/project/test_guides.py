"""The guides' code runs as it stands there, and prints what stands below it; the OpenAPI file's
samples do what they say."""

import json
import re
import shlex
import subprocess
import sys
from pathlib import Path

import httpx2
import pytest

from tests.api.test_clients import TOGETHER
from tests.api_operations import Operation, declared, operations
from tests.client_environments import python_with
from tests.live_server import ROOT, Server, strangers_environment

DOCS = ROOT / "docs"
# Pages that are one program, and pages that are one script.
PROGRAMS = [
    DOCS / f"{name}.md"
    for name in (
        "tutorial/ten-minutes",
        "explanation/belief",
        "guides/curators",
        "guides/moving",
        "guides/tuning",
    )
]
SCRIPTS = [DOCS / "guides" / "operators.md"]
BLOCK = re.compile(r"^```(py|text)\n(.*?)^```", re.MULTILINE | re.DOTALL)
SHELL = re.compile(r"^```sh\n(.*?)^```", re.MULTILINE | re.DOTALL)
MARK = "--- the next block ---"


@pytest.mark.parametrize("guide", PROGRAMS, ids=lambda guide: guide.stem)
def test_a_guides_program_prints_what_the_guide_says(server: Server, guide: Path) -> None:
    blocks = BLOCK.findall(guide.read_text())
    programs = [text for kind, text in blocks if kind == "py"]
    told = [
        following[1] if following[0] == "text" else ""
        for (kind, _), following in zip(blocks, [*blocks[1:], ("", "")], strict=True)
        if kind == "py"
    ]
    assert programs
    others = "from mem0" in guide.read_text()
    done = subprocess.run(
        [
            python_with(*TOGETHER) if others else sys.executable,
            "-c",
            f"print({MARK!r})\n".join(programs),
        ],
        capture_output=True,
        text=True,
        timeout=300,
        env={
            "MEMORY_URL": server.info["url"],
            "MEMORY_KEY": server.info["key"],
            "PYTHONPATH": str(ROOT / "clients" / "python"),
            "MEM0_TELEMETRY": "False",
            "MEM0_DIR": str(server.folder / "mem0"),
        },
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.split(f"{MARK}\n") == told


@pytest.mark.parametrize("guide", SCRIPTS, ids=lambda guide: guide.stem)
def test_a_guides_commands_do_what_they_say(server: Server, guide: Path, tmp_path: Path) -> None:
    """In the order of the page, beside a server that runs, in an empty folder."""
    commands = "\n".join(SHELL.findall(guide.read_text()))
    python = shlex.join([sys.executable, str(ROOT / "manage.py")])
    assert commands
    done = subprocess.run(
        ["bash", "-euc", commands.replace("python3 manage.py", python)],
        capture_output=True,
        text=True,
        timeout=600,
        cwd=tmp_path,
        env={**strangers_environment(), "MEMORY_DATA_DIR": str(server.folder / "data")},
    )
    assert done.returncode == 0, done.stdout + done.stderr


# A stream has no end; a removal leaves nothing to ask; the others need what is outside.
NOT_TRIED = {"streamEvents", "removeWorkspace", "createConnection", "createWebhook"}


def of_no_row(operation: Operation) -> bool:
    """What needs nothing that is there before."""
    is_of_one = re.search(r"\{(row|key)\}", operation.path)
    return not is_of_one and "workspaces/{" in operation.path and operation.name not in NOT_TRIED


def test_the_samples_of_the_openapi_file_work_as_they_stand_there(server: Server) -> None:
    shown = [each for each in operations() if of_no_row(each)]
    with httpx2.Client(timeout=120) as http:
        for operation in shown:
            [sample] = declared(operation)["x-codeSamples"]
            text = sample["source"].replace("$MEMORY_URL", server.info["url"])
            text = text.replace("$MEMORY_KEY", server.info["key"])
            curl, _, method, address, *rest = shlex.split(text)
            assert curl == "curl"
            headers = dict(rest[at + 1].split(": ") for at, one in enumerate(rest) if one == "-H")
            body = rest[rest.index("-d") + 1] if "-d" in rest else None
            assert body is None or json.loads(body)
            answer = http.request(method, address, headers=headers, content=body)
            assert answer.is_success, (operation.name, answer.text)
    assert len(shown) > 40
