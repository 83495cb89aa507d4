"""What slipcover counts comes to what coverage.py's own tracer counts."""

import ast
import os
import subprocess
import sys
from pathlib import Path
from types import CodeType
from typing import Any

import pytest
from coverage import Coverage, CoverageData
from coverage.python import PythonFileReporter
from slipcover import Slipcover
from slipcover.branch import preinstrument

from tests.executed_lines import arcs_of
from tests.live_server import measured

ROOT = Path(__file__).parents[2]

WAYS = """
# Ways through a file.

from contextlib import suppress


def ways(words):
    found = []
    for word in words:
        if word == "skip":
            continue
        if word == "stop":
            break
        elif word in (
            "one",
            "two",
        ):
            found.append(
                word.upper()
            )
    else:
        found.append("all")
    while found and found[-1] == "TWO":
        found.pop()
    return kinds(found)


def kinds(found):
    for each in found:
        match each:
            case "ONE" if len(found) > 1:
                found.append("more")
            case "ONE" | "all":
                with suppress(ValueError):
                    if len(found) == 1:
                        raise ValueError
            case "more":
                return ended(found)
    if found:
        return found


def ended(found):
    try:
        if len(found) > 2:
            number = int(found[0])
        else:
            number = {}["no"]
    except ValueError:
        number = 0
    except KeyError:
        number = 1

    @str
    def named():
        return number

    return [n for n in found if n] if named else None
"""
WORDS = ["", "stop", "one", "two", "one two", "two one", "one one", "one stop", "one skip one"]
PROJECT = """
[tool.coverage.run]
branch = true
source_pkgs = ["ways"]
omit = ["*/left_out/*"]
[tool.coverage.report]
fail_under = 50.0
"""


def run(code: CodeType, words: str) -> None:
    names: dict[str, Any] = {}
    exec(code, names)
    names["ways"](words.split())


def told(path: Path, name: str, arcs: Any) -> dict[str, Any]:
    """What coverage.py says of the file, the steps given."""
    data = CoverageData(str(path.with_name(name)))
    data.add_arcs({str(path): arcs})
    data.write()
    tool = Coverage(data_file=data.data_filename(), branch=True, config_file=False)
    tool.load()
    _, statements, _, missing, _ = tool.analysis2(str(path))
    return {"lines": statements, "missing": missing, "exits": tool.branch_stats(str(path))}


@pytest.mark.parametrize("words", WORDS)
def test_lines_and_branches_are_those_of_the_tracer(tmp_path: Path, words: str):
    path = tmp_path / "ways.py"
    path.write_text(WAYS)
    tracer = Coverage(data_file=None, branch=True, include=[str(path)], config_file=False)
    tracer.start()
    run(compile(WAYS, str(path), "exec"), words)
    tracer.stop()
    counter = Slipcover(branch=True)
    run(counter.instrument(compile(preinstrument(ast.parse(WAYS)), str(path), "exec")), words)
    seen = counter.get_coverage()["files"][str(path)]
    arcs = arcs_of(PythonFileReporter(str(path), tracer), seen)
    assert told(path, "counted", arcs) == told(path, "traced", tracer.get_data().arcs(str(path)))


@pytest.mark.parametrize(("words", "code"), [("one two", 0), ("", 1)])
def test_a_suite_that_runs_too_little_fails(tmp_path: Path, words: str, code: int):
    files = {
        "pyproject.toml": PROJECT,
        "ways/__init__.py": WAYS,
        "ways/left_out/never.py": WAYS,
        # A server that was killed while it wrote leaves an empty file behind.
        "test_it.py": (
            f"import ways\n\ndef test_it():\n    ways.ways({words.split()})\n"
            '    open(".coverage.killed.pid1.a", "w").close()\n'
        ),
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    ours = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    plugins = ["-p", "tests.executed_lines", "-p", "no:django", "-p", "no:cacheprovider"]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-n", "1", "-W", "error", *plugins],
        cwd=tmp_path,
        env={**ours, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
    )
    assert (done.returncode, "1 passed" in done.stdout) == (code, True), done.stdout + done.stderr
    assert "of lines and branches were run, 50.0% must be" in done.stdout


def test_a_measured_process_counts_on_where_an_expression_was_compiled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    lines = ["import re", "word = re.compile('[a-z]+')", "if word:", "    word = None", "word = 1"]
    (tmp_path / "ways.py").write_text("\n".join(lines))
    (tmp_path / "pyproject.toml").write_text(PROJECT)
    monkeypatch.setitem(sys.modules, "tests.executed_lines", sys)  # as when all tests are run
    config = {"COVERAGE_PROCESS_START": str(tmp_path / "pyproject.toml")}
    command = [sys.executable, "-c", "import ways"]
    subprocess.run(command, cwd=tmp_path, env={**os.environ, **measured(), **config}, check=True)
    data = CoverageData(str(tmp_path / ".coverage"))
    data.read()
    assert sorted(data.lines(str(tmp_path / "ways.py")) or ()) == [1, 2, 3, 4, 5]
