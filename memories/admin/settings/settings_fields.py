"""Fields of a workspace's settings form: weights, numbers, trust."""

import json
from typing import Any

from django import forms
from django.utils.translation import gettext
from unfold.widgets import UnfoldAdminIntegerFieldWidget, UnfoldAdminSelectWidget, UnfoldAdminTextInputWidget

from memories.language.english.calendar import DateOrder
from memories.profiles.features.config import PRODUCT, WORKSPACE_SETTING
from memories.ranking import Weights
from memories.reading.extraction.trust import BELIEVE, DEFAULT_TRUST, HOLD, IGNORE, SOURCES

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
# The types that the JSON fields must have.
KINDS: tuple[tuple[str, type[Any], str], ...] = (
    ("settings", dict, "object"),
    ("sets", dict, "object"),
    ("extractors", list, "list"),
)
WEIGHT, SET, GUARD = "ranking.", f"{WORKSPACE_SETTING}.", "guard."
TRUST_NAMES = {
    BELIEVE: "believed",
    HOLD: "held for a person",
    IGNORE: "not read",
}


class IndentedJsonField(forms.JSONField):
    """A field for JSON: empty where there is no value, and indented where there is one."""

    def prepare_value(self, value: Any) -> Any:
        if value is None or isinstance(value, str):
            return value or ""
        return json.dumps(value, indent=2, ensure_ascii=False)


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
            widget=UnfoldAdminTextInputWidget(attrs={"inputmode": "decimal", "placeholder": f"{each['default']:g}"}),
        )
        for name, each in Weights.described().items()
    }


def number_fields() -> dict[str, forms.Field]:
    return {
        f"{SET}{name}": forms.IntegerField(
            label=name,
            required=False,
            min_value=1,
            help_text=gettext("%(about)s Default: %(number)s.") % {"about": about, "number": PRODUCT[name]},
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
