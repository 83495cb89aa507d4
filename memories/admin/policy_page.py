"""Policy as a page: what waits for a person, and what would have waited in the last week."""

from collections import Counter
from datetime import timedelta
from typing import Any

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils import timezone

from memories import workspace_settings
from memories.admin.decision_cards import WHY, decision_cards
from memories.admin.policy_form import PolicyForm
from memories.errors import Invalid
from memories.models import Fact
from memories.resolve import rehearsal
from memories.resolve.review_policy import Policy
from workspaces.adminbase.admin_page import AdminPage
from workspaces.adminbase.counting import bounded_count, count_text
from workspaces.ids import first_uuid7
from workspaces.models import Capability, Workspace

WEEK = timedelta(days=7)
EXAMPLES = 20


class PolicyPage(AdminPage):
    """Whoever reads a workspace may try a policy; its admins save one."""

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
                messages.success(request, "Saved: it holds from the next message on.")
                return redirect(f"{reverse('admin:memories_policy')}?workspace={workspace.slug}")
        context = self.get_context_data(
            form=form,
            workspace=workspace,
            workspaces=list(self.access.workspaces().order_by("name")[:50]),
            may_save=may_save,
            tab="policy",
            **last_week(workspace, form),
        )
        return self.render_to_response(context)

    @property
    def workspace(self) -> Workspace:
        """The one that is named, or the first; 404 where it is not the person's."""
        slug, own = self.request.GET.get("workspace", ""), self.access.workspaces()
        row = (own.filter(slug=slug) if slug else own.order_by("name")).first()
        if row is None:
            raise Http404("no such workspace")
        return row

    def is_saved(self, workspace: Workspace, form: PolicyForm) -> bool:
        try:
            workspace_settings.change_policy(self.access.scope(workspace.pk), form.policy)
        except Invalid as error:
            form.add_error(None, str(error))
        return form.is_valid()


def last_week(workspace: Workspace, form: PolicyForm) -> dict[str, Any]:
    """What would have waited, under what the form says or, untouched, under what is kept."""
    if form.is_bound and not form.is_valid():
        return {}
    policy = form.policy if form.is_bound else workspace.settings.get("review")
    since = timezone.now() - WEEK
    result = rehearsal.rehearse(workspace.pk, Policy.of(policy), since)
    facts = Fact.objects.filter(workspace=workspace, pk__gte=first_uuid7(since))
    shown = result.held[:EXAMPLES]
    examples = zip(shown, decision_cards([decision for _, decision in shown]), strict=True)
    reasons = Counter(reason for reason, _ in result.held).most_common()
    return {
        "is_tried": form.is_bound,
        "found": result,
        "asked": count_text(result.asked, rehearsal.MOST),
        "facts": count_text(bounded_count(facts)),
        "reasons": [(WHY[reason], number) for reason, number in reasons],
        "examples": [(WHY[reason], case) for (reason, _), case in examples],
    }
