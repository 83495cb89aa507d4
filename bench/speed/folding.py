"""The pace at which workers take episodes into feature sets, and that each is taken in once, whoever
dies."""

import json
import random
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from subprocess import PIPE, Popen

from django.conf import settings
from django.db import connection
from django.utils import timezone

from memories import ingest
from memories.ingest import IngestRequest, NewMessage
from memories.models import Episode, Feature, FeatureCitation, FeatureMark, FeatureSet
from memories.profiles.features import set_queue, sets
from workspaces.models import Workspace
from workspaces.scope import Scope, worker_scope

AT_ONCE = 100  # messages in an ingest
LOOK = 0.05  # seconds between two looks at how far it is
# So much of the work is done when the first and the last worker is killed.
KILLED_FROM, KILLED_TO = 0.1, 0.6
TALK = (
    "I live in {place} now.",
    "I like {thing}.",
    "Good morning!",
    "I work as a {job}.",
    "I am going to visit {place} in May.",
    "Could you look that up for me?",
    "I have {thing}.",
    "We decided to use {thing} for the {job} team.",
    "I can't stand {thing}.",
    "Thanks a lot.",
)
WORKER = "bench.speed.fold_worker"
SYLLABLES = ("bar", "lin", "mo", "ket", "su", "ran", "tol", "vi", "pes", "qua")


@dataclass(frozen=True, slots=True)
class Wish:
    episodes: int
    sets: int
    workers: int
    killed: int
    lease: float  # seconds: what a killed worker had is free again after this
    seed: int = 1


@dataclass(frozen=True, slots=True)
class Run:
    """One way through all episodes. `marks` of `episodes` that waited; `features` live after it."""

    workers: int
    killed: int
    seconds: float
    episodes: int
    marks: int
    features: int

    @property
    def rate(self) -> float:
        """Episodes per second."""
        return self.marks / self.seconds


@dataclass(frozen=True, slots=True)
class Outcome:
    """Runs over the same episodes: the first with one worker, the last with some killed.
    `is_same`: all ended with the same features, standing on the same words."""

    runs: tuple[Run, ...]
    is_same: bool

    @property
    def is_exact(self) -> bool:
        """All of it, once per set, whoever was killed."""
        return self.is_same and all(run.marks == run.episodes for run in self.runs)


def measure(wish: Wish, advance: Callable[[int], object]) -> Outcome:
    """Fill an empty database, and take all in: with one worker, with several, with some killed."""
    workspace = Workspace.objects.create(slug="folding", name="folding")
    scope = worker_scope(workspace.pk, "benchmark")
    _tell(scope, wish, advance)
    runs, said = [], []
    for workers, killed in ((1, 0), (wish.workers, 0), (wish.workers, wish.killed)):
        runs.append(_run(scope, wish, workers=workers, killed=killed))
        said.append(_said())
        _forget_all(scope)
    return Outcome(tuple(runs), said[0] == said[1] == said[2])


def lines(found: Outcome) -> Iterator[str]:
    for run in found.runs:
        died = f", {run.killed} killed" if run.killed else ""
        yield (
            f"{run.workers} at work{died}: {run.marks} of {run.episodes} episodes"
            f" in {run.seconds:.1f} s,"
            f" {run.rate:.0f} per s ({run.rate / found.runs[0].rate:.2f} of one),"
            f" {run.features} features"
        )
    verdict = "once each" if found.is_exact else "NOT once each"
    yield f"taken into their sets: {verdict}; the same features on the same words: {found.is_same}"


def _tell(scope: Scope, wish: Wish, advance: Callable[[int], object]) -> None:
    dice = random.Random(wish.seed)
    for number in range(wish.sets):
        own = wish.episodes // wish.sets + (number < wish.episodes % wish.sets)
        messages = [NewMessage(_message(dice), name="Ada") for _ in range(own)]
        for at in range(0, own, AT_ONCE):
            part = tuple(messages[at : at + AT_ONCE])
            request = IngestRequest(messages=part, user_id=f"user-{number}", extract="patterns")
            ingest.ingest(scope, request)
            advance(len(part))


def _message(dice: random.Random) -> str:
    names = {name: "".join(dice.choice(SYLLABLES) for _ in range(3)) for name in ("place", "thing", "job")}
    names["place"] = names["place"].capitalize()
    return dice.choice(TALK).format(**names)


def _run(scope: Scope, wish: Wish, *, workers: int, killed: int) -> Run:
    for number in range(wish.sets):
        set_queue.recount(sets.own_set_to_write(scope, FeatureSet.own_key(f"user-{number}")))
    FeatureSet.objects.update(due_at=timezone.now())
    running = [start_worker(wish.lease) for _ in range(workers)]
    started = time.perf_counter()
    for process in running:
        let_go(process)
    _kill(running[:killed], random.Random(wish.seed), wish.episodes)
    for process in running:
        process.wait()
    seconds = time.perf_counter() - started
    live = Feature.objects.live().filter(workspace_id=scope.workspace_id).count()
    marks, episodes = FeatureMark.objects.count(), Episode.objects.count()
    return Run(workers, killed, seconds, episodes, marks, live)


def start_worker(lease: float) -> Popen[str]:
    """A process that waits to be let go: one of its own, for a copy of this one shares its threads'
    locks and sockets."""
    database = {name: connection.settings_dict[name] for name in ("NAME", "USER")}
    command = [sys.executable, "-m", WORKER, json.dumps(database), str(lease)]
    process = Popen(command, stdin=PIPE, stdout=PIPE, text=True, cwd=settings.BASE_DIR)
    assert process.stdout is not None
    with process.stdout as told:
        if not told.readline():
            raise RuntimeError(f"A worker did not start: exit code {process.wait()}.")
    return process


def let_go(process: Popen[str]) -> None:
    assert process.stdin is not None
    process.stdin.write("go\n")
    process.stdin.close()


def _kill(victims: Sequence[Popen[str]], dice: random.Random, episodes: int) -> None:
    """Each with SIGKILL, when a share of the work that chance names is done."""
    shares = sorted(dice.uniform(KILLED_FROM, KILLED_TO) for _ in victims)
    for victim, share in zip(victims, shares, strict=True):
        while victim.poll() is None and FeatureMark.objects.count() < share * episodes:
            time.sleep(LOOK)
        victim.kill()


def _said() -> list[tuple[str, ...]]:
    """The values of all features, and on which words."""
    rows = FeatureCitation.objects.filter(feature__ended_at=None, change__is_current=True)
    columns = ("feature__set__key", "feature__content", "episode_id", "start", "end")
    return sorted(tuple(map(str, row)) for row in rows.values_list(*columns))


def _forget_all(scope: Scope) -> None:
    for key in list(FeatureSet.objects.values_list("key", flat=True)):
        sets.delete(scope, key)
