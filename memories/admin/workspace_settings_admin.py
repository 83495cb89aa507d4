"""A workspace's page with all its settings in view."""

from typing import Any

from django.db.models import Model
from django.http import HttpRequest

from memories.admin.settings_form import SET_NUMBERS, WEIGHTS, SettingsForm
from workspaces.admin.workspace_admin import WorkspaceAdmin
from workspaces.models import Workspace


class WorkspaceSettingsAdmin(WorkspaceAdmin):
    form = SettingsForm
    fields = None
    fieldsets = (
        (None, {"fields": ("name", "slug")}),
        (
            "Conflicts",
            {
                "fields": ("conflict_rule",),
                "description": "What happens when something new contradicts what is believed.",
            },
        ),
        (
            "Language",
            {
                "fields": ("languages", "date_order"),
                "description": "How what is said is read without a model.",
            },
        ),
        (
            "Reading with models",
            {
                "fields": ("extractors",),
                "description": "Patterns read first; models read what patterns leave.",
            },
        ),
        (
            "Feature sets",
            {
                "fields": (*SET_NUMBERS, "sets"),
                "description": "When and how profiles are folded out of what was said.",
            },
        ),
        (
            "Ranking",
            {
                "classes": ("collapse",),
                "fields": WEIGHTS,
                "description": "How much each part of the hybrid score counts. Empty: the default.",
            },
        ),
        (
            "Other settings",
            {"classes": ("collapse",), "fields": ("settings",)},
        ),
    )

    def get_form(self, request: Any, obj: Any = None, change: bool = False, **kwargs: Any) -> Any:
        """The declared fields are no columns: the model's own are asked for by name."""
        return super().get_form(request, obj, change, **kwargs | {"fields": ("name", "slug")})

    def save_model(self, request: HttpRequest, obj: Model, form: Any, change: bool) -> None:
        assert isinstance(obj, Workspace)
        known = Workspace.objects.filter(pk=obj.pk).values_list("settings", flat=True).first()
        super().save_model(request, obj, form, change)
        if change and known != obj.settings:
            after = obj.settings
            self.audit(request, "change_settings", obj, before=known, after=after)
