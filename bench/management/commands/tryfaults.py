"""A server of its own that is killed, stopped, put off its clock and out of disk, and its rows."""

import sys
import time
from argparse import ArgumentParser
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any, TypeAlias

from django.core.management.base import CommandError

from bench.bounds import Bound
from bench.faults import clock, disk, document_trial, rows
from bench.faults.document_trial import DocumentOptions, DocumentTrial
from bench.faults.outcome import Finding, Outcome, counted
from bench.faults.points import KILL, STOP, plan
from bench.faults.trial import Options, Trial
from bench.server import ServerFailed
from bench.trial_command import TrialCommand, count, folder_of, server_in, some_of
from memories.management.progress import progress

Make: TypeAlias = Callable[[Path, dict[str, Any]], tuple[Outcome, list[Bound]]]
CLOCK, DISK, DOCUMENTS = "clock", "disk", "documents"
TRIALS = (KILL, STOP, DOCUMENTS, CLOCK, DISK)
SHOWN = 12  # findings of a kind
SEALED_FROM = "200"  # so that indexes are built while it is hit


class Command(TrialCommand):
    help = (
        "Run a server of its own, keep it busy, and kill or stop its processes, its database or\n"
        "all of it at points of time that follow from the seed; kill them at each state of\n"
        "documents; start it 400 days ahead and back; fill its disk. Every answer is noted. At\n"
        "the end, when nothing is due any more, the rows are compared with what clients were\n"
        "told: nothing lost, doubled, stuck or told otherwise, and `checkindex` agrees. Exit code\n"
        "1 where that does not hold, 2 where a trial cannot be made.\n\n"
        "Use a spare folder: it must be empty, and is emptied at the end. Linux only. The clock\n"
        "needs the library of the package faketime; the disk needs root, to mount a small one."
    )
    examples = (
        "  manage.py tryfaults --data /tmp/spare                  all of it, most of an hour\n"
        "  manage.py tryfaults --points 20 --only kill,stop       some minutes\n"
        "  manage.py tryfaults --only clock\n"
        "  manage.py tryfaults --only documents --kills 100       half an hour\n"
        "  manage.py tryfaults --only stop --points 10 --stop-seconds 130 --json result.json"
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("--points", type=count, default=200, help="of kill and stop, together")
        parser.add_argument("--only", type=some_of(TRIALS), default=TRIALS, metavar="KINDS", help=",".join(TRIALS))
        parser.add_argument("--kills", type=count, default=100, help="while documents are on their way")
        parser.add_argument(
            "--stop-seconds",
            type=float,
            default=40.0,
            help="how long (default 40): above a lease of 30",
        )
        parser.add_argument("--large", type=count, default=1000, help="messages of a large ingest (default 1000)")
        parser.add_argument(
            "--keyed",
            type=float,
            default=0.7,
            help="share of ingests with an Idempotency-Key (default 0.7); where the process died"
            " that"
            " had one, it is free again after some minutes only",
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

    def attempt(self, options: dict[str, Any]) -> tuple[list[Bound], dict[str, Any]]:
        missing = [fault for fault in (_missing(name) for name in options["only"]) if fault]
        if missing:
            raise CommandError("\n".join(missing), returncode=2)
        held: list[Bound] = []
        report: dict[str, Any] = {}
        points = {KILL, STOP} & set(options["only"])
        wanted = (["points"] if points else []) + [name for name in (DOCUMENTS, CLOCK, DISK) if name in options["only"]]
        with folder_of(options) as folder:
            for name in wanted:
                began = time.monotonic()
                self.stderr.write(f"{name} ...")
                outcome, own = _made(MAKING[name], folder / name, options)
                report[name] = asdict(outcome) | {"took": round(time.monotonic() - began, 1)}
                held += own
                self._tell(outcome)
        return held, report

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
    with server_in(folder, options, VECTOR_INDEX_FROM=SEALED_FROM) as server:
        server.start()
        with progress(len(points), "points", sys.stderr) as shown:
            outcome = Trial(server, wish).run(points, shown.update)
    missed = len(points) - len(outcome.tried)
    note = (
        f"{len(outcome.tried)} tried, {outcome.starts} starts, {outcome.taken_over} sessions taken"
        f" over; served again after {outcome.slowest_recovery:.0f} s at most"
    )
    return outcome, [Bound("points not tried", missed, 0, "", note), *_none_of("points", outcome)]


def _documents(folder: Path, options: dict[str, Any]) -> tuple[Outcome, list[Bound]]:
    points = list(document_trial.plan(options["kills"], options["seed"]))
    minutes = options["minutes"] or len(points) / 4 + 10
    wish = DocumentOptions(options["seed"], options["patience"], deadline=time.monotonic() + minutes * 60)
    files = folder / "files"
    with server_in(folder, options, **document_trial.environment_of(files)) as server:
        server.start()
        trial = DocumentTrial(server, files, wish)
        with progress(len(points), "kills", sys.stderr) as shown:
            outcome = trial.run(points, shown.update)
    missed = len(points) - len(outcome.tried)
    note = (
        f"{len(outcome.tried)} killed, {outcome.starts} starts; served again after"
        f" {outcome.slowest_recovery:.0f} s at most; "
        + ", ".join(f"{state} {number}" for state, number in sorted(trial.seen.items()))
    )
    return outcome, [Bound("kills not tried", missed, 0, "", note), *_none_of(DOCUMENTS, outcome)]


def _clock(folder: Path, options: dict[str, Any]) -> tuple[Outcome, list[Bound]]:
    with server_in(folder, options) as server:
        outcome = clock.try_clock(server, options["seed"], options["patience"])
    return outcome, _none_of("clock", outcome)


def _disk(folder: Path, options: dict[str, Any]) -> tuple[Outcome, list[Bound]]:
    folder.mkdir()
    with disk.small_disk(folder), server_in(folder, options) as server:
        outcome = disk.try_disk(server, options["seed"], options["patience"])
    return outcome, _none_of("disk", outcome)


MAKING: dict[str, Make] = {"points": _points, DOCUMENTS: _documents, CLOCK: _clock, DISK: _disk}


def _none_of(trial: str, outcome: Outcome) -> list[Bound]:
    numbers = counted(outcome.findings)
    return [Bound(f"{trial}: {kind}", numbers[kind], 0) for kind in rows.KINDS]


def _missing(trial: str) -> str:
    if trial == CLOCK:
        return clock.missing()
    return disk.missing() if trial == DISK else ""
