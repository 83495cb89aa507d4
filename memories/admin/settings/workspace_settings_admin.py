"""A workspace's page with all its settings."""

from collections.abc import Mapping
from typing import Any

from django import forms
from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.db.models import Model
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase, StreamingHttpResponse
from django.urls import URLPattern, path, reverse
from django.utils.functional import Promise
from django.utils.html import format_html
from django.utils.translation import gettext_lazy as _
from unfold.widgets import (
    UnfoldAdminCheckboxSelectMultipleWidget,
    UnfoldAdminSelectWidget,
    UnfoldAdminTextareaWidget,
    UnfoldAdminTextInputWidget,
)

from memories.admin.settings.settings_fields import (
    DATE_ORDER_NAMES,
    GUARD,
    KINDS,
    SET,
    WEIGHT,
    IndentedJsonField,
    number_fields,
    trust_fields,
    weight_fields,
)
from memories.belief.resolve import RULES
from memories.errors import Conflict
from memories.exchange.export_workspace import export_over_http
from memories.language.english.calendar import DATE_ORDERS
from memories.profiles.features.config import WORKSPACE_SETTING
from memories.quality import golden_gate
from memories.reading.guard import LABELS
from memories.settings.workspace_settings import faults_of
from workspaces.admin.workspace_admin import WorkspaceAdmin
from workspaces.adminbase.access import access_of
from workspaces.adminbase.list_admin import display
from workspaces.auth import as_uuid
from workspaces.models import Workspace

AUDIENCES = [
    ("", "The default: a person where one is named, else the team"),
    ("person", "a person"),
    ("team", "the team"),
]

WORSE = "_golden_questions_worse"

OTHERS = "What has no field above, as JSON. What waits for a person is set on the page Policy."

SETS = (
    "What profiles hold, as JSON: categories with their tags, updatePrompt,"
    " consolidationPrompt,"
    " languageModel, embedder. Default: the product's own."
)

EXTRACTORS = (
    "The models that read what no pattern covers, in the order in which they are asked, as JSON:"
    ' [{"provider": "openai", "model": "llama3.2", "baseUrl": "http://localhost:11434/v1"}].'
    " Default: the server's own."
)


CONFLICT_RULES = {
    "guarded": "guarded: words, attributes and change decide what is newer",
    "nearest": "nearest: the nearest memory over the model's threshold is replaced",
}


TRUSTS = tuple(trust_fields())


def _json(label: Promise, about: str) -> forms.JSONField:
    return IndentedJsonField(
        label=label,
        help_text=about,
        required=False,
        widget=UnfoldAdminTextareaWidget(attrs={"rows": 4}),
    )


WEIGHTS, SET_NUMBERS = tuple(weight_fields()), tuple(number_fields())


