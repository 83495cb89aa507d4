"""Rules as pages: what people made of what each one found, and a hundred memories to judge."""

import uuid
from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse

from memories import rule_rates, skip_counts, workspace_settings
from memories.errors import Conflict
from memories.models import Citation
from workspaces.adminbase.list_admin import AdminPage
from workspaces.auth import as_uuid
from workspaces.models import Capability, Workspace

SHOWN_QUOTE = 400  # characters


class OneWorkspacePage(AdminPage):
    """A page about one workspace: the one that is named, or the first in which the person has the
    capability; 404 where it is not the person's."""

    capability: str = Capability.READ

    @property
    def workspace(self) -> Workspace:
        slug = self.request.GET.get("workspace", "")
        own = self.access.workspaces() if slug else self.access.workspaces(self.capability)
        row = (own.filter(slug=slug) if slug else own.order_by("name")).first()
        if row is None:
            raise Http404("no such workspace")
        return row

    def about(self, workspace: Workspace) -> dict[str, Any]:
        return {
            "workspace": workspace,
            "workspaces": list(self.access.workspaces(self.capability).order_by("name")[:50]),
        }

    def back(self, workspace: Workspace) -> HttpResponse:
        return redirect(f"{reverse(f'admin:{self.name}')}?workspace={workspace.slug}")


class RulesPage(OneWorkspacePage):
    """Whoever reads a workspace sees its rules; its admins switch one off, or on again."""

    path, name, title = "rules/", "memories_rules", "Rules"
    template_name = "admin/memories/rules.html"

    def get(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        workspace = self.workspace
        scope, may_switch = self.access.scope(workspace.pk), self.may_switch(workspace)
        if self.is_sent:
            if not may_switch:
                raise PermissionDenied
            rule, is_off = request.POST.get("rule", ""), "off" in request.POST
            if rule not in workspace_settings.PATTERN_NAMES:
                raise Http404("no such rule")
            try:
                workspace_settings.switch_pattern(
                    scope, rule, is_off=is_off, anyway="anyway" in request.POST
                )
            except Conflict as error:
                messages.error(request, str(error))
                page = reverse(f"admin:{self.name}")
                return redirect(f"{page}?{urlencode({'workspace': workspace.slug, 'worse': rule})}")
            words = "is off: it finds nothing from the next message on" if is_off else "is on again"
            messages.success(request, f"{rule} {words}.")
            return self.back(workspace)
        verdicts = rule_rates.counted(rule_rates.verdicts_of(scope).values())
        number = sum(verdicts.values())
        return self.render_to_response(
            self.get_context_data(
                **self.about(workspace),
                rates=rule_rates.rule_rates(scope),
                off=workspace_settings.patterns_off(workspace.settings),
                library=workspace_settings.PATTERN_NAMES,
                may_switch=may_switch,
                worse=request.GET.get("worse", ""),
                verdicts=[(rule_rates.VERDICTS[name], n) for name, n in verdicts.items()],
                judged=number,
                precision=verdicts["keep"] / number if number else None,
                unworthy=skip_counts.unworthy(scope),
            )
        )

    def may_switch(self, workspace: Workspace) -> bool:
        return self.access.may(Capability.ADMIN, workspace.pk)


class JudgePage(OneWorkspacePage):
    """A hundred live memories at random, each with the words that it stands on."""

    path, name, title = "judge/", "memories_judge", "Judge"
    template_name = "admin/memories/judge.html"

    def get(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        workspace = self.workspace
        scope = self.access.scope(workspace.pk)
        may_judge = self.access.may(Capability.CURATE, workspace.pk)
        if self.is_sent:
            if not may_judge:
                raise PermissionDenied
            number = rule_rates.judge(scope, self.verdicts(request))
            messages.success(request, f"{number} judged.")
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
        """Of a form that is sent, by the id of each memory: "verdict-<id>"."""
        named = {
            as_uuid(name.removeprefix("verdict-")): str(value)
            for name, value in request.POST.items()
            if name.startswith("verdict-")
        }
        return {memory_id: verdict for memory_id, verdict in named.items() if memory_id}
