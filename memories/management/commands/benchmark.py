"""How fast this machine serves, beside what its database alone could do."""

import shutil
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from memories.benchmarking.footprint import is_measurable
from memories.benchmarking.layout import LAYOUTS

EXAMPLES = """
examples:
  manage.py benchmark                              1k and 10k memories, about two minutes
  manage.py benchmark --sizes 1k,10k,100k --json result.json
  manage.py benchmark --sizes 100k --layout many   a workspace of 1k beside 99 others
  manage.py benchmark --connections 8              throughput with 8 clients, too
  manage.py benchmark --memory                     how much memory `up` takes at rest

It makes a server of its own in a temporary folder, with synthetic data, the local embedder and no
model, and removes it at the end: your workspaces are neither read nor written. Times depend on
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
            "--sizes", type=_sizes, default="1k,10k", help="live memories: 1k, 10k, 100k, 1M, 2500"
        )
        parser.add_argument(
            "--layout",
            choices=LAYOUTS,
            default="one",
            help="one workspace per size, many of 1k each, or each half as large as the one before",
        )
        parser.add_argument("--rounds", type=_count, default=200, help="how often each is timed")
        parser.add_argument(
            "--connections", type=_count, default=1, help="from 2 on: throughput with that many"
        )
        parser.add_argument("--memory", action="store_true", help="the memory of `up`, and no times")
        parser.add_argument("--web", type=_count, default=2, help="web processes")
        parser.add_argument("--workers", type=_count, default=2, help="worker processes")
        parser.add_argument("--json", type=Path, metavar="FILE", help="write the result there, too")
        parser.add_argument("--keep", action="store_true", help="keep the folder, and say where")
        parser.add_argument("--data", type=Path, help="an empty folder instead of a temporary one")

    def handle(self, *, data: Path | None, keep: bool, **options: Any) -> None:
        if options["memory"] and not is_measurable():
            raise CommandError("--memory reads /proc/*/smaps_rollup, which this system has not.")
        if data is not None and data.resolve() == settings.DATA_DIR and _is_inside():
            self.measure(options)
            return
        folder = _fresh(data)
        try:
            _again_over(folder)
        finally:
            if keep:
                self.stdout.write(f"Kept: {folder}")
            else:
                shutil.rmtree(folder)
