"""The page of performance: how fast what was asked was served, and the runs of benchmark and
evaluate, which are of no workspace, with which of their figures share a chart over time."""

import re
import uuid
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from memories import stored_metrics
from memories.models import EvaluationRun
from memories.stored_metrics import Point
from workspaces.adminbase.access import Access, access_of
from workspaces.adminbase.charts import (
    MOST_LINES,
    Chart,
    ChartLine,
    Frame,
    bar_chart,
    line_chart,
    moments,
)
from workspaces.adminbase.list_admin import AdminPage, Empty, ListAdmin, display
from workspaces.models import Capability

Kind = EvaluationRun.Kind

MOST_RUNS = 60  # of each kind
MOST_SERIES = 3  # of each kind: runs over the same

# What takes milliseconds of one magnitude, as the charts call it, and the figure's name before its
# place. The raw statement is what linea asks the database.
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
BEST = "recall@10"  # what categories are compared by
RANKINGS = ("hybrid", "keyword", "vector")
SUFFIXES = {"k": 1_000, "M": 1_000_000}


@dataclass(frozen=True, slots=True)
class Drawing:
    """A chart to be: `lines` are figures' names by what their lines are called."""

    title: str
    lines: dict[str, str]
    unit: str = ""
    note: str = ""


@dataclass(frozen=True, slots=True)
class ChartRule:
    """A chart of the figures whose whole name matches; a line is called by what the groups hold."""

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
        ChartRule("95 of 100 searches", r"(linea|hybrid), HTTP, ([^,]+): p95 ms", "ms",
               "took at most"),
        ChartRule("By the raw statement", r"(linea|hybrid), HTTP, ([^,]+): x raw", "times",
               "medians of one run"),
        ChartRule("Recall@10 of the vector side", r"vector side, ([^,]+): recall@10", "",
               "against a full comparison"),
        ChartRule("The same with filters", r"vector side, (.+), filter (.+): recall@10", "",
               "recall@10 of the vector side"),
        ChartRule("Many clients", r"(.+ clients): per s", "/s"),
        ChartRule("Growth of the median", r"(.+): growth exponent", "", "size to the power"),
        ChartRule("Writes with indexes of vectors", r"writes, (.+): x without indexes of vectors",
               "times", "by the same without"),
        ChartRule("Memory", r"(.+): MB", "MB"),
    ),
    Kind.EXTRACTION: (
        ChartRule("Facts", "(fact (?:recall|precision|F1))"),
        ChartRule("Turns", "(coverage|turn precision|fact-bearing)"),
        ChartRule("Turns that are skipped", "(skipped|skipped rightly|lost by skipping)"),
        ChartRule("Time of a turn", "ms (p50|p95)", "ms"),
    ),
    Kind.CONFLICTS: (
        ChartRule("Decisions", "(duplicates merged|updates superseded|left to a person|"
               "different merged or superseded)"),
    ),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class RunSeries:
    """Runs over the same, the oldest first, and what they found."""

    title: str
    runs: int
    charts: list[Chart]
    is_open: bool


def run_series() -> list[RunSeries]:
    """Of each kind those that ran last, the last of them open; each point leads to its run."""
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
    """What these figures are drawn as; those that no chart wants are on their run's page."""
    result = [wanted.drawing(names) for wanted in CHARTS.get(Kind(kind), ())]
    if kind == Kind.BENCHMARK:
        # One for each size: what grows with it would press the others to the ground.
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
    """Of all questions every measure, of each category the one that decides; the baselines beside
    our ranking in each."""
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
    """Small before large."""
    size = re.search(r"\b(\d+)([kM]?)\b", label)
    number = int(size[1]) * SUFFIXES.get(size[2], 1) if size else 0
    return number, label


Points = dict[datetime, Point]


@dataclass(frozen=True, slots=True)
class PlotPeriod:
    """How far back a plot looks, and in what steps."""

    name: str
    label: str
    length: timedelta
    step: timedelta
    form: str

    def times(self, now: datetime) -> list[datetime]:
        """The beginnings of all steps, the last one still running; as `date_bin` cuts them."""
        size = self.step.total_seconds()
        last = now.timestamp() // size * size
        count = int(self.length.total_seconds() / size)
        return [
            datetime.fromtimestamp(last - size * back, tz=now.tzinfo)
            for back in reversed(range(count))
        ]


PERIODS = (
    PlotPeriod("day", "24 hours", timedelta(days=1), timedelta(minutes=15), "%d %b %H:%M"),
    PlotPeriod("week", "7 days", timedelta(days=7), timedelta(hours=2), "%d %b %H:%M"),
    PlotPeriod("quarter", "90 days", timedelta(days=90), timedelta(days=1), "%d %b"),
)


