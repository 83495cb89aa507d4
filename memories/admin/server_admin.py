"""The server in the browser: long work and its end, runs of benchmark and evaluate, and, for
superusers, how it is."""

import re
import uuid
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.core.exceptions import PermissionDenied
from django.db.models import Model, Q, QuerySet
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.template.defaultfilters import filesizeformat
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils import timezone
from django.utils.html import format_html
from django.utils.translation import gettext
from django.utils.translation import gettext as text
from django.utils.translation import gettext_lazy as _
from django_q.models import Failure, OrmQ, Schedule
from unfold.contrib.filters.admin import ChoicesDropdownFilter

from memories import long_jobs, stored_metrics
from memories.admin.memory_rows import MemoryRowAdmin, one_line, text_column
from memories.models import EvaluationRun, IndexRepair, LongJob, WorkerBeat
from memories.stored_metrics import Point
from workspaces.adminbase.access import Access, access_of
from workspaces.adminbase.actors import name_of
from workspaces.adminbase.charts import (
    MOST_LINES,
    Chart,
    ChartLine,
    Frame,
    bar_chart,
    line_chart,
    moments,
)
from workspaces.adminbase.list_admin import AdminPage, Empty, ListAdmin, ServerAdmin, display
from workspaces.adminbase.row_admin import Verb
from workspaces.adminbase.scoped_admin import DayFilter
from workspaces.auth import as_uuid
from workspaces.models import Capability

MOST_SHOWN = 50
LATELY = timedelta(seconds=20)  # what ended is told by a page that is open for so long
BACKUP_EACH = timedelta(days=2)  # a newest one that is older is told, here and by the alert
EXAMPLE = "/srv/backups"  # where they are, as long as there is none
MINUTE, HOUR = 60, 3600  # seconds
CANCEL = Verb(
    "cancel", _("Stop"), "stop_circle", "danger",
    _("It ends after what it is at just now. What is done until then stays."),
    capability=Capability.ADMIN,
)  # fmt: skip


def jobs_of(access: Access) -> QuerySet[LongJob]:
    """What a person may know of; erasures are for who administers, as their certificates are."""
    rows = LongJob.objects.all()
    others = access.limit(rows.exclude(kind=LongJob.Kind.ERASURE), "workspace")
    return others | access.limit(
        rows.filter(kind=LongJob.Kind.ERASURE), "workspace", Capability.ADMIN
    )


def pace(job: LongJob) -> str:
    """How far it is, how fast, and how long it takes yet: `120 of 300 rows, 4 a second, 45 s left`;
    of what is over how many, in what time."""
    total = job.total if job.total != job.done else None
    far = f"{job.done:,}" if total is None else f"{job.done:,} {text('of')} {total:,}"
    parts = [f"{far} {text(job.unit)}"]
    if job.is_live and job.rate:
        number, span = (job.rate, text("a second"))
        if job.rate < 1:
            number, span = (job.rate * MINUTE, text("a minute"))
        parts.append(f"{number:,.0f} {span}")
        if job.seconds_left is not None:
            parts.append(text("%(time)s left") % {"time": span_text(job.seconds_left)})
    elif job.finished_at and job.seconds >= 1:
        parts.append(text("in %(time)s") % {"time": span_text(job.seconds)})
    return ", ".join(parts)


def span_text(seconds: float) -> str:
    if seconds < 2 * MINUTE:
        return f"{seconds:.0f} s"
    if seconds < 2 * HOUR:
        return f"{seconds / MINUTE:.0f} min"
    return f"{seconds / HOUR:.0f} h"


def state_text(job: LongJob) -> str:
    if job.state != LongJob.State.RUNNING:
        return str(job.get_state_display())
    if not job.is_live:
        return text("silent")
    return text("ending") if job.cancelled_by else text("running")


