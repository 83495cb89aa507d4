"""A hundred memories to judge, one after another."""

import uuid
from typing import Any

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext as _

from memories.errors import Invalid, NotFound
from memories.meters import rule_rates
from memories.models import Citation
from workspaces.adminbase.one_workspace_page import OneWorkspacePage
from workspaces.auth import as_uuid
from workspaces.models import Capability

SHOWN_QUOTE = 400  # characters


class JudgePage(OneWorkspacePage):
    """A hundred live memories at random, each with its quote."""

    path, name, title = "judge/", "memories_judge", "Judge"
    template_name = "admin/memories/judge.html"

    def get(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        workspace = self.workspace
        scope = self.access.scope(workspace.pk)
        may_judge = self.access.may(Capability.CURATE, workspace.pk)
        if self.is_sent:
            if not may_judge:
                raise PermissionDenied
            try:
                number = rule_rates.judge(scope, self.verdicts(request))
            except (Invalid, NotFound) as error:
                messages.error(request, str(error))
            else:
                messages.success(request, _("%(number)s judged.") % {"number": number})
            return self.back(workspace)
        rows = rule_rates.memories_to_judge(scope)
        quotes: dict[uuid.UUID, str] = {}
        cited = Citation.objects.filter(fact__memory__in=rows).order_by("fact__memory", "pk")
        for memory_id, quote in cited.values_list("fact__memory_id", "quote"):
            quotes.setdefault(memory_id, quote[:SHOWN_QUOTE])
        return self.render_to_response(
            self.get_context_data(
                **self.about(workspace),
                rows=[(memory, quotes.get(memory.pk, "")) for memory in rows],
                choices=rule_rates.VERDICTS,
                may_judge=may_judge,
            )
        )

    @staticmethod
    def verdicts(request: HttpRequest) -> dict[uuid.UUID, str]:
        """Return the verdicts of a sent form by memory id; its fields are named "verdict-<id>"."""
        named = {
            as_uuid(name.removeprefix("verdict-")): str(value)
            for name, value in request.POST.items()
            if name.startswith("verdict-")
        }
        return {memory_id: verdict for memory_id, verdict in named.items() if memory_id}
