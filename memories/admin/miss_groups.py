"""Misses that one pattern would find: the same likely category, and the same frame of words."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from django.contrib.admin.options import ModelAdmin
from django.db.models import Count, QuerySet
from django.http import HttpRequest
from django.urls import reverse
from unfold.contrib.filters.admin.dropdown_filters import DropdownFilter

from memories.models import Miss
from workspaces.adminbase.access import access_of
from workspaces.models import Capability

MOST_GROUPS = 12
MOST_SHAPES = 300
NEWEST = 20_000  # misses that are looked through


@dataclass(frozen=True, slots=True)
class MissGroup:
    """Open misses alike; `newest` is the one that a pattern is made from."""

    category: str
    shape: str
    count: int
    newest: Miss
    make_url: str

    @property
    def list_url(self) -> str:
        asked = urlencode({"category__exact": self.category, "shape": self.shape})
        return f"{reverse('admin:memories_miss_changelist')}?{asked}"


class ShapeFilter(DropdownFilter):
    """Frames of words as open misses have them, and the one that is asked for."""

    title = "form of words"
    parameter_name = "shape"

    def lookups(self, request: HttpRequest, model_admin: ModelAdmin) -> list[tuple[str, str]]:
        shapes = _open(request).exclude(shape="").values_list("shape", flat=True).distinct()
        asked = request.GET.get(self.parameter_name)
        shown = set(shapes[:MOST_SHAPES]) | ({asked} if asked else set())
        return [(shape, shape) for shape in sorted(shown)]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        return queryset.filter(shape=self.value()) if self.value() else queryset


def groups(request: HttpRequest) -> Sequence[MissGroup]:
    """The largest groups of at least two, largest first."""
    alike = ("workspace_id", "category", "shape")
    counted = list(
        _open(request)
        .exclude(shape="")
        .values_list(*alike)
        .annotate(n=Count("pk"))
        .filter(n__gt=1)
        .order_by("-n", *alike)[:MOST_GROUPS]
    )
    rows = _open(request).filter(shape__in=[shape for _, _, shape, _ in counted])
    newest = {
        (row.workspace_id, row.category, row.shape): row
        for row in rows.order_by(*alike, "-pk").distinct(*alike)
    }
    return [_group(request, newest[tuple(key)], count) for *key, count in counted]


def _group(request: HttpRequest, newest: Miss, count: int) -> MissGroup:
    may = access_of(request).may(Capability.CURATE, newest.workspace_id)
    address = reverse("admin:memories_workspacepattern_add")
    url = f"{address}?miss={newest.pk}" if may else ""
    return MissGroup(newest.category, newest.shape, count, newest, url)


def _open(request: HttpRequest) -> QuerySet[Miss]:
    mine = access_of(request).limit(Miss.objects.filter(state=Miss.State.OPEN), "workspace")
    return Miss.objects.filter(pk__in=mine.order_by("-pk").values("pk")[:NEWEST]).order_by()
