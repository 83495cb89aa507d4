"""Misses: messages that patterns passed over, as a worklist of patterns to make."""

from typing import Any

from django import forms
from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import URLPattern, path, reverse
from django.utils.html import format_html
from unfold.widgets import (
    UnfoldAdminSelectWidget,
    UnfoldAdminTextareaWidget,
    UnfoldAdminTextInputWidget,
)

from memories import unmatched
from memories.admin.memory_rows import MemoryRowAdmin, as_typed, one_line
from memories.admin.miss_groups import ShapeFilter, groups
from memories.admin.state_filters import ChoicesDropdownFilter
from memories.models import Category, Episode, Miss
from workspaces.adminbase.access import access_of
from workspaces.adminbase.list_admin import Empty, display
from workspaces.adminbase.row_admin import Verb, refusal_text
from workspaces.adminbase.scoped_filters import StateFilter
from workspaces.models import Capability


class MissStateFilter(StateFilter):
    states = {"open": "Open", "done": "Done"}
    first = "open"


class NoteForm(forms.Form):
    note = forms.CharField(required=False, max_length=2_000, widget=UnfoldAdminTextInputWidget)


class ReportForm(forms.Form):
    """What a person found in a message."""

    statements = forms.CharField(
        max_length=10_000,
        help_text="What the message says, one statement in a line.",
        widget=UnfoldAdminTextareaWidget,
    )
    category = forms.ChoiceField(
        choices=Category.choices, initial=Category.OTHER, widget=UnfoldAdminSelectWidget
    )


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
    search_help_text = "Words of the message (newest 20,000), or an id"
    # Together what may be one pattern.
    ordering = ("category", "shape", "-id")
    list_before_template = "admin/memories/miss_groups.html"
    page_template = "admin/memories/miss.html"
    verbs = (
        Verb("done", "Done", "check", "default", "Nothing is left to do.", NoteForm, bulk=True),
        Verb("reopen", "Reopen", "undo", "default"),
    )

    def get_queryset(self, request: HttpRequest) -> Any:
        return super().get_queryset(request).select_related("workspace", "episode")

    def get_urls(self) -> list[URLPattern]:
        view = self.admin_site.admin_view(self.report_view)
        own = path("report/<uuid:episode_id>/", view, name="memories_miss_report")
        return [own, *super().get_urls()]

    @display(description="message, and what was found in it")
    def text(self, miss: Miss) -> str:
        return format_html(
            '<span class="desk-told">{}</span><div class="desk-small desk-quiet">{}</div>',
            one_line(miss.text),
            one_line("; ".join(miss.statements)),
        )

    @display(description="likely", ordering="category")
    def likely(self, miss: Miss) -> str:
        return format_html(
            '{}<div class="desk-small desk-quiet">{}</div>', miss.category, miss.shape
        )

    def changelist_view(self, request: HttpRequest, extra_context: Any = None) -> HttpResponse:
        context = {**(extra_context or {}), "groups": groups(request)}
        return super().changelist_view(request, context)

    @display(description="by")
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
        return "The miss is settled."

    def do_reopen(self, request: HttpRequest, row: Miss, values: dict[str, Any]) -> str:
        unmatched.settle(self.scope(request, row), row, state=Miss.State.OPEN)
        return "The miss is open again."

    def report_view(self, request: HttpRequest, episode_id: Any) -> HttpResponse:
        episode = self._episode(request, episode_id)
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
        return self.form_page(request, form, title=title, submit="Report")

    def _episode(self, request: HttpRequest, episode_id: Any) -> Episode:
        access = access_of(request)
        episode = access.limit(Episode.objects.filter(pk=episode_id), "workspace").first()
        if episode is None:
            raise Http404("no such episode")
        if not access.may(Capability.CURATE, episode.workspace_id):
            raise PermissionDenied
        return episode

    def empty(self, request: HttpRequest) -> Empty:
        return Empty(
            "No misses",
            "Where no pattern fires and the model finds something, the message comes here.",
        )
