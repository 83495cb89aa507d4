"""Memories that more can see than they would if they were learned today."""

from itertools import islice
from typing import Any

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext

from memories.belief.review.too_visible import make_private, visibility_changes
from workspaces.adminbase.list_admin import AdminPage
from workspaces.adminbase.scoped_admin import AskedWorkspaceForm
from workspaces.models import Capability

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
        return super().get_context_data(**kwargs, opts=opts, form=form, changes=changes, may_apply=may_apply, most=MOST)

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
