"""Instructions of a workspace as a page: from a template, tried on the last week, saved."""

from typing import Any

from django import forms
from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext, gettext_lazy
from unfold.widgets import UnfoldAdminSelectWidget, UnfoldAdminTextareaWidget, UnfoldBooleanSwitchWidget

from memories.errors import Conflict, Invalid
from memories.ingest.rehearse_instructions import plan_rehearsal, rehearse_instructions
from memories.reading.extraction.workspace_instructions import LONGEST, Instructions
from memories.settings.workspace_settings import change_workspace, settings_of
from memories.settings.workspace_templates import TEMPLATES
from workspaces.adminbase.one_workspace_page import OneWorkspacePage
from workspaces.models import Capability, Workspace


def _words(label: Any, hint: Any) -> forms.CharField:
    area = UnfoldAdminTextareaWidget(attrs={"rows": 5})
    return forms.CharField(label=label, help_text=hint, required=False, max_length=LONGEST, widget=area)


class InstructionsForm(forms.Form):
    template = forms.ChoiceField(
        choices=[("", "-"), *((name, name.replace("-", " ")) for name in TEMPLATES)],
        required=False,
        label=gettext_lazy("Template"),
        help_text=gettext_lazy("Fills both fields; nothing is saved by it."),
        widget=UnfoldAdminSelectWidget,
    )
    extract = _words(gettext_lazy("Write down above all"), gettext_lazy("In your own words, for the model that reads."))
    ignore = _words(
        gettext_lazy("Leave out"),
        gettext_lazy(
            "Things, with commas between them. What patterns and the judge find is left out, too, where it names one."
        ),
    )
    dear = forms.BooleanField(
        required=False, label=gettext_lazy("It may cost as much as it says"), widget=UnfoldBooleanSwitchWidget
    )

    @property
    def instructions(self) -> dict[str, str]:
        values = {name: self.cleaned_data[name].strip() for name in ("extract", "ignore")}
        return {name: words for name, words in values.items() if words}


class InstructionsPage(OneWorkspacePage):
    """Instructions, which all readers of a workspace see, and its admins try and save."""

    path, name, title = "instructions/", "memories_instructions", "Instructions"
    template_name = "admin/memories/instructions.html"

    def get(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        workspace, sent = self.workspace, request.POST
        may_save = self.access.may(Capability.ADMIN, workspace.pk)
        known = settings_of(workspace).instructions.model_dump()
        if self.is_sent and not may_save:
            raise PermissionDenied
        form = InstructionsForm(sent) if self.is_sent else InstructionsForm(initial=known)
        if "fill" in sent:
            chosen = TEMPLATES.get(sent.get("template", ""), {}).get("instructions", known)
            form = InstructionsForm(initial={**chosen, "template": sent.get("template", "")})
        elif "save" in sent and form.is_valid() and self.is_kept(workspace, form):
            messages.success(request, gettext("Saved: they hold from the next message on."))
            return self.back(workspace)
        context = self.get_context_data(
            **self.about(workspace),
            form=form,
            may_save=may_save,
            **(self.tried(workspace, form) if "try" in sent and form.is_valid() else {}),
        )
        return self.render_to_response(context)

    def is_kept(self, workspace: Workspace, form: InstructionsForm) -> bool:
        try:
            change_workspace(self.access.scope(workspace.pk), changes={"instructions": form.instructions})
        except (Conflict, Invalid) as error:
            form.add_error(None, str(error))
        return form.is_valid()

    def tried(self, workspace: Workspace, form: InstructionsForm) -> dict[str, Any]:
        """Return what the form's instructions would have changed, and what it costs to know."""
        scope = self.access.scope(workspace.pk)
        try:
            plan = plan_rehearsal(scope)
        except Conflict as error:
            form.add_error(None, str(error))
            return {}
        if plan.cost.is_dear and not form.cleaned_data["dear"]:
            form.add_error("dear", str(plan.cost))
            return {}
        before = Instructions.of(workspace.settings.get("instructions"))
        return {
            "cost": plan.cost,
            "read": rehearse_instructions(scope, plan, before, Instructions.of(form.instructions)),
        }
