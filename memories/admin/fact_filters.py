"""What a list of facts is narrowed by, as the API does: rule, entity and confidence."""

from typing import Any

from django.contrib.admin.options import ModelAdmin
from django.db.models import QuerySet
from django.http import HttpRequest
from unfold.contrib.filters.admin import TextFilter
from unfold.contrib.filters.admin.dropdown_filters import DropdownFilter

from memories.models import Fact
from workspaces.adminbase.access import access_of

MOST_OFFERED = 300
NEWEST = 20_000  # facts that are looked through for the rules that may be chosen


class RuleFilter(DropdownFilter):
    """Rules as the newest facts have them, and the one that is asked for."""

    title = "rule"
    parameter_name = "rule"

    def lookups(self, request: HttpRequest, model_admin: ModelAdmin) -> list[tuple[str, str]]:
        mine = access_of(request).limit(Fact.objects.all(), "workspace")
        newest = Fact.objects.filter(pk__in=mine.order_by("-pk").values("pk")[:NEWEST])
        rules = newest.exclude(rule="").order_by().values_list("rule", flat=True)
        shown = set(rules.distinct()[:MOST_OFFERED])
        asked = request.GET.get(self.parameter_name)
        return [(rule, rule) for rule in sorted(shown | ({asked} if asked else set()))]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        return queryset.filter(rule=self.value()) if self.value() else queryset


class EntityFilter(TextFilter):
    """Facts that name somebody or something, written as they write it."""

    title = "entity"
    parameter_name = "entity"

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        asked = (self.value() or "").strip()
        return queryset.filter(entities__contains=[asked]) if asked else queryset


class ConfidenceFilter(DropdownFilter):
    title = "confidence"
    parameter_name = "confidence"
    least = {"0.9": 0.9, "0.8": 0.8, "0.7": 0.7, "0.5": 0.5}

    def lookups(self, request: HttpRequest, model_admin: ModelAdmin) -> list[tuple[str, str]]:
        return [*((each, f"At least {each}") for each in self.least), ("low", "Below 0.5")]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        asked = self.value()
        if asked == "low":
            return queryset.filter(confidence__lt=0.5)
        return (
            queryset.filter(confidence__gte=self.least[asked]) if asked in self.least else queryset
        )
