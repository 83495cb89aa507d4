"""Rules as a page."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any
from urllib.parse import urlencode

from django import forms
from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from memories.admin.rules.own_rule_admin import SECONDS, SHOWN_CHANGES, WEEK
from memories.admin.rules.own_words_admin import RELATIONS, outcome_lines
from memories.admin.rules.rule_rows import RuleRow, limits, rows_of, rule_title, waits
from memories.belief.resolve.words_rehearsal import rehearse_words
from memories.errors import Conflict, Invalid, NotFound
from memories.index import row_marks, workspace_index
from memories.ingest import IngestRequest, NewMessage, preview
from memories.ingest.rehearse_patterns import PatternChoice, rehearse_patterns
from memories.language.english.statements import OwnChange, OwnSlot, OwnWords
from memories.language.english.workspace_patterns import RULE
from memories.meters import rule_rates, skip_counts
from memories.models import WorkspaceChange, WorkspacePattern, WorkspaceSlot
from memories.settings import own_rules, workspace_settings
from workspaces.adminbase.act_words import act_words
from workspaces.adminbase.one_workspace_page import OneWorkspacePage
from workspaces.adminbase.target_names import describe_targets, names_of
from workspaces.auth import as_uuid
from workspaces.models import AuditEntry, Capability, Workspace
from workspaces.scope import Scope

OWN_OF = {"patterns": WorkspacePattern, "attributes": WorkspaceSlot, "ends": WorkspaceChange}

TABS = {
    "patterns": "What is read",
    "attributes": "One at a time",
    "ends": "What ends",
    "limits": "Limits",
    "waits": "What waits",
}

LONGEST = 2_000  # characters of a text to try rules on
PER_PAGE = 20
ONLY: Mapping[str, tuple[str, Callable[[RuleRow], bool]]] = {
    "used": (gettext_noop("In use lately"), lambda row: row.used > 0),
    "own": (gettext_noop("Written here"), lambda row: bool(row.kind)),
    "off": (gettext_noop("Switched off"), lambda row: row.is_off),
}


class TrialForm(forms.Form):
    """A sentence to try rules on, or two, of which the second is newer."""

    text = forms.CharField(max_length=LONGEST, required=False)
    speaker = forms.CharField(max_length=255, required=False)
    before = forms.CharField(max_length=LONGEST, required=False)
    after = forms.CharField(max_length=LONGEST, required=False)


class RulesPage(OneWorkspacePage):
    """A page on which all readers of a workspace see and try its rules. Its admins switch the rules
    that ship, its curators the workspace's own; changes can be undone here."""

    path, name, title = "rules/", "memories_rules", "Rules"
    template_name = "admin/memories/rules.html"

    def get(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        workspace = self.workspace
        scope = self.access.scope(workspace.pk)
        shown: dict[str, Any] = {}
        if "line" in request.POST:
            return self.take_back(workspace, scope)
        if self.is_sent:
            row = self.asked_row(workspace, scope)
            if row is not None and {"on", "off"} & set(request.POST):
                return self.switch(workspace, scope, row)
            shown = self.tried(scope)
            if row is not None:
                may = self.may(workspace, row)
                shown = {**self.rehearsed(scope, row), "may_switch": may}
        return self.render_to_response(
            self.get_context_data(**self.about(workspace), **self.listed(workspace, scope), **shown)
        )

    @property
    def tab(self) -> str:
        asked = self.request.GET.get("tab", "")
        return asked if asked in TABS else next(iter(TABS))

    def page_url(self, workspace: Workspace, **more: str) -> str:
        asked = {"workspace": workspace.slug, "tab": self.tab, **more}
        return f"{reverse(f'admin:{self.name}')}?{urlencode(asked)}"

    def back(self, workspace: Workspace, **more: str) -> HttpResponse:
        """Redirect to where the person was: with the same search, and on the same page of it."""
        asked = {name: self.request.GET.get(name, "") for name in ("q", "only", "p")}
        kept = {name: value for name, value in asked.items() if value}
        return redirect(self.page_url(workspace, **kept, **more))

    def may(self, workspace: Workspace, row: RuleRow) -> bool:
        needed = Capability.CURATE if row.kind else Capability.ADMIN
        return row.can_switch and self.access.may(needed, workspace.pk)

    def asked_row(self, workspace: Workspace, scope: Scope) -> RuleRow | None:
        """Return the rule that a form names; None where it names none."""
        name, tab = self.request.POST.get("rule", ""), self.tab
        if not name:
            return None
        if tab not in OWN_OF:
            raise Http404("no such rule")
        rows = rows_of(scope, workspace, tab)
        found = next((row for row in rows if row.name == name and row.can_switch), None)
        if found is None:
            raise Http404("no such rule")
        return found

    def switch(self, workspace: Workspace, scope: Scope, row: RuleRow) -> HttpResponse:
        if not self.may(workspace, row):
            raise PermissionDenied
        is_off = "off" in self.request.POST
        try:
            if row.kind:
                own_rules.switch_own(scope, row.kind, row.pk, is_off=is_off)
            elif self.tab == "patterns":
                workspace_settings.switch_pattern(scope, row.name, is_off=is_off, anyway="anyway" in self.request.POST)
            else:
                workspace_settings.switch_decision(scope, row.name, is_off=is_off)
        except Conflict as error:
            messages.error(self.request, str(error))
            return self.back(workspace, worse=row.name)
        except Invalid as error:
            messages.error(self.request, str(error))
            return self.back(workspace)
        words = _("is off from the next message on") if is_off else _("is on again")
        messages.success(self.request, f"{row.title} {words}.")
        return self.back(workspace)

    def take_back(self, workspace: Workspace, scope: Scope) -> HttpResponse:
        line_id = as_uuid(self.request.POST["line"])
        line = next((one for one in own_rules.changes_of(scope) if one.pk == line_id), None)
        if line is None:
            raise Http404("no such change")
        if not self.may_take_back(workspace, line):
            raise PermissionDenied
        try:
            own_rules.take_back(scope, line.pk)
        except (Conflict, Invalid, NotFound) as error:
            messages.error(self.request, str(error))
        else:
            messages.success(self.request, _("Taken back: it is as it was before."))
        return self.back(workspace)

    def may_take_back(self, workspace: Workspace, line: AuditEntry) -> bool:
        is_own = line.target_kind in own_rules.MODELS
        return self.access.may(Capability.CURATE if is_own else Capability.ADMIN, workspace.pk)

    def rehearsed(self, scope: Scope, row: RuleRow) -> dict[str, Any]:
        """Return what would have differed in the last week, had this rule been switched."""
        since = timezone.now() - WEEK
        if self.tab == "patterns":
            space = workspace_index.index_of(scope.workspace_id)
            own = WorkspacePattern.objects.in_use(scope.workspace_id)
            known = PatternChoice(own, space.patterns_off)
            if not row.kind:
                other = PatternChoice(own, space.patterns_off ^ {row.name})
            elif row.is_off:
                mine = WorkspacePattern.objects.get(workspace=scope.workspace_id, pk=row.pk)
                other = PatternChoice((*own, mine.value), space.patterns_off)
            else:
                left = tuple(each for each in own if f"{RULE}{each.name}" != row.name)
                other = PatternChoice(left, space.patterns_off)
            read = rehearse_patterns(scope, known, other, since, seconds=SECONDS)
            return {"rehearsed": row, "read": read}
        words = row_marks.words_of(workspace_index.index_of(scope.workspace_id))
        asked = rehearse_words(scope, words, self.switched(words, scope, row), since, seconds=SECONDS)
        told = [
            (each, f"{_(RELATIONS[each.was.kind])} → {_(RELATIONS[each.would.kind])}")
            for each in asked.changed[:SHOWN_CHANGES]
        ]
        return {"rehearsed": row, "asked": asked, "told": told}

    @staticmethod
    def switched(words: OwnWords, scope: Scope, row: RuleRow) -> OwnWords:
        if not row.kind:
            return replace(words, off=words.off ^ {row.name})
        mine = own_rules.rule_of(scope, row.kind, row.pk).value
        if isinstance(mine, OwnSlot):
            return replace(
                words,
                slots=tuple(each for each in words.slots if each != mine)
                if mine in words.slots
                else (*words.slots, mine),
            )
        assert isinstance(mine, OwnChange)
        return replace(
            words,
            changes=tuple(each for each in words.changes if each != mine)
            if mine in words.changes
            else (*words.changes, mine),
        )

    def tried(self, scope: Scope) -> dict[str, Any]:
        """Return what becomes of the words in the test box."""
        form = TrialForm(self.request.POST)
        if not form.is_valid():
            return {"trial": form}
        values = form.cleaned_data
        if self.tab == "patterns" and values["text"].strip():
            said = NewMessage(values["text"], "user", values["speaker"].strip() or "Alex")
            found = preview(scope, IngestRequest(messages=(said,), extract="patterns")).found
            claims = [(claim.statement, rule_title(claim.rule)) for claim in found.claims]
            passed = [skip.reason for skip in (*found.skipped, *found.unworthy)]
            return {"trial": form, "claims": claims, "passed": passed}
        if values["before"].strip() and values["after"].strip():
            words = row_marks.words_of(workspace_index.index_of(scope.workspace_id))
            return {"trial": form, "lines": outcome_lines(values["before"], values["after"], words)}
        return {"trial": form}

    def listed(self, workspace: Workspace, scope: Scope) -> dict[str, Any]:
        asked = self.request.GET.get("q", "").strip()[:100]
        only = self.request.GET.get("only", "")
        rows = rows_of(scope, workspace, self.tab) if self.tab in OWN_OF else []
        number = len(rows)
        rows = [row for row in rows if not asked or row.has(asked)]
        rows = [row for row in rows if only not in ONLY or ONLY[only][1](row)]
        page = Paginator(rows, PER_PAGE).get_page(self.request.GET.get("p"))
        lines = own_rules.changes_of(scope)
        names = names_of(line.actor for line in lines)
        describe_targets(lines)
        told: Any = lines
        verdicts = rule_rates.counted(rule_rates.verdicts_of(scope).values())
        judged = sum(verdicts.values())
        return {
            "tabs": [(each, _(TABS[each]), self.tab_url(workspace, each)) for each in TABS],
            "tab": self.tab,
            "shown_changes": SHOWN_CHANGES,
            "here": self.page_url(workspace),
            "form_url": self.request.get_full_path(),
            "rows": [(row, self.may(workspace, row)) for row in page],
            "page": page,
            "number": number,
            "q": asked,
            "only": only,
            "onlys": [(name, _(words)) for name, (words, _which) in ONLY.items()],
            "add_url": self.add_url(workspace),
            "limits": limits(workspace) if self.tab == "limits" else [],
            "may_set": self.access.may(Capability.ADMIN, workspace.pk),
            "waits": waits(workspace) if self.tab == "waits" else [],
            "changes": [
                (
                    line,
                    rule_title(line.reason) if line.reason else line.words,
                    names.get(line.actor, line.actor),
                    act_words(line),
                    self.may_take_back(workspace, line),
                )
                for line in told
            ],
            "worse": self.request.GET.get("worse", ""),
            "verdicts": [(rule_rates.VERDICTS[name], n) for name, n in verdicts.items()],
            "judged": judged,
            "precision": verdicts["keep"] / judged if judged else None,
            "unworthy": skip_counts.unworthy(scope),
        }

    def tab_url(self, workspace: Workspace, name: str) -> str:
        asked = {"workspace": workspace.slug, "tab": name}
        return f"{reverse(f'admin:{self.name}')}?{urlencode(asked)}"

    def add_url(self, workspace: Workspace) -> str:
        model = OWN_OF.get(self.tab)
        if model is None or not self.access.may(Capability.CURATE, workspace.pk):
            return ""
        names = f"admin:memories_{model._meta.model_name}_add"
        return f"{reverse(names)}?{urlencode({'workspace': str(workspace.pk)})}"
