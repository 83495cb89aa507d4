"""Finding the sets that new episodes fit: read from the rows, so that ingest pays nothing."""

import uuid
from collections.abc import Iterable
from datetime import timedelta

from django.db.models import Exists, OuterRef, Q, QuerySet
from django.utils import timezone

from memories import outbox
from memories.features import pending, queue
from memories.features.pending import LATE, id_at
from memories.features.sets import key_of
from memories.index import statements
from memories.models import Episode, FeatureSet, SetDiscovery
from workspaces.models import AuditEntry, Subject

MOST_BELLS = 200
# So long a bell that was rung is believed to be on its way. It is lost with a worker that is killed,
# and one too many is answered at once.
RINGING = timedelta(minutes=2)
# Per workspace: about whom something new was said, and the last id of it.
NEW = """
select w.id as workspace, news.last, news.subjects
from workspaces_workspace w left join memories_setdiscovery d on d.workspace_id = w.id
cross join lateral (
  select max(e.id::text)::uuid as last,
         array_agg(distinct e.subject_id) filter (where e.subject_id is not null) as subjects
  from memories_episode e where e.workspace_id = w.id
    and e.id > coalesce(d.seen, '00000000-0000-0000-0000-000000000000'::uuid)) news
where news.last is not null and (%(workspace)s::uuid is null or w.id = %(workspace)s::uuid)
"""


def discover_sets(workspace_id: uuid.UUID | None = None) -> int:
    """Count what waits in the sets that new episodes fit, of all workspaces or one; the number of
    sets looked at.

    The set of a subject is made when something is first said about it.
    """
    looked = 0
    for row in statements.rows(NEW, {"workspace": workspace_id}):
        _make_sets(row.workspace, row.subjects or [])
        for found in _touched(row.workspace, row.subjects or []):
            pending.recount(found)
            looked += 1
        _note_seen(row.workspace, row.last)
    return looked


def count_now(workspace_id: uuid.UUID) -> dict[uuid.UUID, FeatureSet]:
    """The sets that new episodes fit, by id, as `discover_sets` would count them; nothing is written."""
    found = [
        each
        for row in statements.rows(NEW, {"workspace": workspace_id})
        for each in _touched(row.workspace, row.subjects or [])
    ]
    for each in found:
        pending.count(each)
    return {each.pk: each for each in found}


def _make_sets(workspace_id: uuid.UUID, subjects: Iterable[uuid.UUID]) -> None:
    known = FeatureSet.objects.filter(workspace_id=workspace_id, key__startswith=key_of(""))
    missing = Subject.objects.filter(pk__in=subjects).exclude(pk__in=known.values("subject"))
    missing = missing.exclude(pk__in=_deleted(workspace_id))
    made = [
        FeatureSet(workspace_id=workspace_id, key=key_of(subject.external_id), subject=subject)
        for subject in missing
    ]
    FeatureSet.objects.bulk_create(made, ignore_conflicts=True)


def _deleted(workspace_id: uuid.UUID) -> QuerySet[AuditEntry, uuid.UUID | None]:
    """Subjects of whom a person deleted the set, and nothing was said since."""
    since = Episode.objects.filter(
        subject=OuterRef("subject_id"), created_at__gt=OuterRef("created_at")
    )
    lines = AuditEntry.objects.filter(
        workspace_id=workspace_id, action="delete_set", before__key__startswith=key_of(""),
        subject_id__isnull=False,
    )  # fmt: skip
    return lines.exclude(Exists(since)).values_list("subject_id", flat=True)


def _touched(workspace_id: uuid.UUID, subjects: Iterable[uuid.UUID]) -> Iterable[FeatureSet]:
    """The sets of these subjects, and all that gather across subjects."""
    rows = FeatureSet.objects.filter(workspace_id=workspace_id).select_related("workspace")
    across = ~Q(role="") | ~Q(metadata={}) | Q(conversation__isnull=False)
    return rows.filter(Q(subject__in=subjects) | Q(subject=None) & across)


def _note_seen(workspace_id: uuid.UUID, last: uuid.UUID) -> None:
    """Episodes whose ids were made a while ago may still be committed: those are looked at again."""
    seen = min(last, id_at(timezone.now() - LATE))
    SetDiscovery.objects.update_or_create(workspace_id=workspace_id, defaults={"seen": seen})


def enqueue_due() -> int:
    """Wake workers for the sets that are due; the number of bells."""
    now = timezone.now()
    # A bell of the future was rung by a clock that was wrong.
    quiet = Q(rung_at=None) | Q(rung_at__lt=now - RINGING) | Q(rung_at__gt=now)
    ids = list(queue.due(now).filter(quiet).values_list("pk", flat=True)[:MOST_BELLS])
    for set_id in ids:
        FeatureSet.objects.filter(pk=set_id).update(rung_at=now)
        outbox.post("fold_set", set_id)
    return len(ids)
