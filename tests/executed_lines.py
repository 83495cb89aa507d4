"""Which lines and branches all tests run: a plugin that `manage.py test` gives to pytest.

slipcover counts them, by marks in the byte code: coverage.py's tracer takes as much time again as
what it looks at. What slipcover saw is handed to coverage.py, beside the files that measured
servers write (see live_server.py), and told as its table in pyproject.toml says.
"""

import json
import os
import warnings
from collections import Counter, defaultdict
from collections.abc import Iterator
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from coverage import Coverage, CoverageData
from coverage.exceptions import CoverageWarning
from coverage.python import PythonFileReporter
from slipcover import FileMatcher, ImportManager, Slipcover, merge_coverage

# Times that a mark is passed before it is taken out: to look through all functions for those with
# such marks takes 0.2 seconds each time, and a mark that stays hardly anything.
NEVER = 1_000_000_000
WITHOUT_TRIALS = 95.0  # per cent of lines and branches that the tests run without the trials
Arcs = set[tuple[int, int]]


class ExecutedLines:
    """Of this process and of those that share the tests with it."""

    def __init__(self, early_config: pytest.Config) -> None:
        self.root = early_config.rootpath
        self.tool = Coverage(data_suffix=True, config_file=str(self.root / "pyproject.toml"))
        packages = self.tool.get_option("run:source_pkgs")
        self.sources = [str(self.root / name) for name in packages]
        self.files = FileMatcher(self.sources, omit=self.tool.get_option("run:omit"))
        self.counter = Slipcover(branch=True, d_miss_threshold=NEVER)
        self.seen: dict[str, Any] | None = None
        self.told = ""
        # Who only hands out tests runs nothing himself.
        self.is_worker = "PYTEST_XDIST_WORKER" in os.environ
        if self.is_worker or not early_config.known_args_namespace.numprocesses:
            ImportManager(self.counter, self.files).__enter__()
        self.has_trials = "--trials" in early_config.invocation_params.args
        if not self.is_worker:
            self.tool.erase()

    def add(self, seen: dict[str, Any]) -> None:
        self.seen = merge_coverage(self.seen, seen) if self.seen else seen

    def pytest_testnodedown(self, node: Any) -> None:
        if "executed_lines" in getattr(node, "workeroutput", {}):
            self.add(json.loads(node.workeroutput["executed_lines"]))

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        own = self.counter.get_coverage()
        if self.is_worker:
            session.config.workeroutput["executed_lines"] = json.dumps(own)
            return
        self.add(own)
        self.write()
        with warnings.catch_warnings():
            # A server that was killed while it wrote leaves a file that is none.
            warnings.simplefilter("ignore", CoverageWarning)
            self.tool.combine()
        self.tool.save()
        reached = self.tool.report(file=StringIO(), ignore_errors=True)
        least = self.tool.get_option("report:fail_under")
        if not self.has_trials:
            least = min(least, WITHOUT_TRIALS)
        self.told = f"{reached:.2f}% of lines and branches were run, {least}% must be."
        if reached < least and not session.exitstatus:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def write(self) -> None:
        """What was seen, as coverage.py would have: a file without a line is one, too."""
        data = CoverageData(self.tool.config.data_file, suffix="tests")
        for name, seen in self.seen["files"].items():
            path = str(self.root / name)
            data.add_arcs({path: arcs_of(PythonFileReporter(path, self.tool), seen)})
        for folder in self.sources:
            for path in filter(self.files.matches, Path(folder).rglob("*.py")):
                data.touch_file(str(path))
        data.write()

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        if self.told:
            terminalreporter.write_line(self.told)


def arcs_of(file: PythonFileReporter, seen: dict[str, list[Any]]) -> Arcs:
    """coverage.py's steps from line to line (a negative one leaves a function), out of the lines
    that ran and what slipcover calls a branch: a loop, a condition, to its body or past it (0
    leaves the function)."""
    lines = file.translate_lines(seen["executed_lines"])
    possible = file.arcs()
    exits: dict[int, set[int]] = defaultdict(set)
    for start, end in possible:
        exits[start].add(end)
    ways_to = Counter(end for _, end in possible)
    arcs = {(-1, line) for line in lines}
    # What has only one way to it came that way: the cases of a match, the kinds of an exception.
    arcs |= {(start, end) for start, end in possible if end in lines and ways_to[end] == 1}
    branches: dict[int, set[int]] = defaultdict(set)
    for start, end in [*seen["executed_branches"], *seen["missing_branches"]]:
        branches[start].add(end)
    for start, end in seen["executed_branches"]:
        left = exits[start] - branches[start]
        if end in exits[start]:
            arcs.add((start, end))
        elif len(exits[start]) > 1 and len(left) == 1:  # both know two, and name one otherwise
            arcs.add((start, *left))
        else:  # past all cases of a match, which for coverage.py is a step of the last
            last = {line for line in lines if line > start and end in exits[line]}
            arcs |= {(line, end) for line in last - branches.keys() if len(exits[line]) > 1}
    return arcs


@pytest.hookimpl(wrapper=True)
def pytest_load_initial_conftests(early_config: pytest.Config) -> Iterator[None]:
    """Before Django is set up, which imports most of what is counted."""
    early_config.pluginmanager.register(ExecutedLines(early_config))
    return (yield)
