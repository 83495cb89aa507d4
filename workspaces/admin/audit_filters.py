"""Who did it, what was done, and to what kind of row."""

from typing import Any

from django.contrib.admin.options import ModelAdmin
from django.db.models import Q, QuerySet
from django.http import HttpRequest
from unfold.contrib.filters.admin.dropdown_filters import DropdownFilter

from workspaces.adminbase.access import access_of
from workspaces.adminbase.actors import kind_text
from workspaces.models import ApiKey, AuditEntry, Capability, Membership

MOST_OFFERED = 200
NEWEST = 20_000  # lines that are looked through for what may be chosen
KINDS = {"person": "All people", "key": "All keys", "server": "The server itself"}


class WhoFilter(DropdownFilter):
    """People, keys and the server; or one of the members and keys of the own workspaces."""

    title = "who"
    parameter_name = "who"

    def lookups(self, request: HttpRequest, model_admin: ModelAdmin) -> list[tuple[str, str]]:
        access = access_of(request)
        people = access.limit(Membership.objects.all(), "workspace", Capability.CURATE)
        keys = access.limit(ApiKey.objects.all(), "workspace", Capability.CURATE)
        names = people.order_by("user__username").values_list("user_id", "user__username")
        members = dict.fromkeys((f"user:{pk}", name) for pk, name in names[:MOST_OFFERED])
        programs = keys.order_by("name").values_list("pk", "name")[:MOST_OFFERED]
        return [*KINDS.items(), *members, *((f"key:{pk}", f"key {name}") for pk, name in programs)]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        people, keys = Q(actor__startswith="user:"), Q(actor__startswith="key:")
        match self.value():
            case None:
                return queryset
            case "person":
                return queryset.filter(people)
            case "key":
                return queryset.filter(keys)
            case "server":
                return queryset.exclude(people | keys)
            case actor:
                return queryset.filter(actor=actor)


class NewestValuesFilter(DropdownFilter):
    """Values of a field as the newest lines have them, and the one that is asked for."""

    field = ""

    def lookups(self, request: HttpRequest, model_admin: ModelAdmin) -> list[tuple[str, str]]:
        mine = access_of(request).limit(AuditEntry.objects.all(), "workspace", Capability.CURATE)
        newest = mine.order_by("-pk").values("pk")[:NEWEST]
        rows = AuditEntry.objects.filter(pk__in=newest).order_by()
        shown = set(rows.values_list(self.field, flat=True).distinct()[:MOST_OFFERED])
        asked = request.GET.get(self.parameter_name)
        return [
            (each, self.label_of(each)) for each in sorted(shown | ({asked} if asked else set()))
        ]

    def label_of(self, value: str) -> str:
        return value.replace("_", " ")

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        return queryset.filter(**{self.field: self.value()}) if self.value() else queryset


class VerbFilter(NewestValuesFilter):
    title = "did"
    parameter_name = "did"
    field = "action"


class RowFilter(NewestValuesFilter):
    title = "to"
    parameter_name = "to"
    field = "target_kind"

    def label_of(self, value: str) -> str:
        return kind_text(value)
