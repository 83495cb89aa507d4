"""Rules as pages: their names, what people made of their results, and a hundred memories to
judge."""

import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
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
from django.utils.translation import gettext_noop, ngettext

from memories import bounds, own_rules, rule_rates, skip_counts, workspace_settings
from memories.admin.own_rules_admin import RELATIONS, SECONDS, SHOWN_CHANGES, WEEK, outcome_lines
from memories.english.patterns.library import PATTERNS
from memories.english.plain_words import ENDED, IMPLIED, RULES, attribute_words, rule_words
from memories.english.statements import OwnChange, OwnSlot, OwnWords
from memories.english.statements.shipped_rules import ENDS, ONE_AT_A_TIME, VERBS_OF, ShippedRule
from memories.english.statements.wording import root
from memories.english.workspace_patterns import RULE
from memories.errors import Conflict, Invalid, NotFound
from memories.index import row_marks, workspace_index
from memories.ingest import IngestRequest, NewMessage, preview
from memories.ingest.rehearse_patterns import PatternChoice, rehearse_patterns
from memories.models import Citation, WorkspaceChange, WorkspacePattern, WorkspaceSlot
from memories.resolve.rehearsal import rehearse_words
from memories.rule_rates import DecisionRate, RuleRate
from memories.workspace_settings import settings_of
from workspaces.adminbase.access import look_at
from workspaces.adminbase.acts_and_actors import act_words, describe_targets, names_of
from workspaces.adminbase.list_admin import AdminPage
from workspaces.auth import as_uuid
from workspaces.models import AuditEntry, Capability, Workspace
from workspaces.scope import NOBODY, Scope

# Rules as rows to read: their names, examples and results, both of the rules that ship and of
# the workspace's own.

TABS = {
    "patterns": "What is read",
    "attributes": "One at a time",
    "ends": "What ends",
    "limits": "Limits",
    "waits": "What waits",
}
OWN_OF = {"patterns": WorkspacePattern, "attributes": WorkspaceSlot, "ends": WorkspaceChange}
EXAMPLES = 3
NO_RATE, NO_DECISIONS = RuleRate("", "", 0, 0, 0, {}), DecisionRate(0, 0, 0, 0)
TELLERS = {
    "user": gettext_noop("people"),
    "assistant": gettext_noop("assistants"),
    "tool": gettext_noop("tools"),
    "document": gettext_noop("documents"),
    "agents": gettext_noop("agents themselves"),
}
TRUSTED = {
    "believe": gettext_noop("is believed"),
    "hold": gettext_noop("waits for a person"),
    "ignore": gettext_noop("is left unread"),
}
READ_BY = {"manual": "by hand", "llm": "by a model", "whole": "kept as a whole"}


@dataclass(frozen=True, slots=True)
class RuleRow:
    """A rule. `name` identifies it when it is switched. Examples are (said, what becomes of it).
    `counts` are its results in words, and `used` their number. `kind` and `pk` are set for a
    workspace's own rules."""

    name: str
    title: str
    says: str = ""
    examples: Sequence[tuple[str, str]] = ()
    counters: Sequence[str] = ()
    counts: Sequence[str] = ()
    used: int = 0
    is_off: bool = False
    can_switch: bool = False
    hits_url: str = ""
    edit_url: str = ""
    kind: str = ""
    pk: uuid.UUID = NOBODY  # its row, where it has a `kind`
    words: str = field(default="", compare=False)

    def has(self, asked: str) -> bool:
        """Tell whether a search for these words finds the rule."""
        texts = [self.name, self.title, self.says, self.words]
        texts += [part for pair in self.examples for part in pair]
        return asked.lower() in " ".join(texts).lower()


