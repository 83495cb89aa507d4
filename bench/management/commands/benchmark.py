"""Measure how fast this machine serves, beside what its database alone could do."""

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from argparse import SUPPRESS, ArgumentParser, ArgumentTypeError, RawDescriptionHelpFormatter
from datetime import datetime
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from django.db import connections
from django.utils import timezone

from bench.server import ServerFailed
from bench.speed import report
from bench.speed.footprint import footprint, is_measurable
from bench.speed.http_client import UnexpectedAnswer
from bench.speed.layout import LAYOUTS, label, plots, size_of
from bench.speed.loading import NotFilled
from bench.speed.server import Server, environment
from bench.speed.study import PARTS, Study, Wish, study, use
from memories.management import command_options
from memories.management.command_options import add_result_file, whole_number
from memories.management.progress import Progress, progress
from memoryproject.postgres import embedded_postgres
from memoryproject.postgres.embedded_postgres import Home
from memoryproject.postgres.postgres_guard import open_lock, try_lock

TRIED = 1_000  # memories at which the server is used before its memory is measured
REST, PATIENCE = 5.0, 60.0  # seconds
EXAMPLES = """
examples:
  manage.py benchmark                              1k and 10k memories, about a minute
  manage.py benchmark --sizes 1k,10k,100k --json result.json
  manage.py benchmark --sizes 100k --layout many   a workspace of 1k beside 99 others
  manage.py benchmark --connections 8              throughput with 8 clients, too
  manage.py benchmark --sizes 1M --data big --keep
  manage.py benchmark --sizes 1M --data big --reuse --only searches
  manage.py benchmark --memory                     how much memory `up` takes at rest

It makes a server of its own in a temporary folder, with synthetic data, the local embedder and no
model, and removes it at the end: your workspaces are neither read nor written. The result is kept
in your installation, where there is one, for its page of runs. Times depend on
what else the machine does; all kinds of requests take turns, so compare the ratios of one run.
"""


class Command(BaseCommand):
    help = "Measure search and ingest over HTTP beside the SQL floor, on a server of its own."
    requires_system_checks = ()  # they would ask the user's own database

    def create_parser(self, prog_name: str, subcommand: str, **kwargs: Any) -> Any:
        parser = super().create_parser(prog_name, subcommand, **kwargs)
        parser.epilog, parser.formatter_class = EXAMPLES, RawDescriptionHelpFormatter
        return parser

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--sizes",
            type=_sizes,
            default="1k,10k",
            help="live memories, like 1k,10k (the default)",
        )
        parser.add_argument(
            "--layout",
            choices=LAYOUTS,
            default="one",
            help="one workspace per size, many of 1k each, or each half as large as the one before",
        )
        parser.add_argument("--rounds", type=whole_number(1), default=200, help="how often each is timed")
        parser.add_argument(
            "--connections",
            type=whole_number(1),
            default=1,
            help="from 2 on: throughput with that many",
        )
        parser.add_argument("--memory", action="store_true", help="the memory of `up`, and no times")
        parser.add_argument("--web", type=whole_number(1), default=2, help="web processes (default 2)")
        parser.add_argument("--workers", type=whole_number(1), default=2, help="worker processes (default 2)")
        add_result_file(parser)
        parser.add_argument("--keep", action="store_true", help="keep the folder, and say where")
        parser.add_argument("--data", type=Path, help="an empty folder instead of a temporary one")
        parser.add_argument(
            "--reuse",
            action="store_true",
            help="--data names what an earlier run kept: what is filled is not filled again",
        )
        parser.add_argument("--only", choices=PARTS, help="measure these, and nothing else")
        parser.add_argument("--inside", action="store_true", help=SUPPRESS)

    def handle(self, *, inside: bool, keep: bool, data: Path | None, reuse: bool, **options: Any) -> None:
        if options["memory"] and not is_measurable():
            raise CommandError("--memory reads /proc/*/smaps_rollup, which this system has not.")
        if inside:
            self.measure(options)
            return
        folder, started = _kept(data) if reuse else _fresh(data), timezone.now()
        options["json"] = options["json"] or folder / "result.json"
        try:
            code = _run_over(folder, _words(options))
            if not code:
                _record(options, started)
        finally:
            if keep or reuse:
                self.stdout.write(f"Kept: {folder}")
            else:
                _remove(folder)
        if code:
            raise CommandError("The benchmark did not finish.", returncode=code)

    def measure(self, options: dict[str, Any]) -> None:
        """Here the settings name the benchmark's own folder."""
        signal.signal(signal.SIGTERM, _interrupt)
        server = Server(settings.DATA_DIR, options["web"], options["workers"])
        try:
            found = self.memory(server) if options["memory"] else self.speed(server, options)
        except (ServerFailed, NotFilled) as error:
            raise CommandError(str(error)) from error
        except UnexpectedAnswer as error:
            raise CommandError(f"{error} The server's log ends: {server.said()}") from error
        except KeyboardInterrupt:
            raise CommandError("Interrupted.", returncode=130) from None
        finally:
            _leave_database()
        if options["json"]:
            options["json"].write_text(json.dumps(found, indent=2) + "\n")

    def speed(self, server: Server, options: dict[str, Any]) -> dict[str, Any]:
        wish = Wish(
            plots=[plot for size in options["sizes"] for plot in plots(options["layout"], size)],
            rounds=options["rounds"],
            connections=options["connections"],
            parts=[options["only"]] if options["only"] else PARTS,
        )
        with server:
            done = study(server.url, wish, _stage)
        for line in report.lines(done):
            self.stdout.write(line)
        return report.as_json(done)

    def memory(self, server: Server) -> dict[str, Any]:
        with server:
            use(server.url, plots("one", TRIED), _stage)
            _leave_database()
            time.sleep(REST)
            found = footprint(server.pid, Home.below(settings.DATA_DIR))
        for line in report.memory_lines(found):
            self.stdout.write(line)
        return report.as_json(Study(), found)


