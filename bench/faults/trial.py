"""Points of kill and stop, one after the other, over one server that is busy; then the rows."""

import subprocess
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

import psycopg

from bench.faults import rows
from bench.faults.clients import Clients
from bench.faults.outcome import Finding, Outcome
from bench.faults.points import ALL, KILL, STOP, Hitting, Point
from bench.server import Running, ServerFailed, TrialServer

RECOVERS = 120.0  # seconds until it serves again after a point; else it counts as stuck
CLIENTS = 4
SWEPT_BEFORE = 8.0  # seconds before what was stopped moves again
MODELS = ("local", "hash")


@dataclass(frozen=True, slots=True)
class Options:
    seed: int
    stopped_for: float  # seconds
    large: int  # messages
    keyed: float  # share of acts with an Idempotency-Key
    patience: float  # seconds until nothing is due
    deadline: float  # of time.monotonic(): no point is begun after it


class Trial:
    def __init__(self, server: TrialServer, options: Options) -> None:
        self.server, self.options = server, options
        self.clients = Clients(server, options.seed, CLIENTS, large=options.large, keyed=options.keyed)
        self.hitting = Hitting(server, options.stopped_for)
        self.outcome = Outcome()
        self.commands: list[Running] = []
        self.reembeds = 0

    def run(self, points: Sequence[Point], advance: Callable[[int], object]) -> Outcome:
        """The server has been started. Its rows are compared at the end, whatever happened."""
        began = time.monotonic()
        self.clients.start()
        try:
            for point in points:
                if time.monotonic() > self.options.deadline:
                    break
                self._try(point)
                advance(1)
        except ServerFailed as error:
            self._find(rows.STUCK, str(error))
        finally:
            self.hitting.go_on()
            self.clients.stop()
            self._end_commands()
        self.outcome.seconds["points"] = time.monotonic() - began
        self._verify()
        self.outcome.starts = self.server.starts
        self.outcome.acts = self.clients.counts()
        return self.outcome

    def _try(self, point: Point) -> None:
        self._begin(point)
        time.sleep(point.delay)
        what = self.hitting.hit(point)
        self.outcome.tried.append(f"{point.fault} {what}, during {point.during}")
        hit_at = time.monotonic()
        if point.fault == KILL and point.target == ALL:
            self.server.start()
        if self.hitting.is_stopped:
            if point.fault == STOP:
                self._sweep_later()
            return  # what else is hit meanwhile is hit beside a process that does not move
        if not self.server.wait_until_it_serves(RECOVERS):
            self._find(rows.STUCK, f"no answer {RECOVERS:.0f} s after: {what}")
            self.server.kill()
            self.server.start()
        took = time.monotonic() - hit_at
        self.outcome.slowest_recovery = max(self.outcome.slowest_recovery, took)

    def _sweep_later(self) -> None:
        """Let somebody look for what is due while its worker does not move yet: the server's own
        sweep comes once a minute, and would mostly come too late."""
        timer = threading.Timer(max(0.0, self.options.stopped_for - SWEPT_BEFORE), self._sweep)
        timer.daemon = True
        timer.start()

    def _sweep(self) -> None:
        if self.hitting.is_stopped:
            self._command("sweep")

    def _begin(self, point: Point) -> None:
        self.commands = [each for each in self.commands if each.poll() is None]
        if point.during == "reembed":
            self._command("reembed", "--all", env={"EMBEDDING_PROVIDER": self._next_model()})
        elif point.during == "seal":
            self._command("sweep")
        else:
            self.clients.begin(point.during)

    def _command(self, *words: str, env: Mapping[str, str] | None = None) -> None:
        if len(self.commands) < 3:  # each takes memory and a core
            command = self.server.command(*words, env=env, out=subprocess.DEVNULL)
            self.commands.append(command)

    def _next_model(self) -> str:
        self.reembeds += 1
        return MODELS[(self.reembeds - 1) % len(MODELS)]

    def _end_commands(self) -> None:
        for command in self.commands:
            with suppress(subprocess.TimeoutExpired):
                command.wait(60.0)
            command.kill()
            command.wait()

    def _verify(self) -> None:
        """The server is started again as after a failure, and left alone until nothing is due."""
        began = time.monotonic()
        try:
            if not self.server.wait_until_it_serves(RECOVERS):
                self.server.kill()
                self.server.start()
        except ServerFailed as error:
            self._find(rows.STUCK, str(error))
            return
        self.clients.settle(self.options.patience)
        self.outcome.findings += rows.still_due(self.server, self.options.patience)
        self.outcome.seconds["settling"] = time.monotonic() - began
        began = time.monotonic()
        code, _, errors = self.server.run("reembed", "--all")
        if code:
            self._find(rows.STUCK, f"reembed ended with {code}: {errors[-500:]}")
        # Large layers of the new model are sealed by the next sweep.
        code, _, errors = self.server.run("sweep")
        if code:
            self._find(rows.STUCK, f"sweep ended with {code}: {errors[-500:]}")
        try:
            self.outcome.taken_over = self.server.rows(rows.TAKEN_OVER)[0][0]
            self.outcome.findings += rows.findings(self.server, self.clients.acts)
        except psycopg.Error as error:
            self._find(rows.STUCK, f"the rows could not be read: {error}")
        self.outcome.findings += rows.index_agrees(self.server, 900.0)
        self.outcome.seconds["comparing"] = time.monotonic() - began

    def _find(self, kind: str, what: str) -> None:
        self.outcome.findings.append(Finding(kind, what))
