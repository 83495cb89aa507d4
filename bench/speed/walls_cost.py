"""The cost of the walls between workspaces: the same acts as the owner, whom no policy holds and who
reads the tables themselves, and as the role that serves, in turns over the same rows."""

import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from django.db import connections

from bench.speed.acts import texts_to_ask
from bench.speed.corpus import Corpus
from bench.speed.layout import Plot, label
from bench.speed.loading import USER, Place, load, prepared
from memories.index import configured_embedder
from memories.ingest import IngestRequest, ingest
from memories.search import SearchRequest, search
from memoryproject.postgres import visible
from memoryproject.postgres.base import DatabaseWrapper
from memoryproject.postgres.embedded_postgres import APP_ROLE

ALLOWED = {1_000: 1.10}  # of what it took before; from there on:
ALLOWED_ABOVE = 1.05
WARM_UP = 10
LIMIT = 10


@dataclass(frozen=True, slots=True)
class WallCost:
    """Milliseconds, each the median: by the clock, and of both processors' work, ours and the
    database's (0 where the system does not tell it)."""

    act: str
    size: int
    rounds: int
    clock_before: float
    clock_after: float
    work_before: float
    work_after: float

    @property
    def ratio(self) -> float:
        """Return the ratio of the work, which others on the machine do not change; else by the clock."""
        if self.work_before:
            return self.work_after / self.work_before
        return self.clock_after / self.clock_before

    @property
    def allowed(self) -> float:
        return ALLOWED.get(self.size, ALLOWED_ABOVE)


def measure(sizes: Sequence[int], rounds: int, advance: Callable[[int], object]) -> list[WallCost]:
    """In a database that is thrown away, one workspace for each size."""
    model = configured_embedder.configured_model()
    corpus = Corpus(model.dimensions if model else 256)
    plots = [Plot(f"walls-{label(size).lower()}", size, label(size)) for size in sizes]
    places = prepared(load(plots, corpus, advance))
    return [cost for place in places for cost in _of_place(place, corpus, rounds)]


def _of_place(place: Place, corpus: Corpus, rounds: int) -> Iterator[WallCost]:
    queries = texts_to_ask(place, corpus)
    claims = corpus.claims(place.number, place.told)

    def asking(ranking: str) -> Callable[[int], object]:
        return lambda n: search(place.scope, SearchRequest(queries[n % len(queries)], LIMIT, ranking=ranking))

    def telling(n: int) -> object:
        return ingest(place.scope, IngestRequest(content=next(claims), user_id=USER))

    acts = {"search, hybrid": asking("hybrid"), "search, linea": asking("linea"), "ingest of 1 message": telling}
    with _two_connections() as both:
        for name, act in acts.items():
            yield _in_turns(name, place, act, both, rounds)


@contextmanager
def _two_connections() -> Iterator[tuple[Any, Any]]:
    """The owner's, and one of the role that serves, to the same database."""
    owner: Any = connections["default"]
    served = DatabaseWrapper({**owner.settings_dict, "USER": APP_ROLE}, alias="default")
    try:
        yield owner, served
    finally:
        connections["default"] = owner
        served.close()


def _in_turns(name: str, place: Place, act: Callable[[int], object], both: Sequence[Any], rounds: int) -> WallCost:
    """Both do each round's act once, and take turns in being the first."""
    clocks: list[list[float]] = [[], []]
    works: list[list[float]] = [[], []]
    for number in range(WARM_UP + rounds):
        for which in (0, 1) if number % 2 else (1, 0):
            connections["default"] = both[which]
            shown = visible.only(place.scope.workspace_id) if which else nullcontext()
            with shown:
                both[which].ensure_connection()
                backend = both[which].connection.info.backend_pid
                worked, started = _work(backend), time.perf_counter()
                act(number)
                taken, work = time.perf_counter() - started, _work(backend) - worked
            if number >= WARM_UP:
                clocks[which].append(1e3 * taken)
                works[which].append(work / 1e6)
    return WallCost(
        name,
        place.plot.live,
        rounds,
        *(median(each) for each in clocks),
        *(median(each) for each in works),
    )


def _work(backend: int) -> int:
    """Nanoseconds that this process and the one that serves it have worked; 0 where no file tells
    them."""
    try:
        return sum(int(Path(f"/proc/{pid}/schedstat").read_text().split()[0]) for pid in (os.getpid(), backend))
    except OSError:
        return 0
