"""Many clients for an hour: what fails, how long it takes, and whether the server grows."""

import asyncio
from argparse import ArgumentParser
from collections.abc import Iterator
from typing import Any

from bench.bounds import Bound, percentile, table
from bench.load.clients import Heard, Load, go_on
from bench.load.samples import Samples
from bench.trial_command import TrialCommand, count, folder_of, server_in

SETTLED = 300.0  # seconds after which memory is not to grow any more
MOST_GROWTH = 0.1  # of the memory at that time


class Command(TrialCommand):
    help = (
        "Make a server of its own in a spare folder and let clients use it: searches, contexts,\n"
        "profiles, lists, small ingests, a few of 100 messages. Tells for each kind how many, how\n"
        "many failed, p50 and p99, and every minute memory (proportional set sizes of all\n"
        "processes), connections of the database and open files. Exit code 1 where a request"
        " failed\n"
        "or memory grew by more than a tenth after the first five minutes. Linux only."
    )
    examples = (
        "  manage.py tryload --data /tmp/spare                   50 clients for an hour\n"
        "  manage.py tryload --minutes 5 --clients 20 --thinking 1\n"
        "  manage.py tryload --minutes 10 --json result.json"
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("--minutes", type=float, default=60.0, help="default 60")
        parser.add_argument("--clients", type=count, default=50, help="default 50")
        parser.add_argument(
            "--thinking",
            type=float,
            default=2.0,
            help="seconds between two requests of a client, on average (default 2)",
        )

    def attempt(self, options: dict[str, Any]) -> tuple[list[Bound], dict[str, Any]]:
        seconds, heard = options["minutes"] * 60, Heard()
        with folder_of(options) as folder, server_in(folder, options) as server:
            server.start()
            samples = Samples(server)
            load = Load(
                str(server.info["url"]),
                server.path,
                str(server.info["key"]),
                options["clients"],
                options["thinking"],
                options["seed"],
            )
            samples.take()
            asyncio.run(go_on(load, heard, seconds, lambda: self._tick(samples, heard)))
        head = ("kind", "answers", "p50", "p99", "p99/p50", "429", "failed")
        for line in table(head, _rows(heard)):
            self.stdout.write(line)
        held = list(_bounds(heard, samples, min(SETTLED, seconds / 2)))
        return held, {"kinds": _kinds(heard), "samples": samples.as_json()}

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
    yield Bound("growth of memory", samples.growth(settled), MOST_GROWTH * then.megabytes, " MB", note)
    most = max(each.connections for each in samples.taken)
    note = f"{most} at most; {last.files} files ({then.files} then)"
    yield Bound("growth of connections", last.connections - then.connections, 5, "", note)
