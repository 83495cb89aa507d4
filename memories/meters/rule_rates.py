"""Quality of each rule in a workspace: how much of its findings people kept, edited and rejected,
and how they judged memories at random.

A judgement is a line of the audit log and changes no memory.
"""

import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from django.db import transaction
from django.db.models import Count, Exists, OuterRef, Q
from django.db.models.functions import Random

from memories.errors import Invalid, NotFound
from memories.language.english.plain_words import REASONS
from memories.models import Fact, Memory, Supersession
from workspaces.models import AuditEntry
from workspaces.scope import Scope

NEWEST = 20_000  # facts that are counted, so that no workspace is too large to ask
MOST_JUDGED = 5_000  # judgements that are counted, the newest
SAMPLE = 100
EDIT, WRONG = "edit", "wrong"
JUDGE = "judge_memory"
VERDICTS = {"keep": "worth keeping", "edit": "right, but badly put", "drop": "not worth keeping"}


@dataclass(frozen=True, slots=True)
class RuleRate:
    """The record of a rule: of its `facts`, how many stand in memories that people `edited` or
    `rejected` as wrong; `judged` counts verdicts on memories at random, by verdict."""

    rule: str
    method: str
    facts: int
    edited: int
    rejected: int
    judged: Mapping[str, int]

    @property
    def kept(self) -> int:
        return self.facts - self.edited - self.rejected

    @property
    def precision(self) -> float | None:
        """The share of the judged memories that is worth keeping; None if none were judged."""
        number = sum(self.judged.values())
        return self.judged.get("keep", 0) / number if number else None


def rule_rates(scope: Scope) -> list[RuleRate]:
    """The rates of each rule on the newest 20,000 facts, rules with most facts first."""
    newest = Fact.objects.visible_to(scope).exclude(memory=None).order_by("-pk")
    facts = Fact.objects.filter(pk__in=newest.values("pk")[:NEWEST])
    is_edited = Exists(
        Supersession.objects.filter(old=OuterRef("memory_id"), rule=EDIT, state=Supersession.State.APPLIED)
    )
    is_rejected = Q(memory__forgotten_at__isnull=False, memory__forget_reason=WRONG)
    rows = (
        facts.exclude(rule="")
        .exclude(method=Fact.Method.MANUAL)
        .order_by()
        .alias(is_edited=is_edited)
        .values_list("rule", "method")
        .annotate(
            facts=Count("pk"),
            edited=Count("pk", filter=Q(is_edited=True) & ~is_rejected),
            rejected=Count("pk", filter=is_rejected),
        )
    )
    verdicts = verdicts_of(scope)
    by_memory = Fact.objects.filter(memory__in=verdicts).exclude(rule="").order_by("pk")
    judged: dict[str, dict[str, int]] = {}
    for memory_id, rule in dict(by_memory.values_list("memory_id", "rule")).items():
        counts = judged.setdefault(rule, {})
        counts[verdicts[memory_id]] = counts.get(verdicts[memory_id], 0) + 1
    rates = [
        RuleRate(rule, method, found, edited, rejected, judged.get(rule, {}))
        for rule, method, found, edited, rejected in rows
    ]
    return sorted(rates, key=lambda rate: (-rate.facts, rate.rule))


@dataclass(frozen=True, slots=True)
class DecisionRate:
    """The outcomes of the `decided` replacements of a rule: how many are `waiting`, were `rejected`
    by people, or `undone`."""

    decided: int
    waiting: int
    rejected: int
    undone: int

    @property
    def kept(self) -> int:
        return self.decided - self.waiting - self.rejected - self.undone


def decision_rates(scope: Scope) -> dict[str, DecisionRate]:
    """The newest 20,000 decisions by rule; the policy's reason to hold one back is dropped."""
    newest = Supersession.objects.visible_to(scope).order_by("-pk").values("pk")[:NEWEST]
    rows = Supersession.objects.filter(pk__in=newest).order_by()
    counts: dict[str, dict[str, int]] = {}
    for rule, state, number in rows.values_list("rule", "state").annotate(Count("pk")):
        reason, _, rest = rule.partition(": ")
        own = counts.setdefault(rest if rest and reason in REASONS else rule, {})
        own[state] = own.get(state, 0) + number
    states = Supersession.State
    return {
        rule: DecisionRate(
            sum(own.values()),
            own.get(states.PENDING, 0),
            own.get(states.REJECTED, 0),
            own.get(states.UNDONE, 0),
        )
        for rule, own in counts.items()
    }


def verdicts_of(scope: Scope) -> dict[uuid.UUID, str]:
    """The newest verdict on each judged memory that `scope` may see."""
    lines = AuditEntry.objects.filter(workspace_id=scope.workspace_id, action=JUDGE)
    rows = list(lines.order_by("-pk").values_list("target_id", "after")[:MOST_JUDGED])
    seen = set(
        Memory.objects.visible_to(scope)
        .filter(pk__in={memory_id for memory_id, _ in rows})
        .values_list("pk", flat=True)
    )
    return {memory_id: after["verdict"] for memory_id, after in reversed(rows) if memory_id in seen}


def counted(verdicts: Iterable[str]) -> dict[str, int]:
    """Count each verdict, including those never given."""
    given = list(verdicts)
    return {verdict: given.count(verdict) for verdict in VERDICTS}


def memories_to_judge(scope: Scope, most: int = SAMPLE) -> Sequence[Memory]:
    """Random live memories that were extracted from something and not judged yet."""
    rows = Memory.objects.visible_to(scope).live().filter(facts__isnull=False)
    rows = rows.exclude(pk__in=verdicts_of(scope)).exclude(source="manual")
    chosen = rows.order_by(Random()).values_list("pk", flat=True)
    ids = list(dict.fromkeys(chosen[: 2 * most]))[:most]
    return list(Memory.objects.filter(pk__in=ids).select_related("subject"))


@transaction.atomic(durable=True)
def judge(scope: Scope, verdicts: Mapping[uuid.UUID, str]) -> int:
    """Record verdicts on memories, by their ids; how many. Raises Invalid for an unknown verdict,
    NotFound for a memory that `scope` may not see."""
    for verdict in verdicts.values():
        if verdict not in VERDICTS:
            raise Invalid("verdict", f"One of {', '.join(VERDICTS)}.")
    memories = Memory.objects.visible_to(scope).in_bulk(list(verdicts))
    if len(memories) < len(verdicts):
        raise NotFound("Memory")
    AuditEntry.objects.bulk_create(
        AuditEntry.line(
            scope.workspace_id,
            scope.actor,
            JUDGE,
            memories[memory_id],
            subject_id=memories[memory_id].subject_id,
            after={"verdict": verdict},
        )
        for memory_id, verdict in verdicts.items()
    )
    return len(verdicts)
