"""Points of time at which something is killed or stopped: planned by the seed, then done."""

import os
import random
import signal
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass

from bench.processes import COMMAND, POSTGRES, UP, WEB, WORKER, Found
from bench.server import TrialServer

KILL, STOP = "kill", "stop"
ALL = "all of up"
SHARE_OF_STOPS = 0.25
TARGETS = {
    KILL: {WEB: 28, WORKER: 24, POSTGRES: 18, COMMAND: 6, ALL: 24},
    STOP: {WEB: 35, WORKER: 30, POSTGRES: 20, ALL: 15},
}
DURING = {
    KILL: {"small": 35, "large": 20, "fold": 15, "erase": 15, "reembed": 10, "seal": 5},
    STOP: {"small": 15, "large": 45, "fold": 15, "erase": 15, "reembed": 10},
}
LONGEST_DELAY = (2.5, 4.0)  # seconds from the beginning of an act, of a large one, to the fault


@dataclass(frozen=True, slots=True)
class Point:
    """`place` in 0..1 chooses one of the processes there are."""

    number: int
    fault: str
    target: str
    during: str
    delay: float
    place: float


def plan(number: int, seed: int, faults: Sequence[str]) -> Iterator[Point]:
    """The same seed, the same points."""
    chance = random.Random(f"{seed} points")
    for at in range(number):
        fault = faults[0]
        if len(faults) > 1:
            fault = STOP if chance.random() < SHARE_OF_STOPS else KILL
        target, during = _drawn(chance, TARGETS[fault]), _drawn(chance, DURING[fault])
        delay = chance.uniform(0.05, LONGEST_DELAY[during == "large"])
        yield Point(at + 1, fault, target, during, delay, chance.random())


def _drawn(chance: random.Random, shares: dict[str, int]) -> str:
    return chance.choices(list(shares), list(shares.values()))[0]


class Hitting:
    """Does the points to one server; at most one thing is stopped at a time."""

    def __init__(self, server: TrialServer, stopped_for: float) -> None:
        self.server, self.stopped_for = server, stopped_for
        self.stopped: tuple[int, ...] = ()
        self.until = 0.0
        self.timer: threading.Timer | None = None

    def hit(self, point: Point) -> str:
        """Do it; what was hit, in words."""
        if point.fault == STOP:
            self.wait_for_the_stopped()
        found = self.server.processes()
        if point.target == ALL:
            chosen = found if point.fault == KILL else [p for p in found if p.kind != POSTGRES]
        else:
            chosen = self._some(found, point)
        if point.fault == STOP:
            self._stop(chosen)
        elif point.target == ALL:
            self.server.kill()
        else:
            _send(chosen, signal.SIGKILL)
        return f"{point.target}, {len(chosen)} of {len(found)} processes"

    def _some(self, found: Sequence[Found], point: Point) -> list[Found]:
        """One process of the kind that was meant; of the others where there is none just now. All
        of that kind are stopped during a large ingest: one of them has it, and is to lose it."""
        own = [each for each in found if each.kind == point.target]
        own = own or [each for each in found if each.kind in (WEB, WORKER)]
        own = own or [each for each in found if each.kind == UP]
        if (point.fault, point.during) == (STOP, "large"):
            return own
        return [own[int(point.place * len(own))]] if own else []

    def _stop(self, chosen: Sequence[Found]) -> None:
        self.stopped = tuple(each.pid for each in chosen)
        self.until = time.monotonic() + self.stopped_for
        _send(chosen, signal.SIGSTOP)
        self.timer = threading.Timer(self.stopped_for, self.go_on)
        self.timer.daemon = True
        self.timer.start()

    @property
    def is_stopped(self) -> bool:
        return bool(self.stopped)

    def go_on(self) -> None:
        """Let what was stopped run again."""
        if self.timer is not None:
            self.timer.cancel()
        for pid in self.stopped:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGCONT)
        self.stopped = ()

    def wait_for_the_stopped(self) -> None:
        while self.is_stopped and time.monotonic() < self.until + 1.0:
            time.sleep(0.1)


def _send(chosen: Sequence[Found], number: int) -> None:
    for each in chosen:
        with suppress(ProcessLookupError):
            os.kill(each.pid, number)
