"""Features: edited, ended, with undo."""

from typing import Any

from django import forms
from django.contrib import admin
from django.db.models import Prefetch
from django.http import HttpRequest
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from unfold.contrib.filters.admin import ChoicesDropdownFilter
from unfold.widgets import UnfoldAdminTextareaWidget, UnfoldAdminTextInputWidget

from memories.admin.memory_rows import MemoryRowAdmin, as_typed, ingest_hint, one_line
from memories.models import Feature, FeatureChange, FeatureCitation
from memories.profiles.features import edit_features, undo_features
from workspaces.adminbase.list_admin import Empty, display
from workspaces.adminbase.row_admin import Verb
from workspaces.adminbase.scoped_admin import PickFilter, StateFilter
from workspaces.adminbase.target_names import names_of

# ---- one feature ----------------------------------------------------------------------------


class EditForm(forms.Form):
    value = forms.CharField(max_length=1000, widget=UnfoldAdminTextareaWidget(attrs={"rows": 3}), label=_("It is"))


class EndForm(forms.Form):
    reason = forms.CharField(required=False, max_length=500, widget=UnfoldAdminTextInputWidget, label=_("Why"))


class EndedFilter(StateFilter):
    first = "live"
    states = {"live": _("Live"), "ended": _("Ended")}

    def narrow(self, rows: Any, state: str) -> Any:
        return rows.filter(ended_at__isnull=state == "live")


@admin.register(Feature)
class FeatureAdmin(MemoryRowAdmin):
    list_display = ("text", "category", "tag", "about", "person", "method_label", "updated_at")
    list_select_related = ("workspace", "subject")
    list_filter = (
        EndedFilter,
        ("subject", PickFilter),
        ("method", ChoicesDropdownFilter),
        ("visibility", ChoicesDropdownFilter),
    )
    search_fields = ("content",)
    search_help_text = _("Words of the feature")
    page_template = "admin/memories/feature.html"
    verbs = (
        Verb("edit", _("Correct"), "edit", "primary", _("What it said stays in the undo."), EditForm),
        Verb("undo", _("Take back the last change"), "undo", bulk=True),
        Verb(
            "end",
            _("End"),
            "block",
            "danger",
            _("It is told no more; it can be taken back."),
            EndForm,
        ),
    )
    joined = ("workspace", "subject", "agent", "set")

    @display(description=_("feature"))
    def text(self, row: Feature) -> str:
        return one_line(f"{row.feature}: {row.value}", 120)

    @display(description=_("by"), label={"rule": "info", "model": "info", "manual": "success"})
    def method_label(self, row: Feature) -> str:
        return str(row.get_method_display())

    def offers(self, row: Any, verb: Verb) -> bool:
        return verb.name == "undo" or row.ended_at is None

    def form_for(self, verb: Verb, row: Any, data: Any, *, prefix: str) -> forms.Form | None:
        if verb.form is EditForm:
            return EditForm(data, auto_id=f"{prefix}-%s", initial={"value": row.value})
        return super().form_for(verb, row, data, prefix=prefix)

    def do_edit(self, request: HttpRequest, row: Feature, values: dict[str, Any]) -> str:
        edit_features.edit(self.scope(request, row), row.pk, {"value": as_typed(values["value"])})
        return gettext("Corrected: no machine changes it now.")

    def do_undo(self, request: HttpRequest, row: Feature, values: dict[str, Any]) -> str:
        undo_features.undo(self.scope(request, row), row.pk)
        return gettext("Taken back.")

    def do_end(self, request: HttpRequest, row: Feature, values: dict[str, Any]) -> str:
        edit_features.delete(self.scope(request, row), row.pk, values.get("reason", ""))
        return gettext("Ended.")

    def page(self, request: HttpRequest, row: Any) -> dict[str, Any]:
        cited = FeatureCitation.objects.select_related("episode")
        rows = FeatureChange.objects.filter(feature=row).order_by("-id")
        changes = list(rows.prefetch_related(Prefetch("citations", cited, to_attr="cited")))
        names = names_of(change.by for change in changes)
        for change in changes:
            vars(change)["by_name"] = names.get(change.by, change.by)
        return {"title": f"{row.feature}: {row.value}", "changes": changes}

    def empty(self, request: HttpRequest) -> Empty:
        return ingest_hint(request, gettext("No features yet"), gettext("They are folded out of what is said:"))
