"""What waits to be taken into a set: derived from the rows, so that ingest writes nothing for it.

An episode waits in a set that it fits as long as there is no mark of it. It is ready when its
session has come to an end, for then its facts are there.
"""

import uuid
from collections.abc import Collection
from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import Count, Exists, F, Min, OuterRef, Q, QuerySet
from django.db.models.functions import Least
from django.utils import timezone

from memories.features.config import WORKSPACE_SETTING, config_of
from memories.models import Episode, FeatureMark, FeatureSet, MemoryScope, MemorySession
from memories.models.conversation import AHEAD

# Ids are made before the commit: so long after its own time an episode may still turn up.
LATE = timedelta(minutes=10)
READY = Q(session=None) | Q(session__state__in=MemorySession.FINAL)
# What was not ready is looked at again after this time.
AGAIN = timedelta(seconds=15)
COUNTED = ("waiting", "waiting_since", "due_at", "cursor")


def fitting(found: FeatureSet) -> QuerySet[Episode]:
    """The episodes that belong to a set."""
    if not found.takes_in:
        return Episode.objects.none()
    narrowing: dict[str, object] = {"workspace_id": found.workspace_id}
    if found.conversation_id:
        narrowing["conversation_id"] = found.conversation_id
    else:
        narrowing["scope"] = MemoryScope.USER
    if found.subject_id:
        narrowing["subject_id"] = found.subject_id
    if found.role:
        narrowing["role"] = found.role
    if found.metadata:
        narrowing["metadata__contains"] = found.metadata
    return Episode.objects.filter(**narrowing)


def waiting(found: FeatureSet) -> QuerySet[Episode]:
    """Those that have not been taken in."""
    marks = FeatureMark.objects.filter(set_id=found.pk, episode_id=OuterRef("pk"))
    rows = fitting(found).exclude(Exists(marks))
    return rows.filter(pk__gt=found.cursor) if found.cursor else rows


def ready(found: FeatureSet) -> QuerySet[Episode]:
    return waiting(found).filter(READY)


def count(found: FeatureSet) -> None:
    """Say in `found`, which comes with its workspace, what waits and when it is to be taken in,
    with its cursor over what is done. The row stays as it is."""
    if found.cursor and found.cursor > id_at(timezone.now() + AHEAD):
        found.cursor = None  # by a clock that was wrong: what comes now would lie before it
    counted = waiting(found).aggregate(number=Count("pk"), since=Min("created_at"))
    first = waiting(found).order_by("pk").values_list("pk", flat=True).first()
    # What a wrong clock kept waits at least since it was first counted.
    since, now = counted["since"], timezone.now()
    if since and since > now:
        since = min(found.waiting_since or now, now)
    found.waiting, found.waiting_since = counted["number"], since
    found.due_at = _due_at(found, found.waiting, found.waiting_since)
    found.cursor = _cursor(found, first)


def recount(found: FeatureSet) -> None:
    """As `count`, and keep it."""
    count(found)
    counted = {name: getattr(found, name) for name in COUNTED}
    FeatureSet.objects.filter(pk=found.pk).update(**counted)


def _due_at(found: FeatureSet, number: int, since: datetime | None) -> datetime | None:
    if since is None:
        return found.due_at if found.failures else None  # all is taken in, but not yet merged
    said = found.workspace.settings.get(WORKSPACE_SETTING, {})
    config = config_of(said if isinstance(said, dict) else {}, found.config)
    due = since if number >= config.messages else since + timedelta(seconds=config.seconds)
    if found.failures:
        return max(due, found.due_at or due)  # a failing set keeps to its pause
    return due


def _cursor(found: FeatureSet, first: uuid.UUID | None) -> uuid.UUID | None:
    """All that fits up to it is taken in, and nothing will come before it any more."""
    settled = id_at(timezone.now() - LATE)
    reached = settled if first is None else min(settled, uuid.UUID(int=first.int - 1))
    return reached if found.cursor is None else max(found.cursor, reached)


def id_at(moment: datetime) -> uuid.UUID:
    """The least id that an episode of that moment can have."""
    return uuid.UUID(int=int(moment.timestamp() * 1000) << 80)


@transaction.atomic
def unmark(
    workspace_id: uuid.UUID,
    episode_ids: Collection[uuid.UUID],
    *,
    sets: Collection[uuid.UUID] | None = None,
) -> None:
    """Let episodes be taken in again, into all sets or these: they were learned from anew."""
    marks = FeatureMark.objects.filter(workspace_id=workspace_id, episode_id__in=episode_ids)
    if sets is not None:
        marks = marks.filter(set__in=sets)
    touched = set(marks.values_list("set_id", flat=True))
    if not touched:
        return
    before = uuid.UUID(int=min(episode_ids).int - 1)
    marks.delete()
    now = timezone.now()
    rows = FeatureSet.objects.filter(pk__in=touched)
    rows.filter(cursor__isnull=False).update(cursor=Least(F("cursor"), before))
    rows.update(due_at=now, waiting=F("waiting") + 1, waiting_since=now)
