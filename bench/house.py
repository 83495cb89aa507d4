#!/usr/bin/env python3
"""Measures of how easily a stranger finds the way in a tree of this project: its size, how its
functions are cut, and which names mean two things.

    python3 bench/house.py                      this tree
    python3 bench/house.py OTHER --journeys     another one, and the rooms that a request enters

Counted are the Python files of what is installed (`memories`, `workspaces`, `memoryproject`), empty
`__init__.py` files left out; migrations are a line of their own. `--journeys` runs requests in the
tree's own environment (`.venv`), with its own test database. Standard library only.
"""

import argparse
import ast
import json
import os
import re
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

HERE = Path(__file__).resolve().parent
PACKAGES = ("memories", "workspaces", "memoryproject")
# Django, DRF and Python name these, and mean one thing by them.
GIVEN_CLASSES = {"Meta", "Migration", "Command", "Config", "Media"}
GIVEN_MODULES = {"__init__", "__main__", "apps", "urls", "conftest"}
GIVEN_PLACES = ("memoryproject.postgres.base",)  # Django's name for a database's backend

# A relative or subordinate clause where a docstring should open with a verb or a noun.
HEADLESS = re.compile(r"(?:What|Whose|Whom|Who|Which|Where|When|How|Why|Whether|As|Of|That|By|None where)\b")
# Participles and pronouns that say nothing of what a variable holds.
VAGUE = {"told", "found", "asked", "own", "said", "each"}
WIDEST = 120

Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class Module:
    """A file of the tree. `name` is dotted, `lines` counts all, blank ones too."""

    name: str
    path: Path
    lines: int
    tree: ast.Module
    is_migration: bool
    is_command: bool

    @property
    def functions(self) -> list[Function]:
        nodes = ast.walk(self.tree)
        return [n for n in nodes if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef)]


def modules(root: Path, packages: Iterable[str] = PACKAGES) -> Iterator[Module]:
    for package in packages:
        for path in sorted((root / package).rglob("*.py")):
            text = path.read_text()
            parts = path.relative_to(root).with_suffix("").parts
            if text.strip() or path.name != "__init__.py":
                yield Module(
                    ".".join(parts).removesuffix(".__init__"),
                    path,
                    text.count("\n"),
                    ast.parse(text),
                    "migrations" in parts,
                    "commands" in parts,
                )


def helpers_used_once(module: Module) -> list[str]:
    """Private functions and methods whose name stands once more in their file: where it is used."""
    private = [f.name for f in module.functions if re.match(r"_[^_]", f.name)]
    uses = Counter(
        node.id if isinstance(node, ast.Name) else node.attr
        for node in ast.walk(module.tree)
        if isinstance(node, ast.Name | ast.Attribute)
    )
    return [name for name in private if uses[name] == 1]


def classes_with_two_meanings(tree: Iterable[Module]) -> dict[str, list[str]]:
    """Class name to the modules that define one of that name, where they are two or more. A class
    within a class is named by both: `MemorySession.State`."""
    places = defaultdict(set)
    for module in tree:
        for node in module.tree.body:
            if isinstance(node, ast.ClassDef) and node.name not in GIVEN_CLASSES:
                places[node.name].add(module.name)
    return _of_two(places)


def modules_with_two_meanings(tree: Iterable[Module]) -> dict[str, list[str]]:
    """Module name to the dotted names that end with it, where they are two or more."""
    places = defaultdict(set)
    for module in tree:
        last = module.name.rpartition(".")[2]
        is_given = module.path.stem in GIVEN_MODULES or module.name.startswith(GIVEN_PLACES)
        if not is_given and not module.is_command:
            places[last].add(module.name)
    return _of_two(places)


def functions_in_many_files(tree: Iterable[Module], least: int = 4) -> dict[str, list[str]]:
    """Name of a top-level function to the modules that define it, `least` or more."""
    places = defaultdict(set)
    for module in tree:
        for node in module.tree.body:
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                places[node.name].add(module.name)
    return {name: sorted(where) for name, where in sorted(places.items()) if len(where) >= least}


