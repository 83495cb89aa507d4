"""A workspace's page with all its settings, and its policy as a page."""

import json
from collections import Counter
from collections.abc import Mapping
from datetime import timedelta
from itertools import islice
from typing import Any

from django import forms
from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.db.models import Model
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase, StreamingHttpResponse
from django.shortcuts import redirect
from django.urls import URLPattern, path, reverse
from django.utils import timezone
from django.utils.functional import Promise
from django.utils.html import format_html
from django.utils.translation import gettext, gettext_lazy
from django.utils.translation import gettext_lazy as _
from unfold.widgets import (
    UnfoldAdminCheckboxSelectMultipleWidget,
    UnfoldAdminIntegerFieldWidget,
    UnfoldAdminSelectMultipleWidget,
    UnfoldAdminSelectWidget,
    UnfoldAdminTextareaWidget,
    UnfoldAdminTextInputWidget,
)

from memories import golden, workspace_settings
from memories.admin.case_and_decision_cards import decision_cards
from memories.english.calendar import DATE_ORDERS, DateOrder
from memories.english.plain_words import REASONS
from memories.errors import Conflict, Invalid
from memories.extraction.trust import BELIEVE, DEFAULT_TRUST, HOLD, IGNORE, SOURCES
from memories.features.config import PRODUCT, WORKSPACE_SETTING
from memories.guard import LABELS
from memories.languages import NAMES
from memories.models import Category, Fact
from memories.ranking import Weights
from memories.resolve import RULES, rehearsal
from memories.resolve.hold_policy import Policy
from memories.review.visibility import make_private, visibility_changes
from memories.transfer.workspace_files import export_over_http
from memories.workspace_settings import MOST_NAMES, faults_of, settings_of
from workspaces.admin.workspace_admin import WorkspaceAdmin
from workspaces.adminbase.access import access_of, look_at
from workspaces.adminbase.list_admin import AdminPage, bounded_count, count_text, display
from workspaces.adminbase.scoped_admin import AskedWorkspaceForm
from workspaces.auth import as_uuid
from workspaces.models import Agent, Capability, Workspace
from workspaces.models.workspace import first_uuid7

CONFLICT_RULES = {
    "guarded": "guarded: words, attributes and change decide what is newer",
    "nearest": "nearest: the nearest memory over the model's threshold is replaced",
}
LANGUAGE_NAMES = {"en": "English", "de": "German"}
DATE_ORDER_NAMES: dict[DateOrder, str] = {
    "auto": "auto: month first with slashes, else day first",
    "day_first": "day first: 14.11.2026, 14/11/2026",
    "month_first": "month first: 11/14/2026, 11.14.2026",
}
NUMBERS = {
    "messages": "So many messages that wait are taken in at once.",
    "seconds": "After so many seconds they are taken in, however few.",
    "featuresPerConsolidation": "So many notes of a tag are put together at a time.",
}
EXTRACTORS = (
    "The models that read what no pattern covers, in the order in which they are asked, as JSON:"
    ' [{"provider": "openai", "model": "llama3.2", "baseUrl": "http://localhost:11434/v1"}].'
    " Default: the server's own."
)
SETS = (
    "What profiles hold, as JSON: categories with their tags, updatePrompt,"
    " consolidationPrompt,"
    " languageModel, embedder. Default: the product's own."
)
OTHERS = "What has no field above, as JSON. What waits for a person is set on the page Policy."
# The types that the JSON fields must have.
KINDS: tuple[tuple[str, type[Any], str], ...] = (
    ("settings", dict, "object"),
    ("sets", dict, "object"),
    ("extractors", list, "list"),
)
WORSE = "_golden_questions_worse"
WEIGHT, SET, GUARD = "ranking.", f"{WORKSPACE_SETTING}.", "guard."
TRUST_NAMES = {
    BELIEVE: "believed",
    HOLD: "held for a person",
    IGNORE: "not read",
}
AUDIENCES = [
    ("", "The default: a person where one is named, else the team"),
    ("person", "a person"),
    ("team", "the team"),
]


class IndentedJsonField(forms.JSONField):
    """A field for JSON: empty where there is no value, and indented where there is one."""

    def prepare_value(self, value: Any) -> Any:
        if value is None or isinstance(value, str):
            return value or ""
        return json.dumps(value, indent=2, ensure_ascii=False)


def _json(label: Promise, about: str) -> forms.JSONField:
    return IndentedJsonField(
        label=label,
        help_text=about,
        required=False,
        widget=UnfoldAdminTextareaWidget(attrs={"rows": 4}),
    )


def weight_fields() -> dict[str, forms.Field]:
    """Return one field for each part of the hybrid score, by its name in the settings."""
    return {
        f"{WEIGHT}{name}": forms.FloatField(
            label=name,
            required=False,
            min_value=each["least"],
            max_value=each["most"],
            help_text=gettext("%(about)s. Default: %(default)s.")
            % {"about": each["about"].capitalize(), "default": f"{each['default']:g}"},
            widget=UnfoldAdminTextInputWidget(
                attrs={"inputmode": "decimal", "placeholder": f"{each['default']:g}"}
            ),
        )
        for name, each in Weights.described().items()
    }