class SettingsForm(forms.ModelForm):
    """The settings of a workspace. An empty field has its default. `settings` keeps what this page
    does not know."""

    conflict_rule = forms.ChoiceField(
        label=_("Conflict rule"),
        choices=[
            ("", f"The default: {RULES[0]}"),
            *((rule, CONFLICT_RULES.get(rule, rule)) for rule in RULES),
        ],
        required=False,
        help_text=_("How it is decided that a new statement replaces an older one."),
        widget=UnfoldAdminSelectWidget,
    )
    date_order = forms.ChoiceField(
        label=_("Dates in numbers"),
        choices=[
            ("", f"The default: {DATE_ORDERS[0]}"),
            *((order, DATE_ORDER_NAMES[order]) for order in DATE_ORDERS),
        ],
        required=False,
        help_text=_("Whether 3/4/2026 is in March or in April. What can only be read one way, is."),
        widget=UnfoldAdminSelectWidget,
    )
    time_zone = forms.CharField(
        label=_("Time zone"),
        required=False,
        help_text=_(
            'Like Europe/Madrid: from its days counts "yesterday" in what is told in UTC by people without a time'
            " zone of their own. Empty: UTC."
        ),
        widget=UnfoldAdminTextInputWidget,
    )
    allowed = forms.MultipleChoiceField(
        label=_("Let pass"),
        choices=[(name, words) for name, words in LABELS.items()],
        required=False,
        help_text=_(
            "What is neither masked nor held for a person, though it looks like a secret or"
            " an order to whoever reads it."
        ),
        widget=UnfoldAdminCheckboxSelectMultipleWidget,
    )
    audience = forms.ChoiceField(
        label=_("What is decided belongs to"),
        choices=AUDIENCES,
        required=False,
        help_text=_("Of agents without a team, where neither agent nor conversation says whom it speaks for."),
        widget=UnfoldAdminSelectWidget,
    )
    anyway = forms.BooleanField(label=_("Change it though golden questions would be answered worse"), required=False)
    worse = ""  # the objections of the golden questions
    extractors = _json(_("Models"), EXTRACTORS)
    sets = _json(_("Profiles"), SETS)
    settings = _json(_("Other settings"), OTHERS)

    class Meta:
        model = Workspace
        fields = ("name", "slug")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields |= weight_fields() | number_fields() | trust_fields()
        settings = dict(self.instance.settings)
        ranking, sets = settings.pop("ranking", {}), dict(settings.pop(WORKSPACE_SETTING, {}))
        known: dict[str, Any] = {name: ranking.get(name.removeprefix(WEIGHT)) for name in WEIGHTS}
        known |= {name: sets.pop(name.removeprefix(SET), None) for name in SET_NUMBERS}
        guard = dict(settings.pop("guard", None) or {})
        known |= {name: guard.pop(name.removeprefix(GUARD), "") for name in TRUSTS}
        known["allowed"], known["audience"] = guard.get("allowed", []), guard.get("audience", "")
        known["conflict_rule"] = settings.pop("conflictRule", "")
        known["date_order"] = settings.pop("dateOrder", "")
        known["time_zone"] = settings.pop("timezone", "")
        known["extractors"] = settings.pop("extractors", None)
        self.review = settings.pop("review", None)
        self.initial = {**self.initial, **known, "sets": sets or None, "settings": settings or None}

    def clean(self) -> dict[str, Any]:
        values = super().clean() or self.cleaned_data
        if self.errors:
            return values
        for name, kind, word in KINDS:
            if not isinstance(values[name] or kind(), kind):
                self.add_error(name, f"A JSON {word} is wanted.")
        if not self.errors:
            self.instance.settings = settings = self.settings_of(values)
            for fault in faults_of(settings):
                self.add_error(self.field_of(fault.field), str(fault))
        if not self.errors and self.worse:
            self.add_error("anyway", self.worse)
        return values

    def settings_of(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """Return the settings with the filled fields under their names there."""
        others = dict(values["settings"] or {})
        ranking = _given(values, WEIGHTS, WEIGHT)
        sets = (values["sets"] or {}) | _given(values, SET_NUMBERS, SET)
        guard = {name: value for name, value in _given(values, TRUSTS, GUARD).items() if value}
        guard |= {name: values[name] for name in ("allowed", "audience") if values[name]}
        known = {
            "guard": guard,
            "conflictRule": values["conflict_rule"],
            "dateOrder": values["date_order"],
            "timezone": values["time_zone"],
            "extractors": values["extractors"],
            "review": others.get("review", self.review),
            "ranking": ranking,
            WORKSPACE_SETTING: sets,
        }
        return others | {name: value for name, value in known.items() if value}

    def field_of(self, name: str) -> str:
        """Return the form's field for the place that a fault names."""
        if name in self.fields:
            return name
        beginning = name.partition(".")[0].partition("[")[0]
        named = {
            WORKSPACE_SETTING: "sets",
            "ranking": "settings",
            "guard": "allowed",
            "conflictRule": "conflict_rule",
            "dateOrder": "date_order",
            "timezone": "time_zone",
        }.get(beginning, beginning)
        return named if named in self.fields else "settings"


def _given(values: Mapping[str, Any], names: tuple[str, ...], prefix: str) -> dict[str, Any]:
    return {n.removeprefix(prefix): values[n] for n in names if values.get(n) is not None}


@admin.register(Workspace)
class WorkspaceSettingsAdmin(WorkspaceAdmin):
    form = SettingsForm
    fields = None
    fieldsets = (
        (None, {"fields": ("name", "slug")}),
        (
            "Conflicts",
            {
                "fields": ("conflict_rule",),
                "description": "What happens when something new contradicts what is believed.",
            },
        ),
        (
            "Language",
            {
                "fields": ("date_order", "time_zone"),
                "description": "How what is said is read without a model.",
            },
        ),
        (
            "Trust",
            {
                "fields": ("allowed", *TRUSTS, "audience"),
                "description": "What is believed and shown, and whose it is.",
            },
        ),
        (
            "Reading with models",
            {
                "fields": ("extractors",),
                "description": "Patterns read first; models read what patterns leave.",
            },
        ),
        (
            "Profiles",
            {
                "fields": (*SET_NUMBERS, "sets"),
                "description": "When and how profiles are folded out of what was said.",
            },
        ),
        (
            "Ranking",
            {
                "classes": ("collapse",),
                "fields": WEIGHTS,
                "description": "How much each part of the hybrid score counts. Empty: the default.",
            },
        ),
        (
            "Other settings",
            {"classes": ("collapse",), "fields": ("settings",)},
        ),
        ("Golden questions", {"fields": ("anyway",)}),
        ("Export", {"fields": ("export",)}),
    )
    readonly_fields = ("export",)

    def get_urls(self) -> list[URLPattern]:
        view = self.admin_site.admin_view(self.export_view)
        own = path("<path:object_id>/export.jsonl", view, name="workspaces_workspace_export")
        return [own, *super().get_urls()]

    def export_view(self, request: HttpRequest, object_id: str) -> HttpResponseBase:
        """Send the whole workspace as a file, for its admins; the audit log keeps who had it."""
        row = self.get_queryset(request).filter(pk=as_uuid(object_id)).first()
        if row is None:
            raise Http404("there is no such workspace")
        if not self.has_change_permission(request, row):
            raise PermissionDenied
        try:
            parts = export_over_http(row, access_of(request).scope(row.pk).actor)
        except Conflict as error:
            return HttpResponse(str(error), status=409, content_type="text/plain")
        answer = StreamingHttpResponse(parts, content_type="application/x-ndjson")
        answer.headers["Content-Disposition"] = f'attachment; filename="{row.slug}.jsonl"'
        return answer

    @display(description=_("file"))
    def export(self, row: Workspace) -> str:
        if row._state.adding:
            return "-"
        page = reverse("admin:workspaces_workspace_export", args=[row.pk])
        said = "All of it with its history, as lines of JSON; no keys and no members"
        return format_html('<a class="desk-link" href="{}">{}</a>', page, said)

    def get_form(self, request: Any, obj: Any = None, change: bool = False, **kwargs: Any) -> Any:
        """Ask only for the model's own fields: the declared ones are no columns."""
        form = super().get_form(request, obj, change, **kwargs | {"fields": ("name", "slug")})
        return type(form.__name__, (form,), {"worse": getattr(request, WORSE, "")})

    def changeform_view(self, request: HttpRequest, object_id: str | None = None, *args: Any, **kwargs: Any) -> Any:
        """Ask the golden questions before the transaction in which the form is saved."""
        row = Workspace.objects.filter(pk__in=[as_uuid(object_id or "")]).first()
        if request.method == "POST" and row and self.has_change_permission(request, row):
            setattr(request, WORSE, self.worse(request, row))
        return super().changeform_view(request, object_id, *args, **kwargs)

    def worse(self, request: HttpRequest, row: Workspace) -> str:
        """Return what the golden questions say against the settings that are sent, "" where
        nothing."""
        known, scope = row.settings, access_of(request).scope(row.pk)
        form = SettingsForm(request.POST, instance=row)
        if not form.is_valid():
            return ""
        proposal, anyway = golden_gate.ProposedChange(row.settings), form.cleaned_data["anyway"]
        try:
            golden_gate.check(scope, known, proposal, anyway=anyway)
        except Conflict as error:
            return str(error)
        return ""

    def save_model(self, request: HttpRequest, obj: Model, form: Any, change: bool) -> None:
        assert isinstance(obj, Workspace)
        known = Workspace.objects.filter(pk=obj.pk).values_list("settings", flat=True).first()
        super().save_model(request, obj, form, change)
        if change and known != obj.settings:
            after = obj.settings
            self.audit(request, "change_settings", obj, before=known, after=after)
