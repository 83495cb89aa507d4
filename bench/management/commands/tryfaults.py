"""A server of its own that is killed, stopped, put off its clock and out of disk, and its rows."""

import sys
import time
from argparse import ArgumentParser, ArgumentTypeError
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any, TypeAlias

from django.core.management.base import CommandError

from bench import bounds
from bench.bounds import Bound
from bench.faults import clock, disk, rows
from bench.faults.outcome import Finding, Outcome, counted
from bench.faults.points import KILL, STOP, plan
from bench.faults.trial import Options, Trial
from bench.server import ServerFailed, TrialServer
from bench.spare_folder import NotSpare, spare_folder
from memories.management.examples import CommandWithExamples
from memories.management.progress import progress
from memories.management.result_file import add_result_file

Make: TypeAlias = Callable[[Path, dict[str, Any]], tuple[Outcome, list[Bound]]]
CLOCK, DISK = "clock", "disk"
TRIALS = (KILL, STOP, CLOCK, DISK)
SHOWN = 12  # findings of a kind
SEALED_FROM = "200"  # so that indexes are built while it is hit


class Command(CommandWithExamples):
    help = (
        "Run a server of its own, keep it busy, and kill or stop its processes, its database or all\n"
        "of it at points of time that follow from the seed; start it 400 days ahead and back; fill\n"
        "its disk. Every answer is noted. At the end, when nothing is due any more, the rows are\n"
        "compared with what clients were told: nothing lost, doubled, stuck or told otherwise, and\n"
        "`checkindex` agrees. Exit code 1 where that does not hold, 2 where a trial cannot be made.\n\n"
        "Use a spare folder: it must be empty, and is emptied at the end. Linux only. The clock\n"
        "needs the library of the package faketime; the disk needs root, to mount a small one."
    )
    examples = (
        "  manage.py tryfaults --data /tmp/spare                  all of it, most of an hour\n"
        "  manage.py tryfaults --points 20 --only kill,stop       some minutes\n"
        "  manage.py tryfaults --only clock\n"
        "  manage.py tryfaults --only stop --points 10 --stop-seconds 130 --json result.json"
    )
    requires_system_checks = ()  # they would ask the user's own database

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--data", type=Path, help="an empty folder (default: a temporary one)")
        parser.add_argument("--points", type=_count, default=200, help="of kill and stop, together")
        parser.add_argument("--seed", type=int, default=1, help="other points, acts and words")
        parser.add_argument(
            "--only", type=_trials, default=TRIALS, metavar="KINDS", help=",".join(TRIALS)
        )
        parser.add_argument(
            "--stop-seconds",
            type=float,
            default=34.0,
            help="how long; default: above a lease of 30",
        )
        parser.add_argument(
            "--large", type=_count, default=1000, help="messages of a large ingest (default 1000)"
        )
        parser.add_argument(
            "--keyed",
            type=float,
            default=0.7,
            help="share of ingests with an Idempotency-Key (default 0.7); where the process died that"
            " had one, it is free again after some minutes only",
        )
        parser.add_argument("--web", type=_count, default=2, help="web processes (default 2)")
        parser.add_argument(
            "--workers", type=_count, default=2, help="worker processes (default 2)"
        )
        parser.add_argument(
            "--patience",
            type=float,
            default=420.0,
            help="seconds until nothing may be due any more",
        )
        parser.add_argument(
            "--minutes",
            type=float,
            help="no further point after these (default: 15 s a point + 10)",
        )
        parser.add_argument("--keep", action="store_true", help="keep the folder")
        add_result_file(parser)

    def handle(self, **options: Any) -> None:
        missing = [fault for fault in (_missing(name) for name in options["only"]) if fault]
        if missing:
            raise CommandError("\n".join(missing), returncode=2)
        found: list[Bound] = []
        report: dict[str, Any] = {"seed": options["seed"]}
        try:
            with spare_folder(options["data"], keep=options["keep"]) as folder:
                for name, make in (("points", _points), (CLOCK, _clock), (DISK, _disk)):
                    if name in options["only"] or (
                        name == "points" and {KILL, STOP} & set(options["only"])
                    ):
                        began = time.monotonic()
                        self.stderr.write(f"{name} ...")
                        outcome, own = _made(make, folder / name, options)
                        report[name] = asdict(outcome)
                        report[name]["took"] = round(time.monotonic() - began, 1)
                        found += own
                        self._tell(outcome)
        except NotSpare as error:
            raise CommandError(str(error), returncode=2) from error
        for line in bounds.lines(found):
            self.stdout.write(line)
        bounds.write(options["json"], bounds.as_json(found, **report))
        if not all(bound.holds for bound in found):
            raise CommandError("Not all that was to hold does.")

    def _tell(self, outcome: Outcome) -> None:
        for kind, statuses in outcome.acts.items():
            told = ", ".join(f"{number} of {status}" for status, number in statuses.items())
            self.stdout.write(f"  {kind}: {told}")
        for kind, number in counted(outcome.findings).items():
            own = [finding.what for finding in outcome.findings if finding.kind == kind]
            for what in own[:SHOWN]:
                self.stdout.write(f"  {kind}: {what}")
            if number > SHOWN:
                self.stdout.write(f"  {kind}: and {number - SHOWN} more")