def is_public_constant(node: ast.stmt) -> bool:
    """Tell whether a statement of a module sets a name in capitals, such as `LIMIT = 5`."""
    targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
    return any(isinstance(t, ast.Name) and re.fullmatch(r"[A-Z][A-Z0-9_]*", t.id) for t in targets)


def has_chapters(module: Module) -> bool:
    """Tell whether constants that could stand at the top stand below a function: two files in one.
    A table of what the file defines has to stand below that."""
    defined: set[str] = set()
    is_below = False
    for node in module.tree.body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            defined.add(node.name)
            is_below |= not isinstance(node, ast.ClassDef)
        elif (
            is_below
            and is_public_constant(node)
            and defined.isdisjoint(n.id for n in ast.walk(node) if isinstance(n, ast.Name))
        ):
            return True
    return False


def joined_names(module: Module) -> list[str]:
    """Names of the file, its classes and functions that hold two subjects: `_and_`."""
    names = [module.path.stem, *(function.name for function in module.functions)]
    return [name for name in names if "_and_" in name]


def docstrings(module: Module) -> Iterator[str]:
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Module | ast.ClassDef | Function) and (text := ast.get_docstring(node)):
            yield text


def headless_docstrings(module: Module) -> list[str]:
    return [text.splitlines()[0] for text in docstrings(module) if HEADLESS.match(text)]


def vague_names(module: Module) -> list[str]:
    """Variables and parameters whose whole name is one of VAGUE, once for each place that sets
    them."""
    nodes = list(ast.walk(module.tree))
    stored = [n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)]
    given = [n.arg for n in nodes if isinstance(n, ast.arg)]
    return [name for name in stored + given if name in VAGUE]


def wide_lines(module: Module) -> list[int]:
    """Numbers of the lines over WIDEST characters that stand outside of data: a module's or a
    class's constants."""
    data: set[int] = set()
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Module | ast.ClassDef):
            for part in node.body:
                if isinstance(part, ast.Assign | ast.AnnAssign | ast.Expr):
                    data |= set(range(part.lineno, (part.end_lineno or part.lineno) + 1))
    lines = enumerate(module.path.read_text().splitlines(), 1)
    return [number for number, line in lines if len(line) > WIDEST and number not in data]


def fan_out(module: Module) -> int:
    """Number of our own modules that a file imports."""
    found: set[str] = set()
    for node in ast.walk(module.tree):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith(PACKAGES):
            found |= {
                f"{node.module}.{name.name}" if is_package(module, node.module) else node.module for name in node.names
            }
        elif isinstance(node, ast.Import):
            found |= {name.name for name in node.names if name.name.startswith(PACKAGES)}
    return len(found)


def is_package(module: Module, name: str) -> bool:
    root = module.path.parents[module.name.count(".") + (module.path.stem == "__init__")]
    return (root / name.replace(".", "/")).is_dir()


def loose_modules(tree: Iterable[Module]) -> list[str]:
    """Files that stand in `memories` beside its folders."""
    names = [module.name for module in tree if module.path.stem != "__init__"]
    return [name for name in names if re.fullmatch(r"memories\.\w+", name)]


def honest(own: Sequence[Module]) -> dict[str, float]:
    """Figures that may only become less, by their names in `tests/project/test_house.py`."""
    texts = sum(len(list(docstrings(module))) for module in own)
    headless = sum(len(headless_docstrings(module)) for module in own)
    return {
        "loose modules in memories": len(loose_modules(own)),
        "files with chapters": sum(map(has_chapters, own)),
        "names with _and_": sum(len(joined_names(module)) for module in own),
        "headless docstrings, of 1,000": round(1000 * headless / texts),
        "vague names, per 1,000 lines": round(
            1000 * sum(len(vague_names(module)) for module in own) / sum(m.lines for m in own), 1
        ),
        "lines over 120 outside data": sum(len(wide_lines(module)) for module in own),
        "largest fan-out of a file": max(map(fan_out, own)),
        "formatter switched off": sum(m.path.read_text().count("# fmt: skip") for m in own),
    }


