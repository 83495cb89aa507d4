"""What a workspace holds back for a person, as a form."""

from typing import Any

from django import forms
from unfold.widgets import (
    UnfoldAdminCheckboxSelectMultipleWidget,
    UnfoldAdminSelectMultipleWidget,
    UnfoldAdminTextInputWidget,
)

from memories.models import Category
from memories.workspace_settings import MOST_NAMES
from workspaces.models import Agent, Workspace


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
    """What is left empty holds nothing back."""

    low = _share(
        "Similarity from", "Replacements that are neither clearly the same nor clear of it."
    )
    high = _share("Similarity up to")
    confidence = _share("Confidence under", "What was read with less confidence than this.")
    categories = forms.MultipleChoiceField(
        choices=Category.choices,
        required=False,
        label="Protected categories",
        help_text="Where the old or the new memory is of one of them.",
        widget=UnfoldAdminCheckboxSelectMultipleWidget,
    )
    agents = forms.ModelMultipleChoiceField(
        Agent.objects.none(),
        required=False,
        label="Agents that are not trusted",
        help_text=(
            "Whatever they write that would replace something. It is compared with what they"
            " see: a private memory of one of them never replaces, nor waits for, another’s."
        ),
        widget=UnfoldAdminSelectMultipleWidget,
    )

    def __init__(self, workspace: Workspace, data: Any = None) -> None:
        policy = workspace.settings.get("review") or {}
        low, high = policy.get("similarity") or (None, None)
        super().__init__(data, initial={**policy, "low": low, "high": high})
        choice = self.fields["agents"]
        assert isinstance(choice, forms.ModelMultipleChoiceField)
        choice.queryset = Agent.objects.filter(workspace=workspace).order_by("external_id")

    def clean(self) -> dict[str, Any]:
        values = super().clean() or self.cleaned_data
        low, high = values.get("low"), values.get("high")
        if not self.errors and (low is None) != (high is None):
            self.add_error("high" if high is None else "low", "A range has two ends.")
        if low is not None and high is not None and low > high:
            self.add_error("high", "The smaller number comes first.")
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
