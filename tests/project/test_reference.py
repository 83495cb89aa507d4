"""The pages below docs/reference are those that the code makes."""

import re
from pathlib import Path

import pytest

from bench.reference import setting_page
from bench.reference.__main__ import pages
from bench.reference.setting_meanings import MEANINGS

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "docs" / "reference"
NAMES = sorted(str(path.relative_to(FOLDER)) for path in FOLDER.rglob("*.md"))
AGAIN = "make it anew: .venv/bin/python -m bench.reference"


@pytest.fixture(scope="module")
def made() -> dict[str, str]:
    return pages()


def test_there_are_the_pages_that_are_made_and_no_others(made: dict[str, str]) -> None:
    assert sorted(made) == NAMES, AGAIN


@pytest.mark.parametrize("name", NAMES)
def test_a_page_says_what_the_code_says(made: dict[str, str], name: str) -> None:
    assert made.get(name) == (FOLDER / name).read_text(), AGAIN


def test_every_setting_has_a_meaning() -> None:
    told = [name for meanings in MEANINGS.values() for name in meanings]
    assert sorted(told) == sorted(setting.name for setting in setting_page.settings(ROOT))


def test_a_page_of_commands_has_what_help_shows(made: dict[str, str]) -> None:
    assert "`--keep N`" in made["commands.md"]
    assert "manage.py backup /srv/backups --keep 7" in made["commands.md"]


def test_every_status_of_a_code_has_a_meaning(made: dict[str, str]) -> None:
    _, statuses, codes, _ = made["errors.md"].split("\n## ")
    meant = set(re.findall(r"^\| `(\d+)`", statuses, re.MULTILINE))
    assert set(re.findall(r"^\| `(\d+)`", codes, re.MULTILINE)) <= meant


@pytest.mark.parametrize("page", ["errors.md", "metrics.md", "mcp-tools.md"])
def test_every_row_has_a_meaning(made: dict[str, str], page: str) -> None:
    rows = [line for line in made[page].splitlines() if line.startswith("| `")]
    assert len(rows) > 10
    bare = [row for row in rows if row.rstrip("| ").endswith("`")]
    assert page == "mcp-tools.md" or bare == []
