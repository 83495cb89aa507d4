"""The configuration of a feature set as a page: what the set says, and what counts without it."""

from typing import Any

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse

from memories.admin.set_config_form import Categories, SetConfigForm
from memories.errors import Invalid
from memories.features import sets
from memories.models import FeatureSet
from workspaces.models import Capability

NAME = "memories_featureset_configure"


class SetConfigPage:
    """Mixin of the admin of sets: adds `<id>/configure/`."""

    admin_site: Any
    opts: Any
    found: Any
    may: Any
    page_of: Any
    scope: Any

    def get_urls(self) -> list[URLPattern]:
        view = self.admin_site.admin_view(self.configure_view)
        own = path("<path:object_id>/configure/", view, name=NAME)
        return [own, *super().get_urls()]  # type: ignore[misc]

    def config_url(self, request: HttpRequest, row: FeatureSet) -> str:
        """Empty for those who may not."""
        may = self.may(request, Capability.ADMIN, row)
        return reverse(f"{self.admin_site.name}:{NAME}", args=[row.pk]) if may else ""

    def configure_view(self, request: HttpRequest, object_id: str) -> HttpResponse:
        row = self.found(request, object_id)
        if not self.may(request, Capability.ADMIN, row):
            raise PermissionDenied
        scope, data = self.scope(request, row), request.POST if request.method == "POST" else None
        found = sets.find(scope, str(row.pk))
        form, categories = SetConfigForm(found, data), Categories(found, data)
        if data is not None and _saved(scope, found, form, categories):
            messages.success(request, "Saved.")
            return redirect(self.page_of(row))
        context = {
            **self.admin_site.each_context(request),
            "title": f"Configure {found.key}",
            "opts": self.opts,
            "form": form,
            "categories": categories,
            "is_wrong": data is not None,
            "back": self.page_of(row),
        }
        return TemplateResponse(request, "admin/memories/feature_set_config.html", context)


def _saved(scope: Any, found: FeatureSet, form: SetConfigForm, categories: Categories) -> bool:
    """All that is wrong is told at once: what could not be read, and what may not be said."""
    is_read = form.is_valid() & categories.is_valid()
    changes = form.changes | categories.changes
    refusals = sets.faults_of_changes(changes)
    if is_read and not refusals:
        try:
            sets.configure(scope, str(found.pk), changes)
            return True
        except Invalid as late:  # of what changed since it was asked
            refusals = late.all
    for refusal in refusals:
        at = categories if refusal.field.startswith("config.categories") else form
        at.tell(refusal)
    return False
