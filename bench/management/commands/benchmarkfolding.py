"""Measure how fast workers take episodes into feature sets, and whether each is taken in once."""

import json
import sys
from argparse import ArgumentParser
from dataclasses import asdict
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from bench.scratch import scratch_database
from bench.speed import folding
from bench.speed.folding import Wish
from memories.management.command_options import CommandWithExamples, add_result_file
from memories.management.progress import progress


class Command(CommandWithExamples):
    help = (
        "Take episodes into feature sets, by rules, with one worker and then with several, of"
        " which\n"
        "some are killed at random: exactly once per set, or exit code 1. The data is made up, in"
        " a\n"
        "database that is removed."
    )
    examples = (
        "  manage.py benchmarkfolding               10,000 episodes, 50 sets, 4 workers, 2 killed\n"
        "  manage.py benchmarkfolding --episodes 1000 --sets 10 --seed 7"
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--episodes", type=int, default=10_000)
        parser.add_argument("--sets", type=int, default=50)
        parser.add_argument("--workers", type=int, default=4)
        parser.add_argument("--kill", type=int, default=2, help="so many of them, with SIGKILL")
        parser.add_argument(
            "--lease",
            type=float,
            default=15.0,
            help="seconds after which a dead worker's set is free (the product waits longer)",
        )
        parser.add_argument("--seed", type=int, default=1, help="of the data and of the killing")
        add_result_file(parser)

    def handle(self, **options: Any) -> None:
        wish = _wish(options)
        with scratch_database(), progress(wish.episodes, "episodes", sys.stderr) as shown:
            found = folding.measure(wish, shown.update)
        for line in folding.lines(found):
            self.stdout.write(line)
        if options["json"]:
            _write(options["json"], wish, found)
        if not found.is_exact:
            raise CommandError("Something was lost, or taken in twice.")


def _wish(options: dict[str, Any]) -> Wish:
    wish = Wish(
        options["episodes"],
        options["sets"],
        options["workers"],
        options["kill"],
        options["lease"],
        options["seed"],
    )
    if not 0 < wish.sets <= wish.episodes or wish.lease <= 0:
        raise CommandError("There must be a set at least, an episode for each, and a lease.")
    if not 0 <= wish.killed < wish.workers:
        raise CommandError("One worker at least must live: --kill is less than --workers.")
    return wish


def _write(path: Path, wish: Wish, found: folding.Outcome) -> None:
    told = {"wish": asdict(wish), **asdict(found), "is_exact": found.is_exact}
    path.write_text(json.dumps(told, indent=2) + "\n")
