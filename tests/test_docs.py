"""What the documents say is what the code says; test_shown_blocks.py runs what they show."""

import ast
import re
from dataclasses import dataclass
from pathlib import Path

import pytest
from django.core.management import get_commands

from tests.api_operations import operations
from workspaces.agents import agent_setups

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text()
ARCHITECTURE = (ROOT / "ARCHITECTURE.md").read_text()
DOCUMENTS = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")]
STATED_DEFAULTS = {"DEBUG": "false", "BEHIND_TLS_PROXY": "false", "PROVIDER_TIMEOUT": "30"}


def section(title: str) -> str:
    """The README's text between one heading of the second level and the next."""
    _, _, rest = README.partition(f"\n## {title}\n")
    assert rest, f"README.md has no section {title}"
    return rest.partition("\n## ")[0]


def rows(text: str) -> dict[str, list[str]]:
    """The tables' rows by the word in backquotes that each begins with."""
    found = {}
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.strip("| ").split(" | ")]
        if line.startswith("| `"):
            found[cells[0].strip("`")] = cells[1:]
    return found


@dataclass(frozen=True)
class Setting:
    name: str
    reader: str
    default: str | None


def settings() -> list[Setting]:
    """Every variable that settings.py reads, in its order; `default` where it is a plain value."""
    tree = ast.parse((ROOT / "memoryproject" / "settings.py").read_text())
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    readers = [c for c in calls if isinstance(c.func, ast.Name) and c.func.id.startswith("env_")]
    return [_setting(call) for call in readers]


def _setting(call: ast.Call) -> Setting:
    assert isinstance(call.func, ast.Name)
    name, *rest = call.args
    plain = rest[0] if rest else None
    default = (
        _text(ast.literal_eval(plain)) if isinstance(plain, ast.Constant | ast.Tuple) else None
    )
    return Setting(ast.literal_eval(name), call.func.id, default or None)


def _text(value: object) -> str:
    return ",".join(value) if isinstance(value, tuple) else str(value)


def test_the_configuration_table_has_every_variable_and_no_other() -> None:
    told = set(rows(section("Configuration")))
    assert told == {setting.name for setting in settings()}


@pytest.mark.parametrize("setting", [s for s in settings() if s.default], ids=lambda s: s.name)
def test_the_configuration_table_has_the_default(setting: Setting) -> None:
    expected = STATED_DEFAULTS.get(setting.name, setting.default)
    assert rows(section("Configuration"))[setting.name][0] == f"`{expected}`"


def test_every_secret_is_told_to_be_readable_from_a_file() -> None:
    secrets = {setting.name for setting in settings() if setting.reader == "env_secret"}
    table = rows(section("Configuration")).items()
    assert {name for name, cells in table if f"`{name}_FILE`" in " ".join(cells)} == secrets


def test_every_command_is_in_the_table_of_commands() -> None:
    own = {
        name for name, app in get_commands().items() if app in ("memories", "workspaces", "bench")
    }
    assert set(rows(section("Commands"))) == own | {"mcp", "test"}


def test_the_lines_that_connect_agents_are_those_of_the_admin() -> None:
    shown = blocks("text", section("How agents use it"))
    for setup in agent_setups("$URL", "$KEY", "$MANAGE"):
        assert f"{setup.text}\n" in shown
        assert f"{setup.client}{f' (`{setup.place}`)' if setup.place else ''}:\n" in README


def test_every_family_of_routes_is_in_the_readme() -> None:
    below = [operation for operation in operations() if operation.path.count("/") > 4]
    families = {f"`/{operation.resource}" for operation in below}
    assert {family for family in families if family not in section("How agents use it")} == set()


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
