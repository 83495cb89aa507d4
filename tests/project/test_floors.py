"""What the contracts of import-linter in pyproject.toml must cover so that they have no holes."""

import tomllib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import grimp

ROOT = Path(__file__).parents[2]
CONTRACTS: list[dict[str, Any]] = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"][
    "contracts"
]


def contract(words: str) -> dict[str, Any]:
    return next(each for each in CONTRACTS if words in each["name"])


def floors() -> list[list[str]]:
    """From the top down, the modules of each."""
    rows = contract("floor by floor")["layers"]
    return [[name.strip(" ()") for name in row.split("|")] for row in rows]


def places() -> list[Path]:
    """The folder or module of each name on a floor, without an ending."""
    return [ROOT.joinpath("memories", *name.split(".")) for floor in floors() for name in floor]


def test_every_module_on_a_floor_is_there() -> None:
    missing = [
        place for place in places() if not place.with_suffix(".py").is_file() and not (place / "__init__.py").is_file()
    ]
    assert missing == []


def test_no_module_is_without_a_floor() -> None:
    known = set(places())
    homeless = [
        path
        for path in sorted((ROOT / "memories").rglob("*.py"))
        if path.name != "__init__.py"
        and "migrations" not in path.parts
        and known.isdisjoint([path.with_suffix(""), *path.parents])
    ]
    assert homeless == []


def test_everything_below_the_models_knows_nothing_of_django() -> None:
    below = floors()[floors().index(["models"]) + 1 :]
    pure = {f"memories.{name}" for floor in below for name in floor}
    assert set(contract("nothing of Django")["source_modules"]) >= pure


def test_what_knows_nothing_of_django_stays_so() -> None:
    """A module that no import leads to Django is pure, and its first import of it is to fail."""
    wall = contract("nothing of Django")
    held, others = wall["source_modules"], (*wall["forbidden_modules"], "memoryproject")
    graph = grimp.build_graph("memories", "workspaces", "memoryproject", include_external_packages=True)

    def is_of(module: str, names: Iterable[str]) -> bool:
        return any(module == name or module.startswith(f"{name}.") for name in names)

    files = [each for each in graph.modules if is_of(each, ["memories"])]
    own = [each for each in files if not graph.find_children(each) and "migrations" not in each]
    pure = [each for each in own if not any(is_of(known, others) for known in graph.find_upstream_modules(each))]
    assert [each for each in sorted(pure) if not is_of(each, held)] == []