def rows_of(scope: Scope, workspace: Workspace, tab: str) -> list[RuleRow]:
    """Return the rules of one of the first three tabs, the workspace's own first."""
    if tab == "patterns":
        rates = {rate.rule: rate for rate in rule_rates.rule_rates(scope)}
        own = list(_own_patterns(workspace, rates))
        off = settings_of(workspace).patterns_off
        library = [
            RuleRow(
                pattern.name,
                pattern.name.replace("-", " "),
                pattern.category,
                pattern.examples[:EXAMPLES],
                pattern.counter_examples[:EXAMPLES],
                read_counts(rate),
                rate.facts,
                pattern.name in off,
                True,
                facts_url(pattern.name),
            )
            for pattern in PATTERNS
            for rate in [rates.get(pattern.name, NO_RATE)]
        ]
        known = {row.name for row in (*own, *library)}
        others = [  # facts that no pattern read
            RuleRow(
                rule, READ_BY.get(rate.method) or rule_words(rule), "", counts=read_counts(rate),
                used=rate.facts, hits_url=facts_url(rule),
            )
            for rule, rate in rates.items()
            if rule not in known
        ]  # fmt: skip
        return [*own, *sorted(library, key=lambda row: -row.used), *others]
    decided = rule_rates.decision_rates(scope)
    off = settings_of(workspace).decisions_off
    if tab == "attributes":
        slots = WorkspaceSlot.objects.filter(workspace=workspace)
        own = [_own(row, decided.get(f"slot:own:{row.name}", NO_DECISIONS)) for row in slots]
        shipped = [_shipped(rule, off, decided) for rule in ONE_AT_A_TIME]
    else:
        changes = WorkspaceChange.objects.filter(workspace=workspace)
        own = [_own(row, _of_verbs(row.verbs.split(), decided)) for row in changes]
        shipped = [_shipped(rule, off, decided) for rule in ENDS]
    return [*own, *sorted(shipped, key=lambda row: -row.used)]


def _own_patterns(workspace: Workspace, rates: Mapping[str, RuleRate]) -> Iterator[RuleRow]:
    for row in WorkspacePattern.objects.filter(workspace=workspace):
        name = f"{RULE}{row.name}"
        rate = rates.get(name, NO_RATE)
        yield RuleRow(
            name,
            row.name.replace("-", " ").replace("_", " "),
            _("%(category)s, written here") % {"category": row.category},
            [(example, "") for example in row.examples[:EXAMPLES]],
            row.counter_examples[:EXAMPLES],
            read_counts(rate),
            rate.facts,
            not row.enabled,
            True,
            facts_url(name),
            reverse("admin:memories_workspacepattern_change", args=[row.pk]),
            "workspacepattern",
            row.pk,
        )


def _own(row: own_rules.OwnRule, rate: DecisionRate) -> RuleRow:
    kind = row._meta.model_name or ""
    title = row.name.replace("-", " ").replace("_", " ")
    is_slot = isinstance(row, WorkspaceSlot)
    return RuleRow(
        f"own:{row.name}",
        _("%(name)s: one at a time") % {"name": title} if is_slot else title,
        _("written here") if is_slot else _("written here: %(verbs)s") % {"verbs": row.verbs},  # type: ignore[union-attr]
        [_pair(example) for example in row.examples[:EXAMPLES]],
        row.counter_examples[:EXAMPLES],
        decided_counts(rate),
        rate.decided,
        not row.enabled,
        True,
        decisions_url(f"slot:own:{row.name}") if is_slot else "",
        reverse(f"admin:memories_{kind}_change", args=[row.pk]),
        kind,
        row.pk,
    )


def _shipped(rule: ShippedRule, off: Sequence[str], decided: Mapping[str, DecisionRate]) -> RuleRow:
    rate = decided.get(rule.name, NO_DECISIONS)
    title = rule_words(rule.name)
    if rule.name in VERBS_OF:
        rate = _of_verbs(VERBS_OF[rule.name], decided)
        title = _("somebody says: %(verbs)s") % {"verbs": rule.says}
    elif rule.name.startswith(IMPLIED):
        title = rule.name.removeprefix(IMPLIED)
    return RuleRow(
        rule.name,
        title,
        rule.says if rule.name.startswith(IMPLIED) else "",
        rule.examples[:EXAMPLES],
        rule.counter_examples[:EXAMPLES],
        decided_counts(rate),
        rate.decided,
        rule.name in off,
        True,
        "" if rule.name in VERBS_OF else decisions_url(rule.name),
        words=attribute_words(rule.name.partition(":")[2]),
    )


