"""The page of settings: names, defaults, values and ranges out of settings.py."""

import ast
from dataclasses import dataclass
from pathlib import Path

from bench.reference.markdown import cell, table
from bench.reference.setting_meanings import MEANINGS

HEAD = """# Settings

Environment variables; none is needed. A value that makes no sense stops the start with a message.
A secret can be read from a file instead: set `<NAME>_FILE` to its path. Commands read the same
settings as the server: where `up` was given `--data DIR`, give them `MEMORY_DATA_DIR=DIR`.
Settings of one workspace are [another page](../guides/workspace-settings.md).
"""
KINDS = {
    "env_bool": "`true`, `false`",
    "env_list": "a list with commas",
    "env_secret": "a secret",
    "env_str": "text",
    "env_default": "text",
}
OF_SCRIPT = {"MEMORY_DATA_DIR": ".data"}  # made of other values


@dataclass(frozen=True)
class Setting:
    name: str
    reader: str
    default: str
    values: str


def settings(root: Path) -> list[Setting]:
    """Every variable that settings.py reads, in its order."""
    tree = ast.parse((root / "memoryproject" / "settings.py").read_text())
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    readers = [c for c in calls if isinstance(c.func, ast.Name) and c.func.id.startswith("env_")]
    return [read_from(call) for call in readers]


def read_from(call: ast.Call) -> Setting:
    assert isinstance(call.func, ast.Name)
    name = ast.literal_eval(call.args[0])
    reader = call.func.id
    given = {word.arg: evaluated(word.value) for word in call.keywords}
    default = OF_SCRIPT.get(name) or (evaluated(call.args[1]) if call.args[1:] else "")
    if reader == "env_bool":
        default = str(bool(default)).lower()
    if isinstance(default, tuple):
        default = ",".join(default)
    values = KINDS.get(reader, "")
    if choices := given.get("choices"):
        assert isinstance(choices, tuple)
        values = ", ".join(f"`{each}`" for each in choices)
    if reader in ("env_int", "env_float"):
        kind = "a whole number" if reader == "env_int" else "a number"
        least, most = given.get("minimum", 0), given.get("maximum")
        values = f"{kind}, {least} to {most:,.0f}" if most else f"{kind} from {least}"
    return Setting(name, reader, str(default), values)


def evaluated(node: ast.expr) -> object:
    """A constant, or a product of constants."""
    return eval(compile(ast.Expression(node), "settings.py", "eval"), {"__builtins__": {}})


def page(root: Path) -> str:
    known = {setting.name: setting for setting in settings(root)}
    parts = [HEAD]
    for subject, meanings in MEANINGS.items():
        rows = [
            (
                f"`{name}`",
                f"`{known[name].default}`" if known[name].default else "none",
                cell(meaning),
                known[name].values,
            )
            for name, meaning in meanings.items()
        ]
        parts.append(f"## {subject}\n\n{table(('variable', 'default', 'meaning', 'values'), rows)}")
    return "\n".join(parts)
