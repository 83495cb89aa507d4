"""Usage and costs as pages: searches by day and user, what they found, what the tables take; what
models took by day, purpose and model, and the prices."""

from collections.abc import Sequence
from datetime import date, timedelta
from decimal import Decimal
from typing import Any

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.template.defaultfilters import filesizeformat
from django.utils import timezone
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from pydantic.alias_generators import to_camel
from unfold.widgets import UnfoldAdminTextInputWidget

from memories import costs, search_counts, stored_metrics, workspace_settings
from memories.admin.home_page import last_days
from memories.admin.rules_page import OneWorkspacePage
from memories.costs import CostRow, cost_rows
from memories.models import ModelUse
from memories.search_counts import SearchDay
from memories.stored_metrics import table_sizes
from memories.workspace_settings import settings_of
from workspaces.adminbase.charts import Chart, ChartLine, Frame, bar_chart, line_chart, number_text
from workspaces.adminbase.list_admin import Empty, ServerAdmin
from workspaces.models import Capability, Workspace

DAYS = 30
LARGEST = 20


class UsagePage(OneWorkspacePage):
    """For admins of a workspace; the tables for those who see all of them."""

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
    """Of all the days; a share is a dash where there is nothing to have a share of."""
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
    """The setting `budget`; what is left empty has no end."""

    per_day = _amount("Money a day", "In the currency of the prices.")
    per_month = _amount("Money a month", "From the first of the month on, in UTC.")
    tokens_per_day = _amount("Tokens a day", "Sent and answered together.", whole=True)

    def __init__(self, workspace: Workspace, data: Any = None) -> None:
        super().__init__(data, initial=settings_of(workspace).budget.model_dump())

    @property
    def budget(self) -> dict[str, Any]:
        return {to_camel(name): n for name, n in self.cleaned_data.items() if n is not None}


class CostsPage(OneWorkspacePage):
    """For admins of a workspace."""

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
        """For those who see all workspaces: what each spent this month, the dearest first."""
        if not self.access.everywhere:
            return []
        rows = {row.workspace: row for row in cost_rows(None, since, until, ("workspace",))}
        found = Workspace.objects.in_bulk([each for each in rows if each])
        listed = [(each, row) for each, row in rows.items() if each in found][:50]
        return [(found[each], row, number(row.cost)) for each, row in listed]


def number(value: Decimal | int | None) -> str:
    return "" if value is None else number_text(float(value))


def cost_charts(days: Sequence[date], rows: Sequence[CostRow]) -> list[Chart]:
    """Money and tokens by day, a colour for each purpose."""
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
    """Prices of the operator; those that are known stand in the code and give way to these."""

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