def _of_verbs(verbs: Iterable[str], decided: Mapping[str, DecisionRate]) -> DecisionRate:
    found = [decided[name] for name in {f"{ENDED}{root(verb)}" for verb in verbs} & set(decided)]
    return DecisionRate(
        sum(one.decided for one in found), sum(one.waiting for one in found),
        sum(one.rejected for one in found), sum(one.undone for one in found),
    )  # fmt: skip


def _pair(example: str) -> tuple[str, str]:
    before, _, after = example.partition("=>")
    return before.strip(), after.strip()


def read_counts(rate: RuleRate) -> list[str]:
    """Return, in words, how much a rule found and what people made of it."""
    if not rate.facts:
        return [_("nothing found yet")]
    counts = [
        ngettext("%(n)d found", "%(n)d found", rate.facts) % {"n": rate.facts},
        _("%(n)d kept") % {"n": rate.kept},
        _("%(n)d edited") % {"n": rate.edited},
        _("%(n)d rejected") % {"n": rate.rejected},
    ]
    if rate.precision is not None:
        counts.append(_("judged worth keeping %(share).2f") % {"share": rate.precision})
    return counts


def decided_counts(rate: DecisionRate) -> list[str]:
    """Return, in words, how much a rule decided and what people made of it."""
    if not rate.decided:
        return [_("decided nothing yet")]
    return [
        _("%(n)d decided") % {"n": rate.decided},
        _("%(n)d kept") % {"n": rate.kept},
        _("%(n)d taken back") % {"n": rate.undone},
        _("%(n)d rejected") % {"n": rate.rejected},
        _("%(n)d wait") % {"n": rate.waiting},
    ]


def facts_url(rule: str) -> str:
    return f"{reverse('admin:memories_fact_changelist')}?{urlencode({'rule': rule})}"


def decisions_url(rule: str) -> str:
    return f"{reverse('admin:memories_supersession_changelist')}?{urlencode({'q': rule})}"


@dataclass(frozen=True, slots=True)
class Limit:
    """A number that decisions depend on, and where to change it: an address, or words."""

    name: str
    value: str
    says: str
    change: str = ""
    url: str = ""


def limits(workspace: Workspace) -> list[Limit]:
    index = workspace_index.index_of(workspace.pk)
    settings = settings_of(workspace)
    policy, model = settings.review, index.embedding_model
    to_policy = f"{reverse('admin:memories_policy')}?{urlencode({'workspace': workspace.slug})}"
    to_settings = reverse("admin:workspaces_workspace_change", args=[workspace.pk])
    measured = _("Measured for the embedding model; the server's operator measures it anew.")
    fixed = _("Fixed for this server.")
    nearest = settings.conflict_rule == "nearest"
    rows = []
    if model is not None:
        rows += [
            Limit(_("Taken for the same from"), f"{model.duplicate_threshold:.2f}",
                  _("As similar as this (1 is the very same words), two statements are one."),
                  measured),
            Limit(_("Found by meaning from"), f"{model.search_floor:.2f}",
                  _("A search passes over texts that are less similar than this."), measured),
        ]  # fmt: skip
    return [
        *rows,
        Limit(_("Waits for a person under"), f"{policy.confidence:.2f}",
              _("A replacement that was read with less confidence than this (1 is certain) waits"
                " for a person."), url=to_policy),
        Limit(_("Waits for a person between"),
              " – ".join(f"{each:.2f}" for each in policy.similarity)
              if policy.similarity[1] else _("nothing"),
              _("A replacement that is as similar to the older memory as this waits for a"
                " person."), url=to_policy),
        Limit(_("A newer statement takes the place of an older"),
              _("whenever it is near") if nearest else _("when the words say so"),
              _("By what they say: the same attribute, a word of change. Or of whatever is"
                " nearest."), url=to_settings),
        Limit(_("Longest statement"), _("%(n)d characters") % {"n": bounds.STATEMENT},
              _("What is longer is kept as a message and searched, and believed by nobody."),
              fixed),
        Limit(_("Words read of a message"), f"{bounds.READ_WORDS:,}",
              _("Of a longer one the beginning is read by rules."), fixed),
    ]  # fmt: skip


