"""One run: fill, search, ingest, count; what comes out is a Study."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from typing import Protocol

from bench.speed import acts, facts, throughput
from bench.speed.acts import Door
from bench.speed.corpus import Corpus
from bench.speed.floor import Floor
from bench.speed.http_client import Client
from bench.speed.layout import Plot, alone
from bench.speed.loading import Place, are_there, load, prepared
from bench.speed.recall import recall
from bench.speed.throughput import OverHttp, OverSql, Rate
from bench.speed.timing import WARM_UP, Timing, in_turn
from memories.index import configured_embedder

WARM_UP_WRITES = 3
CONNECTIONS = 8  # so many that no web process stays idle
PARTS = ("searches", "recall", "writes")


class Steps(Protocol):
    def update(self, n: int) -> object: ...


Stage = Callable[[int, str], AbstractContextManager[Steps]]


@dataclass(frozen=True, slots=True)
class Wish:
    plots: Sequence[Plot]
    rounds: int
    connections: int = 1
    batches: int = 10
    parts: Sequence[str] = PARTS


@dataclass(slots=True)
class Study:
    reads: list[Timing] = field(default_factory=list)
    writes: list[Timing] = field(default_factory=list)
    rates: list[Rate] = field(default_factory=list)
    recall: dict[str, float] = field(default_factory=dict)
    index_cost: dict[str, float] = field(default_factory=dict)


def study(url: str, wish: Wish, stage: Stage) -> Study:
    """Measure the server at `url`, which uses the database of this process.

    `stage(total, unit)` shows a progress bar. Raises UnexpectedAnswer, NotFilled.
    """
    model = configured_embedder.configured_model()
    corpus = Corpus(model.dimensions if model else 256)
    lone = [] if are_there(wish.plots) or "searches" not in wish.parts else alone(wish.plots)
    with stage(sum(plot.live for plot in [*lone, *wish.plots]), "memories") as shown:
        found = Study()
        if lone:
            first = prepared(load(lone, corpus, shown.update, first=len(wish.plots)))
            with _door(url) as door:
                found.reads = _reads(door, first, corpus, wish, _silent)
        places = prepared(load(wish.plots, corpus, shown.update))
    asked = [place for place in places if place.plot.asked]
    if "recall" in wish.parts:
        for place in asked:
            found.recall |= recall(place, corpus)
    if "searches" in wish.parts:
        with _door(url) as door:
            found.reads += _reads(door, asked, corpus, wish, stage)
            found.reads += _filtered(door, asked, corpus, wish, stage)
        if wish.connections > 1:
            found.rates = _rates(url, asked, corpus, wish, stage)
    # Last, because it changes the sizes.
    if "writes" in wish.parts:
        with _door(url) as door:
            found.writes = _writes(door, asked, corpus, wish, stage)
        found.writes += _facts(asked, corpus, wish, stage)
        found.index_cost = {p.plot.asked: facts.cost_of_indexes(p, corpus) for p in asked}
    return found


@contextmanager
def _door(url: str) -> Iterator[Door]:
    """Fresh connections: a server closes those that are long unused."""
    with closing(Client(url)) as client, closing(Floor(acts.conninfo())) as floor:
        yield Door(client, floor)


def use(url: str, plots: Sequence[Plot], stage: Stage) -> None:
    """Search and ingest a little, until every web process has loaded all that it ever loads.

    The kernel spreads connections over the processes, so several connections reach each.
    """
    with stage(CONNECTIONS, "connections") as shown:
        for number in range(CONNECTIONS):
            fresh = [replace(plot, slug=f"{plot.slug}-{number}") for plot in plots]
            study(url, Wish(fresh, rounds=1, batches=1), _silent)
            shown.update(1)


class _Silent:
    def update(self, n: int) -> object:
        return None


def _silent(total: int, unit: str) -> AbstractContextManager[Steps]:
    return nullcontext(_Silent())


def _reads(door: Door, places: Sequence[Place], corpus: Corpus, wish: Wish, stage: Stage) -> list[Timing]:
    timed = [act for place in places for act in acts.reads(door, place, corpus)]
    with stage(wish.rounds + WARM_UP, "rounds of searches") as shown:
        return in_turn([*timed, acts.empty(door)], wish.rounds, shown.update)


def _filtered(door: Door, places: Sequence[Place], corpus: Corpus, wish: Wish, stage: Stage) -> list[Timing]:
    timed = [act for place in places for act in acts.filtered(door, place, corpus)]
    rounds = max(10, wish.rounds // 5)
    with stage(rounds + WARM_UP_WRITES, "rounds of filtered searches") as shown:
        return in_turn(timed, rounds, shown.update, WARM_UP_WRITES)


def _writes(door: Door, places: Sequence[Place], corpus: Corpus, wish: Wish, stage: Stage) -> list[Timing]:
    single = [acts.single_ingest(door, place, corpus) for place in places]
    batch = [acts.batch_ingest(door, place, corpus) for place in places]
    rounds = max(10, wish.rounds // 3)
    with stage(rounds + wish.batches + 2 * WARM_UP_WRITES, "rounds of ingests") as shown:
        found = in_turn(single, rounds, shown.update, WARM_UP_WRITES)
        return found + in_turn(batch, wish.batches, shown.update, WARM_UP_WRITES)


def _facts(places: Sequence[Place], corpus: Corpus, wish: Wish, stage: Stage) -> list[Timing]:
    rounds = max(10, wish.rounds // 3)
    with stage(rounds + facts.BATCHES + 2 * facts.WARM_UP, "rounds of facts") as shown:
        single = [facts.singles(place, corpus) for place in places]
        found = in_turn(single, rounds, shown.update, facts.WARM_UP)
        batch = [facts.batches(place, corpus) for place in places]
        return found + in_turn(batch, facts.BATCHES, shown.update, facts.WARM_UP)


def _rates(url: str, places: Sequence[Place], corpus: Corpus, wish: Wish, stage: Stage) -> list[Rate]:
    found = []
    with stage(3 * len(places), "throughputs") as shown:
        for place in places:
            queries = acts.texts_to_ask(place, corpus)
            sql = OverSql(acts.conninfo(), acts.questions(place, queries))
            linea, hybrid = (
                OverHttp(url, acts.search_requests(place, queries, ranking)) for ranking in ("linea", "hybrid")
            )
            for name, target in ((acts.RAW, sql), (acts.LINEA, linea), (acts.HYBRID, hybrid)):
                rate = throughput.measure(name, place.plot.asked, target, wish.connections)
                found.append(rate)
                shown.update(1)
    return found
