"""Why messages were not read: the gatekeeper's verdicts, added up over the sessions of a
workspace."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta

from django.db.models import F, Func, IntegerField, Sum
from django.db.models.fields.json import KT
from django.db.models.functions import Cast, Coalesce
from django.utils import timezone

from memories.english import gatekeeper, worth_keeping
from memories.models import MemorySession
from workspaces.scope import Scope

# before the labels, in a session's counts: of messages not read, of claims not kept
KEY, UNWORTHY = "skipped_", "unworthy_"
MOST_SESSIONS = 20_000  # the newest


@dataclass(frozen=True, slots=True)
class Counted:
    """`messages` that were told, and how many of them were passed over for each reason, the
    commonest first: (label, what it means, count)."""

    messages: int
    reasons: tuple[tuple[str, str, int], ...]

    @property
    def skipped(self) -> int:
        return sum(count for _, _, count in self.reasons)


def unworthy(scope: Scope, days: int = 30) -> tuple[tuple[str, str, int], ...]:
    """What was found and is not worth keeping, as the reasons of `count_skips`."""
    reasons, _ = _summed(scope, days, UNWORTHY, worth_keeping.REASONS)
    return reasons


def count_skips(scope: Scope, days: int = 30) -> Counted:
    """Over the sessions of the last `days` days that `scope` may see, the newest 20,000."""
    reasons, messages = _summed(scope, days, KEY, gatekeeper.REASONS)
    return Counted(messages, reasons)


def _summed(
    scope: Scope, days: int, prefix: str, labels: Mapping[str, str]
) -> tuple[tuple[tuple[str, str, int], ...], int]:
    """The counts of `labels`, the commonest first, and how many messages there were."""
    since = timezone.now() - timedelta(days=days)
    seen = MemorySession.objects.visible_to(scope).filter(created_at__gte=since)
    rows = seen.filter(pk__in=seen.order_by("-pk").values("pk")[:MOST_SESSIONS])
    size = Func(F("episode_ids"), function="cardinality", output_field=IntegerField())
    sums = {
        label: Coalesce(Sum(Cast(KT(f"counts__{prefix}{label}"), IntegerField())), 0)
        for label in labels
    }
    found = dict(rows.aggregate(messages=Coalesce(Sum(size), 0), **sums))
    messages = found.pop("messages")
    counted = [(label, labels[label], n) for label, n in found.items() if n]
    return tuple(sorted(counted, key=lambda reason: -reason[2])), messages
