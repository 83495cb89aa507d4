"""Pages on usage, costs and performance: searches by day and user with their results, and the size
of the tables; the cost of models by day, purpose and model, with their prices; and charts of
runs."""

import re
import uuid
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Any

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.template.defaultfilters import filesizeformat
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from pydantic.alias_generators import to_camel
from unfold.widgets import UnfoldAdminTextInputWidget

from memories import costs, search_counts, stored_metrics, workspace_settings
from memories.admin.home_page import last_days
from memories.admin.rules_page import OneWorkspacePage
from memories.costs import CostRow, cost_rows
from memories.models import EvaluationRun, ModelUse
from memories.search_counts import SearchDay
from memories.stored_metrics import Point, table_sizes
from memories.workspace_settings import settings_of
from workspaces.adminbase.access import Access, access_of
from workspaces.adminbase.charts import (
    MOST_LINES,
    Chart,
    ChartLine,
    Frame,
    bar_chart,
    line_chart,
    moments,
    number_text,
)
from workspaces.adminbase.list_admin import AdminPage, Empty, ListAdmin, ServerAdmin, display
from workspaces.models import Capability, Workspace

DAYS = 30
LARGEST = 20


class UsagePage(OneWorkspacePage):
    """Usage, for admins of a workspace; the sizes of tables are for people who see all
    workspaces."""

    path, name, title = "usage/", "memories_usage", "Usage"
    template_name = "admin/memories/usage.html"
    capability = Capability.ADMIN

    def get(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        workspace = self.workspace
        days = last_days(DAYS)
        since, until, own = days[0], days[-1] + timedelta(days=1), [workspace.pk]
        rows = search_counts.search_days(own, since, until)
        vectors = stored_metrics.counts_by_label("query_vectors", "outcome", own, since, until)
        sizes = table_sizes() if self.access.everywhere else []
        return self.render_to_response(
            self.get_context_data(
                **self.about(workspace),
                tiles=tiles(rows, vectors),
                charts=usage_charts(days, rows),
                tables=[
                    (each, filesizeformat(each.table_bytes), filesizeformat(each.index_bytes))
                    for each in sizes[:LARGEST]
                ],
                bytes=filesizeformat(sum(each.bytes for each in sizes)),
            )
        )


def tiles(rows: Sequence[SearchDay], vectors: dict[str, int]) -> list[tuple[str, str]]:
    """Return tiles for all the days together; a share is a dash where there is nothing to divide
    by."""
    searches = sum(row.searches for row in rows)
    asked = vectors.get("hit", 0) + vectors.get("miss", 0)
    user_days = sum(row.users for row in rows)

    def ratio(part: int, whole: int, times: int = 1, unit: str = "") -> str:
        return number_text(round(times * part / whole, 1), unit) if whole else "-"

    return [
        ("searches", f"{searches:,}"),
        ("a user and day", ratio(sum(row.searches_of_users for row in rows), user_days)),
        ("results per search", ratio(sum(row.results for row in rows), searches)),
        ("empty answers", ratio(sum(row.empty for row in rows), searches, 100, "%")),
        ("vectors of queries kept from before", ratio(vectors.get("hit", 0), asked, 100, "%")),
    ]


def usage_charts(days: Sequence[date], rows: Sequence[SearchDay]) -> list[Chart]:
    by_day = {row.day: row for row in rows}
    steps = [f"{day:%d %b}" for day in days]
    known = [by_day.get(day) for day in days]
    found = [float(row.searches - row.empty) if row else 0.0 for row in known]
    empty = [float(row.empty) if row else 0.0 for row in known]
    users = [float(row.users) if row else 0.0 for row in known]
    each = [row.searches_per_user if row and row.users else None for row in known]
    hits = [row.results_per_search if row else None for row in known]
    nothing = f"No search in the last {DAYS} days"
    return [
        bar_chart(
            Frame(gettext("Searches"), steps, empty=nothing),
            [ChartLine(gettext("with results"), found, 3), ChartLine("empty", empty, 4)],
        ),
        bar_chart(
            Frame(gettext("Users"), steps, note="about whom something was asked", empty=nothing),
            [ChartLine("users", users, 2)],
        ),
        line_chart(
            Frame(gettext("Searches a user"), steps, empty=nothing),
            [ChartLine(gettext("of a day"), each, 1)],
        ),
        line_chart(
            Frame(gettext("Results a search"), steps, empty=nothing),
            [ChartLine(gettext("of a day"), hits, 5)],
        ),
    ]


# The colours of charts by purpose.
COLOURS = {purpose: number for number, purpose in enumerate(ModelUse.PURPOSES, 1)}


def _amount(label: str, hint: str, *, whole: bool = False) -> forms.Field:
    kind = forms.IntegerField if whole else forms.FloatField
    widget = UnfoldAdminTextInputWidget(attrs={"inputmode": "decimal", "placeholder": "no end"})
    return kind(
        label=label, help_text=hint, required=False, min_value=0, max_value=10**9, widget=widget
    )


class BudgetForm(forms.Form):
    """The setting `budget`; an empty field sets no limit."""

    per_day = _amount("Money a day", "In the currency of the prices.")
    per_month = _amount("Money a month", "From the first of the month on, in UTC.")
    tokens_per_day = _amount("Tokens a day", "Sent and answered together.", whole=True)

    def __init__(self, workspace: Workspace, data: Any = None) -> None:
        super().__init__(data, initial=settings_of(workspace).budget.model_dump())

    @property
    def budget(self) -> dict[str, Any]:
        return {to_camel(name): n for name, n in self.cleaned_data.items() if n is not None}


class CostsPage(OneWorkspacePage):
    """Costs, for admins of a workspace."""

    path, name, title = "costs/", "memories_costs", "Costs"
    template_name = "admin/memories/costs.html"
    capability = Capability.ADMIN

    def get(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        workspace = self.workspace
        form = BudgetForm(workspace, request.POST if self.is_sent else None)
        if self.is_sent and form.is_valid():
            scope = self.access.scope(workspace.pk)
            workspace_settings.change_workspace(scope, changes={"budget": form.budget or None})
            messages.success(request, gettext("Saved: it holds from the next call on."))
            return self.back(workspace)
        days = last_days(DAYS)
        since, until = days[0], days[-1] + timedelta(days=1)
        rows = cost_rows([workspace.pk], since, until, ("day", "purpose"))
        budget, spent = costs.budget_of(workspace.pk), costs.spent_by(workspace.pk)
        month = timezone.now().date().replace(day=1)
        return self.render_to_response(
            self.get_context_data(
                **self.about(workspace),
                form=form,
                charts=cost_charts(days, rows),
                tiles=[
                    ("today", number(spent.today), number(budget.per_day)),
                    ("this month", number(spent.this_month), number(budget.per_month)),
                    ("tokens today", number(spent.tokens_today), number(budget.tokens_per_day)),
                ],
                models=[
                    (row, number(row.cost))
                    for row in cost_rows([workspace.pk], since, until, ("model", "purpose"))
                ],
                reached=costs.reached_of(budget, spent),
                others=self.others(month, until),
                may_price=self.access.everywhere,
            )
        )

    def others(self, since: date, until: date) -> list[tuple[Workspace, CostRow, str]]:
        """Return what each workspace spent, the most expensive first, for people who see all of
        them."""
        if not self.access.everywhere:
            return []
        rows = {row.workspace: row for row in cost_rows(None, since, until, ("workspace",))}
        found = Workspace.objects.in_bulk([each for each in rows if each])
        listed = [(each, row) for each, row in rows.items() if each in found][:50]
        return [(found[each], row, number(row.cost)) for each, row in listed]


def number(value: Decimal | int | None) -> str:
    return "" if value is None else number_text(float(value))


def cost_charts(days: Sequence[date], rows: Sequence[CostRow]) -> list[Chart]:
    """Chart money, tokens and calls by day, with a colour for each purpose."""
    purposes = [each for each in ModelUse.PURPOSES if any(row.purpose == each for row in rows)]
    by_place = {(row.day, row.purpose): row for row in rows}
    nothing = CostRow(0, 0, 0, 0, Decimal(0))
    frames = (("Money", "by the prices of the day", "cost"), ("Tokens", "", "tokens"))
    drawn = []
    for title, note, what in (*frames, ("Calls", "", "calls")):
        lines = [
            ChartLine(
                each,
                [float(getattr(by_place.get((day, each), nothing), what)) for day in days],
                COLOURS[each],
            )
            for each in purposes
        ]
        empty = f"No model was asked in the last {DAYS} days"
        if what == "cost" and any(row.calls for row in rows):
            empty = "Nobody said what these models cost"
        steps = [f"{day:%d %b}" for day in days]
        frame = Frame(title, steps, note=note, empty=empty)
        drawn.append(bar_chart(frame, lines))
    return drawn


class ModelPriceAdmin(ServerAdmin):
    """The operator's prices, which take the place of the list prices in the code."""

    pages = (CostsPage, UsagePage)
    list_display = ("model", "input_per_million", "output_per_million", "per_thousand_calls")
    fields = list_display
    search_fields = ("model",)
    search_help_text = _("A part of the model's name")

    has_add_permission = ServerAdmin.has_view_permission
    has_change_permission = has_delete_permission = has_add_permission

    def empty(self, request: HttpRequest) -> Empty:
        return Empty(
            gettext("No price was written down"),
            gettext("The list prices of common models are known."),
        )


# The page of performance: the speed of requests, and the runs of benchmark and evaluate, which
# belong to no workspace, with rules for the figures that share a chart over time.

Kind = EvaluationRun.Kind

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
    """Return charts of what was served in the person's workspaces; calls of providers are the whole
    server's."""
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
