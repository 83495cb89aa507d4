"""What the documents say is what the code says; test_reference.py compares the pages that are made
of it, and test_shown_blocks.py runs what they show."""

import re
from pathlib import Path

import pytest

from tests.api_operations import operations
from workspaces.agents import agent_setups

ROOT = Path(__file__).parents[2]
README = ROOT / "README.md"
ARCHITECTURE = (ROOT / "ARCHITECTURE.md").read_text()
DOCUMENTS = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), ROOT / "examples" / "README.md"]
# Clauses of a native reader's pages that speak of people as of men.
OF_MEN = re.compile(r"\b(?:he|him|his|himself)\b", re.IGNORECASE)
FIRST_SCREEN = 22  # lines


def guide(name: str) -> str:
    return (ROOT / "docs" / "guides" / f"{name}.md").read_text()


def test_the_front_page_is_short() -> None:
    assert len(README.read_text().splitlines()) <= 220
    assert README.stat().st_size <= 14_000


def test_the_front_page_begins_with_a_picture_and_a_diagram() -> None:
    first = "\n".join(README.read_text().splitlines()[:FIRST_SCREEN])
    assert "docs/screenshots/" in first
    assert "```mermaid" in first


def test_a_first_reader_finishes_the_changes_of_the_first_release() -> None:
    _, _, release = (ROOT / "CHANGELOG.md").read_text().partition("\n## 0.1.0 ")
    assert 10 < len(release.partition("\n## ")[0].splitlines()) <= 50


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_people_are_not_taken_for_men(document: Path) -> None:
    words = re.sub(r"```.*?```", "", document.read_text(), flags=re.DOTALL)
    assert OF_MEN.findall(words) == []


def test_the_lines_that_connect_agents_are_those_of_the_admin() -> None:
    shown = blocks("text", guide("mcp"))
    for setup in agent_setups("$URL", "$KEY", ("python3", "$MANAGE")):
        assert f"{setup.text}\n" in shown
        assert f"{setup.client}{f' (`{setup.place}`)' if setup.place else ''}:\n" in guide("mcp")


def test_every_family_of_routes_is_in_the_guide() -> None:
    below = [operation for operation in operations() if operation.path.count("/") > 4]
    families = {f"`/{operation.resource}" for operation in below}
    assert {family for family in families if family not in guide("api")} == set()


def test_every_module_of_memories_is_on_the_map() -> None:
    parts = [p for p in (ROOT / "memories").iterdir() if not p.name.startswith(("_", "."))]
    modules = {p.name if p.suffix else f"{p.name}/" for p in parts if p.suffix in ("", ".py")}
    not_shown = {"apps.py", "migrations/"}
    assert {name for name in modules - not_shown if name not in ARCHITECTURE} == set()


def test_architecture_stays_short() -> None:
    assert len(ARCHITECTURE.splitlines()) < 150


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_links_to_files_lead_somewhere(document: Path) -> None:
    links = re.findall(r"\]\(([^)#]+)[^)]*\)", document.read_text())
    files = [link for link in links if not link.startswith(("http:", "https:"))]
    assert [link for link in files if not (document.parent / link).exists()] == []


@pytest.mark.parametrize("name", ["ARCHITECTURE.md", "CONTRIBUTING.md"])
def test_files_that_are_named_exist(name: str) -> None:
    paths = r"`((?:memories|memoryproject|workspaces|tests)/[\w/]+\.py)`"
    named = re.findall(paths, (ROOT / name).read_text())
    assert [path for path in named if not (ROOT / path).exists()] == []


def blocks(kind: str, text: str) -> list[str]:
    return re.findall(rf"^```{kind}\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
