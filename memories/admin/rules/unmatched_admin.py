"""Misses: messages that no pattern matched, as a worklist for new patterns."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from django import forms
from django.contrib import admin, messages
from django.contrib.admin.options import ModelAdmin
from django.db.models import Count, QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import URLPattern, path, reverse
from django.utils.html import format_html
from django.utils.translation import gettext, gettext_lazy
from unfold.contrib.filters.admin import ChoicesDropdownFilter
from unfold.contrib.filters.admin.dropdown_filters import DropdownFilter
from unfold.widgets import (
    UnfoldAdminSelectWidget,
    UnfoldAdminTextareaWidget,
    UnfoldAdminTextInputWidget,
)

from memories.admin.home.unread_note import note_on
from memories.admin.memory_rows import MemoryRowAdmin, as_typed, one_line
from memories.models import Category, Episode, Miss
from memories.reading.extraction import unmatched
from workspaces.adminbase.access import access_of
from workspaces.adminbase.list_admin import Empty, display
from workspaces.adminbase.row_admin import Verb, refusal_text
from workspaces.adminbase.scoped_admin import StateFilter
from workspaces.models import Capability

MOST_GROUPS = 12
MOST_SHAPES = 300
NEWEST = 20_000  # misses that are searched


@dataclass(frozen=True, slots=True)
class MissGroup:
    """Similar open misses; a pattern is made from the `newest`."""

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
    """Filter by the frames of words in open misses, and by the frame that is asked for."""

    title = gettext_lazy("form of words")
    parameter_name = "shape"

    def lookups(self, request: HttpRequest, model_admin: ModelAdmin) -> list[tuple[str, str]]:
        shapes = _open(request).exclude(shape="").values_list("shape", flat=True).distinct()
        asked = request.GET.get(self.parameter_name)
        shown = set(shapes[:MOST_SHAPES]) | ({asked} if asked else set())
        return [(shape, shape) for shape in sorted(shown)]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        return queryset.filter(shape=self.value()) if self.value() else queryset


def groups(request: HttpRequest) -> Sequence[MissGroup]:
    """Return the largest groups of at least two misses, largest first."""
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
    newest = {(row.workspace_id, row.category, row.shape): row for row in rows.order_by(*alike, "-pk").distinct(*alike)}
    found = []
    for *key, count in counted:
        row = newest[tuple(key)]
        may = access_of(request).may(Capability.CURATE, row.workspace_id)
        address = reverse("admin:memories_workspacepattern_add")
        url = f"{address}?miss={row.pk}" if may else ""
        found.append(MissGroup(row.category, row.shape, count, row, url))
    return found


def _open(request: HttpRequest) -> QuerySet[Miss]:
    mine = access_of(request).limit(Miss.objects.filter(state=Miss.State.OPEN), "workspace")
    return Miss.objects.filter(pk__in=mine.order_by("-pk").values("pk")[:NEWEST]).order_by()


class MissStateFilter(StateFilter):
    states = {"open": gettext_lazy("Open"), "done": gettext_lazy("Done")}
    first = "open"


class NoteForm(forms.Form):
    note = forms.CharField(required=False, max_length=2_000, widget=UnfoldAdminTextInputWidget)


class ReportForm(forms.Form):
    """The statements that a person found in a message."""

    statements = forms.CharField(
        max_length=10_000,
        help_text=gettext_lazy("What the message says, one statement in a line."),
        widget=UnfoldAdminTextareaWidget,
    )
    category = forms.ChoiceField(choices=Category.choices, initial=Category.OTHER, widget=UnfoldAdminSelectWidget)


@admin.register(Miss)
class MissAdmin(MemoryRowAdmin):
    searched = "text"
    list_display = ("text", "likely", "by", "state", "created_at")
    list_select_related = ("workspace",)
    list_filter = (
        MissStateFilter,
        ShapeFilter,
        ("category", ChoicesDropdownFilter),
        ("found_by", ChoicesDropdownFilter),
    )
    search_fields = ("text",)
    search_help_text = gettext_lazy("Words of the message (newest 20,000), or an id")
    # Messages that one pattern may match lie together.
    ordering = ("category", "shape", "-id")
    list_before_template = "admin/memories/miss_groups.html"
    page_template = "admin/memories/miss.html"
    verbs = (
        Verb(
            "done",
            gettext_lazy("Done"),
            "check",
            "default",
            gettext_lazy("Nothing is left to do."),
            NoteForm,
            bulk=True,
        ),
        Verb("reopen", gettext_lazy("Reopen"), "undo", "default"),
    )

    def get_queryset(self, request: HttpRequest) -> Any:
        return super().get_queryset(request).select_related("workspace", "episode")

    def get_urls(self) -> list[URLPattern]:
        view = self.admin_site.admin_view(self.report_view)
        own = path("report/<uuid:episode_id>/", view, name="memories_miss_report")
        return [own, *super().get_urls()]

    @display(description=gettext_lazy("message, and what was found in it"))
    def text(self, miss: Miss) -> str:
        return format_html(
            '<span class="desk-told">{}</span><div class="desk-small desk-quiet">{}</div>',
            one_line(miss.text),
            one_line("; ".join(miss.statements)),
        )

    @display(description=gettext_lazy("likely"), ordering="category")
    def likely(self, miss: Miss) -> str:
        return format_html('{}<div class="desk-small desk-quiet">{}</div>', miss.category, miss.shape)

    def changelist_view(self, request: HttpRequest, extra_context: Any = None) -> HttpResponse:
        own = {"groups": groups(request), "unread": note_on(request)}
        context = {**(extra_context or {}), **own}
        return super().changelist_view(request, context)

    @display(description=gettext_lazy("by"))
    def by(self, miss: Miss) -> str:
        return miss.get_found_by_display()

    def offers(self, row: Any, verb: Verb) -> bool:
        return (verb.name == "done") == (row.state == Miss.State.OPEN)

    def page(self, request: HttpRequest, row: Any) -> dict[str, Any]:
        may = self.may(request, Capability.CURATE, row)
        address = reverse("admin:memories_workspacepattern_add")
        return {"make_url": f"{address}?miss={row.pk}" if may else ""}

    def do_done(self, request: HttpRequest, row: Miss, values: dict[str, Any]) -> str:
        unmatched.settle(self.scope(request, row), row, values.get("note", ""))
        return gettext("The miss is settled.")

    def do_reopen(self, request: HttpRequest, row: Miss, values: dict[str, Any]) -> str:
        unmatched.settle(self.scope(request, row), row, state=Miss.State.OPEN)
        return gettext("The miss is open again.")

    def report_view(self, request: HttpRequest, episode_id: Any) -> HttpResponse:
        episodes = Episode.objects.filter(pk=episode_id)
        episode = access_of(request).one(episodes, Capability.CURATE)
        form = ReportForm(request.POST if request.method == "POST" else None)
        if request.method == "POST" and form.is_valid():
            values = form.cleaned_data
            statements = as_typed(values["statements"]).split("\n")
            try:
                scope = self.scope(request, episode)
                miss = unmatched.report(scope, episode.pk, statements, values["category"])
            except self.refusals as refusal:
                messages.error(request, refusal_text(refusal))
            else:
                return redirect(self.page_of(miss))
        title = f"What was missed in: {one_line(episode.content)}"
        return self.form_page(request, form, title=title, submit=gettext("Report"))

    def empty(self, request: HttpRequest) -> Empty:
        note = note_on(request)
        if not note.has_model:
            return Empty(
                gettext("Nothing is listed"),
                gettext(
                    "Only a model, or a person, finds what a message says where no pattern fires,"
                    " and no model is configured."
                ),
            )
        return Empty(
            gettext("Not all is read yet") if note else gettext("Every text was understood"),
            gettext("Where no pattern fires and the model finds something, the message comes here."),
        )
