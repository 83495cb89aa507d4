"""The programs in examples/ do what they say, against a server that runs."""

import os
import subprocess
import sys
from pathlib import Path

from tests.live_server import ROOT, Server

EXAMPLES = ROOT / "examples"


def output_of(server: Server, name: str, *words: str, typed: str = "") -> str:
    done = subprocess.run(
        [sys.executable, str(EXAMPLES / name), *words],
        input=typed,
        capture_output=True,
        text=True,
        timeout=120,
        env={
            "MEMORY_URL": server.info["url"],
            "MEMORY_KEY": server.info["key"],
            "PYTHONPATH": str(ROOT / "clients" / "python"),
            "PATH": os.environ["PATH"],
        },
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_every_example_is_named_and_tried() -> None:
    named = (EXAMPLES / "README.md").read_text()
    tried = Path(__file__).read_text()
    for program in EXAMPLES.glob("*.py"):
        assert f"[{program.name}]({program.name})" in named
        assert f'"{program.name}"' in tried


def test_the_chat_remembers_what_was_said(server: Server) -> None:
    typed = "I play the cello.\nWhich instrument do I play?\n"
    said = output_of(server, "chat_loop.py", "nina", typed=typed)
    learned, _, known = said.partition("(learned) ")
    assert learned == "(nothing is known about that yet)\n"
    assert "<memories>" in known
    assert "I play the cello." in known


def test_documents_are_handed_in_and_found(server: Server, tmp_path: Path) -> None:
    (tmp_path / "harbour.md").write_text("# Harbour\n\nThe harbour opens at five.")
    (tmp_path / "bakery.txt").write_text("The bakery sells rye bread on Mondays.")
    question = "When does the harbour open?"
    said = output_of(server, "document_search.py", str(tmp_path), question)
    lines = said.splitlines()
    assert lines[:2] == ["bakery.txt: completed", "harbour.md: completed"]
    assert lines[2].endswith(" harbour")
    assert "opens at five" in lines[3]


def test_plain_http_is_enough(server: Server) -> None:
    assert output_of(server, "plain_http.py").splitlines() == [
        "User works as a baker | I work as a baker.",
        "version 2 says Paul works as a cook",
    ]
