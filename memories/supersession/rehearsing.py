"""What a policy would have held back: decisions that machines made, asked again."""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from memories.conflicts.policy import Policy, Replacement
from memories.models import Supersession
from memories.supersession.deciding import OLDER
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

    Pins are not asked about: what is pinned now may not have been, and each policy holds it.
    """
    rows = Supersession.objects.filter(
        workspace_id=workspace_id, pk__gte=first_uuid7(since), method__in=MACHINES
    ).exclude(rule=OLDER)
    found = list(rows.select_related("old", "new").order_by("-pk")[: MOST + 1])
    categories = _categories(found)
    told = ((_reason(policy, each, categories[each.new_id]), each) for each in found[:MOST])
    waited = sum(each.waited or each.state == Supersession.State.PENDING for each in found[:MOST])
    return Rehearsal(len(found), waited, [(reason, each) for reason, each in told if reason])


def _categories(decisions: Sequence[Supersession]) -> dict[uuid.UUID, frozenset[str]]:
    """Of each new memory: its own, and those of all that it was to replace."""
    met: dict[uuid.UUID, frozenset[str]] = {}
    for each in decisions:
        both = frozenset({each.old.category, each.new.category})
        met[each.new_id] = met.get(each.new_id, frozenset()) | both
    return met


def _reason(policy: Policy, decision: Supersession, categories: frozenset[str]) -> str:
    new = decision.new
    return policy.holds(
        Replacement(decision.similarity, new.confidence, categories, agent=str(new.agent_id or ""))
    )
