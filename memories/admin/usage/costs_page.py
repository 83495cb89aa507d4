"""The costs page: the cost of models by day, purpose and model, with their prices and the
budget."""

from collections.abc import Sequence
from datetime import date, timedelta
from decimal import Decimal
from typing import Any

from django import forms
from django.contrib import admin, messages
from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from pydantic.alias_generators import to_camel
from unfold.widgets import UnfoldAdminTextInputWidget

from memories.admin.home.home_page import last_days
from memories.admin.usage.usage_page import DAYS, UsagePage
from memories.meters import costs
from memories.meters.costs import CostRow, cost_rows
from memories.models import EvaluationRun, ModelPrice, ModelUse
from memories.settings import workspace_settings
from memories.settings.workspace_settings import settings_of
from workspaces.adminbase.charts import Chart, ChartLine, Frame, bar_chart, number_text
from workspaces.adminbase.list_admin import Empty, ServerAdmin
from workspaces.adminbase.one_workspace_page import OneWorkspacePage
from workspaces.models import Capability, Workspace

# The colours of charts by purpose.
COLOURS = {purpose: number for number, purpose in enumerate(ModelUse.PURPOSES, 1)}


def _amount(label: str, hint: str, *, whole: bool = False) -> forms.Field:
    kind = forms.IntegerField if whole else forms.FloatField
    widget = UnfoldAdminTextInputWidget(attrs={"inputmode": "decimal", "placeholder": "no end"})
    return kind(label=label, help_text=hint, required=False, min_value=0, max_value=10**9, widget=widget)


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
                    (row, number(row.cost)) for row in cost_rows([workspace.pk], since, until, ("model", "purpose"))
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
    nothing = CostRow(0, 0, 0, 0, 0, Decimal(0))
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


@admin.register(ModelPrice)
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
