"""Measure the cost of row-level security."""

import json
import sys
from argparse import ArgumentParser
from dataclasses import asdict
from typing import Any

from django.core.management.base import CommandError

from bench.scratch import scratch_database
from bench.speed.layout import label, size_of
from bench.speed.walls_cost import WallCost, measure
from memories.management.command_options import CommandWithExamples, add_result_file
from memories.management.progress import progress


class Command(CommandWithExamples):
    help = (
        "Search and ingest with and without the walls between workspaces, in turns over the same\n"
        "rows, in a database that is removed. Exit 1 where they cost more than they may: 1.10 of\n"
        "what it took before at 1k memories, 1.05 from 10k on. Compared is the work of both\n"
        "processors, where the system tells it: other work on the machine does not change it."
    )
    examples = (
        "  manage.py benchmarkwalls                        1k and 10k memories\n"
        "  manage.py benchmarkwalls --sizes 100k --rounds 200 --json result.json"
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--sizes", default="1k,10k", help="live memories (default 1k,10k)")
        parser.add_argument("--rounds", type=int, default=200, help="how often each is done")
        add_result_file(parser)

    def handle(self, **options: Any) -> None:
        try:
            sizes = [size_of(text) for text in options["sizes"].split(",")]
        except ValueError as error:
            raise CommandError(f"--sizes: {error}") from None
        if options["rounds"] < 1:
            raise CommandError("--rounds: at least one.")
        with scratch_database(), progress(sum(sizes), "memories", sys.stderr) as shown:
            costs = measure(sizes, options["rounds"], shown.update)
        self.stdout.write("act                    size   without      with   ratio   (clock)")
        for cost in costs:
            self.stdout.write(line_of(cost))
        if options["json"]:
            told = [{**asdict(cost), "ratio": cost.ratio} for cost in costs]
            options["json"].write_text(json.dumps(told, indent=2) + "\n")
        if dear := [cost for cost in costs if cost.ratio > cost.allowed]:
            names = ", ".join(f"{cost.act} at {label(cost.size)}" for cost in dear)
            raise CommandError(f"The walls cost more than they may: {names}.")


def line_of(cost: WallCost) -> str:
    """One act: milliseconds of work, and by the clock."""
    before = cost.work_before or cost.clock_before
    after = cost.work_after or cost.clock_after
    clock = f"({cost.clock_before:.2f} to {cost.clock_after:.2f})"
    return f"{cost.act:20} {label(cost.size):>6} {before:>9.2f} {after:>9.2f} {cost.ratio:>7.3f}   {clock}"