def number_fields() -> dict[str, forms.Field]:
    return {
        f"{SET}{name}": forms.IntegerField(
            label=name,
            required=False,
            min_value=1,
            help_text=gettext("%(about)s Default: %(number)s.")
            % {"about": about, "number": PRODUCT[name]},
            widget=UnfoldAdminIntegerFieldWidget(attrs={"placeholder": PRODUCT[name]}),
        )
        for name, about in NUMBERS.items()
    }


def trust_fields() -> dict[str, forms.Field]:
    """Return one field for each source of words."""
    return {
        f"{GUARD}{source}": forms.ChoiceField(
            label=gettext("Only %(words)s said it") % {"words": words},
            choices=[
                ("", f"The default: {TRUST_NAMES[DEFAULT_TRUST[source]]}"),
                *TRUST_NAMES.items(),
            ],
            required=False,
            widget=UnfoldAdminSelectWidget,
        )
        for source, words in SOURCES.items()
    }


TRUSTS = tuple(trust_fields())
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
    languages = forms.MultipleChoiceField(
        label=_("Languages"),
        choices=[(name, LANGUAGE_NAMES.get(name, name)) for name in NAMES],
        required=False,
        help_text=_("Whose patterns, dates and greetings are read. English always is."),
        widget=UnfoldAdminCheckboxSelectMultipleWidget,
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
        help_text=_(
            "Of agents without a team, where neither agent nor conversation says whom it"
            " speaks for."
        ),
        widget=UnfoldAdminSelectWidget,
    )
    anyway = forms.BooleanField(
        label=_("Change it though golden questions would be answered worse"), required=False
    )
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
        known["languages"] = settings.pop("languages", [])
        known["date_order"] = settings.pop("dateOrder", "")
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
            "languages": values["languages"],
            "dateOrder": values["date_order"],
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
        }.get(beginning, beginning)
        return named if named in self.fields else "settings"


def _given(values: Mapping[str, Any], names: tuple[str, ...], prefix: str) -> dict[str, Any]:
    return {n.removeprefix(prefix): values[n] for n in names if values.get(n) is not None}


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
                "fields": ("languages", "date_order"),
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

    def changeform_view(
        self, request: HttpRequest, object_id: str | None = None, *args: Any, **kwargs: Any
    ) -> Any:
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
        proposal, anyway = golden.ProposedChange(row.settings), form.cleaned_data["anyway"]
        try:
            golden.check(scope, known, proposal, anyway=anyway)
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


# Policy as a page: what waits for a person, and what would have waited in the last week; and the
# memories that would be private if they were learned today.

WEEK = timedelta(days=7)
EXAMPLES = 20


def _share(label: str, hint: str = "") -> forms.FloatField:
    return forms.FloatField(
        label=label,
        help_text=hint,
        required=False,
        min_value=0,
        max_value=1,
        widget=UnfoldAdminTextInputWidget(attrs={"inputmode": "decimal", "placeholder": "none"}),
    )


class PolicyForm(forms.Form):
    """The review policy of a workspace. An empty field holds nothing back."""

    low = _share(
        "Similarity from", "Replacements that are neither clearly the same nor clear of it."
    )
    high = _share("Similarity up to")
    confidence = _share("Confidence under", "What was read with less confidence than this.")
    categories = forms.MultipleChoiceField(
        choices=Category.choices,
        required=False,
        label=gettext_lazy("Protected categories"),
        help_text=gettext_lazy("Where the old or the new memory is of one of them."),
        widget=UnfoldAdminCheckboxSelectMultipleWidget,
    )
    agents = forms.ModelMultipleChoiceField(
        Agent.objects.none(),
        required=False,
        label=gettext_lazy("Agents that are not trusted"),
        help_text=(
            gettext_lazy(
                "Whatever they write that would replace something. It is compared with what they"
                " see: a private memory of one of them never replaces, nor waits for, another’s."
            )
        ),
        widget=UnfoldAdminSelectMultipleWidget,
    )

    def __init__(self, workspace: Workspace, data: Any = None) -> None:
        policy = settings_of(workspace).review.model_dump(exclude_unset=True)
        low, high = policy.get("similarity") or (None, None)
        super().__init__(data, initial={**policy, "low": low, "high": high})
        choice = self.fields["agents"]
        assert isinstance(choice, forms.ModelMultipleChoiceField)
        choice.queryset = (
            Agent.objects.present().filter(workspace=workspace).order_by("external_id")
        )

    def clean(self) -> dict[str, Any]:
        values = super().clean() or self.cleaned_data
        low, high = values.get("low"), values.get("high")
        if not self.errors and (low is None) != (high is None):
            self.add_error("high" if high is None else "low", gettext("A range has two ends."))
        if low is not None and high is not None and low > high:
            self.add_error("high", gettext("The smaller number comes first."))
        if len(values.get("agents") or ()) > MOST_NAMES:
            self.add_error("agents", f"At most {MOST_NAMES}.")
        return values

    @property
    def policy(self) -> dict[str, Any]:
        """The setting `review`, without what was left empty."""
        values = self.cleaned_data
        parts = {
            "similarity": [values["low"], values["high"]] if values["high"] else None,
            "confidence": values["confidence"],
            "categories": values["categories"],
            "agents": [str(agent.pk) for agent in values["agents"]],
        }
        return {name: part for name, part in parts.items() if part}


