"""Filters whose choices are limited to what the person may see."""

from collections.abc import Iterator
from typing import Any

from django.contrib.admin.options import ModelAdmin
from django.contrib.admin.views.main import ChangeList
from django.db.models import QuerySet
from django.http import HttpRequest
from unfold.contrib.filters.admin import AutocompleteSelectFilter, RelatedDropdownFilter
from unfold.contrib.filters.admin.dropdown_filters import DropdownFilter

from workspaces.desk.access import access_of
from workspaces.models import Capability


class PickFilter(AutocompleteSelectFilter):
    """An autocomplete that names a picked row only to those who may see it."""

    def choices(self, changelist: ChangeList) -> Iterator[Any]:
        other = self.field.remote_field.model
        admin = self.model_admin.admin_site.get_model_admin(other)
        for choice in super().choices(changelist):
            choice["form"].fields[self.lookup_kwarg].queryset = admin.get_queryset(self.request)
            yield choice


class WorkspaceFilter(RelatedDropdownFilter):
    """Shown to people of several workspaces."""

    def field_choices(
        self, field: Any, request: HttpRequest, model_admin: ModelAdmin
    ) -> list[tuple[Any, str]]:
        found = access_of(request).workspaces(Capability.READ)
        return list(found.order_by("name").values_list("pk", "name")[:500])


class StateFilter(DropdownFilter):
    """One of several states; `states` maps a value to its label, and `narrow` does the work.

    With `first` set, the list begins with that state instead of with all rows.
    """

    title = "state"
    parameter_name = "state"
    states: dict[str, str]
    first = ""
    all_option = None

    def lookups(self, request: HttpRequest, model_admin: ModelAdmin) -> list[tuple[str, str]]:
        return [*self.states.items(), ("all", "All")]

    def value(self) -> str:
        asked = super().value()
        return asked if asked in self.states or asked == "all" else self.first or "all"

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        return queryset if self.value() == "all" else self.narrow(queryset, self.value())

    def narrow(self, rows: QuerySet[Any], state: str) -> QuerySet[Any]:
        return rows.filter(**{self.parameter_name: state})
