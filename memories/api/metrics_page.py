"""`/metrics` in Prometheus' text format: counts of all processes, and figures of the present rows.

No label has a workspace, a person or any content.
"""

import secrets
from collections.abc import Callable, Iterable, Iterator
from itertools import accumulate, groupby
from operator import attrgetter
from time import perf_counter
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.views.decorators.http import require_safe

from memories import metrics
from memories.meters import stored_metrics
from memories.meters.stored_metrics import table_sizes
from memories.models import Figure
from memoryproject.server import health
from memoryproject.server.machine_health import Part, State
from workspaces.api.problems import Problem, page
from workspaces.login.throttle import is_of_this_machine

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
ESCAPES = str.maketrans({"\\": r"\\", '"': r"\"", "\n": r"\n"})
METHODS = frozenset({"GET", "POST", "PATCH", "PUT", "DELETE", "HEAD", "OPTIONS"})
LARGEST = 12  # tables whose size is told by name
SIZES = (
    ("table_bytes", "By table.", attrgetter("table_bytes")),
    ("index_bytes", "Of a table's indexes.", attrgetter("index_bytes")),
)
STATES = {State.FAILED: 0, State.DEGRADED: 1, State.OK: 2}
OF_PARTS = {
    "database": ("database_up", "1 where the database answers and takes changes."),
    "disk": ("disk_free_bytes", "Room in the data folder."),
    "workers": ("workers_alive", "Worker processes that were seen lately."),
    "sessions": ("oldest_session_seconds", "Age of the oldest session that waits."),
    "documents": ("oldest_document_seconds", "How long the oldest document has waited."),
    "repair": ("repair_rows", "Rows of indexes that are still to be made anew."),
}


class MeasuringMiddleware:
    """Counts each request by its route, never by its path."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        started = perf_counter()
        response = self.get_response(request)
        match = request.resolver_match
        metrics.count(
            "requests",
            perf_counter() - started,
            route=match.route if match else "unknown",
            method=request.method if request.method in METHODS else "other",
            status=str(response.status_code),
        )
        return response


@require_safe
def view(request: HttpRequest) -> HttpResponseBase:
    if not settings.METRICS_TOKEN and not is_of_this_machine(request):
        told = "Without METRICS_TOKEN these figures are for the server's own machine."
        return page(Problem(403, told), request)
    if settings.METRICS_TOKEN and not shows_token(request):
        refusal = page(Problem(401, "These figures want a token: METRICS_TOKEN."), request)
        refusal.headers["WWW-Authenticate"] = "Bearer"
        return refusal
    parts = health.parts()
    told = "Of each part of the server: 0 failed, 1 degraded, 2 ok; as /health/ready tells."
    states = [stored_metrics.Gauge("part_state", told, STATES[part.state], {"part": part.name}) for part in parts]
    states += [
        stored_metrics.Gauge(*OF_PARTS[part.name], part.value)
        for part in parts
        if part.value is not None and part.name in OF_PARTS
    ]
    lines = list(_gauges(states))
    if is_readable(parts):
        stored_metrics.flush_or_keep()
        lines += [*_counted(stored_metrics.totals()), *_gauges(stored_metrics.gauges())]
        sizes = table_sizes()  # of the largest tables; the others together
        shown = [(size.name, [size]) for size in sizes[:LARGEST]] + [("others", sizes[LARGEST:])]
        lines += _gauges(
            stored_metrics.Gauge(name, told, sum(map(of, some)), {"table": table})
            for name, told, of in SIZES
            for table, some in shown
        )
    return HttpResponse("\n".join([*lines, ""]), content_type=CONTENT_TYPE)


def is_readable(parts: Iterable[Part]) -> bool:
    """Tell whether the database, which has the counts, works. If it does not, the page shows only
    the states of the parts."""
    return any(part.name == "database" and part.state != State.FAILED for part in parts)


def shows_token(request: HttpRequest) -> bool:
    given = request.META.get("HTTP_AUTHORIZATION", "").removeprefix("Bearer ")
    return secrets.compare_digest(given.encode(), settings.METRICS_TOKEN.encode())


def _counted(totals: Iterable[Figure]) -> Iterator[str]:
    for name, group in groupby(totals, lambda figure: figure.name):
        rows = list(group)
        timed = any(row.buckets for row in rows)
        full = f"memory_{name}_seconds" if timed else f"memory_{name}_total"
        yield from _head(full, metrics.COUNTS.get(name, name), "histogram" if timed else "counter")
        for row in rows:
            if not timed:
                yield _line(full, row.labels, row.count)
                continue
            sums = accumulate(row.buckets[: len(metrics.BOUNDS)])
            for bound, held in zip(metrics.BOUNDS, sums, strict=False):
                yield _line(f"{full}_bucket", row.labels | {"le": f"{bound:g}"}, held)
            yield _line(f"{full}_bucket", row.labels | {"le": "+Inf"}, row.count)
            yield _line(f"{full}_sum", row.labels, round(row.seconds, 6))
            yield _line(f"{full}_count", row.labels, row.count)


def _gauges(gauges: Iterable[stored_metrics.Gauge]) -> Iterator[str]:
    for name, group in groupby(gauges, lambda gauge: gauge.name):
        rows = list(group)
        yield from _head(f"memory_{name}", rows[0].told, "gauge")
        for row in rows:
            yield _line(f"memory_{name}", row.labels, row.value)


def _head(name: str, told: str, kind: str) -> list[str]:
    return [f"# HELP {name} {told}", f"# TYPE {name} {kind}"]


def _line(name: str, labels: dict[str, Any], value: float) -> str:
    escaped = ((key, str(text).translate(ESCAPES)) for key, text in sorted(labels.items()))
    inside = ",".join(f'{key}="{text}"' for key, text in escaped)
    return f"{name}{{{inside}}} {value}" if inside else f"{name} {value}"
