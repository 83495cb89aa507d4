"""A Study as a table for people and as JSON, with the targets that it meets or misses."""

import os
import platform
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from bench.speed import acts, facts
from bench.speed.footprint import Footprint
from bench.speed.layout import ALONE
from bench.speed.study import Study
from bench.speed.timing import Timing, growth

# How many times the raw statement a search over HTTP may take: up to 1k, and from 10k on.
SMALL, SMALL_RATIO, SMALL_REST, RATIO = 2_000, 2.0, 0.5, 1.5  # the rest in ms
HYBRID_RATIOS = (3.0, 2.0)  # by linea
CONTEXT_RATIO = 1.5  # by the search of the ranking that it tells
TENTH, TENTH_RATIO = "filter 10 %", 1.3  # by the same search without
SHARE = 0.40  # of the raw statement's throughput
GROWTH = 0.35  # of p50 with the size
RECALL = 0.95
SELECTIVE = 300.0  # ms of a search that a filter leaves one in a hundred
INGEST_P50 = 8.0  # ms
BATCH_RATE = 300.0  # messages per second
LARGE = 20_000  # memories
MANY = {acts.MANY: acts.BATCH, facts.MANY: facts.BATCH}  # how many things in one request
FACTS_RATE, FACTS_RATE_LARGE = 2_000.0, 1_000.0  # per second; above so many memories
INDEX_COST = 1.5  # times as long as without
AMONG = 1.3  # times as long as alone
FOOTPRINT = 900.0  # MB, with two web and two worker processes
RECALL_OF = "recall@10 of the vector side"
COST_OF = "writing with indexes of vectors / without"
EXPLAINED = """\
raw statement: the candidates' statement (nearest by cosine, texts that hold the query, their union)
and the fetch of ten whole rows, prepared, binary, over psycopg and the server's socket; embedding
is not in it.
x raw: p50 by that of the raw statement of the same size, same queries, in turn with it.
Each HTTP line is one kept-alive connection with its key checked and limits on.
context: what the same queries bring into a prompt, as large as where nothing is said of it.
facts, verb: claims through the resolver and into the index, committed; embedding and HTTP are not
in it.
recall@10 of the vector side: how many of the ten that a full comparison of vectors finds; words,
other signals and the ranking, which hybrid adds, are not in it.
writing with indexes of vectors / without: how much longer 1,000 entries and their vectors take with
those indexes, 1.10 is a tenth."""


@dataclass(frozen=True, slots=True)
class Target:
    name: str
    value: float
    limit: float
    is_met: bool

    def line(self) -> str:
        verdict = "met" if self.is_met else "MISSED"
        return f"  {verdict:<6}  {self.name}: {self.value:.2f} (limit {self.limit:g})"


def lines(study: Study) -> Iterator[str]:
    yield _row("", "memories", "p5 ms", "p50 ms", "p95 ms", "x raw", "per s")
    for timing in [*study.reads, *study.writes]:
        yield _row(
            timing.name,
            timing.place,
            f"{timing.p05:.2f}",
            f"{timing.p50:.2f}",
            f"{timing.p95:.2f}",
            _shown(ratio(study, timing)),
            f"{per_second(timing):.0f}",
        )
    for rate in study.rates:
        name = f"{rate.name}, {rate.connections} clients"
        yield _row(name, rate.place, "", f"{rate.p50:.2f}", f"{rate.p95:.2f}", "", f"{rate.per_second:.0f}")
    for place, share in study.recall.items():
        yield f"{RECALL_OF}, {place}: {share:.3f}"
    for place, cost in study.index_cost.items():
        yield f"{COST_OF}, {place}: {cost:.2f}"
    for name, exponent in exponents(study).items():
        yield f"growth of {name}: size to the {exponent:.2f}"
    yield from ("", EXPLAINED, "")
    yield from (target.line() for target in targets(study))


