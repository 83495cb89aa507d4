"""The usage page: searches by day and user with their results, and the size of the tables."""

from collections.abc import Sequence
from datetime import date, timedelta
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.template.defaultfilters import filesizeformat
from django.utils.translation import gettext

from memories.admin.home.home_page import last_days
from memories.documents.blobs import FileShare, share_of
from memories.meters import search_counts, stored_metrics
from memories.meters.search_counts import SearchDay
from memories.meters.stored_metrics import table_sizes
from workspaces.adminbase.charts import Chart, ChartLine, Frame, bar_chart, line_chart, number_text
from workspaces.adminbase.one_workspace_page import OneWorkspacePage
from workspaces.models import Capability

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
                files=kept_files(share_of(workspace.pk)),
                charts=usage_charts(days, rows),
                tables=[
                    (each, filesizeformat(each.table_bytes), filesizeformat(each.index_bytes))
                    for each in sizes[:LARGEST]
                ],
                bytes=filesizeformat(sum(each.bytes for each in sizes)),
            )
        )


def kept_files(share: FileShare) -> list[tuple[str, str]]:
    most = "no limit" if share.most is None else filesizeformat(share.most)
    label = "file of documents" if share.files == 1 else "files of documents"
    return [
        (label, f"{share.files:,}"),
        (f"of them, of {most}", filesizeformat(share.bytes)),
    ]


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
