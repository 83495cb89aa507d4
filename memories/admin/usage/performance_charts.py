"""Charts of the runs of an evaluation or benchmark."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.urls import reverse

from memories.admin.usage.costs_page import Kind
from memories.meters.stored_metrics import Point
from memories.models import EvaluationRun
from workspaces.adminbase.charts import MOST_LINES, Chart, ChartLine, Frame, line_chart, moments

MOST_RUNS = 60  # of each kind
MOST_SERIES = 3  # of each kind; a series has the runs of one name

# Medians of one magnitude: the label in the charts, and the figure's name before its place. The raw
# statement is what linea asks the database.
SPEEDS = {
    "hybrid, HTTP": "hybrid, HTTP",
    "linea, HTTP": "linea, HTTP",
    "linea, raw statement": "linea, raw statement",
    "empty request": "empty request, HTTP",
    "one fact": "1 fact, verb",
    "one message": "ingest of 1 message, HTTP",
}
PLACELESS = {"empty request, HTTP"}
PLACED = re.compile(f"(?:{'|'.join(SPEEDS.values())}), ([^,:]+): p50 ms")
RANKED = re.compile(r"([^,]+), ([^:]+): (.+)")
BEST = "recall@10"  # the measure by which categories are compared
RANKINGS = ("hybrid", "keyword", "vector")
SUFFIXES = {"k": 1_000, "M": 1_000_000}


@dataclass(frozen=True, slots=True)
class Drawing:
    """The plan of a chart: `lines` has the names of figures by the labels of their lines."""

    title: str
    lines: dict[str, str]
    unit: str = ""
    note: str = ""


@dataclass(frozen=True, slots=True)
class ChartRule:
    """A chart of the figures whose whole name matches; the groups of the match label the lines."""

    title: str
    pattern: str
    unit: str = ""
    note: str = ""

    def drawing(self, names: Iterable[str]) -> Drawing:
        by_label = {}
        for name in names:
            if match := re.fullmatch(self.pattern, name):
                by_label[", ".join(part for part in match.groups() if part)] = name
        lines = {label: by_label[label] for label in sorted(by_label, key=_order)}
        return Drawing(self.title, lines, self.unit, self.note)


CHARTS = {
    Kind.BENCHMARK: (
        ChartRule("Facts in batches", r"1,000 facts, verb, ([^,]+): per s", "/s"),
        ChartRule("Messages in batches", r"ingest of 100 messages, HTTP, ([^,]+): per s", "/s"),
        ChartRule("95 of 100 searches", r"(linea|hybrid), HTTP, ([^,]+): p95 ms", "ms", "took at most"),
        ChartRule("By the raw statement", r"(linea|hybrid), HTTP, ([^,]+): x raw", "times", "medians of one run"),
        ChartRule("Recall@10 of the vector side", r"vector side, ([^,]+): recall@10", "", "against a full comparison"),
        ChartRule(
            "The same with filters", r"vector side, (.+), filter (.+): recall@10", "", "recall@10 of the vector side"
        ),
        ChartRule("Many clients", r"(.+ clients): per s", "/s"),
        ChartRule("Growth of the median", r"(.+): growth exponent", "", "size to the power"),
        ChartRule(
            "Writes with indexes of vectors",
            r"writes, (.+): x without indexes of vectors",
            "times",
            "by the same without",
        ),
        ChartRule("Memory", r"(.+): MB", "MB"),
    ),
    Kind.EXTRACTION: (
        ChartRule("Facts", "(fact (?:recall|precision|F1))"),
        ChartRule("Turns", "(coverage|turn precision|fact-bearing)"),
        ChartRule("Turns that are skipped", "(skipped|skipped rightly|lost by skipping)"),
        ChartRule("Time of a turn", "ms (p50|p95)", "ms"),
    ),
    Kind.CONFLICTS: (
        ChartRule(
            "Decisions", "(duplicates merged|updates superseded|left to a person|different merged or superseded)"
        ),
    ),
}


@dataclass(frozen=True, slots=True)
class RunSeries:
    """Runs of the same name, the oldest first, with their charts."""

    title: str
    runs: int
    charts: list[Chart]
    is_open: bool


def run_series() -> list[RunSeries]:
    """Return the latest runs of each kind in series, the newest series of each open; each point
    links to its run."""
    result = []
    for kind in Kind:
        newest = EvaluationRun.objects.filter(kind=kind).defer("details")[:MOST_RUNS]
        alike: dict[str, list[EvaluationRun]] = {}
        for run in newest:
            alike.setdefault(run.name, []).insert(0, run)
        for place, (name, runs) in enumerate(list(alike.items())[:MOST_SERIES]):
            title = f"{kind.label}: {name}"
            result.append(RunSeries(title, len(runs), charts(kind, runs), place == 0))
    return result


def charts(kind: str, runs: Sequence[EvaluationRun]) -> list[Chart]:
    steps = moments([run.started_at for run in runs])
    urls = [reverse("admin:memories_evaluationrun_change", args=[run.pk]) for run in runs]
    return [
        line_chart(
            Frame(each.title, steps, urls=urls, unit=each.unit, note=each.note),
            [
                ChartLine(label, [run.figures.get(name) for run in runs], number)
                for number, (label, name) in enumerate(each.lines.items(), 1)
                if number <= MOST_LINES
            ],
        )
        for each in drawings(kind, {name for run in runs for name in run.figures})
    ]


def drawings(kind: str, names: set[str]) -> list[Drawing]:
    """Return the drawings of these figures; those that no chart shows are on their run's page."""
    result = [wanted.drawing(names) for wanted in CHARTS.get(Kind(kind), ())]
    if kind == Kind.BENCHMARK:
        # One chart for each size: the values of a large one would flatten those of the others.
        places = {match[1] for name in names if (match := PLACED.fullmatch(name))}
        speeds = []
        for place in sorted(places, key=_order):
            lines = {
                label: f"{figure}: p50 ms" if figure in PLACELESS else f"{figure}, {place}: p50 ms"
                for label, figure in SPEEDS.items()
            }
            title = f"Medians, {place}"
            speeds.append(Drawing(title, lines, "ms", "of one request at a time"))
        result = [*speeds, *result]
    elif kind == Kind.RETRIEVAL:
        result = list(_rankings(names))
    return [drawing for drawing in result if drawing.lines]


