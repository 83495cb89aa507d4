"""The queue of feature sets: what waits in each, which are due, and who is updating one."""

import uuid
from collections.abc import Collection, Iterable
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction
from django.db.models import Count, Exists, F, Min, OuterRef, Q, QuerySet
from django.db.models.functions import Least
from django.utils import timezone

from memories.models import Episode, FeatureMark, FeatureSet, MemoryScope, MemorySession, SetDiscovery
from memories.models.conversation import AHEAD
from memories.profiles.features.config import config_of
from memories.queue import outbox
from memories.queue.due_rows import Queue
from memories.queue.leases import TakenOver
from memoryproject.postgres import visible
from workspaces.models import AuditEntry, Subject, Workspace

# What waits to be taken into a set, which sets are due, and who has one.
#
# Derived from the rows, so that ingest writes nothing for it: an episode waits in a set that it
# fits as long as there is no mark of it. It is ready when its session has come to an end, for then
# its facts are there. No two workers have the same set, and a failing one waits.

# Ids are made before the commit: so long after its own time an episode may still turn up.
LATE = timedelta(minutes=10)
READY = Q(session=None) | Q(session__state__in=MemorySession.FINAL)
# What was not ready is looked at again after this time.
AGAIN = timedelta(seconds=15)
COUNTED = ("waiting", "waiting_since", "due_at", "cursor")
MOST_POSTS = 200
# So long a task that was posted is believed to be on its way. It is lost with a worker that is
# killed, and one too many is answered at once.
POSTED = timedelta(minutes=2)
# The failure is counted before the work: what kills its worker waits longer each time.
QUEUE = Queue(FeatureSet, timedelta(seconds=20), attempts="failures")
due = QUEUE.rows
claim = QUEUE.claim
# Per workspace: about whom something new was said, and the last id of it.
NEW = """
select w.id, news.last, news.about
from workspaces_workspace w left join memories_setdiscovery d on d.workspace_id = w.id
cross join lateral (
  select max(e.id::text)::uuid as last,
         array_agg(distinct e.subject_id) filter (where e.subject_id is not null) as about
  from memories_episode e where e.workspace_id = w.id
    and e.id > coalesce(d.seen, '00000000-0000-0000-0000-000000000000'::uuid)) news
where news.last is not null and (%(workspace)s::uuid is null or w.id = %(workspace)s::uuid)
"""


def fitting(feature_set: FeatureSet) -> QuerySet[Episode]:
    """Return the episodes that belong to a set."""
    if not feature_set.takes_in:
        return Episode.objects.none()
    narrowing: dict[str, object] = {"workspace_id": feature_set.workspace_id}
    if feature_set.conversation_id:
        narrowing["conversation_id"] = feature_set.conversation_id
    else:
        narrowing["scope"] = MemoryScope.USER
    if feature_set.subject_id:
        narrowing["subject_id"] = feature_set.subject_id
    if feature_set.role:
        narrowing["role"] = feature_set.role
    if feature_set.metadata:
        narrowing["metadata__contains"] = feature_set.metadata
    return Episode.objects.filter(**narrowing)


def waiting(feature_set: FeatureSet) -> QuerySet[Episode]:
    """Return the episodes of a set that have not been taken in."""
    marks = FeatureMark.objects.filter(set_id=feature_set.pk, episode_id=OuterRef("pk"))
    rows = fitting(feature_set).exclude(Exists(marks))
    return rows.filter(pk__gt=feature_set.cursor) if feature_set.cursor else rows


def ready(feature_set: FeatureSet) -> QuerySet[Episode]:
    return waiting(feature_set).filter(READY)


def count(feature_set: FeatureSet) -> None:
    """Note in the set, which comes with its workspace, what waits and when it is to be taken in,
    and move its cursor over what is done. The row stays as it is."""
    now = timezone.now()
    if feature_set.cursor and feature_set.cursor > id_at(now + AHEAD):
        feature_set.cursor = None  # by a clock that was wrong: what comes now would lie before it
    counted = waiting(feature_set).aggregate(number=Count("pk"), since=Min("created_at"))
    first = waiting(feature_set).order_by("pk").values_list("pk", flat=True).first()
    since = counted["since"]
    if since and since > now:  # what a wrong clock kept waits since it was first counted, at least
        since = min(feature_set.waiting_since or now, now)
    feature_set.waiting, feature_set.waiting_since = counted["number"], since
    if since is not None:
        config = config_of(feature_set.workspace.settings, feature_set.config)
        at_once = feature_set.waiting >= config.messages
        due = since if at_once else since + timedelta(seconds=config.seconds)
        # A failing set keeps to its pause.
        pause = feature_set.due_at or due
        feature_set.due_at = max(due, pause) if feature_set.failures else due
    elif not feature_set.failures:  # one that failed has all, but it is not yet merged
        feature_set.due_at = None
    # All that fits up to the cursor is taken in, and nothing will come before it any more.
    settled = id_at(now - LATE)
    reached = settled if first is None else min(settled, uuid.UUID(int=first.int - 1))
    feature_set.cursor = max(feature_set.cursor or reached, reached)


