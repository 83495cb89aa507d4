"""Filters whose choices are limited to what the person may see."""

import re
from collections.abc import Iterator
from datetime import UTC, date, datetime, time, timedelta
from typing import Any

from django.contrib.admin.options import ModelAdmin
from django.contrib.admin.views.main import ChangeList
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils import timezone
from django.utils.dateparse import parse_date
from unfold.contrib.filters.admin import AutocompleteSelectFilter, RelatedDropdownFilter
from unfold.contrib.filters.admin.dropdown_filters import DropdownFilter

from workspaces.adminbase.access import access_of
from workspaces.ids import first_uuid7
from workspaces.models import Capability

DAY = re.compile(r"20\d\d-(0[1-9]|1[0-2])-([0-2]\d|3[01])")


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
        rows = access_of(request).workspaces(Capability.READ)
        return list(rows.order_by("name").values_list("pk", "name")[:500])


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


class DayFilter(DropdownFilter):
    """Rows that were made on a day: one of the last week, or any that the address names."""

    title = "day"
    parameter_name = "day"

    def lookups(self, request: HttpRequest, model_admin: ModelAdmin) -> list[tuple[str, str]]:
        today = timezone.now().date()
        days = {today - timedelta(days=back) for back in range(7)}
        if (asked := self._asked(request.GET.get(self.parameter_name))) is not None:
            days.add(asked)
        return [(day.isoformat(), f"{day:%a %d %b %Y}") for day in sorted(days, reverse=True)]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        day = self._asked(self.value())
        if day is None:
            return queryset
        begin = datetime.combine(day, time(), tzinfo=UTC)
        first, next_first = first_uuid7(begin), first_uuid7(begin + timedelta(days=1))
        return queryset.filter(pk__gte=first, pk__lt=next_first)

    @staticmethod
    def _asked(text: str | None) -> date | None:
        return parse_date(text) if text and DAY.fullmatch(text) else None
