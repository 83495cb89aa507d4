"""Pages of the admin about one workspace."""

from typing import Any

from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse

from workspaces.adminbase.access import look_at
from workspaces.adminbase.list_admin import AdminPage
from workspaces.models import Capability, Workspace


class OneWorkspacePage(AdminPage):
    """A page about one workspace: the one that is named, or the usual one in which the person has
    the capability; 404 where the person is no member, 403 where they lack the capability."""

    capability: str = Capability.READ

    @property
    def workspace(self) -> Workspace:
        slug = self.request.GET.get("workspace", "")
        named = self.access.workspaces().filter(slug=slug).first() if slug else None
        row = named if slug else self.access.usual_workspace(self.capability)
        if row is None:
            raise Http404("no such workspace")
        look_at(self.request, row.pk)
        if not self.access.may(self.capability, row.pk):
            raise PermissionDenied
        return row

    def about(self, workspace: Workspace) -> dict[str, Any]:
        return {
            "workspace": workspace,
            "workspaces": list(self.access.workspaces(self.capability).order_by("name")[:50]),
        }

    def back(self, workspace: Workspace) -> HttpResponse:
        return redirect(f"{reverse(f'admin:{self.name}')}?workspace={workspace.slug}")