def as_json(study: Study, footprints: Sequence[Footprint] = ()) -> dict[str, Any]:
    return {
        "machine": {
            "cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else None,
            "system": platform.platform(),
            "python": platform.python_version(),
        },
        "timings": [
            asdict(timing) | {"ratio": ratio(study, timing), "perSecond": per_second(timing)}
            for timing in [*study.reads, *study.writes]
        ],
        "throughput": [asdict(rate) for rate in study.rates],
        "recall": study.recall,
        "indexCost": study.index_cost,
        "growth": exponents(study),
        "footprint": [asdict(found) for found in footprints],
        "targets": [asdict(target) for target in [*targets(study), *memory_targets(footprints)]],
    }


def figures(found: dict[str, Any]) -> dict[str, float]:
    """The numbers of `as_json` by name, as `EvaluationRun` keeps them."""
    flat = {}
    for timing in found["timings"]:
        name = ", ".join(filter(None, (timing["name"], timing["place"])))
        flat[f"{name}: p50 ms"] = timing["p50"]
        flat[f"{name}: p95 ms"] = timing["p95"]
        if timing["ratio"] is not None:
            flat[f"{name}: x raw"] = timing["ratio"]
        if timing["name"] in MANY:
            flat[f"{name}: per s"] = timing["perSecond"]
    for rate in found["throughput"]:
        name = f"{rate['name']}, {rate['place']}, {rate['connections']} clients"
        flat[f"{name}: per s"] = rate["per_second"]
    flat |= {f"vector side, {place}: recall@10": value for place, value in found["recall"].items()}
    flat |= {f"writes, {place}: x without indexes of vectors": value for place, value in found["indexCost"].items()}
    flat |= {f"{name}: growth exponent": value for name, value in found["growth"].items()}
    return flat | {f"{each['group']}: MB": each["megabytes"] for each in found["footprint"]}


def memory_lines(footprints: Sequence[Footprint]) -> Iterator[str]:
    for found in footprints:
        yield f"{found.megabytes:8.1f} MB  {found.group} ({found.processes} processes)"
    yield from (target.line() for target in memory_targets(footprints))


def ratio(study: Study, timing: Timing) -> float | None:
    """The multiple of the raw statement of the same place; None for the empty request."""
    raw = _find(study.reads, acts.RAW, timing.place)
    return round(timing.p50 / raw.p50, 3) if raw and raw.p50 else None


def per_second(timing: Timing) -> float:
    """Requests, or messages or facts where one has many, by one client."""
    each = MANY.get(timing.name, 1)
    return round(each * 1e3 / timing.p50, 1) if timing.p50 else 0.0


def exponents(study: Study) -> dict[str, float]:
    """Growth of p50 with the size; of HTTP, the cost of an empty request taken off."""
    empty = _find(study.reads, acts.EMPTY, "")
    found = {}
    for name in (acts.RAW, acts.LINEA, acts.HYBRID, acts.ONE, facts.ONE):
        timings = [t for t in [*study.reads, *study.writes] if t.name == name]
        timings = [t for t in timings if not t.place.endswith(ALONE)]
        off = empty.p50 if empty and name not in (acts.RAW, facts.ONE) else 0.0
        exponent = growth([t.size for t in timings], [t.p50 - off for t in timings])
        if exponent is not None:
            found[name] = exponent
    return found


def targets(study: Study) -> list[Target]:
    """Those that the sizes of this run tell something about."""
    found = [*_of_searches(study), *_of_company(study), *_of_throughput(study)]
    found += [
        _at_most(f"ms of {timing.name}, {timing.place}", timing.p50, SELECTIVE)
        for timing in study.reads
        if timing.name.endswith("filter 1 %")
    ]
    found += [_at_least(f"{RECALL_OF}, {place}", r, RECALL) for place, r in study.recall.items()]
    found += [
        _at_most(f"growth of {name}", exponent, GROWTH)
        for name, exponent in exponents(study).items()
        if name in (acts.LINEA, acts.HYBRID)
    ]
    return [*found, *_of_writes(study)]