class PlotsPage(AdminPage):
    path, name, title = "plots/", "memories_plots", "Performance"
    template_name = "admin/memories/plots.html"

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        asked = self.request.GET.get("reach", "")
        period = next((each for each in PERIODS if each.name == asked), PERIODS[0])
        runs_everything = self.access.may_somewhere(Capability.ADMIN)
        return super().get_context_data(
            **kwargs,
            reach=period,
            reaches=PERIODS,
            charts=served(self.access, period, timezone.now()),
            runs=run_series() if runs_everything else None,
        )


def served(access: Access, period: PlotPeriod, now: datetime) -> list[Chart]:
    """What was served in the person's workspaces; calls of providers are the whole server's."""
    mine = None if access.everywhere else list(access.roles)
    times = period.times(now)
    searches = _series("searches", period, times, mine)
    vectors = _series("query_vectors", period, times, mine, "outcome")
    calls = _series("provider_calls", period, times, None, "outcome")
    hits, misses = (_counts(vectors.get(name, {}), times) for name in ("hit", "miss"))
    rates = [100 * h / (h + m) if h + m else None for h, m in zip(hits, misses, strict=True)]
    frame = _frame(
        "Query cache", period, times, unit="%", note="vectors of queries that were not made again",
        empty="Nothing to keep: there is no embedding model, or nobody searched.",
    )  # fmt: skip
    cache = line_chart(frame, [ChartLine(gettext("hit rate"), rates, 3)])
    return [
        _latency(period, times, searches.get("", {})),
        bar_chart(
            _frame("Searches", period, times, note="how many", empty="No search in this time."),
            [ChartLine("searches", _counts(searches.get("", {}), times))],
        ),
        cache,
        bar_chart(
            _frame("Calls of models", period, times, note="of the whole server",
                   empty="No model over a network was asked in this time."),
            [
                ChartLine("ok", _counts(calls.get("ok", {}), times), 3),
                ChartLine("failed", _counts(calls.get("failed", {}), times), 4),
            ],
        ),
    ]  # fmt: skip


def _series(
    name: str,
    period: PlotPeriod,
    times: Sequence[datetime],
    workspaces: Sequence[uuid.UUID] | None,
    label: str = "",
) -> dict[str, Points]:
    points_of = stored_metrics.series(
        name, times[0], period.step, workspaces=workspaces, label=label
    )
    return {value: {point.at: point for point in points} for value, points in points_of.items()}


def _frame(title: str, period: PlotPeriod, times: Sequence[datetime], **words: str) -> Frame:
    return Frame(title, [f"{at:{period.form}}" for at in times], **words)


def _counts(points: Points, times: Sequence[datetime]) -> list[float]:
    return [points[at].count if at in points else 0.0 for at in times]


def _latency(period: PlotPeriod, times: Sequence[datetime], points: Points) -> Chart:
    def over(share: float) -> list[float | None]:
        seconds = [points[at].quantile(share) if at in points else None for at in times]
        return [None if value is None else value * 1e3 for value in seconds]

    frame = _frame(
        "Search latency", period, times, unit="ms", note="inside the server, without the network",
        empty="No search in this time.",
    )  # fmt: skip
    return line_chart(frame, [ChartLine("p50", over(0.5)), ChartLine("p95", over(0.95), 2)])


class RunAdmin(ListAdmin):
    pages = (PlotsPage,)
    list_display = ("name", "kind", "started_at", "took")
    list_filter = ("kind",)
    search_fields = ("name__icontains",)
    ordering = ("-started_at",)
    sortable_by = ()

    def get_queryset(self, request: HttpRequest) -> Any:
        return super().get_queryset(request).defer("details")

    @display(description=_("took"))
    def took(self, run: EvaluationRun) -> str:
        return f"{run.seconds:,.0f} s"

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return access_of(request).may_somewhere(Capability.ADMIN)

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    has_module_permission = has_view_permission
    has_change_permission = has_delete_permission = has_add_permission

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: Any = None
    ) -> HttpResponse:
        run = self.get_object(request, object_id)
        if run is None or not self.has_view_permission(request):
            return super().change_view(request, object_id, form_url, extra_context)
        context = {
            **self.admin_site.each_context(request),
            "title": str(run),
            "opts": self.opts,
            "original": run,
            "run": run,
            "rows": sorted(run.figures.items()),
        }
        return TemplateResponse(request, "admin/memories/run.html", context)

    def empty(self, request: HttpRequest) -> Empty:
        return Empty(
            gettext("No runs yet"),
            gettext("Measure this installation:"),
            "python3 manage.py benchmark --sizes 1k",
        )
