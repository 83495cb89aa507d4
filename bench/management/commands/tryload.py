"""Many clients for an hour: what fails, how long it takes, and whether the server grows."""

import asyncio
import os
from argparse import ArgumentParser
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from bench import bounds
from bench.bounds import Bound, percentile, table
from bench.load.clients import Heard, Load, go_on
from bench.load.samples import Samples
from bench.server import ServerFailed, TrialServer
from bench.spare_folder import NotSpare, spare_folder
from memories.management.examples import CommandWithExamples
from memories.management.result_file import add_result_file

SETTLED = 300.0  # seconds after which memory is not to grow any more
MOST_GROWTH = 0.1  # of the memory at that time


class Command(CommandWithExamples):
    help = (
        "Make a server of its own in a spare folder and let clients use it: searches, contexts,\n"
        "profiles, lists, small ingests, a few of 100 messages. Tells for each kind how many, how\n"
        "many failed, p50 and p99, and every minute memory (proportional set sizes of all\n"
        "processes), connections of the database and open files. Exit code 1 where a request failed\n"
        "or memory grew by more than a tenth after the first five minutes. Linux only."
    )
    examples = (
        "  manage.py tryload --data /tmp/spare                   50 clients for an hour\n"
        "  manage.py tryload --minutes 5 --clients 20 --thinking 1\n"
        "  manage.py tryload --minutes 10 --json result.json"
    )
    requires_system_checks = ()  # they would ask the user's own database

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--data", type=Path, help="an empty folder (default: a temporary one)")
        parser.add_argument("--minutes", type=float, default=60.0, help="default 60")
        parser.add_argument("--clients", type=int, default=50, help="default 50")
        parser.add_argument(
            "--thinking",
            type=float,
            default=2.0,
            help="seconds between two requests of a client, on average (default 2)",
        )
        parser.add_argument("--seed", type=int, default=1, help="other requests and words")
        parser.add_argument("--web", type=int, default=os.cpu_count() or 2, help="web processes")
        parser.add_argument("--workers", type=int, default=2, help="worker processes (default 2)")
        parser.add_argument("--keep", action="store_true", help="keep the folder")
        add_result_file(parser)

    def handle(self, **options: Any) -> None:
        seconds, heard = options["minutes"] * 60, Heard()
        try:
            with spare_folder(options["data"], keep=options["keep"]) as folder:
                server = TrialServer(folder, web=options["web"], workers=options["workers"])
                try:
                    server.start()
                    samples = Samples(server)
                    load = Load(
                        str(server.info["url"]), server.path, str(server.info["key"]),
                        options["clients"], options["thinking"], options["seed"],
                    )  # fmt: skip
                    samples.take()
                    asyncio.run(go_on(load, heard, seconds, lambda: self._tick(samples, heard)))
                finally:
                    server.leave(keep=options["keep"])
        except NotSpare as error:
            raise CommandError(str(error), returncode=2) from error
        except ServerFailed as error:
            raise CommandError(str(error)) from error
        for line in table(
            ("kind", "answers", "p50", "p99", "p99/p50", "429", "failed"), _rows(heard)
        ):
            self.stdout.write(line)
        held = list(_bounds(heard, samples, min(SETTLED, seconds / 2)))
        for line in bounds.lines(held):
            self.stdout.write(line)
        report = {"kinds": _kinds(heard), "samples": samples.as_json()}
        bounds.write(options["json"], bounds.as_json(held, **report))
        if not all(bound.holds for bound in held):
            raise CommandError("Not all that was to hold does.")

    def _tick(self, samples: Samples, heard: Heard) -> None:
        taken = samples.take()
        answers = sum(map(len, heard.seconds.values()))
        self.stderr.write(
            f"{taken.seconds:.0f} s: {answers} answers, {heard.errors} failed,"
            f" {taken.megabytes:.0f} MB, {taken.connections} connections, {taken.files} files"
        )


def _kinds(heard: Heard) -> dict[str, dict[str, Any]]:
    found = {}
    for kind in sorted({*heard.seconds, *heard.failed, *heard.refused}):
        times = heard.seconds[kind]
        p50, p99 = percentile(times, 0.5), percentile(times, 0.99)
        found[kind] = {
            "answers": len(times),
            "p50": p50,
            "p99": p99,
            "ratio": p99 / p50 if p50 else 0.0,
            "refused": heard.refused[kind],
            "failed": dict(heard.failed[kind]),
        }
    return found


def _rows(heard: Heard) -> list[tuple[str, ...]]:
    return [
        (
            kind,
            str(told["answers"]),
            f"{told['p50']:.3f} s",
            f"{told['p99']:.3f} s",
            f"{told['ratio']:.1f}",
            str(told["refused"]),
            ", ".join(f"{number} of {status}" for status, number in told["failed"].items()),
        )
        for kind, told in _kinds(heard).items()
    ]


def _bounds(heard: Heard, samples: Samples, settled: float) -> Iterator[Bound]:
    yield Bound("requests that failed", heard.errors, 0)
    if not samples.taken:
        return
    first, last = samples.taken[0], samples.taken[-1]
    then = next((each for each in samples.taken if each.seconds >= settled), last)
    note = (
        f"{first.megabytes:.0f} MB at the beginning, {then.megabytes:.0f} MB after"
        f" {then.seconds / 60:.0f} min, {last.megabytes:.0f} MB at the end"
    )
    yield Bound(
        "growth of memory", samples.growth(settled), MOST_GROWTH * then.megabytes, " MB", note
    )
    most = max(each.connections for each in samples.taken)
    note = f"{most} at most; {last.files} files ({then.files} then)"
    yield Bound("growth of connections", last.connections - then.connections, 5, "", note)
