"""Do everything that is due now."""

import math
import time
from argparse import ArgumentParser, ArgumentTypeError
from typing import Any

from django.core.management.base import CommandError

from memories.index import hnsw_segments, repair
from memories.management.command_options import CommandWithExamples
from memories.management.progress import interruptible
from memories.models import DueVector
from memories.profiles.features.update import update_due_sets
from memories.queue import workers_seen
from memories.worker.sweep import Swept, sweep

TICK = 0.2  # seconds


class Command(CommandWithExamples):
    help = (
        "Do what is due and was missed: sessions that wait or whose worker died, vectors that\n"
        "could not be made, feature sets, memories that expire, old answers."
        " The worker does the same every\n"
        "minute; this is for a server without one, and for the impatient."
    )
    examples = (
        "  manage.py sweep                          once, until nothing is due\n"
        "  manage.py sweep --every 60               until Ctrl-C"
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        how = parser.add_mutually_exclusive_group()
        how.add_argument("--once", action="store_true", help="the default")
        how.add_argument("--every", type=pause, metavar="SECONDS", help="again and again")

    def handle(self, *, every: float | None, verbosity: int, **_: Any) -> None:
        told = self.stdout.write if verbosity else lambda line: None
        if every is None:
            done = sweep(told, math.inf)
            repair.run_all(math.inf, told)
            done.episodes = update_due_sets(math.inf, told)
            told(summary(done))
            hnsw_segments.rebuild_indexes(told, wait=hnsw_segments.OTHERS_BUILD)
            if waiting := DueVector.objects.count():
                told(f"{waiting} entries still wait for their provider, which failed; see reembed")
            if done.failed:
                raise CommandError(f"{done.failed} sessions failed; the log says why.")
            return
        with interruptible() as asked, workers_seen.beating("sweep"):
            while not asked.is_asked:
                done = sweep(told, every)
                repair.run_all(time.monotonic() + every, told)
                done.episodes = update_due_sets(time.monotonic() + every, told)
                told(summary(done))
                until = time.monotonic() + every
                while time.monotonic() < until and not asked.is_asked:
                    time.sleep(TICK)


def pause(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        raise ArgumentTypeError(f"{text!r} is no number of seconds") from None
    if not 1 <= seconds <= 86_400:
        raise ArgumentTypeError("from 1 to 86400 seconds")
    return seconds


def summary(done: Swept) -> str:
    return (
        f"{done.sessions} sessions run, {done.failed} failed, {done.vectors} entries embedded,"
        f" {done.episodes} episodes taken into feature sets, {done.expired} memories expired,"
        f" {done.summaries} summaries made, {done.talks} talks summed up,"
        f" {done.erasures} erasures and {done.removals} removals run,"
        f" {done.answers} old answers deleted"
    )
