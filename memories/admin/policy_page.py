"""Policy as a page: what waits for a person, and what would have waited in the last week."""

from collections import Counter
from datetime import timedelta
from typing import Any

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.utils import timezone

from memories import workspace_settings
from memories.admin.cases import WHY, cases
from memories.admin.policy_form import PolicyForm
from memories.english.statements.policy import Policy
from memories.errors import Invalid
from memories.models import Fact
from memories.resolve import rehearsal
from workspaces.adminbase.access import Access, access_of
from workspaces.adminbase.counting import bounded_count, told
from workspaces.ids import first_uuid7
from workspaces.models import Capability, Workspace

WEEK = timedelta(days=7)
EXAMPLES = 20


class PolicyPage:
    """Mixin of the admin of supersessions: adds `policy/`."""

    admin_site: Any
    opts: Any

    def get_urls(self) -> list[URLPattern]:
        view = self.admin_site.admin_view(self.policy_view)
        return [path("policy/", view, name="memories_policy"), *super().get_urls()]  # type: ignore[misc]

    def policy_view(self, request: HttpRequest) -> HttpResponse:
        """Whoever reads a workspace may try a policy; its admins save one."""
        access = access_of(request)
        workspace = _chosen(access, request.GET.get("workspace", ""))
        may_save = access.may(Capability.ADMIN, workspace.pk)
        form = PolicyForm(workspace, request.POST if request.method == "POST" else None)
        if "save" in request.POST:
            if not may_save:
                raise PermissionDenied
            if form.is_valid() and _saved(access, workspace, form):
                messages.success(request, "Saved: it holds from the next message on.")
                return redirect(f"{reverse('admin:memories_policy')}?workspace={workspace.slug}")
        context = {
            **self.admin_site.each_context(request),
            "title": "Policy",
            "form": form,
            "workspace": workspace,
            "workspaces": list(access.workspaces().order_by("name")[:50]),
            "may_save": may_save,
            "tab": "policy",
            **_week(workspace, form),
        }
        return TemplateResponse(request, "admin/memories/policy.html", context)


def _chosen(access: Access, slug: str) -> Workspace:
    """The one that is named, or the first; 404 where it is not the person's."""
    own = access.workspaces().order_by("name")
    found = (own.filter(slug=slug) if slug else own).first()
    if found is None:
        raise Http404("no such workspace")
    return found


def _saved(access: Access, workspace: Workspace, form: PolicyForm) -> bool:
    try:
        workspace_settings.change_policy(access.scope(workspace.pk), form.said)
    except Invalid as error:
        form.add_error(None, str(error))
    return form.is_valid()


def _week(workspace: Workspace, form: PolicyForm) -> dict[str, Any]:
    """What would have waited, under what the form says or, untouched, under what is kept."""
    if form.is_bound and not form.is_valid():
        return {}
    said = form.said if form.is_bound else workspace.settings.get("review")
    since = timezone.now() - WEEK
    found = rehearsal.rehearse(workspace.pk, Policy.of(said), since)
    facts = Fact.objects.filter(workspace=workspace, pk__gte=first_uuid7(since))
    shown = found.held[:EXAMPLES]
    examples = zip(shown, cases([decision for _, decision in shown]), strict=True)
    return {
        "is_tried": form.is_bound,
        "found": found,
        "asked": told(found.asked, rehearsal.MOST),
        "facts": told(bounded_count(facts)),
        "reasons": _by_reason(reason for reason, _ in found.held),
        "examples": [(WHY[reason], case) for (reason, _), case in examples],
    }


def _by_reason(reasons: Any) -> list[tuple[str, int]]:
    return [(WHY[reason], number) for reason, number in Counter(reasons).most_common()]
