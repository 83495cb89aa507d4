"""Repeats as a page: what the agents of one workspace keep saying."""

from typing import Any

from django import forms
from unfold.widgets import UnfoldAdminIntegerFieldWidget, UnfoldAdminSelectWidget

from memories.models import Category
from memories.repeats import Repeat, RepeatQuery, repeats
from workspaces.adminbase.access import Access
from workspaces.adminbase.list_admin import AdminPage
from workspaces.models import Workspace


class RepeatsForm(forms.Form):
    """What the page is asked; only the person's own workspaces can be chosen."""

    workspace = forms.ModelChoiceField(
        Workspace.objects.none(),
        to_field_name="slug",
        empty_label=None,
        widget=UnfoldAdminSelectWidget,
    )
    category = forms.ChoiceField(
        choices=[("", "All categories"), *Category.choices],
        required=False,
        widget=UnfoldAdminSelectWidget,
    )
    agents = forms.IntegerField(
        min_value=1,
        max_value=100_000,
        label="Agents, at least",
        widget=UnfoldAdminIntegerFieldWidget,
    )

    def __init__(self, access: Access, data: dict[str, Any]) -> None:
        super().__init__(data)
        choice = self.fields["workspace"]
        assert isinstance(choice, forms.ModelChoiceField)
        choice.queryset = access.workspaces().order_by("name")


class RepeatsPage(AdminPage):
    path, name, title = "repeats/", "memories_repeats", "Repeats"
    template_name = "admin/memories/repeats.html"

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        first = self.access.workspaces().order_by("name").first()
        asked = {"workspace": first.slug if first else "", "category": "", "agents": "1"}
        form = RepeatsForm(self.access, asked | self.request.GET.dict())
        rows: list[Repeat] = []
        if form.is_valid():
            values = form.cleaned_data
            query = RepeatQuery(min_agents=values["agents"], category=values["category"])
            rows = repeats(self.access.scope(values["workspace"].pk), query)
        opts = self.model_admin.opts
        return super().get_context_data(**kwargs, opts=opts, form=form, repeats=rows)
