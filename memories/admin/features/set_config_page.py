"""The configuration of a feature set, with the values that it inherits."""

import re
from collections.abc import Mapping
from functools import cached_property
from typing import Any

from django import forms
from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from unfold.widgets import (
    UnfoldAdminSelectWidget,
    UnfoldAdminTextareaWidget,
    UnfoldAdminTextInputWidget,
    UnfoldBooleanWidget,
)

from memories.admin.memory_rows import MemoryRowAdmin
from memories.errors import Invalid
from memories.models import FeatureSet
from memories.profiles.features import sets
from memories.profiles.features.config import (
    EMBEDDERS,
    LONGEST_NAME,
    LONGEST_TEXT,
    MOST_CATEGORIES,
    TYPE,
    EffectiveSetting,
    types_of,
)
from memories.profiles.features.sets import effective_of, inherited_of
from memories.reading.extraction.fallback_chain import PROVIDERS
from workspaces.adminbase.list_admin import AdminPage
from workspaces.models import Capability
from workspaces.scope import Scope

# The configuration of a feature set as a page: the set's own values, and the inherited ones.

INHERITED, NONE, OWN = "", "none", "own"
TEXTS = {"updatePrompt": "Prompt of updates", "consolidationPrompt": "Prompt of merging"}
NUMBERS = {
    "messages": "Taken in from so many messages on",
    "seconds": "Or after so many seconds",
    "featuresPerConsolidation": "Merged where a section has more features than",
}
WHOLE = ("dailyCap", "dimensions")  # fields of a model that are whole numbers
PARTS = {
    "languageModel": {
        "provider": "Provider",
        "model": "Model",
        "baseUrl": "Address",
        "timeout": "Seconds it has",
        "dailyCap": "Calls a day",
        "keyEnv": "Variable of its key",
    },
    "embedder": {"provider": "Provider", "model": "Model", "dimensions": "Dimensions"},
}
CHOICES = {"languageModel": PROVIDERS, "embedder": EMBEDDERS}
_tag = re.compile(r"([^:]*):?(.*)")


def name_of(setting: str, part: str) -> str:
    return f"{setting}.{part}"


def setting_text(value: Any) -> str:
    """A setting in words, for people."""
    if value in (None, "", "none"):
        return {None: "the workspace’s own", "": "nothing beside the product’s words"}.get(value, "none: rules alone")
    if isinstance(value, Mapping):
        return " ".join(str(value[part]) for part in ("provider", "model") if value.get(part))
    return f"{len(value)} categories" if isinstance(value, list) else str(value)


class SetConfigForm(forms.Form):
    """All settings but the categories. The fields are named like the settings:
    `languageModel.model`."""

    def __init__(self, feature_set: FeatureSet, data: Any = None) -> None:
        own, inherited = feature_set.config, inherited_of(feature_set)
        initial: dict[str, Any] = {}
        for name, value in own.items():
            if name not in PARTS:
                initial[name] = value
            elif isinstance(value, Mapping):
                initial |= {name_of(name, part): said for part, said in value.items()}
                initial[name] = OWN
            else:
                initial[name] = value or INHERITED
        super().__init__(data, initial=initial)
        types = sorted({*types_of(feature_set.workspace.settings), own.get(TYPE, "")} - {""})
        self.fields[TYPE] = forms.ChoiceField(
            label=_("Type"),
            required=False,
            widget=UnfoldAdminSelectWidget,
            choices=[("", _("None")), *((each, each) for each in types)],
            help_text=_("What is left empty below is as the other sets of the type have it."),
        )
        for name, label in TEXTS.items():
            area, hint = UnfoldAdminTextareaWidget(attrs={"rows": 4}), _hint(inherited[name])
            self.fields[name] = forms.CharField(label=label, required=False, help_text=hint, widget=area)
        for setting, parts in PARTS.items():
            self.fields |= _model_fields(setting, parts, inherited[setting])
        for name, label in NUMBERS.items():
            widget = UnfoldAdminTextInputWidget(attrs={"inputmode": "numeric", "placeholder": inherited[name].value})
            self.fields[name] = forms.IntegerField(
                label=label, required=False, help_text=_hint(inherited[name]), widget=widget
            )

    @property
    def groups(self) -> list[tuple[str, list[forms.BoundField]]]:
        """The fields under their headings, in the order of the page."""
        of_models = [
            (title, [self[name] for name in self.fields if name.partition(".")[0] == setting])
            for setting, title in (("languageModel", "Language model"), ("embedder", "Embedder"))
        ]
        prompts = ("Prompts", [self[name] for name in TEXTS])
        return [
            (gettext("Type"), [self[TYPE]]),
            prompts,
            *of_models,
            ("When", [self[name] for name in NUMBERS]),
        ]

    @property
    def changes(self) -> dict[str, Any]:
        """The changes as `configure` takes them: None where the set has no value of its own. Values
        that could not be read are left out."""
        values = self.cleaned_data
        unread = {name.partition(".")[0] for name in self.errors}
        own = {name: values.get(name) or None for name in (TYPE, *TEXTS)}
        own |= {name: values.get(name) for name in NUMBERS}
        for name in [each for each in PARTS if each not in unread]:
            parts = {part: values[name_of(name, part)] for part in PARTS[name]}
            said = {part: value for part, value in parts.items() if value not in (None, "")}
            own[name] = said if values[name] == OWN else values[name] or None
        return {name: value for name, value in own.items() if name not in unread}

    def show(self, refusal: Invalid) -> None:
        """Show a fault at its field, where it has one."""
        name = refusal.field.removeprefix("config.")
        self.add_error(name if name in self.fields else None, refusal.message)


