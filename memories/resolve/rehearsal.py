"""What a policy would have held back: decisions that machines made, asked again."""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from memories.english.statements.policy import PINNED, Policy, Replacement
from memories.models import Supersession
from memories.resolve.decide import OLDER
from workspaces.ids import first_uuid7

MOST = 2_000  # decisions that are asked again, the newest first
MACHINES = ("guarded", "vector")


@dataclass(frozen=True, slots=True)
class Rehearsal:
    """`held`: reason and decision, the newest first. `asked` is at most `MOST`, and one more.

    `waited`: those that in fact waited for a person, under the policy of their day.
    """

    asked: int
    waited: int
    held: list[tuple[str, Supersession]]


def rehearse(workspace_id: uuid.UUID, policy: Policy, since: datetime) -> Rehearsal:
    """Ask `policy` about each replacement that a machine has come to since then.

    What is pinned now may not have been: a pin counts where it was what held one back.
    """
    rows = Supersession.objects.filter(
        workspace_id=workspace_id, pk__gte=first_uuid7(since), method__in=MACHINES
    ).exclude(rule=OLDER)
    found = list(rows.select_related("old", "new").order_by("-pk")[: MOST + 1])
    met = _met(found)
    told = ((_reason(policy, each, met[each.new_id]), each) for each in found[:MOST])
    waited = sum(each.waited or each.state == Supersession.State.PENDING for each in found[:MOST])
    return Rehearsal(len(found), waited, [(reason, each) for reason, each in told if reason])


def _met(decisions: Sequence[Supersession]) -> dict[uuid.UUID, list[Supersession]]:
    """By new memory: all that it was to replace, which is decided at once."""
    met: dict[uuid.UUID, list[Supersession]] = {}
    for each in decisions:
        met.setdefault(each.new_id, []).append(each)
    return met


def _reason(policy: Policy, decision: Supersession, met: Sequence[Supersession]) -> str:
    new = decision.new
    about = Replacement(
        similarity=None,
        confidence=new.confidence,
        categories=frozenset({new.category, *(each.old.category for each in met)}),
        agent=str(new.agent_id or ""),
        pinned=any(each.rule.partition(":")[0] == PINNED for each in met),
    )
    reasons = (policy.holds(replace(about, similarity=each.similarity)) for each in met)
    return next((reason for reason in reasons if reason), "")
