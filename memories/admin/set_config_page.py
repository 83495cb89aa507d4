"""The configuration of a feature set as a page: what the set says, and what counts without it."""

from typing import Any

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect

from memories.admin.memory_rows import MemoryRowAdmin
from memories.admin.set_config_form import CategoriesForm, SetConfigForm
from memories.errors import Invalid
from memories.features import sets
from memories.models import FeatureSet
from workspaces.adminbase.admin_page import AdminPage
from workspaces.models import Capability
from workspaces.scope import Scope


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
            messages.success(request, "Saved.")
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


def is_saved(
    scope: Scope, feature_set: FeatureSet, form: SetConfigForm, categories: CategoriesForm
) -> bool:
    """All that is wrong is shown at once: what could not be read, and what may not be said."""
    is_read = form.is_valid() & categories.is_valid()
    changes = form.changes | categories.changes
    refusals = sets.faults_of_changes(changes)
    if is_read and not refusals:
        try:
            sets.configure(scope, str(feature_set.pk), changes)
            return True
        except Invalid as late:  # of what changed since it was asked
            refusals = late.all
    for refusal in refusals:
        at = categories if refusal.field.startswith("config.categories") else form
        at.show(refusal)
    return False