def recount(feature_set: FeatureSet) -> None:
    """Run `count`, and keep the result."""
    count(feature_set)
    counted = {name: getattr(feature_set, name) for name in COUNTED}
    FeatureSet.objects.filter(pk=feature_set.pk).update(**counted)


def id_at(moment: datetime) -> uuid.UUID:
    """Return the least id that an episode of that moment can have."""
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


def discover_sets(workspace_id: uuid.UUID | None = None) -> int:
    """Count what waits in the sets that new episodes fit, of all workspaces or one; return the
    number of sets looked at.

    The set of a subject is made when something is first said about it.
    """
    looked, found = 0, _spoken_of(workspace_id)
    for row in found:
        with visible.only(row.pk):
            _make_sets(row.pk, row.about or [])
            for feature_set in _touched(row.pk, row.about or []):
                recount(feature_set)
                looked += 1
            # Episodes whose ids were made a while ago may still be committed: those are looked
            # at again.
            seen = min(row.last, id_at(timezone.now() - LATE))
            SetDiscovery.objects.update_or_create(workspace_id=row.pk, defaults={"seen": seen})
    return looked


def _spoken_of(workspace_id: uuid.UUID | None) -> Iterable[Any]:
    """Yield workspaces in which something new was said, with the `last` of it and whom it is `about`."""
    return Workspace.objects.raw(NEW, {"workspace": workspace_id})


def count_now(workspace_id: uuid.UUID) -> dict[uuid.UUID, FeatureSet]:
    """Return the sets that new episodes fit, by id, as `discover_sets` would count them; nothing is
    written."""
    rows = [each for row in _spoken_of(workspace_id) for each in _touched(row.pk, row.about or [])]
    for each in rows:
        count(each)
    return {each.pk: each for each in rows}


def _make_sets(workspace_id: uuid.UUID, subjects: Iterable[uuid.UUID]) -> None:
    """Make the sets that are missing, but for subjects whose set a person deleted and of whom
    nothing was said since."""
    known = FeatureSet.objects.filter(workspace_id=workspace_id, key__startswith=FeatureSet.OWN)
    since = Episode.objects.filter(subject=OuterRef("subject_id"), created_at__gt=OuterRef("created_at"))
    deleted = AuditEntry.objects.filter(
        workspace_id=workspace_id,
        action="delete_set",
        before__key__startswith=FeatureSet.OWN,
        subject_id__isnull=False,
    ).exclude(Exists(since))
    missing = Subject.objects.filter(pk__in=subjects).exclude(pk__in=known.values("subject"))
    FeatureSet.objects.bulk_create(
        [
            FeatureSet(
                workspace_id=workspace_id,
                key=FeatureSet.own_key(subject.external_id),
                subject=subject,
            )
            for subject in missing.exclude(pk__in=deleted.values_list("subject_id", flat=True))
        ],
        ignore_conflicts=True,
    )


def _touched(workspace_id: uuid.UUID, subjects: Iterable[uuid.UUID]) -> Iterable[FeatureSet]:
    """Return the sets of these subjects, and all that gather across subjects."""
    rows = FeatureSet.objects.filter(workspace_id=workspace_id).select_related("workspace")
    across = ~Q(role="") | ~Q(metadata={}) | Q(conversation__isnull=False)
    return rows.filter(Q(subject__in=subjects) | Q(subject=None) & across)


def enqueue_due() -> int:
    """Wake workers for the sets that are due; return the number of tasks."""
    now = timezone.now()
    # A task of the future was posted by a clock that was wrong.
    quiet = Q(rung_at=None) | Q(rung_at__lt=now - POSTED) | Q(rung_at__gt=now)
    ids = list(due(now).filter(quiet).values_list("pk", flat=True)[:MOST_POSTS])
    for set_id in ids:
        FeatureSet.objects.filter(pk=set_id).update(rung_at=now)
        outbox.post("fold_set", set_id)
    return len(ids)


def release(set_id: uuid.UUID) -> None:
    """Make a set due now, whatever its pause: a person asked."""
    FeatureSet.objects.filter(pk=set_id).update(due_at=timezone.now(), failures=0)


def hold(claimed: FeatureSet) -> None:
    """Go on only if the claim still stands, in the transaction that writes. Raises TakenOver."""
    if not QUEUE.held(claimed).update(updated_at=timezone.now()):
        raise TakenOver


@transaction.atomic
def finish(claimed: FeatureSet, *, took_in: bool) -> None:
    """Finish the work: what came meanwhile is counted, and nothing stands against the set. Where
    nothing was ready, which is no failure, it is looked at again soon if anything waits.

    In one transaction: dying in between would leave a set that waits and is never due.
    """
    times = {"folded_at": timezone.now()} if took_in else {}
    QUEUE.leave(claimed, None, failures=0, error="", **times)
    recount(FeatureSet.objects.select_related("workspace").get(pk=claimed.pk))
    if not took_in:
        soon = timezone.now() + AGAIN
        FeatureSet.objects.filter(pk=claimed.pk, due_at__lt=soon).update(due_at=soon)


def fail(claimed: FeatureSet, message: str, *, retry_after: float = 0.0) -> None:
    """Leave the set to be tried again, later each time; the others go on."""
    QUEUE.leave(claimed, QUEUE.retry_at(claimed, retry_after), error=message)