class PolicyPage(AdminPage):
    """A policy, which all readers of a workspace may try and its admins save."""

    path, name, title = "policy/", "memories_policy", "Policy"
    template_name = "admin/memories/policy.html"

    def get(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        workspace = self.workspace
        may_save = self.access.may(Capability.ADMIN, workspace.pk)
        form = PolicyForm(workspace, request.POST if self.is_sent else None)
        if "save" in request.POST:
            if not may_save:
                raise PermissionDenied
            if form.is_valid() and self.is_saved(workspace, form):
                messages.success(request, gettext("Saved: it holds from the next message on."))
                return redirect(f"{reverse('admin:memories_policy')}?workspace={workspace.slug}")
        context = self.get_context_data(
            form=form,
            workspace=workspace,
            workspaces=list(self.access.workspaces().order_by("name")[:50]),
            may_save=may_save,
            **last_week(workspace, form),
        )
        return self.render_to_response(context)

    @property
    def workspace(self) -> Workspace:
        """The workspace that is named, or the usual one; 404 where the person is no member."""
        slug = self.request.GET.get("workspace", "")
        named = self.access.workspaces().filter(slug=slug).first() if slug else None
        row = named if slug else self.access.usual_workspace()
        if row is None:
            raise Http404("no such workspace")
        look_at(self.request, row.pk)
        return row

    def is_saved(self, workspace: Workspace, form: PolicyForm) -> bool:
        try:
            workspace_settings.change_policy(self.access.scope(workspace.pk), form.policy)
        except Invalid as error:
            form.add_error(None, str(error))
        return form.is_valid()


def last_week(workspace: Workspace, form: PolicyForm) -> dict[str, Any]:
    """Return what would have waited in the last week under the form's policy or, where it was not
    sent, under the stored one."""
    if form.is_bound and not form.is_valid():
        return {}
    policy = form.policy if form.is_bound else settings_of(workspace).review.model_dump()
    since = timezone.now() - WEEK
    result = rehearsal.rehearse(workspace.pk, Policy.of(policy), since)
    facts = Fact.objects.filter(workspace=workspace, pk__gte=first_uuid7(since))
    shown = result.held[:EXAMPLES]
    examples = zip(shown, decision_cards([decision for _, decision in shown]), strict=True)
    reasons = Counter(reason for reason, _ in result.held).most_common()
    return {
        "is_tried": form.is_bound,
        "found": result,
        "asked_number": result.asked,
        "asked": count_text(result.asked, rehearsal.MOST),
        "facts_number": (number := bounded_count(facts)),
        "facts": count_text(number),
        "reasons": [(REASONS[reason], number) for reason, number in reasons],
        "examples": [(REASONS[reason], case) for (reason, _), case in examples],
    }


MOST = 200  # rows of the page


class VisibilityPage(AdminPage):
    path, name, title = "visibility/", "memories_visibility", "Visibility"
    template_name = "admin/memories/visibility.html"

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        first = self.access.usual_workspace()
        asked = {"workspace": first.slug if first else ""}
        form = AskedWorkspaceForm(self.access, asked | self.request.GET.dict())
        changes, may_apply = [], False
        if form.is_valid():
            scope = self.access.scope(form.cleaned_data["workspace"].pk)
            may_apply = scope.may(Capability.CURATE)
            changes = list(islice(visibility_changes(scope), MOST))
        opts = self.model_admin.opts
        return super().get_context_data(
            **kwargs, opts=opts, form=form, changes=changes, may_apply=may_apply, most=MOST
        )

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        """Make the chosen memories private."""
        form = AskedWorkspaceForm(self.access, request.POST.dict())
        if not form.is_valid():
            raise PermissionDenied
        scope = self.access.scope(form.cleaned_data["workspace"].pk)
        if not scope.may(Capability.CURATE):
            raise PermissionDenied
        shown = {str(each.memory.pk): each.memory.pk for each in visibility_changes(scope)}
        chosen = [shown[pk] for pk in request.POST.getlist("memory") if pk in shown]
        messages.success(
            request,
            gettext("%(number)s memories made private.") % {"number": make_private(scope, chosen)},
        )
        return redirect(f"{request.path}?workspace={form.cleaned_data['workspace'].slug}")