def waits(workspace: Workspace) -> list[tuple[str, str]]:
    """Return what waits for a person in this workspace, and whose words are believed."""
    settings = settings_of(workspace)
    categories, agents = settings.review.categories, settings.review.agents
    return [
        (_("What would replace a pinned memory"), _("always waits")),
        (_("Protected categories"), ", ".join(categories) or _("none")),
        (_("Agents that are not trusted"), str(len(agents)) if agents else _("none")),
        *(
            (
                _("What %(who)s say") % {"who": _(TELLERS[name])},
                _(TRUSTED[getattr(settings.guard, name)]),
            )
            for name in TELLERS
        ),
    ]


def rule_title(rule: str) -> str:
    """Return a rule's title on pages: of a pattern its name, of others what they decide."""
    if ":" not in rule and rule not in RULES:
        return rule.replace("-", " ")
    if rule.startswith(RULE):
        return rule.removeprefix(RULE).replace("-", " ").replace("_", " ")
    return rule_words(rule)


SHOWN_QUOTE = 400  # characters
LONGEST = 2_000  # characters of a text to try rules on
PER_PAGE = 20
ONLY: Mapping[str, tuple[str, Callable[[RuleRow], bool]]] = {
    "used": (gettext_noop("In use lately"), lambda row: row.used > 0),
    "own": (gettext_noop("Written here"), lambda row: bool(row.kind)),
    "off": (gettext_noop("Switched off"), lambda row: row.is_off),
}


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
                workspace_settings.switch_pattern(
                    scope, row.name, is_off=is_off, anyway="anyway" in self.request.POST
                )
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
        asked = rehearse_words(
            scope, words, self.switched(words, scope, row), since, seconds=SECONDS
        )
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
            return replace(words, slots=tuple(each for each in words.slots if each != mine)
                if mine in words.slots else (*words.slots, mine))  # fmt: skip
        assert isinstance(mine, OwnChange)
        return replace(words, changes=tuple(each for each in words.changes if each != mine)
            if mine in words.changes else (*words.changes, mine))  # fmt: skip

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
                (line, rule_title(line.reason) if line.reason else line.words,
                 names.get(line.actor, line.actor), act_words(line),
                 self.may_take_back(workspace, line))
                for line in told
            ],
            "worse": self.request.GET.get("worse", ""),
            "verdicts": [(rule_rates.VERDICTS[name], n) for name, n in verdicts.items()],
            "judged": judged,
            "precision": verdicts["keep"] / judged if judged else None,
            "unworthy": skip_counts.unworthy(scope),
        }  # fmt: skip

    def tab_url(self, workspace: Workspace, name: str) -> str:
        asked = {"workspace": workspace.slug, "tab": name}
        return f"{reverse(f'admin:{self.name}')}?{urlencode(asked)}"

    def add_url(self, workspace: Workspace) -> str:
        model = OWN_OF.get(self.tab)
        if model is None or not self.access.may(Capability.CURATE, workspace.pk):
            return ""
        names = f"admin:memories_{model._meta.model_name}_add"
        return f"{reverse(names)}?{urlencode({'workspace': str(workspace.pk)})}"


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
