"""Rehearsal of another policy on decisions that machines made. Nothing is stored."""

import uuid
from collections import defaultdict
from dataclasses import dataclass, replace
from datetime import datetime

from memories.belief.resolve.decide import OLDER
from memories.belief.resolve.protected_memories import PINNED, Policy, Replacement
from memories.models import Supersession
from workspaces.models.workspace import first_uuid7

MOST = 2_000  # decisions that are asked again, the newest first
MACHINES = ("guarded", "vector")


@dataclass(frozen=True, slots=True)
class Rehearsal:
    """`held`: reason and decision, the newest first. `asked`: at most `MOST` + 1.

    `waited`: how many in fact waited for a person, under the policy of their day.
    """

    asked: int
    waited: int
    held: list[tuple[str, Supersession]]


def rehearse(workspace_id: uuid.UUID, policy: Policy, since: datetime) -> Rehearsal:
    """Ask `policy` about each replacement that a machine has decided since then.

    A memory pinned now may not have been then: a pin counts only where it held one back.
    """
    rows = Supersession.objects.filter(
        workspace_id=workspace_id, pk__gte=first_uuid7(since), method__in=MACHINES
    ).exclude(rule=OLDER)
    decisions = list(rows.select_related("old", "new").order_by("-pk")[: MOST + 1])
    together: dict[uuid.UUID, list[Supersession]] = defaultdict(list)
    for each in decisions:  # all that one memory was to replace is decided at once
        together[each.new_id].append(each)
    held, waited = [], 0
    for each in decisions[:MOST]:
        waited += each.waited or each.state == Supersession.State.PENDING
        among = together[each.new_id]
        about = Replacement(
            similarity=None,
            confidence=each.new.confidence,
            categories=frozenset({each.new.category, *(one.old.category for one in among)}),
            agent=str(each.new.agent_id or ""),
            pinned=any(one.rule.partition(":")[0] == PINNED for one in among),
        )
        reasons = (policy.holds(replace(about, similarity=one.similarity)) for one in among)
        if reason := next((reason for reason in reasons if reason), ""):
            held.append((reason, each))
    return Rehearsal(len(decisions), waited, held)
