"""Plots: how fast searches were, what the cache saved, and what runs of benchmark and evaluate
found."""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.urls import URLPattern, path
from django.utils import timezone

from memories import counters
from memories.admin.run_charts import run_series
from memories.counters import Point
from workspaces.adminbase.access import Access, access_of
from workspaces.adminbase.charts import Chart, Frame, Line, bar_chart, line_chart
from workspaces.models import Capability


@dataclass(frozen=True, slots=True)
class Reach:
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


REACHES = (
    Reach("day", "24 hours", timedelta(days=1), timedelta(minutes=15), "%d %b %H:%M"),
    Reach("week", "7 days", timedelta(days=7), timedelta(hours=2), "%d %b %H:%M"),
    Reach("quarter", "90 days", timedelta(days=90), timedelta(days=1), "%d %b"),
)


class PlotsPage:
    """Mixin of an admin: adds the page `plots/` to its addresses."""

    admin_site: Any
    opts: Any

    def get_urls(self) -> list[URLPattern]:
        view = self.admin_site.admin_view(self.plots_view)
        own = path("plots/", view, name="memories_plots")
        return [own, *super().get_urls()]  # type: ignore[misc]

    def plots_view(self, request: HttpRequest) -> HttpResponse:
        access = access_of(request)
        asked = request.GET.get("reach", "")
        reach = next((each for each in REACHES if each.name == asked), REACHES[0])
        runs_everything = access.may_somewhere(Capability.ADMIN)
        context = {
            **self.admin_site.each_context(request),
            "title": "Performance",
            "reach": reach,
            "reaches": REACHES,
            "charts": served(access, reach, timezone.now()),
            "runs": run_series() if runs_everything else None,
        }
        return TemplateResponse(request, "admin/memories/plots.html", context)


def served(access: Access, reach: Reach, now: datetime) -> list[Chart]:
    """What was served in the person's workspaces; calls of providers are the whole server's."""
    mine = None if access.everywhere else list(access.roles)
    times = reach.times(now)
    searches = _series("searches", reach, times, mine)
    vectors = _series("query_vectors", reach, times, mine, "outcome")
    calls = _series("provider_calls", reach, times, None, "outcome")
    return [
        _latency(reach, times, searches.get("", {})),
        bar_chart(
            _frame("Searches", reach, times, note="how many", empty="No search in this time."),
            [Line("searches", _counts(searches.get("", {}), times))],
        ),
        _cache(reach, times, vectors),
        bar_chart(
            _frame("Calls of models", reach, times, note="of the whole server",
                   empty="No model over a network was asked in this time."),
            [
                Line("ok", _counts(calls.get("ok", {}), times), 3),
                Line("failed", _counts(calls.get("failed", {}), times), 4),
            ],
        ),
    ]  # fmt: skip


Found = dict[datetime, Point]


def _series(
    name: str,
    reach: Reach,
    times: Sequence[datetime],
    workspaces: Sequence[uuid.UUID] | None,
    label: str = "",
) -> dict[str, Found]:
    found = counters.series(name, times[0], reach.step, workspaces=workspaces, label=label)
    return {value: {point.at: point for point in points} for value, points in found.items()}


def _frame(title: str, reach: Reach, times: Sequence[datetime], **words: str) -> Frame:
    return Frame(title, [f"{at:{reach.form}}" for at in times], **words)


def _counts(found: Found, times: Sequence[datetime]) -> list[float]:
    return [found[at].count if at in found else 0.0 for at in times]


def _latency(reach: Reach, times: Sequence[datetime], found: Found) -> Chart:
    def over(share: float) -> list[float | None]:
        seconds = [found[at].quantile(share) if at in found else None for at in times]
        return [None if value is None else value * 1e3 for value in seconds]

    frame = _frame(
        "Search latency", reach, times, unit="ms", note="inside the server, without the network",
        empty="No search in this time.",
    )  # fmt: skip
    return line_chart(frame, [Line("p50", over(0.5)), Line("p95", over(0.95), 2)])


def _cache(reach: Reach, times: Sequence[datetime], vectors: dict[str, Found]) -> Chart:
    hits, misses = (_counts(vectors.get(name, {}), times) for name in ("hit", "miss"))
    rates = [100 * h / (h + m) if h + m else None for h, m in zip(hits, misses, strict=True)]
    frame = _frame(
        "Query cache", reach, times, unit="%", note="vectors of queries that were not made again",
        empty="Nothing to keep: the embedding model runs in this server, or nobody searched.",
    )  # fmt: skip
    return line_chart(frame, [Line("hit rate", rates, 3)])
