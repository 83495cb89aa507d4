"""What the contracts of import-linter in pyproject.toml must cover so that they have no holes."""

import tomllib
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
CONTRACTS: list[dict[str, Any]] = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"][
    "importlinter"
]["contracts"]


def contract(words: str) -> dict[str, Any]:
    return next(each for each in CONTRACTS if words in each["name"])


def floors() -> list[list[str]]:
    """From the top down, the modules of each."""
    rows = contract("floor by floor")["layers"]
    return [[name.strip(" ()") for name in row.split("|")] for row in rows]


def test_every_module_on_a_floor_is_there() -> None:
    folder = ROOT / "memories"
    missing = [
        name
        for floor in floors()
        for name in floor
        if not (folder / f"{name}.py").is_file() and not (folder / name / "__init__.py").is_file()
    ]
    assert missing == []


def test_everything_below_the_models_knows_nothing_of_django() -> None:
    below = floors()[floors().index(["models"]) + 1 :]
    pure = {f"memories.{name}" for floor in below for name in floor}
    assert set(contract("nothing of Django")["source_modules"]) >= pure