def measured(root: Path) -> dict[str, object]:
    everything = list(modules(root))
    own = [module for module in everything if not module.is_migration]
    functions = [function for module in own for function in module.functions]
    lengths = sorted((f.end_lineno or f.lineno) - f.lineno + 1 for f in functions)
    once = sum(len(helpers_used_once(module)) for module in own)
    names = Counter(
        node.id
        for module in own
        for node in ast.walk(module.tree)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    )
    return {
        "files": len(own),
        "lines": sum(module.lines for module in own),
        "migrations, files": len(everything) - len(own),
        "migrations, lines": sum(module.lines for module in everything if module.is_migration),
        "median file, lines": median(module.lines for module in own),
        "largest file, lines": max(module.lines for module in own),
        "files under 30 lines": sum(module.lines < 30 for module in own),
        "functions": len(functions),
        "functions per 1,000 lines": round(1000 * len(functions) / sum(m.lines for m in own)),
        "function lines, median / p90 / max": (
            f"{median(lengths):g} / {lengths[len(lengths) * 9 // 10]} / {lengths[-1]}"
        ),
        "helpers used once": once,
        "helpers used once, of all functions": f"{once / len(functions):.1%}",
        "class names with two meanings": len(classes_with_two_meanings(own)),
        "module names used twice": len(modules_with_two_meanings(own)),
        "function names in 4 files or more": len(functions_in_many_files(own)),
        "most common local names": ", ".join(name for name, _ in names.most_common(8)),
        **honest(own),
    }


def journeys(root: Path) -> dict[str, str]:
    """Modules, functions and calls of ours that each request really enters."""
    python = root / ".venv" / "bin" / "python"
    options = ["-n", "0", "--reuse-db", "-q", "-p", "no:cacheprovider"]
    words = [str(python), "-m", "pytest", f"--rootdir={root}", "-c", str(root / "pyproject.toml")]
    done = subprocess.run(
        [*words, *options, str(HERE / "house_journeys.py"), "-s"],
        cwd=root,
        env={**os.environ, "PYTHONPATH": str(root)},
        capture_output=True,
        text=True,
    )
    lines = [line for line in done.stdout.splitlines() if line.startswith("journey ")]
    if done.returncode or not lines:
        sys.exit(f"The journeys ended with {done.returncode}:\n{done.stdout}\n{done.stderr}")
    return dict(line.removeprefix("journey ").split(": ", 1) for line in lines)


def _of_two(places: dict[str, set[str]]) -> dict[str, list[str]]:
    return {name: sorted(where) for name, where in sorted(places.items()) if len(where) > 1}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=(__doc__ or "").strip(), formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("tree", nargs="?", type=Path, default=HERE.parent)
    parser.add_argument("--journeys", action="store_true", help="run requests and trace them, too")
    parser.add_argument("--names", action="store_true", help="list what is counted")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    root = options.tree.resolve()
    if not (root / "memories").is_dir():
        parser.error(f"{root} is no tree of this project: it has no folder `memories`")
    table = measured(root) | (journeys(root) if options.journeys else {})
    if options.json:
        print(json.dumps(table, indent=2))
        return
    width = max(map(len, table))
    for name, value in table.items():
        print(f"{name:{width}}  {value}")
    if options.names:
        own = [module for module in modules(root) if not module.is_migration]
        for title, names in (
            ("class names", classes_with_two_meanings(own)),
            ("module names", modules_with_two_meanings(own)),
            ("function names", functions_in_many_files(own)),
        ):
            print(f"\n{title}")
            for name, where in names.items():
                print(f"  {name}: {', '.join(where)}")
        print("\nhelpers used once")
        for module in own:
            if once := helpers_used_once(module):
                print(f"  {module.name} ({len(module.functions)}): {', '.join(once)}")


if __name__ == "__main__":
    main()