def _made(make: Make, folder: Path, options: dict[str, Any]) -> tuple[Outcome, list[Bound]]:
    """A server that does not start is a finding, and the other trials are made all the same."""
    try:
        return make(folder, options)
    except ServerFailed as error:
        outcome = Outcome(findings=[Finding(rows.STUCK, str(error))])
        return outcome, _none_of(folder.name, outcome)


def _points(folder: Path, options: dict[str, Any]) -> tuple[Outcome, list[Bound]]:
    faults = [fault for fault in (KILL, STOP) if fault in options["only"]]
    points = list(plan(options["points"], options["seed"], faults))
    minutes = options["minutes"] or len(points) / 4 + 10
    wish = Options(
        seed=options["seed"],
        stopped_for=options["stop_seconds"],
        large=options["large"],
        keyed=options["keyed"],
        patience=options["patience"],
        deadline=time.monotonic() + minutes * 60,
    )
    server = _server(folder, options, VECTOR_INDEX_FROM=SEALED_FROM)
    try:
        server.start()
        with progress(len(points), "points", sys.stderr) as shown:
            outcome = Trial(server, wish).run(points, shown.update)
    finally:
        server.leave(keep=options["keep"])
    missed = len(points) - len(outcome.tried)
    note = f"{len(outcome.tried)} tried, {outcome.starts} starts"
    return outcome, [Bound("points not tried", missed, 0, "", note), *_none_of("points", outcome)]


def _clock(folder: Path, options: dict[str, Any]) -> tuple[Outcome, list[Bound]]:
    server = _server(folder, options)
    try:
        outcome = clock.try_clock(server, options["seed"], options["patience"])
    finally:
        server.leave(keep=options["keep"])
    return outcome, _none_of("clock", outcome)


def _disk(folder: Path, options: dict[str, Any]) -> tuple[Outcome, list[Bound]]:
    folder.mkdir()
    with disk.small_disk(folder):
        server = _server(folder, options)
        try:
            outcome = disk.try_disk(server, options["seed"], options["patience"])
        finally:
            server.stop()
    return outcome, _none_of("disk", outcome)


def _server(folder: Path, options: dict[str, Any], **env: str) -> TrialServer:
    folder.mkdir(exist_ok=True)
    return TrialServer(folder, env, web=options["web"], workers=options["workers"])


def _none_of(trial: str, outcome: Outcome) -> list[Bound]:
    numbers = counted(outcome.findings)
    kinds = (
        rows.KINDS if trial == "points" else [*rows.KINDS[:-1], *numbers.keys() - rows.KINDS[:-1]]
    )
    return [Bound(f"{trial}: {kind}", numbers[kind], 0) for kind in kinds]


def _missing(trial: str) -> str:
    if trial == CLOCK:
        return clock.missing()
    return disk.missing() if trial == DISK else ""


def _trials(text: str) -> tuple[str, ...]:
    names = tuple(dict.fromkeys(name.strip() for name in text.split(",")))
    if unknown := set(names) - set(TRIALS):
        raise ArgumentTypeError(f"{', '.join(sorted(unknown))}: there are {', '.join(TRIALS)}")
    return names


def _count(text: str) -> int:
    number = int(text)
    if number < 1:
        raise ArgumentTypeError("from 1")
    return number
