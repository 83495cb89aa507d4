"""Which memories would be private if they were learned today, to be made so by the list."""

from itertools import islice
from typing import Any

from django import forms
from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from unfold.widgets import UnfoldAdminSelectWidget

from memories.review.visibility import make_private, visibility_changes
from workspaces.adminbase.access import Access
from workspaces.adminbase.list_admin import AdminPage
from workspaces.models import Capability, Workspace

MOST = 200  # rows of the page


class VisibilityForm(forms.Form):
    """Only the person's own workspaces can be chosen."""

    workspace = forms.ModelChoiceField(
        Workspace.objects.none(),
        to_field_name="slug",
        empty_label=None,
        widget=UnfoldAdminSelectWidget,
    )

    def __init__(self, access: Access, data: dict[str, Any]) -> None:
        super().__init__(data)
        choice = self.fields["workspace"]
        assert isinstance(choice, forms.ModelChoiceField)
        choice.queryset = access.workspaces().order_by("name")


class VisibilityPage(AdminPage):
    path, name, title = "visibility/", "memories_visibility", "Visibility"
    template_name = "admin/memories/visibility.html"

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        first = self.access.workspaces().order_by("name").first()
        asked = {"workspace": first.slug if first else ""}
        form = VisibilityForm(self.access, asked | self.request.GET.dict())
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
        """Make those private that were chosen."""
        form = VisibilityForm(self.access, request.POST.dict())
        if not form.is_valid():
            raise PermissionDenied
        scope = self.access.scope(form.cleaned_data["workspace"].pk)
        if not scope.may(Capability.CURATE):
            raise PermissionDenied
        shown = {str(each.memory.pk): each.memory.pk for each in visibility_changes(scope)}
        chosen = [shown[pk] for pk in request.POST.getlist("memory") if pk in shown]
        messages.success(request, f"{make_private(scope, chosen)} memories made private.")
        return redirect(f"{request.path}?workspace={form.cleaned_data['workspace'].slug}")