def _record(options: dict[str, Any], started: datetime) -> None:
    found = json.loads(options["json"].read_text())
    sizes = ",".join(label(size) for size in options["sizes"])
    name = "memory of `up`" if options["memory"] else f"{sizes}, layout {options['layout']}"
    command_options.keep("benchmark", name, started, report.figures(found), found)


def _stage(total: int, unit: str) -> Progress:
    return progress(total, unit, sys.stderr)


def _words(options: dict[str, Any]) -> list[str]:
    sizes = ",".join(str(size) for size in options["sizes"])
    words = ["--sizes", sizes, "--layout", options["layout"]]
    for name in ("rounds", "connections", "web", "workers"):
        words += [f"--{name}", str(options[name])]
    words += ["--json", str(options["json"].resolve())]
    words += ["--only", options["only"]] if options["only"] else []
    return [*words, "--memory"] if options["memory"] else words


def _fresh(data: Path | None) -> Path:
    """An empty folder: nobody's data can be meant."""
    if data is None:
        return Path(tempfile.mkdtemp(prefix="memoryproject-benchmark-"))
    folder = data.expanduser().resolve()
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise CommandError(f"{folder} is not empty.")
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    return folder


def _kept(data: Path | None) -> Path:
    """A folder that `--keep` left."""
    folder = (data or Path()).expanduser().resolve()
    if data is None or not Home.below(folder).root.is_dir():
        raise CommandError("--reuse wants --data, with the folder that a run with --keep left.")
    (folder / "up.json").unlink(missing_ok=True)  # the former server's address
    return folder


def _run_over(folder: Path, words: list[str]) -> int:
    """Run this command again, in a process whose settings name `folder`; its exit code.

    Ctrl-C reaches that process by itself; we wait until it has stopped its server.
    """
    command = [sys.executable, "manage.py", "benchmark", "--inside", *words]
    child = subprocess.Popen(command, cwd=settings.BASE_DIR, env=environment(folder))
    before = {
        signal.SIGINT: signal.signal(signal.SIGINT, signal.SIG_IGN),
        signal.SIGTERM: signal.signal(signal.SIGTERM, lambda *_: child.terminate()),
    }
    try:
        return child.wait()
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _remove(folder: Path) -> None:
    """Once the guard has stopped the database: it would write into a folder that is being
    removed."""
    home, end = Home.below(folder), time.monotonic() + PATIENCE
    if home.root.exists():
        while _is_guarded(home.root) and time.monotonic() < end:
            time.sleep(0.1)
        embedded_postgres.leave(home, patience=PATIENCE)
    shutil.rmtree(folder)


def _is_guarded(root: Path) -> bool:
    lock = open_lock(root / "guard.lock")
    try:
        return not try_lock(lock)
    finally:
        os.close(lock)


def _interrupt(*_: object) -> None:
    raise KeyboardInterrupt


def _leave_database() -> None:
    connections.close_all()
    if settings.EMBEDDED_POSTGRES is not None:
        embedded_postgres.leave(settings.EMBEDDED_POSTGRES)


def _sizes(text: str) -> list[int]:
    try:
        return sorted({size_of(part) for part in text.split(",")})
    except ValueError as error:
        raise ArgumentTypeError(str(error)) from None