def _of_writes(study: Study) -> Iterator[Target]:
    for timing in study.writes:
        place, rate = timing.place, per_second(timing)
        match timing.name:
            case acts.ONE:
                yield _at_most(f"ms for one message, {place}", timing.p50, INGEST_P50)
            case facts.ONE:
                yield _at_most(f"ms for one fact, {place}", timing.p50, INGEST_P50)
            case acts.MANY:
                yield _at_least(f"messages per second in batches, {place}", rate, BATCH_RATE)
            case facts.MANY:
                limit = FACTS_RATE if timing.size <= LARGE else FACTS_RATE_LARGE
                yield _at_least(f"facts per second in batches, {place}", rate, limit)
    for place, cost in study.index_cost.items():
        yield _at_most(f"{COST_OF}, {place}", cost, INDEX_COST)


def _of_searches(study: Study) -> Iterator[Target]:
    for timing in study.reads:
        for name, of, limit in (
            (acts.CONTEXT, acts.HYBRID, CONTEXT_RATIO),
            (f"{acts.LINEA}, {TENTH}", acts.LINEA, TENTH_RATIO),
            (f"{acts.HYBRID}, {TENTH}", acts.HYBRID, TENTH_RATIO),
        ):
            other = _find(study.reads, of, timing.place)
            if timing.name == name and other:
                yield _at_most(f"{name} by {of}, {timing.place}", timing.p50 / other.p50, limit)
        raw = _find(study.reads, acts.RAW, timing.place)
        linea = _find(study.reads, acts.LINEA, timing.place)
        if raw is None or linea is None or timing.name not in (acts.LINEA, acts.HYBRID):
            continue
        is_small = timing.size <= SMALL
        limit = SMALL_RATIO * raw.p50 + SMALL_REST if is_small else RATIO * raw.p50
        yield _at_most(f"ms of {timing.name}, {timing.place}", timing.p50, round(limit, 2))
        if timing.name == acts.HYBRID:
            limit = HYBRID_RATIOS[0 if is_small else 1]
            yield _at_most(f"hybrid by linea, {timing.place}", timing.p50 / linea.p50, limit)


def _of_company(study: Study) -> Iterator[Target]:
    """The cost of others' rows to a small workspace."""
    for lone in study.reads:
        if not lone.place.endswith(ALONE) or lone.name not in (acts.LINEA, acts.HYBRID):
            continue
        for timing in study.reads:
            if (timing.name, timing.size) == (lone.name, lone.size) and timing != lone:
                name = f"{timing.name}, {timing.place} by {lone.place}"
                yield _at_most(name, timing.p50 / lone.p50, AMONG)


def _of_throughput(study: Study) -> Iterator[Target]:
    raw = {rate.place: rate.per_second for rate in study.rates if rate.name == acts.RAW}
    for rate in study.rates:
        if rate.name != acts.RAW:
            name = f"{rate.name} by raw, {rate.place}, {rate.connections} clients"
            yield _at_least(name, rate.per_second / raw[rate.place], SHARE)


def memory_targets(footprints: Sequence[Footprint]) -> list[Target]:
    total = sum(found.megabytes for found in footprints)
    return [_at_most("MB of all processes", total, FOOTPRINT)] if footprints else []


def _at_most(name: str, value: float, limit: float) -> Target:
    return Target(name, round(value, 3), limit, value <= limit)


def _at_least(name: str, value: float, limit: float) -> Target:
    return Target(name, round(value, 3), limit, value >= limit)


def _find(timings: Sequence[Timing], name: str, place: str) -> Timing | None:
    return next((t for t in timings if t.name == name and t.place == place), None)


def _row(name: str, place: str, *numbers: str) -> str:
    return f"{name:<36}{place:>14}" + "".join(f"{number:>10}" for number in numbers)


def _shown(number: float | None) -> str:
    return "" if number is None else f"{number:.2f}"