def _hint(inherited: EffectiveSetting) -> str:
    text = setting_text(inherited.value)
    shown = text if len(text) <= 200 else f"{text[:200]}…"
    return f"Left empty: {shown}, as the {inherited.source} has it."


def _model_fields(setting: str, parts: Mapping[str, str], inherited: EffectiveSetting) -> dict[str, forms.Field]:
    inherits = f"As the {inherited.source} has it: {setting_text(inherited.value)}"
    choices = [(INHERITED, inherits), (OWN, "One of its own, below")]
    if setting == "languageModel":
        choices.insert(1, (NONE, "None: rules alone"))
    which = forms.ChoiceField(label=gettext("Which"), required=False, choices=choices, widget=UnfoldAdminSelectWidget)
    fields: dict[str, forms.Field] = {setting: which}
    key = "EXTRACTOR_KEY_… of the server; it goes only to the address in EXTRACTOR_URL_…"
    for part, label in parts.items():
        shared: dict[str, Any] = {"label": label, "required": False}
        field: forms.Field
        if part == "provider":
            named = [("", "—"), *((each, each) for each in CHOICES[setting])]
            field = forms.ChoiceField(choices=named, widget=UnfoldAdminSelectWidget, **shared)
        elif part in WHOLE or part == "timeout":
            kind = forms.IntegerField if part in WHOLE else forms.FloatField
            widget = UnfoldAdminTextInputWidget(attrs={"inputmode": "decimal"})
            field = kind(widget=widget, **shared)
        else:
            hint = key if part == "keyEnv" else ""
            field = forms.CharField(help_text=hint, widget=UnfoldAdminTextInputWidget(), **shared)
        fields[name_of(setting, part)] = field
    return fields


class CategoryForm(forms.Form):
    """One category; each line of its tags is a name, a colon and what the tag is for."""

    name = forms.CharField(required=False, max_length=LONGEST_NAME, widget=UnfoldAdminTextInputWidget())
    description = forms.CharField(required=False, max_length=LONGEST_TEXT, widget=UnfoldAdminTextInputWidget())
    tags = forms.CharField(
        required=False,
        help_text=_("One in a line: name: what belongs there"),
        widget=UnfoldAdminTextareaWidget(attrs={"rows": 4}),
    )

    @property
    def category(self) -> dict[str, Any] | None:
        """The category in this row, None where the row is empty or to be removed."""
        values = self.cleaned_data
        if values.get("DELETE") or not any(values.get(n) for n in ("name", "description", "tags")):
            return None
        return {
            "name": values["name"],
            "description": values["description"],
            "tags": [
                {"name": parts[1].strip(), "description": parts[2].strip()}
                for line in values["tags"].splitlines()
                if line.strip() and (parts := _tag.match(line))
            ],
        }


