"""Erasing, in the browser: the plan and a typed confirmation first, the certificate afterwards."""

import uuid
from typing import Any

from django import forms
from django.contrib import admin
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, path
from django.utils.translation import gettext, gettext_lazy
from unfold.widgets import UnfoldAdminTextInputWidget

from memories.admin.memory_rows import MemoryRowAdmin
from memories.models import Conversation, Episode, Erasure
from memories.privacy import erase
from workspaces.adminbase.access import access_of
from workspaces.adminbase.list_admin import Empty, display
from workspaces.adminbase.target_names import kind_text, name_of
from workspaces.models import Capability, Subject

WAIT = 5.0  # seconds of work in the request; then the worker goes on
ROWS: dict[str, Any] = {"subject": Subject, "conversation": Conversation, "episode": Episode}


# Kinds of rows in the plan, where pages have another word for them.
WORDS = {
    "episodes": gettext_lazy("messages"),
    "sessions": gettext_lazy("readings of messages"),
    "facts": gettext_lazy("statements"),
    "citations": gettext_lazy("quotes"),
    "memories recomputed": gettext_lazy("memories that lose a part of what they stand on"),
    "supersessions": gettext_lazy("replacements of memories"),
    "rejections": gettext_lazy("statements not to be learned again"),
    "features": gettext_lazy("profile notes"),
    "feature changes": gettext_lazy("changes of profile notes"),
    "feature citations": gettext_lazy("quotes of profile notes"),
    "feature sets": gettext_lazy("profiles"),
    "subjects": gettext_lazy("person"),
    "index entries": gettext_lazy("entries of the search index"),
    "vectors": gettext_lazy("entries of the search by meaning"),
    "audit values": gettext_lazy("values in the activity log"),
}


def words_of(counted: str) -> Any:
    return WORDS.get(counted, counted)


class ConfirmForm(forms.Form):
    """A guard against slips: the name of what is to be erased must be typed."""

    name = forms.CharField(widget=UnfoldAdminTextInputWidget(attrs={"autocomplete": "off"}))

    def __init__(self, expected: str, data: Any = None) -> None:
        super().__init__(data)
        self.expected = expected
        self.fields["name"].label = gettext("Type %(expected)s") % {"expected": expected}
        self.fields["name"].help_text = gettext("There is no way back.")

    def clean_name(self) -> str:
        if self.cleaned_data["name"].strip() != self.expected:
            raise forms.ValidationError(
                gettext("This is not %(expected)s: nothing was erased.") % {"expected": self.expected}
            )
        return self.expected


@admin.register(Erasure)
class ErasureAdmin(MemoryRowAdmin):
    read_capability = write_capability = Capability.ADMIN
    list_display = ("kind_label", "target_id", "state", "by", "created_at", "finished_at")
    list_select_related = ("workspace",)
    actor_field = "requested_by"
    page_template = "admin/memories/erasure.html"

    def get_urls(self) -> list[URLPattern]:
        view = self.admin_site.admin_view(self.erase_view)
        own = path("of/<slug:kind>/<uuid:row_id>/", view, name="memories_erase")
        return [own, *super().get_urls()]

    def erase_view(self, request: HttpRequest, kind: str, row_id: uuid.UUID) -> HttpResponse:
        if kind not in ROWS:
            raise Http404(f"there is no {kind}")
        rows = ROWS[kind].objects.filter(pk=row_id)
        row = access_of(request).one(rows, Capability.ADMIN)
        scope = self.scope(request, row)
        target = erase.target_of(scope, kind, row_id)
        expected = getattr(row, "external_id", None) or str(row.pk)
        data = request.POST if request.method == "POST" else None
        form = ConfirmForm(expected, data)
        if data is not None and form.is_valid():
            asked = erase.request(scope, target)
            erase.run_or_wait(asked.pk, WAIT)
            return redirect(self.page_of(asked))
        title = gettext("Erase this %(kind)s: %(row)s") % {"kind": kind_text(kind), "row": row}
        plan = [(words_of(what), number) for what, number in erase.plan(target).items() if number]
        context = {
            **self.admin_site.each_context(request),
            "title": title,
            "opts": self.opts,
            "form": form,
            "submit_label": gettext("Erase for good"),
            "list_url": self.page_of(row),
            "plan": plan,
            "is_danger": True,
        }
        return TemplateResponse(request, "admin/form_page.html", context)

    @display(description=gettext_lazy("kind"))
    def kind_label(self, row: Any) -> str:
        return kind_text(row.kind)

    def page(self, request: HttpRequest, row: Any) -> dict[str, Any]:
        names = list(dict.fromkeys([*row.plan, *row.removed]))
        counts = [(words_of(name), row.plan.get(name, 0), row.removed.get(name, 0)) for name in names]
        return {
            "title": gettext("Erasure of a %(row)s") % {"row": kind_text(row.kind)},
            "by": name_of(row.requested_by),
            "counts": [one for one in counts if one[1] or one[2]],
        }

    def empty(self, request: HttpRequest) -> Empty:
        return Empty(gettext("Nothing was erased"), gettext("Certificates of what is erased are kept here."))