def _rankings(names: set[str]) -> Iterator[Drawing]:
    """Yield drawings: of all questions, one for every measure; of each category, one for the
    deciding measure. The baselines stand beside our ranking."""
    by_measure: dict[tuple[str, str], dict[str, str]] = {}
    for name in names:
        if match := RANKED.fullmatch(name):
            ranking, category, measure = match.groups()
            if category == "all" or measure == BEST:
                by_measure.setdefault((category, measure), {})[ranking] = name

    def first(key: tuple[str, str]) -> tuple[bool, bool, tuple[int, str], str]:
        category, measure = key
        return measure != BEST, category != "all", _order(measure), category

    for category, measure in sorted(by_measure, key=first):
        lines = by_measure[category, measure]
        own = [ranking for ranking in RANKINGS if ranking in lines]
        order = [*own, *sorted(set(lines) - set(own))]
        yield Drawing(f"{measure}, {category}", {ranking: lines[ranking] for ranking in order})


def _order(label: str) -> tuple[int, str]:
    """Return a sort key that puts small sizes before large ones."""
    size = re.search(r"\b(\d+)([kM]?)\b", label)
    number = int(size[1]) * SUFFIXES.get(size[2], 1) if size else 0
    return number, label


Points = dict[datetime, Point]


@dataclass(frozen=True, slots=True)
class PlotPeriod:
    """The time that a plot covers, and its steps."""

    name: str
    label: str
    length: timedelta
    step: timedelta
    form: str

    def times(self, now: datetime) -> list[datetime]:
        """Return the beginnings of all steps, as `date_bin` cuts them; the last step is still
        running."""
        size = self.step.total_seconds()
        last = now.timestamp() // size * size
        count = int(self.length.total_seconds() / size)
        return [datetime.fromtimestamp(last - size * back, tz=now.tzinfo) for back in reversed(range(count))]