class _Rows(forms.BaseFormSet):
    def add_fields(self, form: Any, index: int | None) -> None:
        super().add_fields(form, index)
        if "DELETE" in form.fields:
            form.fields["DELETE"].widget = UnfoldBooleanWidget()
            form.fields["DELETE"].label = "Remove this category"


Rows: Any = forms.formset_factory(
    CategoryForm,
    formset=_Rows,
    extra=2,
    can_delete=True,
    can_delete_extra=False,
    max_num=MOST_CATEGORIES,
    absolute_max=MOST_CATEGORIES + 2,
)


class CategoriesForm:
    """The categories in force, as rows. If one is changed, the set gets categories of its own."""

    def __init__(self, feature_set: FeatureSet, data: Any = None) -> None:
        counts = effective_of(feature_set)["categories"]
        self.source, self.is_own = counts.source, counts.source == "set"
        self.inherited = inherited_of(feature_set)["categories"]
        self.given_back = data is not None and "categories.inherit" in data
        initial = []
        for each in counts.value:
            tags = [
                f"{tag['name']}: {tag['description']}" if tag.get("description") else tag["name"]
                for tag in each["tags"]
            ]
            row = {"name": each["name"], "description": each.get("description", "")}
            initial.append(row | {"tags": "\n".join(tags)})
        self.rows = Rows(data, prefix="categories", initial=initial)

    def is_valid(self) -> bool:
        return self.given_back or bool(self.rows.is_valid())

    @property
    def changes(self) -> dict[str, Any]:
        """The changes as `configure` takes them; empty where none can be read from the rows."""
        if self.given_back:
            return {"categories": None}
        is_said = self.rows.is_valid() and self.rows.has_changed()
        return {"categories": [own for _, own in self._kept]} if is_said else {}

    @cached_property
    def _kept(self) -> list[tuple[CategoryForm, dict[str, Any]]]:
        """The rows that are filled in; read once, for a row that is shown an error loses its
        values."""
        return [(row, category) for row in self.rows if (category := row.category) is not None]

    def show(self, refusal: Invalid) -> None:
        """Show a fault at the row that it names, and there at its field."""
        named = re.fullmatch(r"config\.categories\[(\d+)\](?:\.(\w+))?.*", refusal.field)
        if named is None:
            self.rows.non_form_errors().append(refusal.message)
        else:
            part = named[2] if named[2] in CategoryForm.base_fields else None
            self._kept[int(named[1])][0].add_error(part, refusal.message)


class SetConfigPage(AdminPage):
    path, name = "<path:object_id>/configure/", "memories_featureset_configure"
    template_name = "admin/memories/feature_set_config.html"
    model_admin: MemoryRowAdmin

    def get(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        admin = self.model_admin
        row = admin.row_or_404(request, kwargs["object_id"])
        if not admin.may(request, Capability.ADMIN, row):
            raise PermissionDenied
        scope, data = admin.scope(request, row), request.POST if self.is_sent else None
        feature_set = sets.find(scope, str(row.pk))
        form, categories = SetConfigForm(feature_set, data), CategoriesForm(feature_set, data)
        if self.is_sent and is_saved(scope, feature_set, form, categories):
            messages.success(request, gettext("Saved."))
            return redirect(admin.page_of(row))
        self.title = f"Configure {feature_set.key}"
        context = self.get_context_data(
            opts=admin.opts,
            form=form,
            categories=categories,
            is_wrong=self.is_sent,
            back=admin.page_of(row),
        )
        return self.render_to_response(context)


def is_saved(scope: Scope, feature_set: FeatureSet, form: SetConfigForm, categories: CategoriesForm) -> bool:
    """Save the settings; return whether that succeeded. All faults are shown at once: values that
    cannot be read, and values that are not allowed."""
    is_read = form.is_valid() & categories.is_valid()
    changes = form.changes | categories.changes
    refusals = sets.faults_of_changes(scope, changes)
    if is_read and not refusals:
        try:
            sets.configure(scope, str(feature_set.pk), changes)
            return True
        except Invalid as late:  # because of something that changed since the check
            refusals = late.all
    for refusal in refusals:
        at = categories if refusal.field.startswith("config.categories") else form
        at.show(refusal)
    return False
