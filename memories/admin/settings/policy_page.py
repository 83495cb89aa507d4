"""A workspace's policy as a page, with what it would have changed last week."""

from collections import Counter
from datetime import timedelta
from typing import Any

from django import forms
from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.utils.translation import gettext, gettext_lazy
from unfold.widgets import (
    UnfoldAdminCheckboxSelectMultipleWidget,
    UnfoldAdminSelectMultipleWidget,
    UnfoldAdminTextInputWidget,
)

from memories.admin.cases.case_cards import decision_cards
from memories.belief.resolve import policy_rehearsal
from memories.belief.resolve.protected_memories import Policy
from memories.errors import Invalid
from memories.language.english.plain_words import REASONS
from memories.models import Category, Fact
from memories.settings import workspace_settings
from memories.settings.workspace_settings import MOST_NAMES, settings_of
from workspaces.adminbase.list_admin import bounded_count, count_text
from workspaces.adminbase.one_workspace_page import OneWorkspacePage
from workspaces.models import Agent, Capability, Workspace
from workspaces.models.workspace import first_uuid7

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

    low = _share("Similarity from", "Replacements that are neither clearly the same nor clear of it.")
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
        choice.queryset = Agent.objects.present().filter(workspace=workspace).order_by("external_id")

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


class PolicyPage(OneWorkspacePage):
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
                return self.back(workspace)
        context = self.get_context_data(
            **self.about(workspace),
            form=form,
            may_save=may_save,
            **last_week(workspace, form),
        )
        return self.render_to_response(context)

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
    result = policy_rehearsal.rehearse(workspace.pk, Policy.of(policy), since)
    facts = Fact.objects.filter(workspace=workspace, pk__gte=first_uuid7(since))
    shown = result.held[:EXAMPLES]
    examples = zip(shown, decision_cards([decision for _, decision in shown]), strict=True)
    reasons = Counter(reason for reason, _ in result.held).most_common()
    return {
        "is_tried": form.is_bound,
        "found": result,
        "asked_number": result.asked,
        "asked": count_text(result.asked, policy_rehearsal.MOST),
        "facts_number": (number := bounded_count(facts)),
        "facts": count_text(number),
        "reasons": [(REASONS[reason], number) for reason, number in reasons],
        "examples": [(REASONS[reason], case) for (reason, _), case in examples],
    }
