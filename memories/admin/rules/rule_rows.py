"""Rows of the rules page: each rule's name, and what people made of its results."""

import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from urllib.parse import urlencode

from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop, ngettext

from memories.index import workspace_index
from memories.language import bounds
from memories.language.english.patterns.library import PATTERNS
from memories.language.english.plain_words import ENDED, RULES, attribute_words, rule_words
from memories.language.english.statements.rule_names import ENDS, ONE_AT_A_TIME, VERBS_OF, ShippedRule
from memories.language.english.statements.wording import root
from memories.language.english.workspace_patterns import RULE
from memories.meters import rule_rates
from memories.meters.rule_rates import DecisionRate, RuleRate
from memories.models import WorkspaceChange, WorkspacePattern, WorkspaceSlot
from memories.settings import own_rules
from memories.settings.workspace_settings import settings_of
from workspaces.models import Workspace
from workspaces.scope import NOBODY, Scope

# Rules as rows to read: their names, examples and results, both of the rules that ship and of
# the workspace's own.

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
                rule,
                READ_BY.get(rate.method) or rule_words(rule),
                "",
                counts=read_counts(rate),
                used=rate.facts,
                hits_url=facts_url(rule),
            )
            for rule, rate in rates.items()
            if rule not in known
        ]
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
    return RuleRow(
        rule.name,
        title,
        "",
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
        sum(one.decided for one in found),
        sum(one.waiting for one in found),
        sum(one.rejected for one in found),
        sum(one.undone for one in found),
    )


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
            Limit(
                _("Taken for the same from"),
                f"{model.duplicate_threshold:.2f}",
                _("As similar as this (1 is the very same words), two statements are one."),
                measured,
            ),
            Limit(
                _("Found by meaning from"),
                f"{model.search_floor:.2f}",
                _("A search passes over texts that are less similar than this."),
                measured,
            ),
        ]
    return [
        *rows,
        Limit(
            _("Waits for a person under"),
            f"{policy.confidence:.2f}",
            _("A replacement that was read with less confidence than this (1 is certain) waits for a person."),
            url=to_policy,
        ),
        Limit(
            _("Waits for a person between"),
            " – ".join(f"{each:.2f}" for each in policy.similarity) if policy.similarity[1] else _("nothing"),
            _("A replacement that is as similar to the older memory as this waits for a person."),
            url=to_policy,
        ),
        Limit(
            _("A newer statement takes the place of an older"),
            _("whenever it is near") if nearest else _("when the words say so"),
            _("By what they say: the same attribute, a word of change. Or of whatever is nearest."),
            url=to_settings,
        ),
        Limit(
            _("Longest statement"),
            _("%(n)d characters") % {"n": bounds.STATEMENT},
            _("What is longer is kept as a message and searched, and believed by nobody."),
            fixed,
        ),
        Limit(
            _("Words read of a message"),
            f"{bounds.READ_WORDS:,}",
            _("Of a longer one the beginning is read by rules."),
            fixed,
        ),
    ]


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
