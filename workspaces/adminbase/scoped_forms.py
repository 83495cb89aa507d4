"""Forms that are no model's: what they may point at is limited as in model forms."""

from typing import Any

from django import forms
from django.contrib.admin import ModelAdmin
from django.contrib.admin.widgets import AutocompleteSelect, AutocompleteSelectMultiple
from django.db.models import Field
from django.http import HttpRequest
from unfold.widgets import SELECT_CLASSES, UnfoldAdminSelectWidget

from workspaces.models import Workspace


class WorkspaceChoiceForm(forms.Form):
    """Begins with the workspace, picked already where there is only one."""

    workspace = forms.ModelChoiceField(
        Workspace.objects.none(), empty_label=None, widget=UnfoldAdminSelectWidget
    )

    def __init__(self, admin: Any, request: HttpRequest) -> None:
        super().__init__(request.POST if request.method == "POST" else None)
        choice = self.fields["workspace"]
        assert isinstance(choice, forms.ModelChoiceField)
        choice.queryset = admin.choices_for(Workspace, request).order_by("name")


def pick_one(admin: ModelAdmin, field: Field) -> AutocompleteSelect:
    return AutocompleteSelect(field, admin.admin_site, attrs={"class": " ".join(SELECT_CLASSES)})


def pick_many(admin: ModelAdmin, field: Field) -> AutocompleteSelectMultiple:
    return AutocompleteSelectMultiple(field, admin.admin_site)
