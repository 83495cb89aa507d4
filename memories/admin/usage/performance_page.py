"""The performance page: runs over time as charts."""

import uuid
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from django.contrib import admin
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.utils import timezone
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from memories.admin.usage.performance_charts import PlotPeriod, Points, run_series
from memories.meters import stored_metrics
from memories.models import EvaluationRun
from workspaces.adminbase.access import Access, access_of
from workspaces.adminbase.charts import Chart, ChartLine, Frame, bar_chart, line_chart
from workspaces.adminbase.list_admin import AdminPage, Empty, ListAdmin, display
from workspaces.models import Capability

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
        "Query cache",
        period,
        times,
        unit="%",
        note="vectors of queries that were not made again",
        empty="Nothing to keep: there is no embedding model, or nobody searched.",
    )
    cache = line_chart(frame, [ChartLine(gettext("hit rate"), rates, 3)])
    return [
        _latency(period, times, searches.get("", {})),
        bar_chart(
            _frame("Searches", period, times, note="how many", empty="No search in this time."),
            [ChartLine("searches", _counts(searches.get("", {}), times))],
        ),
        cache,
        bar_chart(
            _frame(
                "Calls of models",
                period,
                times,
                note="of the whole server",
                empty="No model over a network was asked in this time.",
            ),
            [
                ChartLine("ok", _counts(calls.get("ok", {}), times), 3),
                ChartLine("failed", _counts(calls.get("failed", {}), times), 4),
            ],
        ),
    ]


def _series(
    name: str,
    period: PlotPeriod,
    times: Sequence[datetime],
    workspaces: Sequence[uuid.UUID] | None,
    label: str = "",
) -> dict[str, Points]:
    points_of = stored_metrics.series(name, times[0], period.step, workspaces=workspaces, label=label)
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
        "Search latency",
        period,
        times,
        unit="ms",
        note="inside the server, without the network",
        empty="No search in this time.",
    )
    return line_chart(frame, [ChartLine("p50", over(0.5)), ChartLine("p95", over(0.95), 2)])


@admin.register(EvaluationRun)
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