class RunningPage(AdminPage):
    """What runs now, or ended just now, of what the person may see; as JSON for the corner of
    every page. A page names those that it shows as running (`shown`): it is told of their end,
    however late it asks."""

    path, name, title = "running/", "memories_running", "Work"
    model_admin: "LongJobAdmin"

    def get(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        ended = Q(finished_at__gt=timezone.now() - LATELY)
        live = Q(pk__in=LongJob.objects.running().values("pk"))
        ids = map(as_uuid, request.GET.getlist("shown")[:MOST_SHOWN])
        shown = Q(pk__in=[row_id for row_id in ids if row_id])
        rows = jobs_of(self.access).filter(live | ended | shown).select_related("workspace")
        jobs = [
            {
                "id": str(job.pk),
                "title": f"{job} ({job.workspace})" if self.names_workspace(job) else str(job),
                "running": job.is_live,
                "state": state_text(job),
                "share": job.share,
                "note": pace(job) if job.is_live else one_line(job.error or pace(job)),
                "url": self.model_admin.page_of(job),
            }
            for job in rows.order_by("-id")[: 2 * MOST_SHOWN]
        ]
        return JsonResponse({"jobs": jobs}, headers={"Cache-Control": "no-store"})

    def names_workspace(self, job: LongJob) -> bool:
        return self.access.is_of_many and job.workspace is not None


class BackupsPage(AdminPage):
    """When the server was backed up, for who administers it. Taking one needs the owner of the
    tables, whom no process that serves may be: so it is a command, and this page tells it."""

    path, name, title = "backups/", "memories_backups", "Backups"
    template_name = "admin/memories/backups.html"

    def get(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        if not self.access.everywhere:
            raise PermissionDenied
        rows = LongJob.objects.filter(kind=LongJob.Kind.BACKUP).order_by("-id")
        newest = rows.filter(state=LongJob.State.DONE).first()
        jobs = [
            {
                "row": job,
                "state": state_text(job),
                "folder": "/".join(job.result[k] for k in ("in", "folder") if k in job.result),
                "error": job.error,
                "bytes": filesizeformat(job.result["bytes"]) if "bytes" in job.result else "",
                "pace": pace(job),
                "url": reverse("admin:memories_longjob_change", args=[job.pk]),
            }
            for job in rows[:MOST_SHOWN]
        ]
        is_old = newest is None or timezone.now() - newest.created_at > BACKUP_EACH
        return self.render_to_response(
            self.get_context_data(
                jobs=jobs,
                newest=newest,
                is_old=is_old,
                data=settings.DATA_DIR,
                code=settings.BASE_DIR,
                where=newest.result.get("in", EXAMPLE) if newest else EXAMPLE,
                folder=newest.result.get("folder", "memory-…") if newest else "memory-…",
                days=BACKUP_EACH.days,
            )
        )


class LongJobAdmin(MemoryRowAdmin):
    write_capability = Capability.ADMIN
    pages = (RunningPage, BackupsPage)
    list_display = ("work", "state_label", "far", "by", "created_at", "outcome")
    list_select_related = ("workspace",)
    list_filter = (("state", ChoicesDropdownFilter), ("kind", ChoicesDropdownFilter), DayFilter)
    actor_field = "requested_by"
    page_template = "admin/memories/long_job.html"
    verbs = (CANCEL,)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        return jobs_of(access_of(request)).order_by(*self.ordering)

    @display(description=_("work"))
    def work(self, job: LongJob) -> str:
        return str(job)

    @display(
        description=_("state"),
        label={"done": "success", "running": "info", "failed": "danger", "silent": "warning",
               "ending": "warning"},
    )  # fmt: skip
    def state_label(self, job: LongJob) -> str:
        return state_text(job)

    @display(description=_("how far"))
    def far(self, job: LongJob) -> str:
        if not job.is_live:
            return pace(job)
        value = "" if job.share is None else f"{job.share}"
        return format_html(
            '<span class="desk-work-far" data-job="{}"><progress max="100" aria-label="{}"{}>'
            '</progress> <span class="desk-small" data-note>{}</span></span>',
            job.pk, str(job), format_html(' value="{}"', value) if value else "", pace(job),
        )  # fmt: skip

    @display(description=_("what came of it"))
    def outcome(self, job: LongJob) -> str:
        return text_column(job.error or counts_text(job) or "-", 60)

    def offers(self, row: Any, verb: Verb) -> bool:
        return row.is_live and row.may_be_cancelled

    def do_cancel(self, request: HttpRequest, row: Model, values: dict[str, Any]) -> str:
        assert isinstance(row, LongJob)
        long_jobs.cancel(self.scope(request, row), row)
        return text("It ends after what it is at just now.")

    def page(self, request: HttpRequest, row: Any) -> dict[str, Any]:
        return {
            "by": name_of(row.requested_by),
            "cancelled_by": name_of(row.cancelled_by) if row.cancelled_by else "",
            "state": state_text(row),
            "pace": pace(row),
            "took": span_text(row.seconds),
        }

    def empty(self, request: HttpRequest) -> Empty:
        return Empty(
            text("Nothing long was done yet"),
            text("Imports, exports, backups, new vectors, repairs and erasures are shown here while"
                 " they run, and 90 days longer."),
        )  # fmt: skip


def counts_text(job: LongJob) -> str:
    """`2 known, 48 stored`."""
    return ", ".join(
        f"{number:,} {name}" if isinstance(number, int) else f"{name}: {number}"
        for name, number in job.result.items()
        if number
    )


# Runs of benchmark and evaluate, for those who administer a workspace: they are of no workspace;
# and which of their figures share a chart over time.

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


# How the server is, for superusers: the queue, who works on it, and indexes being made anew. Tasks
# are bells, so there is little to do here but look.


class QueueAdmin(ServerAdmin):
    """What may be deleted."""

    has_delete_permission = ServerAdmin.has_view_permission


class FailureAdmin(QueueAdmin):
    list_display = ("func", "args", "started", "stopped", "attempt_count")
    search_fields = ("func",)
    ordering = ("-started",)


class TaskAdmin(QueueAdmin):
    list_display = ("id", "func", "key", "lock")
    fields = readonly_fields = ("key", "lock", "task_id", "func", "args")


class ScheduleAdmin(QueueAdmin):
    list_display = ("name", "func", "schedule_type", "minutes", "next_run")


class BreakerAdmin(QueueAdmin):
    """Deleting one lets the model be asked again at once."""

    ordering = ("-state", "name")  # the open ones first
    list_display = ("name", "state", "since", "detail", "failures", "next_try_at")
    list_filter = ("state", "purpose")


class ServerRowAdmin(ServerAdmin):
    """Rows whose page shows all columns."""

    can_add = False
    sortable_by = ()

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> list[str]:
        return [field.name for field in self.opts.concrete_fields]


class RepairAdmin(ServerRowAdmin):
    list_display = (
        "workspace", "state_label", "rows_done", "rows_left", "rows_a_second", "started_at",
        "finished_at", "error",
    )  # fmt: skip
    list_select_related = ("workspace",)

    @display(
        description=_("state"),
        label={"done": "success", "failing": "danger", "waiting": "warning", "running": "info"},
    )
    def state_label(self, repair: IndexRepair) -> str:
        return repair.state

    @display(description=_("rows done"))
    def rows_done(self, repair: IndexRepair) -> str:
        return f"{repair.done:,}"

    @display(description=_("rows to go"))
    def rows_left(self, repair: IndexRepair) -> str:
        return "to be counted" if repair.rest is None else f"{repair.rest:,}"

    @display(description=_("rows a second"))
    def rows_a_second(self, repair: IndexRepair) -> str:
        return f"{repair.rate:,.0f}"

    def empty(self, request: HttpRequest) -> Empty:
        text = "A new version that reads texts otherwise makes old rows anew; that is told here."
        return Empty(gettext("No index was repaired yet"), text)


class WorkerAdmin(ServerRowAdmin):
    list_display = ("kind", "host", "pid", "started_at", "seen_at")

    def empty(self, request: HttpRequest) -> Empty:
        return Empty(
            gettext("No worker is seen"),
            gettext("One of these must run:"),
            "manage.py up\nmanage.py work",
        )


QUEUE_ADMINS: dict[Any, type[ServerAdmin]] = {
    Failure: FailureAdmin,
    OrmQ: TaskAdmin,
    Schedule: ScheduleAdmin,
}
SERVER_ADMINS: dict[Any, type[ServerAdmin]] = {IndexRepair: RepairAdmin, WorkerBeat: WorkerAdmin}
