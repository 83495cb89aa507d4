"""Taking sets that are due, so that no two workers have the same one, and a failing one waits."""

import uuid
from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from memories import leases
from memories.features import pending
from memories.index import statements
from memories.leases import TakenOver
from memories.models import FeatureSet

PAUSE, LONGEST_PAUSE = timedelta(seconds=20), timedelta(hours=1)
# The failure is counted before the work: what kills its worker waits longer each time.
CLAIM = f"""
update memories_featureset
set lease_until = %(until)s, claims = claims + 1, failures = failures + 1,
    updated_at = %(now)s
where id = %(id)s and due_at <= %(now)s and {leases.FREE}
returning claims
"""
HELD = (
    "update memories_featureset set updated_at = %(now)s where id = %(id)s and claims = %(claims)s"
)


def due(now: datetime | None = None) -> QuerySet[FeatureSet]:
    """Sets whose turn it is and that nobody has, the longest waiting first."""
    now = now or timezone.now()
    return FeatureSet.objects.filter(leases.free(now), due_at__lte=now).order_by("due_at")


def claim(set_id: uuid.UUID) -> FeatureSet | None:
    """The set with its workspace, where it is due and nobody else has it."""
    values = {"id": set_id, "until": leases.end(), "now": timezone.now()}
    if not statements.rows(CLAIM, values):
        return None
    return FeatureSet.objects.select_related("workspace", "subject").get(pk=set_id)


def held(found: FeatureSet) -> QuerySet[FeatureSet]:
    """The set, as long as this claim of it stands."""
    return FeatureSet.objects.filter(pk=found.pk, claims=found.claims, lease_until__isnull=False)


def hold(found: FeatureSet) -> None:
    """Go on only if the claim still stands, in the transaction that writes. Raises TakenOver."""
    values = {"id": found.pk, "claims": found.claims, "now": timezone.now()}
    if statements.execute(HELD, values) != 1:
        raise TakenOver


@transaction.atomic
def settle(found: FeatureSet) -> None:
    """The work is done: what came meanwhile is counted, and nothing stands against the set.

    In one: who dies between the two would leave a set that waits and is never due.
    """
    FeatureSet.objects.filter(pk=found.pk, claims=found.claims).update(
        lease_until=None, failures=0, error="", folded_at=timezone.now(), due_at=None
    )
    pending.recount(_fresh(found))


@transaction.atomic
def postpone(found: FeatureSet) -> None:
    """Nothing was ready: look again soon if anything waits, which is no failure."""
    settled = FeatureSet.objects.filter(pk=found.pk, claims=found.claims)
    settled.update(lease_until=None, failures=0, error="", due_at=None)
    pending.recount(_fresh(found))
    soon = timezone.now() + pending.AGAIN
    FeatureSet.objects.filter(pk=found.pk, due_at__lt=soon).update(due_at=soon)


def fail(found: FeatureSet, message: str, *, retry_after: float = 0.0) -> None:
    """Leave the set to be tried again, later each time; the others go on."""
    pause = min(PAUSE * 2 ** min(found.failures, 10), LONGEST_PAUSE)
    pause = max(pause, timedelta(seconds=retry_after))
    FeatureSet.objects.filter(pk=found.pk, claims=found.claims).update(
        lease_until=None, error=message, due_at=timezone.now() + pause
    )


def release(set_id: uuid.UUID) -> None:
    """Make a set due now, whatever its pause: a person asked."""
    FeatureSet.objects.filter(pk=set_id).update(due_at=timezone.now(), failures=0)


def _fresh(found: FeatureSet) -> FeatureSet:
    return FeatureSet.objects.select_related("workspace").get(pk=found.pk)
