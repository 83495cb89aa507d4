"""Repeats as a page: what the agents of one workspace keep saying."""

from typing import Any

from django import forms
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.urls import URLPattern, path
from unfold.widgets import UnfoldAdminIntegerFieldWidget, UnfoldAdminSelectWidget

from memories.models import Category
from memories.repeats import Repeat, RepeatQuery, repeats
from workspaces.adminbase.access import Access, access_of
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


class RepeatsPage:
    """Mixin of an admin: adds the page `repeats/` to its addresses."""

    admin_site: Any
    opts: Any

    def get_urls(self) -> list[URLPattern]:
        view = self.admin_site.admin_view(self.repeats_view)
        own = path("repeats/", view, name="memories_repeats")
        return [own, *super().get_urls()]  # type: ignore[misc]

    def repeats_view(self, request: HttpRequest) -> HttpResponse:
        access = access_of(request)
        form = RepeatsForm(access, _asked(access, request))
        context = {
            **self.admin_site.each_context(request),
            "title": "Repeats",
            "opts": self.opts,
            "form": form,
            "repeats": _found(access, form),
        }
        return TemplateResponse(request, "admin/memories/repeats.html", context)


def _asked(access: Access, request: HttpRequest) -> dict[str, Any]:
    first = access.workspaces().order_by("name").first()
    asked = {"workspace": first.slug if first else "", "category": "", "agents": "1"}
    return asked | request.GET.dict()


def _found(access: Access, form: RepeatsForm) -> list[Repeat]:
    if not form.is_valid():
        return []
    values = form.cleaned_data
    query = RepeatQuery(min_agents=values["agents"], category=values["category"])
    return repeats(access.scope(values["workspace"].pk), query)
