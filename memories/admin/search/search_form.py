"""The form of the search page, with all options of a search."""

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy
from unfold.widgets import UnfoldAdminIntegerFieldWidget, UnfoldAdminSelectWidget, UnfoldAdminTextInputWidget

from memories.language.bounds import LONGEST_QUERY
from memories.search import RANKINGS, SearchRequest
from workspaces.adminbase.access import Access
from workspaces.models import Workspace


def text(label: str, hint: str = "", most: int = 255) -> forms.CharField:
    return forms.CharField(
        label=label,
        help_text=hint,
        max_length=most,
        required=False,
        widget=UnfoldAdminTextInputWidget,
    )


class SearchForm(forms.Form):
    """A search. Only the person's own workspaces can be chosen; fields that are left out have
    defaults."""

    workspace = forms.ModelChoiceField(
        Workspace.objects.none(),
        to_field_name="slug",
        empty_label=None,
        widget=UnfoldAdminSelectWidget,
    )
    query = text("Query", most=LONGEST_QUERY)
    user = text("User id", "Whom the search is about.")
    agent = text("Agent id", "Who asks.")
    thread = text("Thread id")
    ranking = forms.ChoiceField(choices=[(name, name) for name in RANKINGS], widget=UnfoldAdminSelectWidget)
    limit = forms.IntegerField(
        min_value=1,
        max_value=100,
        label=gettext_lazy("Hits shown"),
        widget=UnfoldAdminIntegerFieldWidget,
    )

    def __init__(self, access: Access, data: dict[str, Any]) -> None:
        usual = access.usual_workspace()
        asked = {"workspace": usual.slug if usual else "", "ranking": RANKINGS[0], "limit": "10"}
        super().__init__(asked | data)
        choice = self.fields["workspace"]
        assert isinstance(choice, forms.ModelChoiceField)
        choice.queryset = access.workspaces().order_by("name")

    @property
    def request(self) -> SearchRequest:
        values = self.cleaned_data
        return SearchRequest(
            values["query"],
            limit=values["limit"],
            user_id=values["user"],
            agent_id=values["agent"],
            thread_id=values["thread"],
            ranking=values["ranking"],
        )
